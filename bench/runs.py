"""W1 to W9: whole runs beside the limit of the same work."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import limits, workloads
from bench.engine import Engine, delay_server, engine
from bench.measure import Figures, Sample, Work, alternate, once, same
from bench.results import Row, at_most, timed
from interlace.engine.source import load

SEED = {"seed": workloads.SEED}


@asynccontextmanager
async def rows() -> AsyncIterator[limits.Rows]:
    """The limit's own database."""
    with TemporaryDirectory(prefix="interlace-limit-") as folder:
        found = limits.Rows(Path(folder) / "limit.db")
        yield found
        found.close()


async def graph_pair(graph: workloads.Graph, reps: int, url: str | None = None) -> Figures:
    """Runs of one graph beside the durable limit."""
    async with engine(url) as opened, rows() as database:
        pinned = await opened.pinned(workloads.document(graph))
        limit = limits.GraphRun(graph, rows=database).run
        return await alternate(
            lambda: opened.run(pinned, SEED), limit, same(workloads.expected(graph)), reps=reps, warm_up=2
        )


def within(factor: float, ms: float) -> Callable[[Figures], bool]:
    """Whether a pair keeps to a multiple of the limit and to a time."""
    return lambda figures: (figures.ratio or 0) <= factor and figures.wall <= ms


def below(ms: float) -> Callable[[Figures], bool]:
    """Whether the median is no longer than this."""
    return lambda figures: figures.wall <= ms


async def w1(reps: int) -> list[Row]:
    figures = await graph_pair(workloads.chain(200), reps)
    return [timed("W1", "chain of 200 nodes", figures, target="≤ 4 limits, ≤ 30 ms", met=within(4, 30))]


async def w2(reps: int) -> list[Row]:
    figures = await graph_pair(workloads.fan_out(200), reps)
    return [timed("W2", "200 nodes at once", figures, target="≤ 4 limits, ≤ 30 ms", met=within(4, 30))]


async def w3(reps: int) -> list[Row]:
    figures = await graph_pair(workloads.layered(), reps)
    return [timed("W3", "500 nodes, 1,500 edges", figures, target="≤ 4 limits, ≤ 65 ms", met=within(4, 65))]


async def w4(reps: int) -> list[Row]:
    wanted = [f"{item}!" for item in workloads.ITEMS]
    async with engine() as opened:
        pinned = await opened.pinned(workloads.iteration())

        async def ours() -> Any:
            return (await opened.run(pinned, {"items": workloads.ITEMS}))["results"]

        figures = await alternate(ours, limits.iterate, same(wanted), reps=reps)
    return [timed("W4", "ITERATION, 1,000 items, 10 at once", figures, target="≤ 100 ms", met=below(100))]


async def _requests(name: str, at_once: int, target: float, reps: int) -> list[Row]:
    async with delay_server(sys.executable) as url, engine() as opened:
        pinned = await opened.pinned(workloads.requests(url, 50, at_once))
        bare = limits.Requests(url, 50, at_once)

        async def ours() -> Any:
            return list((await opened.run(pinned, SEED)).values())

        figures = await alternate(ours, bare.run, same([True] * 50), reps=reps, warm_up=2)
        bare.close()
    what = f"50 GET of 50 ms, {at_once} at once"
    return [timed(name, what, figures, target=f"≤ {target:g} ms", met=below(target))]


async def w5(reps: int) -> list[Row]:
    return await _requests("W5", 50, 1.25 * 50, reps)


async def w5c(reps: int) -> list[Row]:
    return await _requests("W5c", 10, 1.1 * 250, reps)


async def _validation(name: str, count: int, target: float, reps: int) -> list[Row]:
    """Every turn has a text of its own, so that nothing is known from the turn before."""
    async with engine() as opened:
        documents = opened.platform.documents

        async def checked(text: str) -> Any:
            return await documents.check(load(text))

        texts = (_renamed(count, turn) for turn in itertools.count())
        check, run = Figures(), Figures()
        for turn in range(reps + 1):
            text = next(texts)
            limit = await once(_sync(partial(limits.walk, text)), same(count + 2))
            ours = await once(partial(checked, text), _valid)
            fresh = next(texts)
            pinned = await once(partial(documents.from_text, fresh))
            if turn:
                check.ours.append(ours)
                check.limit.append(limit)
                run.ours.append(pinned)
    what = f"load, validate and type {count:,} nodes, {3 * count:,} edges"
    return [
        timed(name, what, check, target=f"≤ {target:,.0f} ms", met=below(target)),
        timed(f"{name}r", "the same to a plan that can run", run),
    ]


