"""Two processes share a home: killed at random, stopped and continued, they never do one thing twice."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter as Tally
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlace.flows.request import Request
from tests.crash.counter import Counter
from tests.crash.homes import make_home, postgres_database
from tests.crash.matrix import called_as, faults_of
from tests.crash.workers import Workers, accepting, unfinished, until
from tests.flows.documents import chain, http

pytestmark = pytest.mark.timeout(600)
SEED = 7
_IN_HAND = 4
"""Runs that wait or work at the same time."""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.param == "sqlite":
        yield None
        return
    server: str = request.getfixturevalue("postgres")
    with postgres_database(server, f"interlace_workers_{os.getpid()}") as found:
        yield found


@pytest.mark.parametrize(
    "seconds", [pytest.param(8, id="short"), pytest.param(120, id="long", marks=pytest.mark.slow)]
)
async def test_random_kills(url: str | None, seconds: float, tmp_path: Path, counter: Counter) -> None:
    home = await make_home(tmp_path / "shared", url)
    chance, kills, keys = random.Random(SEED), 0, []
    workers = Workers(home, tmp_path, counter.models)
    kind = f"{'sqlite' if url is None else 'postgres'}{seconds}"
    try:
        async with accepting(home) as platform:
            pinned = await platform.documents.stored("crash-everything", "published", owner="local")
            workers.begin(0), workers.begin(1)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                while unfinished(home) < _IN_HAND:
                    keys.append(f"{kind}-{len(keys)}")
                    inputs = {
                        "base": counter.base(keys[-1]),
                        "database": f"sqlite:///{home.outside}/out.db",
                    }
                    await platform.runner.create(pinned, Request(inputs=inputs, idempotency_key=keys[-1]))
                time.sleep(chance.uniform(0.2, 1.0))
                which = chance.randrange(2)
                workers.kill(which)
                kills += 1
                workers.begin(which)
        until(lambda: unfinished(home) == 0, 90, "a run is stuck")
        assert [workers.end(which) for which in range(2)] == [0, 0]
    finally:
        workers.close()
    print(f"{len(keys)} runs, {kills} kills")
    outputs = set()
    for key in keys:
        runs, events = home.runs(key), home.events(key)
        statuses = sorted((run["name"], run["status"]) for run in runs.values())
        assert statuses == [("crash-child", "succeeded"), ("crash-everything", "succeeded")], statuses
        assert faults_of(events) == []
        outputs.add(next(run["outputs"] for run in runs.values() if run["name"] == "crash-everything"))
        attempts = Tally(called_as(event.path) for event in events if event.type == "node.started")
        assert {
            name: count for name, count in counter.counts(key).items() if not 1 <= count <= attempts[name]
        } == {}
    assert len(outputs) == 1


async def test_one_that_was_stopped_beyond_its_lease_commits_nothing(
    url: str | None, tmp_path: Path, counter: Counter
) -> None:
    case = "stopped-sqlite" if url is None else "stopped-postgres"
    base = counter.base(case)
    text = chain(
        http("first", f"{base}/first"), http("held", f"{base}/hold", method="PUT"), http("last", f"{base}/last"),
        name="stopped", outputs={"name": "{{ held.body.name }}"},
    )  # fmt: skip
    home = await make_home(tmp_path / "shared", url, text)
    workers = Workers(home, tmp_path)
    counter.release.clear()
    try:
        async with accepting(home) as platform:
            pinned = await platform.documents.stored("stopped", "published", owner="local")
            await platform.runner.create(pinned, Request(idempotency_key=case))
        stopped = workers.begin(0, lease=2.0)
        counter.wait_for(case, "hold")
        os.kill(stopped, signal.SIGSTOP)
        workers.begin(1, lease=2.0)
        counter.wait_for(case, "hold", 2)  # the lease has run out and the other one goes on
        counter.release.set()
        until(lambda: unfinished(home) == 0, 30, "the run is stuck")
        before = home.events(case)
        os.kill(stopped, signal.SIGCONT)
        assert [workers.end(which) for which in range(2)] == [0, 0]
    finally:
        counter.release.set()
        workers.close()
    assert home.events(case) == before
    assert faults_of(before) == []
    assert counter.counts(case) == {"first": 1, "hold": 2, "last": 1}
    (run_id,) = home.runs(case)
    assert counter.keys[case]["hold"] == [f"{run_id}:held"] * 2
    assert "another process owns the run now" in (tmp_path / "log0").read_text()
