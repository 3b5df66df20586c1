"""kill -9 in the middle of commits: whatever was reported as committed is there, and no run has a gap."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from interlace.store import Store

WRITE = """
import asyncio, sys
from pathlib import Path
from interlace.store import Store
from interlace.store.runs import NewRun

async def chain(store, number):
    run = await store.runs.create(NewRun(name=f"r{number}", document="{}", lease_owner="dead", lease_seconds=600))
    journal = store.journal(run.run_id, run.epoch, 2)
    for n in range(1_000_000):
        journal.append("node.started", f"n{n}", 1, {"effects": "none"})
        journal.append("node.succeeded", f"n{n}", 1, {"outputs": {"text": "x" * (10_000 if n % 10 == 0 else 10)}})
        await journal.commit()
        print(run.run_id, journal.next_seq - 1, flush=True)

async def main():
    store = await Store.open(sys.argv[1] or None, Path(sys.argv[2]), durability=sys.argv[3])
    await asyncio.gather(*(chain(store, number) for number in range(5)))

asyncio.run(main())
"""


@pytest.mark.parametrize(("durability", "stop_after"), [("normal", 3), ("normal", 300), ("full", 100)])
async def test_nothing_committed_is_lost(
    url: str | None, tmp_path: Path, durability: str, stop_after: int
) -> None:
    reported = write_and_kill(url, tmp_path, durability, stop_after)
    assert reported, "the process has worked"
    store = await Store.open(url, tmp_path)
    for run_id, seq in reported.items():
        events = await store.events.read(run_id, limit=100_000)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert len(events) >= seq
        large = next(event for event in events if event.type == "node.succeeded")
        assert (await store.events.resolve(large)).data["outputs"]["text"] == "x" * 10_000
    unfinished = {run.id for run in await store.runs.unfinished()}
    assert not unfinished & reported.keys(), "their leases still hold"
    await store.close()


def write_and_kill(url: str | None, home: Path, durability: str, stop_after: int) -> dict[str, int]:
    """Let a process write and kill it after so many commits; gives the last number that it reported of each run."""
    command = [sys.executable, "-c", WRITE, url or "", str(home), durability]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(stop_after)]
    process.send_signal(signal.SIGKILL)
    lines += process.stdout.read().splitlines(keepends=True)
    process.wait()
    process.stdout.close()
    whole = [line.split() for line in lines if line.endswith("\n")]
    return {run_id: int(seq) for run_id, seq in whole}
