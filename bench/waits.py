"""`python -m bench.waits [COUNT]`: many suspended runs: what they hold, what a start costs, how soon one goes on."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from interlace.flows.answering import Given
from interlace.flows.people import Person
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings

DOCUMENT = """
name: Asked
nodes:
  - {id: start, type: START}
  - {id: before, type: TEMPLATE, config: {template: hello}}
  - {id: ask, type: HUMAN, config: {title: "Go on?"}}
  - {id: done, type: END, config: {outputs: {action: "{{ ask.action }}"}}}
edges: [start -> before, before -> ask, ask.approve -> done]
"""
ANSWERED = 50
RESUME_MS = 300.0


def memory_mb() -> float:
    """Memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Platform]:
    """A platform that looks after its waits."""
    platform = await Platform.open(Settings(home=home, prefect="off"))
    try:
        async with platform.waits.watching():
            yield platform
    finally:
        await platform.close()


async def suspend(home: Path, count: int) -> tuple[float, float, float]:
    """Start runs until they are suspended; gives ms and CPU ms a run, and KB of memory each still takes."""
    async with opened(home) as platform:
        pinned = await platform.documents.from_text(DOCUMENT)
        await platform.runner.turn(await platform.runner.start(pinned, Request()))
        before, started, cpu = memory_mb(), time.perf_counter(), time.process_time()
        for _ in range(count // 50):
            runs = await asyncio.gather(*(platform.runner.start(pinned, Request()) for _ in range(50)))
            await asyncio.gather(*(platform.runner.turn(run) for run in runs))
        wall, used = time.perf_counter() - started, time.process_time() - cpu
        await platform.runner.idle()
        return wall * 1000 / count, used * 1000 / count, (memory_mb() - before) * 1000 / count


async def resume(home: Path) -> tuple[float, float, list[float]]:
    """Open the home with all its suspended runs; gives ms to open, MB more than before, and ms from answer to end."""
    before, started = memory_mb(), time.perf_counter()
    async with opened(home) as platform:
        open_ms = (time.perf_counter() - started) * 1000
        await platform.waits.look()
        more = memory_mb() - before
        found = []
        for wait in (await platform.store.waits.list(limit=ANSWERED)).items:
            began = time.perf_counter()
            await platform.waits.answer(wait.id, Given(action="approve"), Person(name="ada"))
            result = await platform.runner.wait(wait.run_id)
            found.append((time.perf_counter() - began) * 1000)
            assert result is not None
            assert result.status == "succeeded"
        return open_ms, more, found


async def main(count: int) -> None:
    """Measure and print."""
    with TemporaryDirectory(prefix="interlace-bench-") as folder:
        empty = Path(folder) / "empty"
        async with opened(empty):
            pass
        began = time.perf_counter()
        async with opened(empty):
            empty_ms = (time.perf_counter() - began) * 1000
        home = Path(folder) / "home"
        wall, cpu, each = await suspend(home, count)
        print(f"to suspend a run: {wall:.1f} ms ({cpu:.1f} ms CPU); it then takes {each:.1f} KB of memory")
        open_ms, more, took = await resume(home)
        print(
            f"to open a home with {count} suspended runs: {open_ms:.0f} ms (an empty one {empty_ms:.0f} ms), {more:.1f} MB more"
        )
        took.sort()
        median, worst = statistics.median(took), took[-1]
        print(
            f"from answer to the run's end: median {median:.1f} ms, slowest of {len(took)} {worst:.1f} ms (target {RESUME_MS:.0f})"
        )
        sys.exit(0 if median < RESUME_MS else 1)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
