"""Variables of `scope: workflow` under kills: no change is lost, and none is made twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlace.flows.request import Request
from tests.crash.child import Case
from tests.crash.faults import POINTS
from tests.crash.forks import Forks, result_of
from tests.crash.homes import Home, make_home, postgres_database
from tests.crash.matrix import KILLED, faults_of
from tests.crash.workers import Workers, accepting, unfinished, until
from tests.flows.documents import chain, template

pytestmark = pytest.mark.timeout(600)
ADDED = 6
"""What one run adds to `n`."""
SEED = 11


def _add(node: str, **more: Any) -> dict[str, Any]:
    changes = [
        {"variable": "n", "op": "increment"},
        {"variable": "seen", "op": "append", "value": "{{ run.id }}"},
    ]
    return {"id": node, "type": "VARIABLE_ASSIGN", **more, "config": {"assignments": changes}}


def counting() -> str:
    """Adds 6: twice at once in quick nodes, once as a task, three times in rounds; beside it something waits for time."""
    rounds = {
        "id": "rounds", "type": "LOOP", "config": {"variables": {"k": 0}, "while": "k < 3", "max_rounds": 5},
        "body": {
            "nodes": [_add("inside"), {"id": "inc", "type": "VARIABLE_ASSIGN", "config": {"assignments": [{"variable": "k", "op": "increment"}]}}],
            "edges": ["inside -> inc"],
        },
    }  # fmt: skip
    return chain(
        _add("first"), template("between", "{{ vars.n }}"), _add("second"), _add("task", timeout=60), rounds,
        name="counting", outputs={"n": "{{ vars.n - vars.n }}"},
        variables={
            "n": {"type": "integer", "default": 0, "scope": "workflow"},
            "seen": {"type": "array", "default": [], "scope": "workflow"},
        },
    )  # fmt: skip


def kept(home: Home) -> dict[str, Any]:
    return {name: json.loads(value) for name, value in home.rows("SELECT name, value FROM variables")}


@pytest.fixture(params=["sqlite", "postgresql"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    if request.param == "sqlite":
        yield asyncio.run(make_home(tmp_path / "home", None, counting()))
        return
    server: str = request.getfixturevalue("postgres")
    with postgres_database(server, f"interlace_kept_{os.getpid()}") as url:
        yield asyncio.run(make_home(tmp_path / "home", url, counting()))


@pytest.mark.parametrize(
    "step", [pytest.param(6, id="some"), pytest.param(1, id="every", marks=pytest.mark.slow)]
)
def test_killed_at_its_events_a_run_adds_what_it_adds(home: Home, tmp_path: Path, step: int) -> None:
    """One run a kill, in one home: whatever was lost or doubled stays visible to the end."""

    def case(key: str, part: str, **more: Any) -> Case:
        return Case(
            home=str(home.path), database_url=home.url, workflow="counting", inputs={}, key=key,
            result=str(tmp_path / f"{key}-{part}"), **more,
        )  # fmt: skip

    with Forks(tmp_path / "log") as forks:
        warm = case("warm", "0", fork=False)
        assert forks.run(warm) == 0
        writes, keys, kills = result_of(warm)["writes"], ["warm"], 0
        for point in POINTS:
            for number in range(1 + POINTS.index(point), writes + 1, step):
                keys.append(f"{point}{number}")
                kills += forks.run(case(keys[-1], "0", die_at=number, point=point)) == KILLED
                assert forks.run(case(keys[-1], "1")) == 0
                assert kept(home)["n"] == ADDED * len(keys), keys[-1]
    print(f"{kills} kills in {len(keys)} runs of {writes} events")
    assert kills >= len(keys) - 6
    runs = {run["id"]: run for key in keys for run in home.runs(key).values()}
    assert {run["status"] for run in runs.values()} == {"succeeded"}
    assert sorted(kept(home)["seen"]) == sorted([*runs] * ADDED)
    assert [fault for key in keys for fault in faults_of(home.events(key))] == []


@pytest.mark.parametrize(
    ("count", "kills"),
    [pytest.param(24, 4, id="short"), pytest.param(600, 60, id="long", marks=pytest.mark.slow)],
)
async def test_two_processes_count_exactly_while_they_are_killed(
    home: Home, tmp_path: Path, count: int, kills: int
) -> None:
    workers, chance = Workers(home, tmp_path), random.Random(SEED)
    try:
        async with accepting(home) as platform:
            pinned = await platform.documents.stored("counting", "published", owner="local")
            workers.begin(0), workers.begin(1)
            for number in range(count):
                await platform.runner.create(pinned, Request(idempotency_key=f"run{number}"))
                if number % (count // kills) == 0:
                    which = chance.randrange(2)
                    time.sleep(chance.uniform(0.05, 0.3))
                    workers.kill(which)
                    workers.begin(which)
        until(lambda: unfinished(home) == 0, 120, "a run is stuck")
        assert [workers.end(which) for which in range(2)] == [0, 0]
    finally:
        workers.close()
    assert kept(home)["n"] == ADDED * count
    assert len(kept(home)["seen"]) == ADDED * count
    ((status, number),) = home.rows("SELECT status, count(*) FROM runs GROUP BY status")
    assert (status, number) == ("succeeded", count)
