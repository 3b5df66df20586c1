"""CODE nodes, the start of the command line, and the journal alone."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import workloads
from bench.engine import engine
from bench.journal import chain, started
from bench.measure import Figures, Sample, alternate, once, same
from bench.results import Row, timed
from bench.runs import below
from bench.server import COMMAND, environment
from interlace.store import Store

_FIB = {10: 55, 33: 3524578}


async def many_small(reps: int) -> list[Row]:
    rows = []
    for sandbox, target in (("full", 1_200.0), ("fast", None)):
        async with engine() as opened:
            pinned = await opened.pinned(workloads.code(40, 10, sandbox=sandbox))

            figures = await alternate(
                partial(opened.run, pinned, {"seed": ""}),
                None,
                same({"value": _FIB[10]}),
                reps=max(3, reps // 2),
            )
        what = f"40 x fib(10), one CODE node after the other, sandbox {sandbox}"
        goal = "" if target is None else f"≤ {target:,.0f} ms"
        rows.append(timed("CODE", what, figures, target=goal, met=None if target is None else below(target)))
    return rows


async def one_large(reps: int) -> list[Row]:
    program = f"{workloads.FIBONACCI}\n\nprint(main(33)['value'])"

    async def plain() -> Any:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-c", program, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        return {"value": int(output)}

    async with engine() as opened:
        pinned = await opened.pinned(workloads.code(1, 33))

        ours = partial(opened.run, pinned, {"seed": ""})
        figures = await alternate(ours, plain, same({"value": _FIB[33]}), reps=max(reps, 10))
    return [
        timed(
            "CODE", "fib(33) in a CODE node; the limit is python -I", figures,
            target="≤ 1.1 limits", met=lambda found: (found.ratio or 0) <= 1.1,
        )
    ]  # fmt: skip


async def start_up(reps: int) -> list[Row]:
    """CPU time counts: it is what a busy machine does not change."""
    document = workloads.document(workloads.chain(1), "trivial")
    rows = []
    with TemporaryDirectory(prefix="interlace-bench-") as folder:
        home = Path(folder)
        (home / "trivial.json").write_text(json.dumps(document), "utf-8")
        runs = ["run", "trivial.json", "-i", f"seed={workloads.SEED}"]
        for arguments, target in ((["version"], 250.0), (runs, 900.0)):
            figures = Figures([_command(arguments, home) for _ in range(reps + 2)][2:])
            what = f"interlace {arguments[0]}" + (" of a trivial file" if arguments is runs else "")
            row = timed(
                "start", what, figures,
                target=f"≤ {target:g} ms of CPU", met=lambda found, most=target: found.cpu <= most,  # type: ignore[misc]
            )  # fmt: skip
            rows.append(row)
    return rows


def _command(arguments: Sequence[str], home: Path) -> Sample:
    began = time.perf_counter()
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=environment(home), cwd=home,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    with process.stdout as pipe:
        output = pipe.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    wanted = "interlace" if arguments[0] == "version" else str(workloads.expected(workloads.chain(1))["n0"])
    if process.returncode or wanted not in output:
        raise AssertionError(f"{arguments} ended with {process.returncode} and wrote {output!r}")
    return Sample(wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3)


async def journal(reps: int) -> list[Row]:
    nodes = 2000
    rows = []
    with TemporaryDirectory(prefix="interlace-bench-") as folder:
        store = await Store.open(None, Path(folder))
        for commit, what in (
            (True, "two events a commit, each commit awaited"),
            (False, "one commit for all"),
        ):
            figures = Figures()
            for _ in range(reps):
                (written,) = await started(store, 1)
                sample = await once(partial(chain, written, nodes, commit=commit))
                per_event = 1e3 / (2 * nodes)
                figures.ours.append(Sample(sample.wall * per_event, sample.cpu * per_event))
            rows.append(Row("journal", f"an event: {what}", figures.wall, "µs", best=figures.best))
        await store.close()
    return rows


PROCESSES: dict[str, Callable[[int], Awaitable[list[Row]]]] = {
    "code": many_small,
    "fib33": one_large,
    "start": start_up,
    "journal": journal,
}
