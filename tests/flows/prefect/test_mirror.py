"""Ended runs in Prefect, read back through its own API."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from interlace.flows.prefect import (
    LogLine,
    Mark,
    Mirror,
    MirrorRates,
    NodeRecord,
    PrefectApi,
    PrefectConnection,
    PrefectUnavailable,
    RunRecord,
)
from interlace.flows.prefect.connection import PrefectRefused
from interlace.flows.prefect.records import RunState
from interlace.flows.prefect.wire import SentRun
from interlace.flows.prefect.writers import PublicWriter

ALL = MirrorRates(full_per_minute=10_000)
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
STATES: dict[RunState, tuple[str, str]] = {
    "succeeded": ("COMPLETED", "Completed"),
    "failed": ("FAILED", "Failed"),
    "cancelled": ("CANCELLED", "Cancelled"),
    "suspended": ("PAUSED", "Suspended"),
    "running": ("RUNNING", "Running"),
}


class Journal:
    """A journal in memory: what is pending until it is marked in its present state."""

    def __init__(self, runs: Sequence[RunRecord]) -> None:
        self.runs = {run.run_id: run for run in runs}
        self.marks: dict[str, Mark] = {}

    async def pending(self, limit: int) -> list[RunRecord]:
        waiting = [
            run
            for run in self.runs.values()
            if run.run_id not in self.marks or self.marks[run.run_id].state != run.state
        ]
        return waiting[:limit]

    async def recorded(self, marks: Sequence[Mark]) -> None:
        self.marks |= {mark.run_id: mark for mark in marks}


def ended(state: RunState = "succeeded", *, workflow: str = "Orders", **changes: Any) -> RunRecord:
    """A run of a diamond with a loop body: fetch → (a, b) → join → each[0].work."""
    at = [START + timedelta(milliseconds=10 * step) for step in range(8)]

    def node(path: str, step: int, *upstream: str, **more: Any) -> NodeRecord:
        values = {
            "kind": "HTTP",
            "state": "succeeded",
            "started_at": at[step],
            "finished_at": at[step + 1],
            **more,
        }
        return NodeRecord(path=path, name=path.rpartition(".")[2], upstream=upstream, **values)

    nodes = (
        node("fetch", 0),
        node("a", 1, "fetch"),
        node("b", 1, "fetch", state="skipped", started_at=None, finished_at=None),
        node("join", 2, "a", "b"),
        node("each", 3, "join", kind="ITERATION"),
        node("each[0].work", 3, kind="CODE", state="failed", message="boom"),
        node("never", 4, "each", state="not_reached", started_at=None, finished_at=None),
    )
    record = RunRecord(
        run_id=f"run_{uuid4().hex}",
        workflow_id=f"wf-{workflow}",
        workflow_name=workflow,
        state=state,
        started_at=START,
        finished_at=None if state in {"running", "suspended"} else at[7],
        parameters={"customer": 7},
        tags=("team-a",),
        message=f"it {state}",
        nodes=nodes,
        logs=(
            LogLine(at=at[1], message="got 3 rows", path="fetch"),
            LogLine(at=at[2], message="odd", level=30),
        ),
    )
    return replace(record, **changes)


async def record(connection: PrefectConnection, journal: Journal, rates: MirrorRates = ALL) -> None:
    mirror = Mirror(connection, journal, rates=rates)
    await mirror.flush()
    await mirror.stop()


async def graph(api: PrefectApi, flow_run_id: str) -> dict[str, dict[str, Any]]:
    nodes = dict((await api.get(f"/flow_runs/{flow_run_id}/graph-v2"))["nodes"])
    names = {key: node["label"] for key, node in nodes.items()}
    return {
        node["label"]: {
            "state": node["state_type"],
            # Prefect's query names a parent once for each of the parent's own edges.
            "parents": sorted({names[parent["id"]] for parent in node["parents"]}),
            "inside": [names[body["id"]] for body in node["encapsulating"]],
        }
        for node in nodes.values()
    }


EDGES = {
    "fetch": {"state": "COMPLETED", "parents": [], "inside": []},
    "a": {"state": "COMPLETED", "parents": ["fetch"], "inside": []},
    "b": {"state": "COMPLETED", "parents": ["fetch"], "inside": []},
    "join": {"state": "COMPLETED", "parents": ["a", "b"], "inside": []},
    "each": {"state": "COMPLETED", "parents": ["join"], "inside": []},
    "work": {"state": "FAILED", "parents": [], "inside": ["each"]},
}


async def test_200_runs_show_as_they_were(connection: PrefectConnection, api: PrefectApi) -> None:
    states = list(STATES)
    runs = [ended(states[i % 5], workflow=f"Mirror {i % 3}") for i in range(200)]
    journal = Journal(runs)
    mirror = Mirror(connection, journal, rates=ALL)
    assert await mirror.flush() == 200
    await mirror.stop()
    assert {mark.fate for mark in journal.marks.values()} == {"recorded"}
    shown = {
        flow_run["idempotency_key"]: flow_run
        for flow_run in await api.post(
            "/flow_runs/filter",
            {"flow_runs": {"id": {"any_": [m.flow_run_id for m in journal.marks.values()]}}},
        )
    }
    assert len(shown) == 200
    for run in runs:
        flow_run = shown[run.run_id]
        assert (flow_run["state_type"], flow_run["state_name"]) == STATES[run.state]
        assert flow_run["name"] == f"{run.workflow_name} {run.run_id[-8:]}"
        assert set(flow_run["tags"]) == {"interlace", "recorded", "team-a"}
        assert flow_run["parameters"] == {
            "run_id": run.run_id,
            "workflow_id": run.workflow_id,
            "inputs": {"customer": 7},
        }
        assert datetime.fromisoformat(flow_run["start_time"]) == START
        assert flow_run["work_pool_name"] == "interlace"
        ended_at = flow_run["end_time"] and datetime.fromisoformat(flow_run["end_time"])
        assert ended_at == run.finished_at
    sample = runs[1]
    flow_run = shown[sample.run_id]
    assert flow_run["state"]["message"] == "it failed"
    assert flow_run["total_run_time"] == pytest.approx(0.07)
    assert await graph(api, flow_run["id"]) == EDGES
    logs = await api.post("/logs/filter", {"logs": {"flow_run_id": {"any_": [flow_run["id"]]}}})
    assert [(line["message"], line["level"]) for line in logs] == [("got 3 rows", 20), ("odd", 30)]
    history = await api.get(f"/flow_run_states/?flow_run_id={flow_run['id']}")
    assert sorted(state["type"] for state in history) == ["FAILED", "RUNNING"]


async def test_task_runs_are_labelled_as_recorded(connection: PrefectConnection, api: PrefectApi) -> None:
    journal = Journal([ended()])
    await record(connection, journal, ALL)
    key = next(iter(journal.marks.values())).flow_run_id
    tasks = await api.post("/task_runs/filter", {"task_runs": {"flow_run_id": {"any_": [key]}}})
    by_path = {task["dynamic_key"]: task for task in tasks}
    assert set(by_path) == {"fetch", "a", "b", "join", "each", "each[0].work"}
    assert by_path["b"]["state_name"] == "Skipped"
    assert by_path["each[0].work"]["state"]["message"] == "boom"
    assert set(by_path["fetch"]["tags"]) == {"recorded", "HTTP"}
    assert datetime.fromisoformat(by_path["a"]["end_time"]) - START == timedelta(milliseconds=20)


async def test_a_run_recorded_while_it_ran_is_moved_to_its_end(
    connection: PrefectConnection, api: PrefectApi
) -> None:
    running = ended("running", nodes=(), logs=())
    journal = Journal([running])
    mirror = Mirror(connection, journal, rates=ALL)
    await mirror.flush()
    first = journal.marks[running.run_id].flow_run_id
    end = ended("succeeded", run_id=running.run_id, flow_run_id=first)
    journal.runs[running.run_id] = end
    await mirror.flush()
    await mirror.stop()
    assert journal.marks[running.run_id].flow_run_id == first
    flow_run = await api.get(f"/flow_runs/{first}")
    assert flow_run["state_type"] == "COMPLETED"
    assert flow_run["total_run_time"] == pytest.approx(0.07)
    assert await graph(api, str(first)) == EDGES


@pytest.mark.parametrize("way", ["endpoint", "public"])
async def test_recording_twice_changes_nothing(
    connection: PrefectConnection, api: PrefectApi, way: str, eventually: Any
) -> None:
    run = ended("failed")
    keys = []
    for _ in range(2):
        journal = Journal([run])
        mirror = Mirror(connection, journal, rates=ALL)
        if way == "public":
            mirror._writer = PublicWriter(api)
        await mirror.flush()
        await mirror.stop()
        keys.append(journal.marks[run.run_id].flow_run_id)
    assert keys[0] == keys[1]

    async def edges() -> bool:
        return await graph(api, str(keys[0])) == EDGES

    assert await eventually(edges)


async def test_a_server_that_is_not_ours(
    connection: PrefectConnection, api: PrefectApi, eventually: Any
) -> None:
    runs = [ended(state, workflow="Public") for state in STATES]
    journal = Journal(runs)
    mirror = Mirror(connection, journal, rates=ALL)
    mirror._writer = PublicWriter(api)
    await mirror.flush()
    await mirror.stop()
    for run in runs:
        flow_run = await api.get(f"/flow_runs/{journal.marks[run.run_id].flow_run_id}")
        assert (flow_run["state_type"], flow_run["state_name"]) == STATES[run.state]
        assert flow_run["labels"]["interlace.started_at"] == START.isoformat()
        assert flow_run["name"] == f"Public {run.run_id[-8:]}"
    failed = str(journal.marks[runs[1].run_id].flow_run_id)

    async def edges() -> bool:
        return await graph(api, failed) == EDGES

    assert await eventually(edges)
    logs = await api.post("/logs/filter", {"logs": {"flow_run_id": {"any_": [failed]}}})
    assert [line["message"] for line in logs] == ["got 3 rows", "odd"]


async def test_a_record_that_cannot_be_sent_keeps_no_other_out(connection: PrefectConnection) -> None:
    good, bad = [ended() for _ in range(6)], ended(message="half a pair: \ud83d")
    journal = Journal([*good[:3], bad, *good[3:]])
    await record(connection, journal, ALL)
    fates = {run_id: mark.fate for run_id, mark in journal.marks.items()}
    assert fates == {**{run.run_id: "recorded" for run in good}, bad.run_id: "refused"}
    assert "not JSON" in str(journal.marks[bad.run_id].reason)


class Stumbling(PublicWriter):
    """The real writer, at a server that stumbles over one run for the first few times."""

    def __init__(self, api: PrefectApi, run_id: str, times: int) -> None:
        super().__init__(api)
        self._run_id, self._times = run_id, times

    async def write(self, runs: Sequence[SentRun]) -> list[str]:
        if self._times and any(run.run_id == self._run_id for run in runs):
            self._times -= 1
            raise PrefectRefused(
                "Prefect refused POST '/flow_runs/' with HTTP 500: database is locked", status=500
            )
        return await super().write(runs)


@pytest.mark.parametrize(("times", "fate"), [(4, "recorded"), (100, "refused")])
async def test_an_error_of_the_server_is_believed_after_some_tries(
    connection: PrefectConnection, api: PrefectApi, times: int, fate: str
) -> None:
    good, odd = ended(), ended()
    journal = Journal([good, odd])
    mirror = Mirror(connection, journal, rates=ALL)
    mirror._writer = Stumbling(api, odd.run_id, times)
    await mirror._round()
    assert {run_id: mark.fate for run_id, mark in journal.marks.items()} == {good.run_id: "recorded"}
    while len(journal.marks) < 2:
        await mirror._round()
    await mirror.stop()
    assert journal.marks[odd.run_id].fate == fate


@pytest.mark.parametrize(
    ("inputs", "note"), [({"text": "x" * 70_000}, "70011 bytes"), ({"text": "\ud83d"}, "not JSON")]
)
async def test_large_or_odd_inputs_become_a_note(
    connection: PrefectConnection, api: PrefectApi, inputs: dict[str, Any], note: str
) -> None:
    run = ended(parameters=inputs)
    journal = Journal([run])
    await record(connection, journal, ALL)
    flow_run = await api.get(f"/flow_runs/{journal.marks[run.run_id].flow_run_id}")
    assert flow_run["parameters"]["inputs"] == {
        "$omitted": f"{note}; kept in Interlace, see run {run.run_id}"
    }


async def test_names_prefect_forbids(connection: PrefectConnection, api: PrefectApi) -> None:
    run = ended(workflow="R&D/nightly <50%>")
    journal = Journal([run])
    await record(connection, journal, ALL)
    flow_run = await api.get(f"/flow_runs/{journal.marks[run.run_id].flow_run_id}")
    flow = await api.get(f"/flows/{flow_run['flow_id']}")
    assert flow["name"] == "R-D-nightly -50--"


async def test_above_its_rates_it_records_less(connection: PrefectConnection, api: PrefectApi) -> None:
    runs = [ended() for _ in range(12)] + [ended("failed")]
    journal = Journal(runs)
    rates = MirrorRates(full_per_minute=3, plain_per_minute=6, sample=3)
    await record(connection, journal, rates)
    fates = [journal.marks[run.run_id].fate for run in runs]
    assert fates == ["recorded"] * 6 + ["sampled_out", "sampled_out", "recorded"] * 2 + ["recorded"]
    full, plain = (str(journal.marks[runs[i].run_id].flow_run_id) for i in (2, 3))
    assert await graph(api, full) == EDGES
    assert await graph(api, plain) == {}


async def test_without_prefect_everything_stays_pending(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/api"
    journal = Journal([ended()])
    mirror = Mirror(PrefectConnection(api_url=url, home=tmp_path), journal)
    with pytest.raises(PrefectUnavailable):
        await mirror.flush()
    assert journal.marks == {}
    await mirror.stop()


async def test_in_the_background(connection: PrefectConnection, api: PrefectApi) -> None:
    journal = Journal([])
    marked = asyncio.Event()
    plain = journal.recorded

    async def recorded(marks: Sequence[Mark]) -> None:
        await plain(marks)
        marked.set()

    journal.recorded = recorded  # type: ignore[method-assign]
    mirror = Mirror(connection, journal, rates=ALL, interval=60)
    await mirror.start()
    run = ended()
    journal.runs[run.run_id] = run
    mirror.poke()
    await asyncio.wait_for(marked.wait(), 20)
    await mirror.stop()
    flow_run = await api.get(f"/flow_runs/{journal.marks[run.run_id].flow_run_id}")
    assert flow_run["state_name"] == "Completed"