def _renamed(count: int, turn: int) -> str:
    graph = workloads.layered(count, 3 * count, count // 20)
    mark = f"t{turn}_"
    renamed = {
        mark + node: [source if source == "start" else mark + source for source in sources]
        for node, sources in graph.items()
    }
    return json.dumps(workloads.document(renamed))


def _valid(found: Any) -> None:
    if not found.valid:
        raise AssertionError(f"not valid: {found.problems[:3]}")


def _sync(work: Callable[[], Any]) -> Work:
    async def called() -> Any:
        return work()

    return called


async def w7(reps: int) -> list[Row]:
    return await _validation("W7", 1_000, 130, reps)


async def w7x(reps: int) -> list[Row]:
    return await _validation("W7x", 10_000, 1_500, max(2, reps // 4))


async def w8p(reps: int) -> list[Row]:
    """In a process of its own: memory that earlier work has left free would hide what this takes."""
    del reps
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.payload", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    return [
        at_most("W8p", "a text of 20 MB through 20 nodes, peak memory over the base", float(output), 25, "MB")
    ]


async def _many(name: str, reps: int, url: str | None = None, target: float | None = None) -> list[Row]:
    graph, count = workloads.chain(3), 200
    async with engine(url) as opened, rows() as database:
        pinned = await opened.pinned(workloads.document(graph))
        bare = limits.GraphRun(graph, rows=database)

        async def ours() -> Any:
            return await asyncio.gather(*(opened.run(pinned, SEED) for _ in range(count)))

        async def limit() -> Any:
            return await asyncio.gather(*(bare.run() for _ in range(count)))

        figures = await alternate(ours, limit, same([workloads.expected(graph)] * count), reps=reps)
    rate = count / figures.wall * 1e3
    limit_rate = count / (figures.limit_wall or 1) * 1e3
    row = Row(
        name, "200 runs of 5 nodes at once", rate, "runs/s",
        target="" if target is None else f"≥ {target:g} runs/s", met=None if target is None else rate >= target,
        best=count / figures.best * 1e3, cpu=figures.cpu, limit=limit_rate, ratio=figures.ratio,
    )  # fmt: skip
    return [row]


async def w9(reps: int) -> list[Row]:
    return await _many("W9", reps, target=500)


async def scaling(reps: int) -> list[Row]:
    """What a node costs in 10,000 of them, against 200; several runs of the small graph make one sample."""
    found = []
    for title, shape in (("chain", workloads.chain), ("at once", workloads.fan_out)):
        small, large, times = shape(200), shape(10_000), 5
        async with engine() as opened:
            few = await opened.pinned(workloads.document(small))
            many = await opened.pinned(workloads.document(large))

            async def repeated(opened: Engine = opened, few: Any = few, times: int = times) -> Any:
                return [await opened.run(few, SEED) for _ in range(times)]

            figures = Figures()
            for turn in range(max(2, reps // 3) + 1):
                little = await once(repeated, same([workloads.expected(small)] * times))
                much = await once(partial(opened.run, many, SEED), same(workloads.expected(large)))
                if turn:
                    figures.limit.append(_per_node(little, 200 * times))
                    figures.ours.append(_per_node(much, 10_000))
        found.append(
            Row(
                "scaling", f"a node of 10,000 ({title}); the limit is a node of 200", figures.wall * 1e3, "µs",
                target="≤ 1.5 limits", met=(figures.ratio or 0) <= 1.5, best=figures.best * 1e3, cpu=figures.cpu,
                limit=(figures.limit_wall or 0) * 1e3, ratio=figures.ratio,
            )
        )  # fmt: skip
    return found


def _per_node(sample: Sample, nodes: int) -> Sample:
    return Sample(sample.wall / nodes, sample.cpu / nodes)


async def postgres(reps: int) -> list[Row]:
    """W1 and W9 on PostgreSQL, where a server is there."""
    from bench.postgres import database  # noqa: PLC0415 - its driver is only needed here

    found = []
    async with database() as url:
        if url is None:
            print("no PostgreSQL server; its rows are left out")
            return []
        figures = await graph_pair(workloads.chain(200), reps, url)
        found.append(timed("W1 PostgreSQL", "chain of 200 nodes; limit on SQLite", figures))
        found += await _many("W9 PostgreSQL", reps, url)
    return found


RUNS: dict[str, Callable[[int], Awaitable[list[Row]]]] = {
    "W1": w1, "W2": w2, "W3": w3, "W4": w4, "W5": w5, "W5c": w5c, "W7": w7, "W7x": w7x, "W8p": w8p, "W9": w9,
    "scaling": scaling, "postgres": postgres,
}  # fmt: skip
