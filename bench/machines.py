"""Runs over 1, 2 and 4 worker processes, and under kills: `python -m bench.machines`.

Needs PostgreSQL (INTERLACE_TEST_POSTGRES); each measurement has a database, and a Prefect server, of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

from tests.machines.kills import Outcome, cluster, measure

from bench import results
from bench.results import Row

_TEXT = """\
Written by `python -m bench.machines --write`: runs of 5 nodes, 3 of them HTTP requests that are counted on the other side, over worker
processes of this machine, PostgreSQL and, where it says so, a Prefect server with a PostgreSQL database of its own. Workers,
PostgreSQL, Prefect and the counting server share the processors. A worker that is killed (-9) is started again at once. Met means: every
run succeeded, every node once; a call that was under way at a kill may come a second time, as `effects: idempotent` allows."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.machines", description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--kill-every", type=float, default=3.0, help="seconds between two kills")
    parser.add_argument("--no-prefect", action="store_true", help="through the database alone")
    parser.add_argument("--throughput", action="store_true", help="only 1, 2 and 4 workers without kills")
    parser.add_argument("--write", action="store_true", help="write the section of RESULTS.md")
    asyncio.run(_main(parser.parse_args()))


async def _main(given: argparse.Namespace) -> None:
    load = os.getloadavg()[0]
    plans: list[tuple[int, float | None]] = [(1, None), (2, None), (4, None)]
    if not given.throughput:
        plans.append((2, given.kill_every))
    rows: list[Row] = []
    print("  ".join(results.HEADINGS))
    for through in (False,) if given.no_prefect else (False, True):
        for workers, kill_every in plans:
            async with cluster(prefect=through) as made:
                if made is None:
                    print("no PostgreSQL answers; set INTERLACE_TEST_POSTGRES")
                    sys.exit(1)
                folder, url, address = made
                found = await measure(
                    url, folder, runs=given.runs, workers=workers, kill_every=kill_every, prefect=address
                )
            rows.append(_row(found, through=through))
            print(
                "  ".join(text or "-" for text in results.cells(rows[-1])), dict(found.statuses), flush=True
            )
    if given.write:
        results.write_machines(_TEXT, rows, load)
    sys.exit(0 if all(row.met for row in rows) else 1)


def _row(found: Outcome, *, through: bool) -> Row:
    what = f"{found.runs} runs, {found.workers} worker{'s' * (found.workers > 1)}, {'through' if through else 'without'} Prefect"
    if found.kills:
        what += f"; {found.kills} kills, {found.repeated} of {found.calls} calls came twice"
    speed = found.runs / found.seconds
    return Row(
        "kills" if found.kills else "workers", what, speed, "runs/s", "all end, each node once", found.exact
    )


if __name__ == "__main__":
    main()
