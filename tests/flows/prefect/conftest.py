"""One real Prefect server for the whole folder, in a thread whose loop lives as long as the session."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pytest

from interlace.flows.prefect import EmbeddedPrefect, Host, Outcome, PrefectApi, PrefectConnection
from interlace.flows.prefect.settings import VERSION

T = TypeVar("T")
Body = Callable[[str, Mapping[str, Any]], Awaitable[Outcome]]


def copy_database(source: Path, home: Path) -> None:
    """Give a home a copy of a Prefect database, in use or not."""
    (home / "prefect").mkdir(parents=True)
    read, write = (
        sqlite3.connect(f"file:{source}?mode=ro", uri=True),
        sqlite3.connect(home / "prefect" / "prefect.db"),
    )
    read.backup(write)
    read.close()
    write.close()


def give_migrated(cache: pytest.Cache, home: Path) -> None:
    """Give a home the migrated database of an earlier session: half of a first start goes into Prefect's migrations."""
    kept = _kept(cache)
    if kept.exists():
        copy_database(kept, home)


def keep_migrated(cache: pytest.Cache, home: Path) -> None:
    """Keep the database of a server that has just started for the next one; done where there is one already."""
    kept = _kept(cache)
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=kept.parent) as draft:
            copy_database(home / "prefect" / "prefect.db", Path(draft))
            (Path(draft) / "prefect" / "prefect.db").replace(kept)


def _kept(cache: pytest.Cache) -> Path:
    return cache.mkdir("prefect") / f"{VERSION}.db"


class Served:
    """The shared server, driven from any loop."""

    def __init__(self, home: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.prefect = EmbeddedPrefect(home, auth="interlace:of-these-tests")

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(100)

    @property
    def connection(self) -> PrefectConnection:
        return self.prefect.connection

    def close(self) -> None:
        self.call(self.prefect.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("prefect-home"))
    assert request.config.cache is not None
    give_migrated(request.config.cache, served.prefect.home)
    with pytest.MonkeyPatch.context() as patch:
        # What a user's shell may say must not reach the child.
        patch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
        patch.setenv(
            "PREFECT_SERVER_DATABASE_CONNECTION_URL", "sqlite+aiosqlite:////nonexistent/elsewhere.db"
        )
        patch.setenv("INTERLACE_SECRETS_TOKEN", "not-for-prefect")
        served.call(served.prefect.start())
    keep_migrated(request.config.cache, served.prefect.home)
    yield served
    served.close()


@pytest.fixture
def connection(served: Served) -> PrefectConnection:
    return served.connection


@pytest.fixture
async def api(connection: PrefectConnection) -> AsyncIterator[PrefectApi]:
    async with PrefectApi(connection) as api:
        yield api


async def _eventually(look: Callable[[], Awaitable[T | None]], seconds: float = 20.0) -> T:
    """Look at another process until it shows something."""
    end = time.monotonic() + seconds
    while True:
        seen = await look()
        if seen:
            return seen
        assert time.monotonic() < end, f"nothing was seen in {seconds} s"
        await asyncio.sleep(0.02)


async def _state_of(api: PrefectApi, flow_run_id: str, *names: str, seconds: float = 20.0) -> dict[str, Any]:
    """Wait until a flow run is in one of the named states; the flow run."""

    async def look() -> dict[str, Any] | None:
        found: dict[str, Any] = await api.get(f"/flow_runs/{flow_run_id}")
        return found if found["state_name"] in names else None

    return await _eventually(look, seconds)


@pytest.fixture
def eventually() -> Any:
    return _eventually


@pytest.fixture
def state_of() -> Any:
    return _state_of


@pytest.fixture
def migrated(served: Served) -> Any:
    """Give a home a migrated database."""
    return lambda home: copy_database(served.prefect.home / "prefect" / "prefect.db", home)


class Engine:
    """Runs with leases in memory, whose work the test gives: the engine's contract, without an engine."""

    def __init__(self, body: Body | None = None) -> None:
        self.body = body
        self.leases: set[str] = set()
        self.over: set[str] = set()
        self.cancelled: dict[str, asyncio.Event] = {}
        self.started: list[str] = []
        self.threads: set[str] = set()
        self.inputs: dict[str, Mapping[str, Any]] = {}
        self.waiting: set[str] = set()
        self.shown_as: dict[str, str] = {}
        self.ended: dict[str, Outcome] = {}
        self.ends_meanwhile: dict[str, Outcome] = {}
        self.refuse = False
        self.running = 0
        self.most = 0

    async def adopt(self, flow_run_id: str, workflow_id: str, inputs: Mapping[str, Any]) -> str | None:
        return None if self.refuse else f"adopted-{workflow_id}-{flow_run_id}"

    async def claim(self, flow_run_id: str, run_id: str) -> bool:
        if run_id in self.leases or run_id in self.over:
            return False
        self.leases.add(run_id)
        return True

    async def release(self, flow_run_id: str, run_id: str) -> None:
        self.leases.discard(run_id)

    async def execute(self, run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        self.threads.add(threading.current_thread().name)
        self.started.append(run_id)
        self.inputs[run_id] = inputs
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            outcome = (
                await self.body(run_id, inputs) if self.body else Outcome(state="succeeded", message="done")
            )
        finally:
            self.running -= 1
            self.leases.discard(run_id)
        if outcome.state in {"succeeded", "failed", "cancelled"}:
            self.over.add(run_id)
        return outcome

    async def shown(self, run_id: str, outcome: Outcome) -> None:
        self.shown_as[run_id] = outcome.state

    async def parked(self, flow_run_id: str, run_id: str) -> bool:
        return run_id in self.waiting

    async def cancel(self, run_id: str) -> None:
        self.event(run_id).set()
        if run_id not in self.leases:
            self.over.add(run_id)

    async def is_alive(self, run_id: str) -> bool:
        return run_id in self.leases

    async def standing(self, run_id: str) -> Outcome | None:
        if run_id in self.leases:
            return None
        found = self.ended.get(run_id, Outcome(state="interrupted", message="Its host is gone."))
        if run_id in self.ends_meanwhile:
            self.ended[run_id] = self.ends_meanwhile.pop(run_id)
            self.over.add(run_id)
        return found

    def event(self, run_id: str) -> asyncio.Event:
        return self.cancelled.setdefault(run_id, asyncio.Event())

    async def until_cancelled(self, run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        await self.event(run_id).wait()
        return Outcome(state="cancelled", message="on request")


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
async def host(connection: PrefectConnection, engine: Engine) -> AsyncIterator[Host]:
    host = Host(connection, f"pool-{uuid4().hex[:8]}", engine, limit=8, poll_seconds=2)
    await host.start()
    await host.ready()
    await host.ensure_deployment(
        "wf", "Orders", {"type": "object", "properties": {"n": {"type": "integer"}}}, ["daily"]
    )
    yield host
    await host.stop(grace=5)
