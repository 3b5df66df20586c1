"""Machines that are cut off, stopped, or whose clocks are wrong: one owner a run, whatever they believe."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from sqlalchemy import select

from interlace.engine.clock import SystemClock
from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.store import Store
from interlace.store.clock import DatabaseClock
from interlace.store.run_row import NewRun
from interlace.store.statements import Now
from tests.flows.documents import chain, http, template
from tests.loopback import Loopback
from tests.machines.cluster import Cluster, eventually, free_port


async def start(platform: Platform, document: str) -> str:
    pinned = await platform.documents.from_text(document)
    return (await platform.runner.create(pinned, Request()))[0]


async def succeeded(platform: Platform, run_id: str) -> None:
    result = await platform.runner.wait(run_id, 60)
    assert result is not None
    assert result.status == "succeeded", result.error


async def one_success_a_node(platform: Platform, run_id: str) -> None:
    events = await platform.store.events.read(run_id, limit=1000)
    done = [event.path for event in events if event.type == "node.succeeded"]
    assert len(done) == len(set(done))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


async def epoch(platform: Platform, run_id: str) -> int:
    return (await platform.store.runs.get(run_id)).lease_epoch


async def test_a_worker_stopped_beyond_its_lease_cannot_commit_when_it_comes_back(
    cluster: Cluster, loopback: Loopback
) -> None:
    first = await cluster.worker()
    platform = await cluster.platform()
    document = chain({**http("call", f"{loopback.url}/hold", effects="idempotent")}, template("t", "x"))
    run_id = await start(platform, document)
    await asyncio.to_thread(loopback.wait_for, "/hold")
    before = await epoch(platform, run_id)
    cluster.send(first, signal.SIGSTOP)
    await cluster.worker()

    async def taken_over() -> bool:
        return await epoch(platform, run_id) > before

    await eventually(taken_over, 45)
    loopback.release.set()
    await succeeded(platform, run_id)
    cluster.send(first, signal.SIGCONT)
    await cluster.ready(first, "another process owns the run now")
    await one_success_a_node(platform, run_id)
    await platform.close()


@contextlib.contextmanager
def namespace(cluster: Cluster) -> Iterator[Network]:
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need `ip` (Debian: iproute2)")
    made = Network(f"il{os.getpid() % 100000}", os.getpid() % 250)
    try:
        made.build()
    except subprocess.CalledProcessError as error:
        made.remove()
        pytest.skip(f"network namespaces are not permitted here: {error.stderr.decode().strip()}")
    try:
        yield made
    finally:
        cluster.end()
        made.remove()


class Network:
    """A machine of its own: a namespace behind a virtual cable, with relays to services of this machine's loopback."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.here, self.there = f"10.77.{number}.1", f"10.77.{number}.2"
        self.inside = ("ip", "netns", "exec", name)

    def build(self) -> None:
        out, inner = f"{self.name}a", f"{self.name}b"
        _ip("netns", "add", self.name)
        _ip("link", "add", out, "type", "veth", "peer", "name", inner, "netns", self.name)
        _ip("addr", "add", f"{self.here}/24", "dev", out)
        _ip("link", "set", out, "up")
        for words in (("addr", "add", f"{self.there}/24", "dev", inner), ("link", "set", inner, "up"), ("link", "set", "lo", "up")):  # fmt: skip
            _ip("-n", self.name, *words)

    def remove(self) -> None:
        for words in (("netns", "del", self.name), ("link", "del", f"{self.name}a")):
            subprocess.run(["ip", *words], check=False, capture_output=True)

    def cut(self, address: str) -> None:
        """Let nothing pass to an address and back, without a word to either side."""
        _ip("-n", self.name, "route", "add", "blackhole", f"{address}/32")

    def mend(self, address: str) -> None:
        _ip("-n", self.name, "route", "del", "blackhole", f"{address}/32")

    def second_address(self) -> str:
        """Another address of this machine, to be cut off by itself."""
        address = self.here.removesuffix(".1") + ".9"
        _ip("addr", "add", f"{address}/24", "dev", f"{self.name}a")
        return address


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Relay:
    """Passes connections to an address of the cable on to a port of loopback."""

    def __init__(self, address: str, port: int, to: int) -> None:
        self.address, self.port, self._to = address, port, to
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._pass_on, self.address, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, out = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.close()
            return
        for source, target in ((reader, out), (back, writer)):
            task = asyncio.create_task(_copy(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
    finally:
        target.transport.abort()


async def test_a_worker_cut_off_from_the_database_loses_its_run_to_another(
    cluster: Cluster, loopback: Loopback
) -> None:
    with namespace(cluster) as network:
        port = loopback.server.server_port
        async with (
            Relay(network.here, free_port(), 5432) as database,
            Relay(network.second_address(), port, port) as outside,
        ):
            assert cluster.url is not None
            far = cluster.url.replace("127.0.0.1:5432", f"{database.address}:{database.port}")
            first = await cluster.worker(before=network.inside, INTERLACE_DATABASE_URL=far, INTERLACE_HTTP_ALLOW="10.77.0.0/16,127.0.0.1/32")  # fmt: skip
            platform = await cluster.platform()
            url = f"http://{outside.address}:{port}/hold"
            run_id = await start(platform, chain(http("call", url, effects="idempotent"), template("t", "x")))
            await asyncio.to_thread(loopback.wait_for, "/hold")
            before = await epoch(platform, run_id)
            network.cut(database.address)
            await cluster.worker(INTERLACE_HTTP_ALLOW="10.77.0.0/16")

            async def taken_over() -> bool:
                return await epoch(platform, run_id) > before

            await eventually(taken_over, 45)
            loopback.release.set()  # the first gets its answer as well, and cannot record it
            await succeeded(platform, run_id)
            network.mend(database.address)

            async def stopped() -> bool:
                log = cluster.log(first)
                return "another process owns the run now" in log or "the run stopped in this process" in log

            await eventually(stopped, 60)
            await one_success_a_node(platform, run_id)
            await platform.close()


async def test_a_worker_cut_off_from_prefect_goes_on(cluster: Cluster, loopback: Loopback) -> None:
    with namespace(cluster) as network:
        port = loopback.server.server_port
        relays = [Relay(network.here, 0, 5432), Relay(network.here, port, port)]
        async with relays[0] as database, relays[1]:
            assert cluster.url is not None
            far = cluster.url.replace("127.0.0.1:5432", f"{network.here}:{database.port}")
            nowhere = network.here.removesuffix(".1") + ".77"
            network.cut(nowhere)
            await cluster.worker(
                before=network.inside, INTERLACE_DATABASE_URL=far, INTERLACE_HTTP_ALLOW="10.77.0.0/16",
                INTERLACE_PREFECT="external", INTERLACE_PREFECT_API_URL=f"http://{nowhere}:4200/api",
            )  # fmt: skip
            platform = await cluster.platform()
            loopback.release.set()
            run_id = await start(platform, chain(http("call", f"http://{network.here}:{port}/once")))
            await succeeded(platform, run_id)
            assert loopback.seen["/once"] == 1
            await platform.close()


async def database_time(platform: Platform) -> float:
    """What PostgreSQL says: the only clock that counts, however long anything here takes."""
    row = await platform.store.database.first(select(Now().label("now")))
    assert row is not None
    return float(row.now)


class Skewed(SystemClock):
    """A machine whose clock is wrong by hours."""

    def __init__(self, hours: float) -> None:
        self.hours = hours

    def now(self) -> float:
        return time.time() + self.hours * 3600


@pytest.mark.parametrize("hours", [-5.0, 5.0])
async def test_machines_of_one_database_go_by_its_clock(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, hours: float
) -> None:
    platform = await cluster.platform()
    real = time.time
    earlier = await start(platform, chain(template("t", "x")))
    monkeypatch.setattr(time, "time", lambda: real() + hours * 3600)
    monkeypatch.setattr(time, "time_ns", lambda: int((real() + hours * 3600) * 1e9))
    wrong = await cluster.platform(pools=["interlace"])
    assert isinstance(wrong.runner.clock, DatabaseClock)
    before = await database_time(platform)
    assert abs(wrong.runner.clock.now() - before) < 60
    run_id = await start(wrong, chain({**template("t", "x"), "wait": {"for": "1h"}}))
    await take_over(wrong.store, wrong.runner)
    await wrong.runner.turn(run_id)
    await wrong.waits.look()
    run = await platform.store.runs.get(run_id)
    assert run.status == "suspended", "an hour is an hour"
    assert earlier < run_id < await start(platform, chain(template("t", "x"))), "queues go by their ids"
    after = await database_time(platform) + 1
    assert before - 1 < run.created_at < after
    [wait] = await platform.store.waits.of_run(run_id)
    assert wait.until is not None
    assert before - 1 < wait.until - 3600 < after
    monkeypatch.undo()
    await wrong.close()
    await platform.close()


async def test_a_lease_from_before_the_clock_was_set_back_is_nobodys(tmp_path: Path) -> None:
    """SQLite goes by the machine's clock: one that was hours ahead leaves leases that would never run out."""
    store = await Store.open(None, tmp_path / "home")
    created = await store.runs.create(
        NewRun(name="x", document="{}", lease_owner="gone:1:::", lease_seconds=5 * 3600)
    )
    assert [run.id for run in await store.runs.unfinished()] == [created.run_id]
    assert await store.runs.claim(created.run_id, "me", 15) == 2
    assert await store.runs.claim(created.run_id, "other", 15) is None
    await store.close()


async def test_whoever_looks_with_a_wrong_clock_sees_the_lease_as_it_is(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from interlace.flows.hosted import HostedRuns

    platform: Any = await Platform.open(settings, clock=Skewed(5))
    created = await platform.store.runs.create(
        NewRun(name="x", document="{}", lease_owner="it", trigger={"via": "pool"})
    )
    assert await HostedRuns(platform).is_alive(created.run_id)
    await platform.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", prefect="off")
