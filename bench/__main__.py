"""`python -m bench [NAME …] [--reps N] [--write]`: measure all or some workloads; `--write` renews RESULTS.md."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

from bench import results
from bench.agents.first_token import FIRST_TOKEN
from bench.agents.loop import AGENTS
from bench.processes import PROCESSES
from bench.results import Row
from bench.runs import RUNS
from bench.triggers import TRIGGERS
from bench.webhooks import WEBHOOKS

Measurement = Callable[[int], Awaitable[list[Row]]]
GROUPS: dict[str, dict[str, Measurement]] = {
    "Runs": RUNS,
    "Agents": {**AGENTS, **FIRST_TOKEN},
    "Code, commands and the journal": PROCESSES,
    "From a trigger to the first node": TRIGGERS,
    "Webhooks": WEBHOOKS,
}


async def measure(names: list[str], reps: int) -> list[tuple[str, list[Row]]]:
    """The rows of the named measurements, all without names, printed as they come."""
    print("  ".join(results.HEADINGS))
    groups = []
    for title, group in GROUPS.items():
        rows: list[Row] = []
        for name, work in group.items():
            if names and name not in names:
                continue
            for row in await work(reps):
                rows.append(row)
                print("  ".join(text or "-" for text in results.cells(row)), flush=True)
        groups.append((title, rows))
    return groups


def main() -> None:
    """Measure and print."""
    known = [name for group in GROUPS.values() for name in group]
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"out of {', '.join(known)}; all without one")
    parser.add_argument("--reps", type=int, default=9, help="measured turns (some workloads take fewer)")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md; needs all workloads")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in known]
    if unknown or (given.write and given.names):
        parser.error(f"no workload {unknown[0]!r}" if unknown else "--write measures all workloads")
    load = os.getloadavg()[0]
    groups = asyncio.run(measure(given.names, given.reps))
    if given.write:
        results.write(groups, load)
    missed = [row.name for _, rows in groups for row in rows if row.met is False]
    print(f"missed: {', '.join(missed)}" if missed else "every target is met")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
