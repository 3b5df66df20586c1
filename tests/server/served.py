"""A real server in this process: the application behind uvicorn on a port of its own, for clients that speak HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import uvicorn
from fastapi import FastAPI

from interlace.flows.settings import Settings
from interlace.server.app import living


@contextlib.asynccontextmanager
async def served(
    settings: Settings, wrap: Callable[[FastAPI], Any] = lambda app: app
) -> AsyncIterator[tuple[FastAPI, str]]:
    """The application and its address; `wrap` puts something in front of it."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with living(settings) as app:
        app.state.platform.callbacks.base = url
        config = uvicorn.Config(
            wrap(app), log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.closing(listener))
            server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
            task = asyncio.create_task(server.serve(sockets=[listener]))
            while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
            try:
                yield app, url
            finally:
                app.state.leaving.set()
                server.should_exit = True
                await task
