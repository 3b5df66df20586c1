"""The HTTP application, and everything that lives as long as it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from fastapi import FastAPI

import interlace
from interlace.flows.link import PrefectLink
from interlace.flows.orphans import taking_over
from interlace.flows.platform import Platform
from interlace.flows.presence import present
from interlace.flows.settings import Settings
from interlace.flows.telemetry import Telemetry
from interlace.server import pages, problems, webui
from interlace.server.api import (
    agents,
    approvals,
    callbacks,
    calling,
    catalogue,
    connectors,
    databases,
    definitions,
    doctor,
    editing,
    event_subscriptions,
    files,
    forms,
    hooks,
    importing,
    invitations,
    keys,
    knowledge,
    mcp,
    metrics,
    models,
    oidc,
    organisations,
    replays,
    run_context,
    runs,
    schedules,
    secrets,
    session,
    sessions,
    sharing,
    skills,
    templates,
    tools,
    trying,
    users,
    variables,
    webhooks,
    workflows,
)
from interlace.server.describing import describe
from interlace.server.forms import pages as form_pages
from interlace.server.guard import Guard
from interlace.server.idempotency import Idempotency
from interlace.server.limits import Limits, counters_of
from interlace.server.mcp import route as mcp_route
from interlace.server.observing import Observing
from interlace.server.openai import completions, responses


def create_app(
    platform: Platform,
    link: PrefectLink | None = None,
    telemetry: Telemetry | None = None,
    *,
    bundle: Path | None = None,
) -> FastAPI:
    """The application over an open platform; `app.state.leaving` is set when its streams should end."""
    telemetry = telemetry or Telemetry.of(platform)
    app = FastAPI(
        title="Interlace", version=interlace.__version__, docs_url=None, redoc_url=None,  # their pages load scripts from elsewhere
        description="Typed, durable workflows on Prefect. Authenticate with an API key as a bearer token.",
    )  # fmt: skip
    app.state.platform, app.state.prefect, app.state.leaving = platform, link, asyncio.Event()
    app.state.mcp = mcp_route.McpServer(platform, app.state.leaving)
    problems.install(app)
    for router in (
        session.router,
        session.links,
        oidc.router,
        importing.router,
        editing.router,
        editing.runs,
        templates.router,
        trying.router,
        calling.router,
        forms.router,
        workflows.router,
        variables.router,
        runs.router,
        run_context.router,
        replays.router,
        approvals.router,
        callbacks.router,
        hooks.router,
        schedules.router,
        webhooks.router,
        event_subscriptions.router,
        connectors.router,
        files.router,
        models.router,
        users.router,
        keys.router,
        organisations.router,
        invitations.router,
        secrets.router,
        databases.router,
        sharing.router,
        mcp.router,
        knowledge.router,
        tools.router,
        mcp.back,
        skills.router,
        sessions.router,
        agents.router,
        agents.org_hooks,
        catalogue.router,
        completions.router,
        definitions.router,
        doctor.router,
        form_pages.router,
        mcp_route.router,
        metrics.router,
        responses.router,
    ):
        app.include_router(router)
    if not webui.install(app, bundle or webui.BUNDLE):
        app.include_router(pages.router)
    counters = app.state.counters = counters_of(platform.settings, platform.store)
    # The last one added is the first that a request meets.
    app.add_middleware(Idempotency)
    app.add_middleware(Limits, settings=platform.settings, counters=counters)
    app.add_middleware(Guard, settings=platform.settings)
    app.add_middleware(
        Observing, metrics=telemetry.metrics, traces=telemetry.traces, logged=platform.settings.access_log
    )
    app.state.metrics = telemetry.metrics
    app.openapi = partial(describe, app)  # type: ignore[method-assign]
    return app


@contextlib.asynccontextmanager
async def living(settings: Settings, *, announced: bool = False) -> AsyncIterator[FastAPI]:
    """The application with its platform and Prefect; unfinished runs go on, now and as others leave them behind.

    Raises:
        StoreError: the database cannot be opened.
    """
    platform = await Platform.open(settings)
    telemetry = Telemetry.of(platform)
    link = PrefectLink.of(platform, announced=announced)
    starting = asyncio.create_task(link.start(), name="prefect-start") if link is not None else None
    try:
        async with (
            present(platform),
            taking_over(platform.store, platform.runner),
            platform.waits.watching(),
            platform.retention.watching(),
            platform.triggers.watching(link),
        ):
            await platform.follow_ups.catch_up()
            await platform.chat.catch_up()
            platform.ingestion.start()
            app = create_app(platform, link, telemetry)
            try:
                yield app
            finally:
                await app.state.counters.close()
                await app.state.mcp.close()
    finally:
        try:
            if link is not None and starting is not None:
                starting.cancel()
                await asyncio.gather(starting, return_exceptions=True)
                await link.stop()
        finally:
            await platform.close(settings.drain)
            await telemetry.close()
