"""Long computations in turns: work written as a generator gives way between its slices."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")

_LARGE = 20_000
_TURN_SECONDS = 0.01


def is_large(entries: int) -> bool:
    """Whether work over so many entries should be done in turns."""
    return entries > _LARGE


def to_end(work: Generator[None, None, T]) -> T:
    """Do the work at once."""
    try:
        while True:
            next(work)
    except StopIteration as end:
        result: T = end.value
        return result


async def in_turns(work: Generator[None, None, T]) -> T:
    """Do the work, giving way to the rest of the process every few milliseconds."""
    until = time.perf_counter() + _TURN_SECONDS
    try:
        while True:
            next(work)
            if time.perf_counter() > until:
                await asyncio.sleep(0)
                until = time.perf_counter() + _TURN_SECONDS
    except StopIteration as end:
        result: T = end.value
        return result
