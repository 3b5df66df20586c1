"""The HTTP application, and everything that lives as long as it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI

import interlace
from interlace.flows.link import PrefectLink
from interlace.flows.orphans import taking_over
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server import pages, problems
from interlace.server.api import approvals, callbacks, catalogue, files, runs, workflows
from interlace.server.guard import Guard


def create_app(platform: Platform, link: PrefectLink | None = None) -> FastAPI:
    """The application over an open platform; `app.state.leaving` is set when its streams should end."""
    app = FastAPI(
        title="Interlace", version=interlace.__version__, docs_url=None, redoc_url=None,  # their pages load scripts from elsewhere
        description="Typed, durable workflows on Prefect. Authenticate with an API key as a bearer token.",
    )  # fmt: skip
    app.state.platform, app.state.prefect, app.state.leaving = platform, link, asyncio.Event()
    problems.install(app)
    for router in (
        workflows.router,
        runs.router,
        approvals.router,
        callbacks.router,
        files.router,
        catalogue.router,
        pages.router,
    ):
        app.include_router(router)
    app.add_middleware(Guard, settings=platform.settings)
    return app


@contextlib.asynccontextmanager
async def living(settings: Settings, *, announced: bool = False) -> AsyncIterator[FastAPI]:
    """The application with its platform and Prefect; unfinished runs go on, now and as others leave them behind.

    Raises:
        StoreError: the database cannot be opened.
    """
    platform = await Platform.open(settings)
    link = PrefectLink.of(platform, announced=announced)
    starting = asyncio.create_task(link.start(), name="prefect-start") if link is not None else None
    try:
        async with taking_over(platform.store, platform.runner), platform.waits.watching():
            await platform.follow_ups.catch_up()
            yield create_app(platform, link)
    finally:
        try:
            if link is not None and starting is not None:
                starting.cancel()
                await asyncio.gather(starting, return_exceptions=True)
                await link.stop()
        finally:
            await platform.close(settings.drain)
