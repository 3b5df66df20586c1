"""One serving process: the socket, `server.json` for programs on this machine, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import orjson
import structlog
import uvicorn
from fastapi import FastAPI

from interlace.engine.errors import InterlaceError
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.app import living
from interlace.server.auth import ensure_owner_key
from interlace.server.cli import garbage
from interlace.server.cli.output import USAGE, note
from interlace.server.client import KEY_FILE, SERVER_FILE, served_at
from interlace.server.crew import crew
from interlace.server.demo import run_demo
from interlace.server.exposure import Exposed, check_names, check_owner
from interlace.server.guard import is_local
from interlace.server.lock import HomeLock, Taken
from interlace.server.logs import configure
from interlace.server.signing import new_link

_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - looked up, not listened on

log = structlog.get_logger("interlace.server")


class Serving:
    """Serves until it is told to end (Ctrl-C, SIGTERM); runs that have not ended go on at the next start."""

    def __init__(self, settings: Settings, *, demo: bool = False, once: bool = False) -> None:
        self._settings = settings
        self._home = settings.home.resolve()
        self._demo = demo
        self._once = once
        self._failed = False
        self._url = ""
        self._server: uvicorn.Server | None = None
        self._ending = asyncio.Event()

    def run(self) -> int:
        """Serve; gives the exit code."""
        garbage.resume()
        configure(style=self._settings.log_format, level=self._settings.log_level)
        try:
            check_names(self._settings)
            with HomeLock(self._home), self._listen() as listener:
                self._file.unlink(missing_ok=True)
                asyncio.run(self._serve(listener))
        except Taken:
            note(
                f"✗ a server of the home {self._home} runs already{served_at(self._home)}; end it first, or set INTERLACE_HOME"
            )
            return 1
        except OSError as error:
            where = f"{self._settings.host}:{self._settings.port}"
            note(
                f"✗ cannot listen on {where}: {error.strerror}; choose another with --port or INTERLACE_PORT"
            )
            return 1
        except Exposed as error:
            note(f"✗ {error}")
            return USAGE
        except InterlaceError as error:
            note(f"✗ {error}")
            return 1
        if not self._once:
            note("✓ ended")
        return 1 if self._failed else 0

    @property
    def _file(self) -> Path:
        return self._home / SERVER_FILE

    def _listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._settings.host else socket.AF_INET
        # With the protocol named asyncio turns Nagle off; without, an answer of two writes waits 40 ms for an ACK.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self._settings.host, self._settings.port))
            listener.listen(2048)
        except BaseException:
            listener.close()
            raise
        host, port, *_ = listener.getsockname()
        host = _ANYWHERE.get(host, f"[{host}]" if ":" in host else host)
        self._url = f"http://{host}:{port}"
        return listener

    async def _serve(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._end)
        async with living(self._settings, announced=self._demo) as app, crew(self._settings):
            await check_owner(app.state.platform)
            config = uvicorn.Config(
                app, log_config=None, access_log=False, server_header=False, lifespan="off",
                timeout_graceful_shutdown=5, proxy_headers=True,
                forwarded_allow_ips=["127.0.0.1", "::1", *self._settings.proxies],
            )  # fmt: skip
            server = self._server = _Server(config)
            watching = asyncio.create_task(self._watch(app, server))
            try:
                await self._announce(app)
                await server.serve(sockets=[listener])
            finally:
                watching.cancel()
                self._file.unlink(missing_ok=True)

    def _end(self) -> None:
        """Told once, it ends in order; told again, it waits for nobody's request."""
        if self._ending.is_set() and self._server is not None:
            self._server.force_exit = True
        self._ending.set()

    async def _watch(self, app: FastAPI, server: uvicorn.Server) -> None:
        if self._demo:
            await self._show(app)
        await self._ending.wait()
        app.state.leaving.set()
        server.should_exit = True

    async def _announce(self, app: FastAPI) -> None:
        await ensure_owner_key(app.state.platform)
        if self._settings.public_url is None:
            app.state.platform.callbacks.base = self._url
        part = self._file.with_suffix(".part")
        part.touch(mode=0o600)
        part.write_bytes(orjson.dumps({"pid": os.getpid(), "url": self._url}))
        part.replace(self._file)
        key = self._home / KEY_FILE
        note(f"✓ Interlace is serving at {self._url} (home {self._home}; sign in with the key in {key})")
        await self._invite(app.state.platform)

    async def _invite(self, platform: Platform) -> None:
        """Show a link that signs the owner in, until there is a password; on this machine alone."""
        if not is_local(self._settings.host) or (await platform.store.users.get(LOCAL.user_id)).has_password:
            return
        link = await new_link(platform, LOCAL.user_id, self._url)
        note(f"  sign in with {link} (good once, within an hour; `interlace user link` makes another)")

    async def _show(self, app: FastAPI) -> None:
        try:
            self._failed = not await run_demo(app.state.platform, self._url)
        except InterlaceError as error:
            note(f"✗ the example could not run: {error}")
            self._failed = True
        link = app.state.prefect
        if link is not None and await link.ready():
            keys = f" (sign in with the text of {link.credentials})" if link.credentials is not None else ""
            note(f"✓ Prefect's own view of it: {link.ui_url}{keys}")
        if self._once:
            self._end()
        else:
            note("  Ctrl-C ends the server; runs go on when it starts again")


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to `Serving`: uvicorn would raise them again before anything is put in order."""
        yield
