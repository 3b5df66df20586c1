"""What Prefect costs: `python tests/flows/prefect/speed.py [HOME]` prints figures; run it on a quiet machine."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from interlace.flows.prefect import (
    EmbeddedPrefect,
    Host,
    LogLine,
    Mark,
    Mirror,
    MirrorRates,
    NodeRecord,
    Outcome,
    PrefectApi,
    RunRecord,
)
from interlace.flows.prefect.writers import EndpointWriter, PublicWriter, Writer


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Engine:
    """Ends every run at once and remembers when it began."""

    def __init__(self) -> None:
        self.begun: dict[str, float] = {}
        self.some = asyncio.Condition()

    async def adopt(self, flow_run_id: str, workflow_id: str, inputs: Mapping[str, Any]) -> str | None:
        return None

    async def claim(self, flow_run_id: str, run_id: str) -> bool:
        return run_id not in self.begun

    async def release(self, flow_run_id: str, run_id: str) -> None:
        return

    async def execute(self, run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        async with self.some:
            self.begun[run_id] = time.monotonic()
            self.some.notify_all()
        return Outcome(state="succeeded")

    async def shown(self, run_id: str, outcome: Outcome) -> None:
        return

    async def parked(self, flow_run_id: str, run_id: str) -> bool:
        return False

    async def cancel(self, run_id: str) -> None:
        return

    async def is_alive(self, run_id: str) -> bool:
        return False

    async def standing(self, run_id: str) -> Outcome | None:
        return None

    async def until(self, count: int) -> None:
        async with self.some:
            await self.some.wait_for(lambda: len(self.begun) >= count)


class Journal:
    """Runs of six nodes and two lines each, to be recorded."""

    def __init__(self, count: int) -> None:
        self.runs = {run.run_id: run for run in (_record() for _ in range(count))}

    async def pending(self, limit: int) -> list[RunRecord]:
        return list(self.runs.values())[:limit]

    async def recorded(self, marks: Sequence[Mark]) -> None:
        for mark in marks:
            assert mark.fate == "recorded", mark
            del self.runs[mark.run_id]


def _record() -> RunRecord:
    start = datetime.now(UTC)
    nodes = [
        NodeRecord(
            path=f"n{step}",
            name=f"n{step}",
            kind="HTTP",
            state="succeeded",
            started_at=start,
            finished_at=start + timedelta(milliseconds=5),
            upstream=(f"n{step - 1}",) if step else (),
        )
        for step in range(6)
    ]
    return RunRecord(
        run_id=f"run_{uuid4().hex}",
        workflow_id="speed",
        workflow_name="Speed",
        state="succeeded",
        started_at=start,
        finished_at=start + timedelta(milliseconds=40),
        parameters={"n": 1},
        nodes=nodes,
        logs=[LogLine(at=start, message="one"), LogLine(at=start, message="two")],
    )


class Costs:
    """CPU time of this process and of the server, and wall time, since it was made."""

    def __init__(self, server: int) -> None:
        self.server = server
        self.start = (time.monotonic(), time.process_time(), self._cpu())

    def _cpu(self) -> float:
        user, system = Path(f"/proc/{self.server}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / 100

    async def show(self, what: str, count: int, settle: float = 4.0) -> None:
        wall, here = time.monotonic() - self.start[0], time.process_time() - self.start[1]
        await asyncio.sleep(settle)
        there = self._cpu() - self.start[2]
        say(
            f"{what}: {count / wall:.1f} a second; CPU a run: {1000 * here / count:.1f} ms here, "
            f"{1000 * there / count:.1f} ms in the server"
        )


def _memory(pid: int) -> str:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(f"{int(line.split()[1]) // 1024} MB" for line in lines if line.startswith("Pss:"))


async def mirror(prefect: EmbeddedPrefect) -> None:
    async with PrefectApi(prefect.connection) as api:
        ways: dict[str, Writer] = {"our endpoint": EndpointWriter(api), "public API": PublicWriter(api)}
        for name, writer in ways.items():
            for count in (20, 400):
                recorder = Mirror(
                    prefect.connection, Journal(count), rates=MirrorRates(full_per_minute=10**6)
                )
                recorder._writer = writer
                assert prefect.pid
                costs = Costs(prefect.pid)
                await recorder.flush()
                if count > 20:
                    await costs.show(f"mirror through {name}", count)
                await recorder.stop()


async def host(prefect: EmbeddedPrefect) -> None:
    engine = Engine()
    served = Host(prefect.connection, "interlace", engine)
    await served.start()
    await served.ready(120)
    await served.ensure_deployment("speed", "Speed")
    took = []
    for _ in range(20):
        run_id, start = f"run_{uuid4().hex}", time.monotonic()
        await served.submit("speed", run_id, {})
        await engine.until(len(took) + 1)
        took.append(1000 * (engine.begun[run_id] - start))
        await asyncio.sleep(0.3)
    say(f"trigger to first line: p50 {statistics.median(took):.0f} ms, p90 {sorted(took)[17]:.0f} ms")
    for count in (50, 150):
        assert prefect.pid
        before, costs = len(engine.begun), Costs(prefect.pid)
        await asyncio.gather(*(served.submit("speed", f"run_{uuid4().hex}", {}) for _ in range(count)))
        await engine.until(before + count)
        while served.active:  # noqa: ASYNC110 - its thread tells nobody
            await asyncio.sleep(0.02)
        await costs.show(f"{count} flow runs at once", count)
    await served.stop()


async def main(home: Path) -> None:
    for which in ("cold", "warm"):
        start = time.monotonic()
        prefect = EmbeddedPrefect(home, auth="speed:speed")
        await prefect.start()
        assert prefect.pid
        costs = Costs(prefect.pid)
        say(f"{which} start: {time.monotonic() - start:.1f} s; {_memory(prefect.pid)}")
        if which == "cold":
            await prefect.stop()
    await asyncio.sleep(10)
    costs = Costs(prefect.pid)
    await asyncio.sleep(10)
    say(f"idle: {100 * (costs._cpu() - costs.start[2]) / 10:.1f} % of a core")
    await mirror(prefect)
    await host(prefect)
    say(f"afterwards: server {_memory(prefect.pid)}, this process {_memory(os.getpid())}")
    await prefect.stop()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())))
