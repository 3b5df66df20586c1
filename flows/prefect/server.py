"""Prefect's API server as our child process: started, watched, restarted, stopped by us.

The listening socket is ours and is handed to the child: the address survives the child, and requests that come while
it restarts wait instead of failing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from interlace.flows.prefect.connection import PrefectApi, PrefectConnection, PrefectError, PrefectUnavailable
from interlace.flows.prefect.settings import prefect_home, server_environment

_LOG = logging.getLogger(__name__)
_LOG_BYTES = 10_000_000
_STOP_SECONDS = 8.0
_BACKOFF_SECONDS = (0.2, 30.0)
_STABLE_SECONDS = 60.0


class EmbeddedPrefect:
    """A Prefect server of our own on 127.0.0.1, with its SQLite file in `home/prefect`.

    Args:
        home: our home; the log goes to `home/logs/prefect.log`.
        port: the port to listen on; a free one by default.
        auth: `user:password` that its API and pages ask for; nobody is asked by default.
        settings: `PREFECT_*` settings of the operator, over the tuned ones.
        start_seconds: how long a start may take before it counts as failed.
    """

    def __init__(
        self,
        home: Path,
        port: int | None = None,
        *,
        auth: str | None = None,
        settings: Mapping[str, str] | None = None,
        start_seconds: float = 90.0,
    ) -> None:
        self.home = home.resolve()
        self.log = self.home / "logs" / "prefect.log"
        self.restarts = 0
        self._wanted_port = port or 0
        self._auth = auth
        self._overrides = dict(settings or {})
        self._start_seconds = start_seconds
        self._socket: socket.socket | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port it listens on; only while it is wanted."""
        if self._socket is None:
            raise PrefectError("The embedded Prefect server has not been started; await start() first.")
        port: int = self._socket.getsockname()[1]
        return port

    @property
    def api_url(self) -> str:
        """The API's root."""
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def ui_url(self) -> str:
        """Where its pages are."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process is not None and running else None

    @property
    def connection(self) -> PrefectConnection:
        """The connection to it, for the mirror and the host."""
        return PrefectConnection(api_url=self.api_url, home=self.home, api_auth=self._auth)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start it and return when it answers.

        Raises:
            PrefectError: the port is taken, or the child died or was not ready in time; the message ends with the
                log's last lines.
        """
        if self._watch is not None:
            return
        self._socket = _listen(self._wanted_port)
        try:
            await self._spawn()
            await self._until_healthy()
        except BaseException:
            await self.stop()
            raise
        self._watch = asyncio.create_task(self._keep_alive(), name="embedded-prefect")

    async def stop(self) -> None:
        """Stop it: politely, then for good. The port is free afterwards."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
        await self._end_child()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    async def _end_child(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        _signal(process, signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            _signal(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            await process.wait()

    async def _spawn(self) -> None:
        assert self._socket is not None
        environment = server_environment(self.home, auth=self._auth, overrides=self._overrides)
        environment |= {
            "PREFECT_SERVER_API_HOST": "127.0.0.1",
            "PREFECT_SERVER_API_PORT": str(self.port),
            "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": self.ui_url,
            "INTERLACE_PARENT_PID": str(os.getpid()),
        }
        self.log.parent.mkdir(parents=True, exist_ok=True)
        _rotate(self.log)
        arguments = _command(self._socket)
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *arguments,
                # Held open by this process alone: the child reads its end, and leaves when we are gone.
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                # Prefect reads `.env`, `prefect.toml` and `pyproject.toml` of the working directory.
                cwd=prefect_home(self.home),
                start_new_session=True,
                pass_fds=() if sys.platform == "win32" else (self._socket.fileno(),),
            )

    async def _until_healthy(self) -> None:
        process = self._process
        assert process is not None
        died = asyncio.create_task(process.wait())
        answers = asyncio.create_task(self._answers())
        try:
            await asyncio.wait(
                (died, answers), timeout=self._start_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if answers.done() and not answers.exception():
                return
            why = (
                f"exited with {process.returncode}"
                if died.done()
                else f"was not ready in {self._start_seconds:g} s"
            )
            tail = await asyncio.to_thread(_tail, self.log)
            raise PrefectError(
                f"The embedded Prefect server {why}. Its log {str(self.log)!r} ends with:\n{tail}"
            )
        finally:
            for task in (died, answers):
                task.cancel()
            await asyncio.gather(died, answers, return_exceptions=True)

    async def _answers(self) -> None:
        async with PrefectApi(self.connection, seconds=self._start_seconds) as api:
            while True:
                with contextlib.suppress(PrefectUnavailable):
                    await api.get("/health")
                    return

    async def _keep_alive(self) -> None:
        delay, longest = _BACKOFF_SECONDS
        while True:
            process = self._process
            assert process is not None
            born = time.monotonic()
            code = await process.wait()
            if time.monotonic() - born > _STABLE_SECONDS:
                delay = _BACKOFF_SECONDS[0]
            _LOG.warning(
                "The embedded Prefect server ended with %s; starting it again in %.1f s.", code, delay
            )
            await asyncio.sleep(delay)
            delay = min(delay * 2, longest)
            self.restarts += 1
            try:
                await self._spawn()
                await self._until_healthy()
            except (PrefectError, OSError) as error:
                _LOG.warning("The embedded Prefect server did not come back: %s", error)
                await self._end_child_keeping_it()

    async def _end_child_keeping_it(self) -> None:
        process = self._process
        await self._end_child()
        self._process = process


def _command(listening: socket.socket) -> list[str]:
    if sys.platform == "win32":
        host, port = listening.getsockname()[:2]
        listening.close()
        where = ["--host", host, "--port", str(port)]
    else:
        where = ["--fd", str(listening.fileno())]
    options = [
        "--log-level",
        "warning",
        "--timeout-graceful-shutdown",
        "3",
        "--no-access-log",
        "--lifespan",
        "on",
    ]
    return ["-P", "-m", "uvicorn", *where, *options, "--factory", "interlace.flows.prefect.child:application"]


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Inherited by its connections; uvicorn takes a socket it is handed for a Unix one and would leave it out: 40 ms a
    # request.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise PrefectError(
            f"The embedded Prefect server cannot listen on 127.0.0.1:{port}: {error}. Choose another port."
        ) from error
    return listening


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, number)


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))


def _tail(log: Path, lines: int = 20) -> str:
    if not log.exists():
        return "(empty)"
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 16_384))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:]) or "(empty)"
