"""A PostgreSQL database, a Prefect server and worker processes, as on several machines; all on this one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import sql

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings

SERVER = os.environ.get("INTERLACE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
SCRIPT = Path(sys.executable).parent / "interlace"
T = TypeVar("T")


@contextlib.contextmanager
def database(label: str) -> Iterator[str | None]:
    """The URL of a new PostgreSQL database, dropped afterwards; None where no server answers."""
    name = f"interlace_{label}_{os.getpid()}"
    try:
        with psycopg.connect(SERVER, autocommit=True, connect_timeout=3) as server:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    except psycopg.OperationalError:
        yield None
        return
    try:
        yield f"{SERVER.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def eventually(look: Callable[[], Awaitable[T | None]], seconds: float = 30.0) -> T:
    """Look until something is seen."""
    end = time.monotonic() + seconds
    while True:
        seen = await look()
        if seen:
            return seen
        assert time.monotonic() < end, f"nothing was seen in {seconds} s"
        await asyncio.sleep(0.05)


@dataclass
class Cluster:
    """Processes over one database. `folder` holds their homes and logs."""

    folder: Path
    url: str | None
    environment: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)

    @property
    def settings(self) -> dict[str, str]:
        """The environment of every process."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("INTERLACE_", "PREFECT_"))
        }
        own = {
            "INTERLACE_HTTP_ALLOW": "127.0.0.1/32,10.0.0.0/8",
            "INTERLACE_PREFECT": "off",
            "INTERLACE_PORT": "0",
        }
        if self.url is not None:
            own["INTERLACE_DATABASE_URL"] = self.url
        return {**kept, **own, "INTERLACE_HOME": str(self.folder / "home"), **self.environment}

    def start(
        self, *arguments: str, before: tuple[str, ...] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start an `interlace` command, its output in a log of the folder."""
        log = self.folder / f"{arguments[0]}-{len(self.processes)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*before, str(SCRIPT), *arguments], cwd=self.folder, env={**self.settings, **environment},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def log(self, process: subprocess.Popen[bytes]) -> str:
        """What a process wrote so far."""
        index = self.processes.index(process)
        [found] = self.folder.glob(f"*-{index}.log")
        return found.read_text("utf-8", "replace")

    async def ready(self, process: subprocess.Popen[bytes], text: str = "✓", seconds: float = 60.0) -> None:
        """Wait until a process has written a text."""

        async def look() -> bool:
            assert process.poll() is None or text in self.log(process), self.log(process)
            return text in self.log(process)

        await eventually(look, seconds)

    async def worker(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        """A worker that takes runs."""
        process = self.start("worker", *arguments, **options)
        await self.ready(process)
        return process

    async def platform(self, **more: Any) -> Platform:
        """A platform over the same database in this process, which takes no runs of the cluster's."""
        given = {"home": self.folder / "home", "prefect": "off", "pools": ["none"], **more}
        return await Platform.open(Settings(database_url=self.url, **given))

    def send(self, process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        """Send a signal to the process alone."""
        self.kills[number.name] += 1
        process.send_signal(number)

    def end(self) -> None:
        """Kill what still runs."""
        for process in self.processes:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
