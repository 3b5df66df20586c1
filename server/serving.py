"""One serving process: the socket, `server.json` for programs on this machine, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from pathlib import Path

import orjson
import uvicorn
from fastapi import FastAPI

from interlace.flows.settings import Settings
from interlace.server.app import create_app
from interlace.server.auth import ensure_owner_key
from interlace.server.cli import garbage
from interlace.server.cli.output import note
from interlace.server.client import KEY_FILE, SERVER_FILE
from interlace.server.demo import run_demo
from interlace.server.logs import configure


class Serving:
    """Serves until it is told to end (Ctrl-C, SIGTERM)."""

    def __init__(self, settings: Settings, *, demo: bool = False, once: bool = False) -> None:
        self._settings = settings
        self._demo = demo
        self._once = once
        self._failed = False
        self._server: uvicorn.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self) -> int:
        """Serve; gives the exit code."""
        garbage.resume()
        configure()
        try:
            listener = self._listen()
        except OSError as error:
            note(
                f"✗ cannot listen on {self._settings.host}:{self._settings.port}: {error.strerror};"
                " choose another with --port or INTERLACE_PORT"
            )
            return 1
        address = listener.getsockname()
        host = address[0] if ":" not in address[0] else f"[{address[0]}]"
        self._url = f"http://{host}:{address[1]}"
        app = create_app(self._settings, started=self._started)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, timeout_graceful_shutdown=5, server_header=False, lifespan="on"
        )
        self._server = uvicorn.Server(config)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._server.serve(sockets=[listener]))
        with contextlib.suppress(FileNotFoundError):
            self._file().unlink()
        return 1 if self._failed or not self._server.started else 0

    def _listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._settings.host else socket.AF_INET
        # With the protocol named asyncio turns Nagle off; without, an answer of two writes waits 40 ms for an ACK.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self._settings.host, self._settings.port))
        listener.listen(2048)
        return listener

    def _file(self) -> Path:
        return self._settings.home.resolve() / SERVER_FILE

    async def _started(self, app: FastAPI) -> None:
        await ensure_owner_key(app.state.platform)
        info = {"pid": os.getpid(), "url": self._url}
        part = self._file().with_suffix(".part")
        part.write_bytes(orjson.dumps(info))
        part.replace(self._file())
        home = self._settings.home.resolve()
        note(f"✓ Interlace is serving at {self._url} (home {home}; sign in with the key in {home / KEY_FILE})")
        if self._demo:
            task = asyncio.get_running_loop().create_task(self._show(app))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _show(self, app: FastAPI) -> None:
        self._failed = not await run_demo(app.state.platform, self._url)
        link = app.state.prefect
        if link is not None:
            await link.ready()
            note(f"✓ Prefect's own view of it: {link.ui_url}")
        if self._once:
            signal.raise_signal(signal.SIGTERM)
        else:
            note("  Ctrl-C ends the server; runs go on when it starts again")
