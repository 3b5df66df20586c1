"""Many runs over several worker processes that are killed at random.

A loopback server counts the calls of every node by its Idempotency-Key. PostgreSQL and an external Prefect server of
its own; workers are killed (-9) and started again at random.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2

from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from tests.machines.cluster import database, free_port

_SCRIPT = (sys.executable, "-c", "from interlace.server.cli.main import main; main()")
_AUTH = "interlace:of-a-measurement"


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""


class Counting:
    """Counts calls by path and idempotency key; each takes a few milliseconds."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        counting, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                with lock:
                    counting.calls[self.path, self.headers.get("idempotency-key", "")] += 1
                time.sleep(0.01)
                with contextlib.suppress(OSError):
                    self.send_response(200)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", "2")
                    self.end_headers()
                    self.wfile.write(b"{}")

            def log_message(self, *_arguments: Any) -> None:
                """Say nothing."""

        self.server = _Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop answering."""
        self.server.shutdown()
        self.server.server_close()


def document(url: str, nodes: int = 3) -> str:
    """A chain of HTTP nodes that may be repeated, each with its own path."""
    steps = [
        {
            "id": f"n{n}", "type": "HTTP", "effects": "idempotent",
            "config": {"url": f"{url}/{{{{ run.id }}}}/n{n}", "method": "POST"},
        }
        for n in range(nodes)
    ]  # fmt: skip
    every = [
        {"id": "start", "type": "START"},
        *steps,
        {"id": "done", "type": "END", "config": {"outputs": {}}},
    ]
    edges = [{"from": a["id"], "to": b["id"]} for a, b in itertools.pairwise(every)]
    return json.dumps({"name": "counted", "nodes": every, "edges": edges})


@dataclass
class Workers:
    """Worker processes with their logs in a folder."""

    folder: Path
    environment: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    kills: int = 0

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start one."""
        log = (self.folder / f"worker-{len(self.processes)}-{self.kills}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [*_SCRIPT, "worker", "--limit", "20", *arguments], env=self.environment, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def kill_one(self, chance: random.Random) -> None:
        """Kill one with -9 and start another."""
        victim = chance.choice(self.processes)
        victim.kill()
        victim.wait()
        self.processes.remove(victim)
        self.kills += 1
        fresh = self.start()
        # Not killed again before it works: nothing would ever be done.
        log = self.folder / f"worker-{len(self.processes) - 1}-{self.kills}.log"
        while "✓ worker" not in log.read_text("utf-8", "replace") and fresh.poll() is None:
            time.sleep(0.05)

    def end(self) -> None:
        """Kill them all."""
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes.clear()


@contextlib.contextmanager
def prefect_server(folder: Path, port: int, url: str) -> Iterator[str]:
    """A stock Prefect server of its own process and PostgreSQL database; gives its API's address."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": url.replace("postgresql:", "postgresql+asyncpg:"), "PREFECT_SERVER_API_AUTH_STRING": _AUTH,
        "PREFECT_API_AUTH_STRING": _AUTH, "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    }  # fmt: skip
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "prefect.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        end = time.monotonic() + 120
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((folder / "prefect.log").read_text("utf-8", "replace")[-2000:])
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/api"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.asynccontextmanager
async def cluster(*, prefect: bool) -> AsyncIterator[tuple[Path, str, str | None] | None]:
    """A folder, the URL of a database, and the address of a Prefect server if asked for; None without PostgreSQL."""
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="interlace-bench-")))
        url = stack.enter_context(database("kills"))
        if url is None:
            yield None
            return
        address = None
        if prefect:
            other = stack.enter_context(database("prefect"))
            assert other is not None, "the server answered a moment ago"
            server = prefect_server(folder, free_port(), other)
            address = await asyncio.to_thread(server.__enter__)
            stack.callback(server.__exit__, None, None, None)
        yield folder, url, address


def _answers(port: int) -> bool:
    try:
        return httpx2.get(
            f"http://127.0.0.1:{port}/api/health", auth=tuple(_AUTH.split(":")), trust_env=False
        ).is_success
    except httpx2.HTTPError:
        return False


@dataclass(frozen=True)
class Outcome:
    """What a measurement saw. `again`: calls of finished nodes that were made once more, which must be none."""

    runs: int
    workers: int
    kills: int
    seconds: float
    statuses: Counter[str]
    calls: int
    repeated: int
    again: int
    missing: int

    @property
    def exact(self) -> bool:
        """Whether every run ended well, and no node that was recorded as finished ran once more."""
        return self.statuses == Counter({"succeeded": self.runs}) and not self.again and not self.missing


async def measure(
    url: str, folder: Path, *, runs: int, workers: int, kill_every: float | None = None, prefect: str | None = None,
    seed: int = 1, seconds: float = 600.0,
) -> Outcome:  # fmt: skip
    """Run so many runs on so many workers, one of them killed every few seconds."""
    counting = Counting()
    chance = random.Random(seed)
    own = {
        "INTERLACE_DATABASE_URL": url, "INTERLACE_HOME": str(folder / "home"), "INTERLACE_HTTP_ALLOW": "127.0.0.1/32",
        "INTERLACE_PREFECT": "external" if prefect else "off",
        **({"INTERLACE_PREFECT_API_URL": prefect, "INTERLACE_PREFECT_AUTH": _AUTH} if prefect else {}),
    }  # fmt: skip
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("INTERLACE_", "PREFECT_"))
    }
    crew = Workers(folder, {**kept, **own})
    platform = await Platform.open(
        Settings(home=folder / "home", database_url=url, prefect="off", pools=["none"])
    )  # type: ignore[arg-type]
    try:
        for _ in range(workers):
            crew.start()
        while len(await platform.store.hosts.living()) < workers:  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.1)
        return await _drive(
            platform, crew, counting, runs, workers, kill_every, chance, prefect, folder, seconds
        )
    finally:
        crew.end()
        counting.close()
        await platform.close()


async def _drive(
    platform: Platform, crew: Workers, counting: Counting, runs: int, workers: int, kill_every: float | None,
    chance: random.Random, prefect: str | None, folder: Path, seconds: float,
) -> Outcome:  # fmt: skip
    pinned = await platform.documents.from_text(document(counting.url))
    began = time.monotonic()
    killer = asyncio.create_task(_kill(crew, kill_every, chance)) if kill_every else None
    try:
        async with contextlib.AsyncExitStack() as stack:
            submit = await _submitter(platform, prefect, folder, stack)
            began = time.monotonic()
            ids = [await submit(pinned, Request()) for _ in range(runs)]
            await _until_over(platform, set(ids), began + seconds)
    finally:
        if killer is not None:
            killer.cancel()
    took = time.monotonic() - began
    return await _judge(platform, counting, ids, workers, crew.kills, took)


async def _until_over(platform: Platform, left: set[str], end: float) -> None:
    while left and time.monotonic() < end:
        await asyncio.sleep(0.2)
        unfinished = await platform.store.runs.list(status={"queued", "running", "suspended"}, limit=1000)
        left &= {run.id for run in unfinished.items}


async def _submitter(
    platform: Platform, prefect: str | None, folder: Path, stack: contextlib.AsyncExitStack
) -> Any:
    if prefect is None:

        async def queue(pinned: Any, request: Request) -> str:
            return (await platform.runner.create(pinned, request))[0]

        return queue
    from interlace.flows.link import PrefectLink
    from interlace.flows.pool import start_queued

    settings = Settings(
        home=folder / "home", database_url=platform.settings.database_url, prefect="external", pools=["none"],
        prefect_api_url=prefect, prefect_auth=_AUTH,
    )  # type: ignore[arg-type]  # fmt: skip
    platform.settings = settings
    link = PrefectLink(platform, announced=True)
    await link.start()

    async def through(pinned: Any, request: Request) -> str:
        placed = await start_queued(platform, link, pinned, request)
        return placed.run_id

    stack.push_async_callback(link.stop)
    return through


async def _kill(crew: Workers, every: float, chance: random.Random) -> None:
    while True:
        await asyncio.sleep(every * chance.uniform(0.5, 1.5))
        await asyncio.to_thread(crew.kill_one, chance)


async def _judge(
    platform: Platform, counting: Counting, ids: list[str], workers: int, kills: int, seconds: float
) -> Outcome:
    statuses: Counter[str] = Counter()
    again = missing = 0
    by_node: Counter[str] = Counter()
    for (path, _), count in counting.calls.items():
        by_node[path] += count
    for run_id in ids:
        statuses[(await platform.store.runs.get(run_id)).status] += 1
        attempts: Counter[str] = Counter()
        successes: Counter[str] = Counter()
        for event in await platform.store.events.read(run_id):
            if event.type == "node.started" and event.path.startswith("n"):
                attempts[event.path] += 1
                again += bool(successes[event.path])
            successes[event.path] += event.type == "node.succeeded"
        for n in range(3):
            calls = by_node[f"/{run_id}/n{n}"]
            missing += calls == 0
            again += (successes[f"n{n}"] != 1) + (calls > attempts[f"n{n}"])
    calls = sum(by_node.values())
    return Outcome(
        runs=len(ids), workers=workers, kills=kills, seconds=seconds, statuses=statuses, calls=calls,
        repeated=calls - 3 * len(ids), again=again, missing=missing,
    )  # fmt: skip
