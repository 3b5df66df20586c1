"""The HTTP application: routers, error answers, and a platform for as long as it lives."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import Response

import interlace
from interlace.engine.errors import InterlaceError
from interlace.flows.link import PrefectLink
from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server import pages, problems
from interlace.server.api import catalogue, files, runs, workflows

log = structlog.get_logger("interlace.server")
_SWEEP_SECONDS = 5.0


def create_app(settings: Settings, *, started: Callable[[FastAPI], Awaitable[None]] | None = None) -> FastAPI:
    """The application; `started` is awaited once it can take requests."""

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        platform = await Platform.open(settings)
        link = PrefectLink.of(platform)
        app.state.platform, app.state.prefect = platform, link
        tasks = [asyncio.create_task(_sweep(platform))]
        if link is not None:
            tasks.append(asyncio.create_task(link.start()))
        try:
            if started is not None:
                await started(app)
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if link is not None:
                await link.stop()
            await platform.close()

    app = FastAPI(
        title="Interlace", version=interlace.__version__, lifespan=life, redoc_url=None,
        description="Typed, durable workflows on Prefect. Authenticate with an API key as a bearer token.",
    )  # fmt: skip
    problems.install(app)
    for router in (workflows.router, runs.router, files.router, catalogue.router, pages.router):
        app.include_router(router)
    app.middleware("http")(_guard_writes)
    return app


async def _guard_writes(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse writes that a page of another site sends: a browser names that site in `Origin`."""
    origin = request.headers.get("origin")
    if request.method not in ("GET", "HEAD", "OPTIONS") and origin is not None:
        own = f"{request.url.scheme}://{request.headers.get('host', '')}"
        if origin != own:
            return problems.problem(403, "cross_origin", f"requests from {origin} are not accepted")
    return await call(request)


async def _sweep(platform: Platform) -> None:
    """Take over runs whose process died, at once those of this machine, others when their leases run out."""
    while True:
        try:
            for run_id in await take_over(platform.store, platform.runner):
                log.info("going on with an interrupted run", run=run_id)
        except InterlaceError as error:
            log.warning("unfinished runs could not be looked up", error=str(error))
        await asyncio.sleep(_SWEEP_SECONDS)
