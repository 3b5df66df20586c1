"""Measuring on a shared machine: the limit and ours in turn, wall and CPU time, medians of pairs."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Work = Callable[[], Awaitable[Any]]
Check = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured call, in milliseconds."""

    wall: float
    cpu: float


@dataclass(slots=True)
class Figures:
    """What was measured of one workload; `ours` and `limit` are pairs, the limit may be missing."""

    ours: list[Sample] = field(default_factory=list)
    limit: list[Sample] = field(default_factory=list)

    @property
    def wall(self) -> float:
        """Our median wall time in ms."""
        return statistics.median(sample.wall for sample in self.ours)

    @property
    def best(self) -> float:
        """Our shortest wall time in ms."""
        return min(sample.wall for sample in self.ours)

    @property
    def cpu(self) -> float:
        """Our median CPU time in ms."""
        return statistics.median(sample.cpu for sample in self.ours)

    @property
    def limit_wall(self) -> float | None:
        """The limit's median wall time in ms."""
        return statistics.median(sample.wall for sample in self.limit) if self.limit else None

    @property
    def limit_cpu(self) -> float | None:
        """The limit's median CPU time in ms."""
        return statistics.median(sample.cpu for sample in self.limit) if self.limit else None

    @property
    def ratio(self) -> float | None:
        """The median of ours / limit over the pairs, by wall time."""
        pairs = zip(self.ours, self.limit, strict=True) if self.limit else ()
        ratios = [ours.wall / limit.wall for ours, limit in pairs]
        return statistics.median(ratios) if ratios else None


async def once(work: Work, check: Check | None = None) -> Sample:
    """Measure one call; the check of its result is not measured."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    result = await work()
    sample = Sample((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3)
    if check is not None:
        check(result)
    return sample


async def alternate(
    ours: Work, limit: Work | None, check: Check | None, *, reps: int, warm_up: int = 1
) -> Figures:
    """Measure both in turn, so that a burst of other load meets both."""
    figures = Figures()
    for turn in range(warm_up + reps):
        theirs = await once(limit, check) if limit is not None else None
        mine = await once(ours, check)
        if turn < warm_up:
            continue
        figures.ours.append(mine)
        if theirs is not None:
            figures.limit.append(theirs)
    return figures


def same(wanted: Any) -> Check:
    """A check that the result is exactly this."""

    def check(found: Any) -> None:
        if found != wanted:
            raise AssertionError(f"wrong result: {str(found)[:200]} instead of {str(wanted)[:200]}")

    return check


# -- memory ------------------------------------------------------------------------------------------------


def resident() -> float:
    """Memory of this process now, in MB."""
    return _status("VmRSS")


def peak() -> float:
    """The most memory of this process since `reset_peak`, in MB."""
    return _status("VmHWM")


def reset_peak() -> None:
    """Begin a new measurement of the peak (Linux)."""
    with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123 - a kernel file
        file.write("5")


def _status(key: str) -> float:
    with open("/proc/self/status") as file:  # noqa: PTH123 - a kernel file
        for line in file:
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) / 1024
    raise KeyError(key)
