"""What the journal costs: `python bench/journal.py [database URL]`; SQLite in a temporary home without one.

Wall and CPU time of each workload, best of several rounds, as the machine may be shared.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path

from interlace.store import Store
from interlace.store.journal import RunJournal
from interlace.store.run_row import NewRun

OUTPUTS = {"outputs": {"text": "abcdefghijklmnop", "count": 3}, "handles": ("out",), "elapsed_ms": 0.021}
ROUNDS = 5


async def started(store: Store, count: int) -> list[RunJournal]:
    created = await asyncio.gather(
        *(
            store.runs.create(NewRun(name="bench", document="{}", lease_owner="bench", lease_seconds=600))
            for _ in range(count)
        )
    )
    return [store.journal(run.run_id, run.epoch, 2) for run in created]


async def best(name: str, unit: float, label: str, work: Callable[[], Awaitable[None]]) -> None:
    figures = []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        await work()
        figures.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = min(figures)
    print(f"{name:<58} {wall / unit * 1e6:9.1f} µs wall {cpu / unit * 1e6:9.1f} µs CPU {label}")


async def chain(journal: RunJournal, nodes: int, *, commit: bool = True) -> None:
    for index in range(nodes):
        journal.append("node.started", f"n{index}", 1, {"effects": "none"})
        journal.append("node.succeeded", f"n{index}", 1, OUTPUTS)
        waiting = journal.commit() if commit else None
        if waiting is not None:
            await waiting
    waiting = journal.commit()
    if waiting is not None:
        await waiting


def raw_commits(path: Path, count: int) -> float:
    """The floor: two rows and a commit on a bare connection."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(
        "CREATE TABLE e (a TEXT, b INT, c REAL, d TEXT, e TEXT, f INT, g TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID"
    )
    data = "x" * 80
    begun = time.perf_counter()
    for seq in range(count):
        connection.execute("BEGIN IMMEDIATE")
        rows = [("run", 2 * seq + k, 1.0, "node.started", "n", 1, data) for k in (0, 1)]
        connection.executemany("INSERT INTO e VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    spent = time.perf_counter() - begun
    connection.close()
    return spent / count


async def measure(url: str | None, home: Path) -> None:
    store = await Store.open(url, home)
    floor = min(raw_commits(home / f"raw{n}.db", 2000) for n in range(3))
    print(f"{'floor: BEGIN, 2 rows, COMMIT on a bare SQLite connection':<58} {floor * 1e6:9.1f} µs wall")
    nodes = 2000

    async def sequential() -> None:
        (journal,) = await started(store, 1)
        await chain(journal, nodes)

    async def unfenced() -> None:
        (journal,) = await started(store, 1)
        await chain(store.journal(journal.run_id, None, 2), nodes)

    async def grouped() -> None:
        (journal,) = await started(store, 1)
        await chain(journal, nodes, commit=False)

    await best("chain: 2 events, commit, await", nodes, "per commit", sequential)
    await best("chain without the lease check", nodes, "per commit", unfenced)
    await best("one run, all events in one commit", 2 * nodes, "per event", grouped)

    async def many() -> None:
        journals = await started(store, 200)
        begun.append(time.perf_counter())
        await asyncio.gather(*(chain(journal, 5) for journal in journals))
        spent.append(time.perf_counter() - begun[-1])

    begun: list[float] = []
    spent: list[float] = []
    await best("200 runs created and 10 events each in 5 commits", 200, "per run", many)
    print(f"{'  of which the events':<58} {min(spent) / 2000 * 1e6:9.1f} µs wall per event")

    async def creates() -> None:
        await started(store, 500)

    await best("500 runs created at once", 500, "per run", creates)

    (journal,) = await started(store, 1)
    await chain(journal, 10_000)

    async def folded() -> None:
        state = await store.events.fold(journal.run_id)
        assert len(state.nodes) == 10_000

    await best("fold of 20,000 events", 1, "in all", folded)
    await payload_memory(store)
    await store.close()


async def payload_memory(store: Store) -> None:
    (journal,) = await started(store, 1)
    text = "abcdefghij" * 2_000_000
    tracemalloc.start()
    begun = time.perf_counter()
    journal.append("node.succeeded", "n0", 1, {"outputs": {"text": text}, "handles": ("out",)})
    first = time.perf_counter() - begun
    for index in range(1, 20):
        journal.append("node.succeeded", f"n{index}", 1, {"outputs": {"text": text}, "handles": ("out",)})
    waiting = journal.commit()
    assert waiting is not None
    await waiting
    spent = time.perf_counter() - begun
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"a 20 MB text through 20 nodes: {spent * 1e3:.0f} ms ({first * 1e3:.0f} the first), {peak / 1e6:.1f} MB over the text"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(sys.argv[1] if len(sys.argv) > 1 else None, Path(folder)))
