"""The server is killed while everything leans on it: nothing fails, nothing is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from interlace.flows.prefect import (
    Host,
    LogLine,
    Mark,
    Mirror,
    NodeRecord,
    Outcome,
    PrefectApi,
    RunRecord,
    TaskRecorder,
)


class Engine:
    """One run that ends when the test says so."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.taken: set[str] = set()

    async def adopt(self, flow_run_id: str, workflow_id: str, inputs: Mapping[str, Any]) -> str | None:
        return None

    async def claim(self, flow_run_id: str, run_id: str) -> bool:
        first = run_id not in self.taken
        self.taken.add(run_id)
        return first

    async def release(self, flow_run_id: str, run_id: str) -> None:
        self.taken.discard(run_id)

    async def execute(self, run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        await self.go.wait()
        return Outcome(state="succeeded", message="unmoved")

    async def shown(self, run_id: str, outcome: Outcome) -> None:
        return

    async def parked(self, flow_run_id: str, run_id: str) -> bool:
        return False

    async def cancel(self, run_id: str) -> None:
        raise AssertionError(run_id)

    async def is_alive(self, run_id: str) -> bool:
        return run_id in self.taken

    async def standing(self, run_id: str) -> Outcome | None:
        return None


class Journal:
    """A journal whose only run waits to be recorded."""

    def __init__(self, run: RunRecord) -> None:
        self.run = run
        self.mark: asyncio.Future[Mark] = asyncio.get_running_loop().create_future()

    async def pending(self, limit: int) -> list[RunRecord]:
        return [] if self.mark.done() else [self.run]

    async def recorded(self, marks: Sequence[Mark]) -> None:
        self.mark.set_result(marks[0])


async def test_the_server_is_killed_under_everything(served: Any, state_of: Any) -> None:
    prefect, connection, engine = served.prefect, served.connection, Engine()
    host = Host(connection, f"pool-{uuid4().hex[:8]}", engine, poll_seconds=2)
    recorder = TaskRecorder(connection, flush_seconds=0.01)
    now = datetime.now(UTC)
    run_id = f"run_{uuid4().hex}"
    journal = Journal(
        RunRecord(
            run_id=run_id,
            workflow_id="w",
            workflow_name="W",
            state="succeeded",
            started_at=now,
            finished_at=now,
        )
    )
    mirror = Mirror(connection, journal)
    async with PrefectApi(connection) as api:
        await recorder.start()
        await host.start()
        await host.ready()
        await host.ensure_deployment("wf", "Orders")
        key = await host.submit("wf", f"run_{uuid4().hex}", {})
        await state_of(api, key, "Running")
        pid, url, restarts = prefect.pid, prefect.api_url, prefect.restarts

        os.kill(pid, signal.SIGKILL)
        engine.go.set()
        await mirror.start()
        recorder.node(key, NodeRecord(path="a", name="a", kind="HTTP", state="running", started_at=now))
        recorder.log(key, LogLine(at=now, message="written down"))

        # A request that comes meanwhile waits for the server to come back.
        assert (await api.get(f"/flow_runs/{key}"))["id"] == key
        assert (prefect.api_url, prefect.restarts) == (url, restarts + 1)
        assert prefect.pid not in {None, pid}
        flow_run = await state_of(api, key, "Completed", seconds=60)
        assert flow_run["state"]["message"] == "unmoved"
        mark = await asyncio.wait_for(journal.mark, 60)
        assert (await api.get(f"/flow_runs/{mark.flow_run_id}"))["state_name"] == "Completed"
        await host.ready(60)
        await state_of(api, await host.submit("wf", f"run_{uuid4().hex}", {}), "Completed", seconds=60)
        await recorder.stop(20)
        lines = await api.post("/logs/filter", {"logs": {"flow_run_id": {"any_": [key]}}})
        assert [line["message"] for line in lines] == ["written down"]
        await host.stop()
        await mirror.stop()
