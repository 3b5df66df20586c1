"""The nominal times of a schedule as instants, and what clock changes did to them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Literal, TypeAlias

from interlace.engine.cron.expression import Expression
from interlace.engine.cron.zone import Zone, iso, zone_of

Change: TypeAlias = Literal["moved", "first_of_two", "second_of_two"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """A nominal time.

    `at` is Unix time in whole seconds, `local` ISO 8601 with the zone's offset, `wanted` the wall-clock times of the
    expression that fall on it. `change`: whether a clock change moved it, or its wall-clock time comes twice.
    """

    at: int
    local: str
    change: Change | None = None
    wanted: tuple[str, ...] = ()

    @property
    def note(self) -> str | None:
        """What a clock change did, in words."""
        if self.change == "moved":
            times = ", ".join(self.wanted)
            return f"{times} {'does' if len(self.wanted) == 1 else 'do'} not exist on this day: it runs once, right after the gap"
        if self.change is None:
            return None
        return f"this time comes twice on this day; this is the {'first' if self.change == 'first_of_two' else 'second'}"


class Cron:
    """A cron expression in a time zone.

    Args:
        expression: five fields, six with the seconds first, or a name such as `@daily`.
        zone: IANA name of the time zone.

    Raises:
        CronError: the expression or the zone cannot be used.
    """

    def __init__(self, expression: str, zone: str = "UTC") -> None:
        self.expression = Expression(expression)
        self.zone = zone_of(zone)

    def after(self, at: float) -> Iterator[int]:
        """The nominal times after an instant, in Unix seconds, in order and each once."""
        times = _elapsed if self.expression.elapsed else _wall_clock
        return times(self.expression, self.zone, float(math.floor(at)))

    def next(self, at: float) -> int | None:
        """The first nominal time after an instant; None when there is none in the next 50 years."""
        return next(self.after(at), None)

    def last(self, since: float, until: float, count: int) -> list[int]:
        """The last nominal times in `(since, until]`, at most so many, in order."""
        span = 3600.0
        while True:
            begin = max(until - span, since)
            times = takewhile(lambda at: at <= until, self.after(begin))
            found = list(deque(times, maxlen=count))
            if len(found) == count or begin <= since:
                return found
            span *= 4

    def latest(self, since: float, until: float) -> int | None:
        """The last nominal time in `(since, until]`."""
        return next(iter(self.last(since, until, 1)), None)

    def firing(self, at: int) -> Firing:
        """What people are told of a nominal time."""
        zone = self.zone
        local = iso(at, zone.offset(at))
        number = zone.is_repeated(at)
        if number:
            return Firing(at=at, local=local, change="first_of_two" if number == 1 else "second_of_two")
        if self.expression.elapsed or zone.offset(at - 1) >= zone.offset(at):
            return Firing(at=at, local=local)
        wanted = self._wanted(at)
        # One that is meant for this very moment is no moved one.
        moved = bool(wanted) and self.expression.after(zone.local(at) - 1) != zone.local(at)
        return Firing(at=at, local=local, change="moved" if moved else None, wanted=wanted if moved else ())

    def _wanted(self, at: int) -> tuple[str, ...]:
        found: list[str] = []
        for local in self.expression.times(at - 1 + self.zone.offset(at - 1)):
            if local >= self.zone.local(at) or len(found) == _NAMED:
                break
            found.append(iso(local, 0)[11 : 16 if not self.expression.with_seconds else 19])
        return tuple(found)


_NAMED = 5
"""Moved times that are named."""


@lru_cache(maxsize=1024)
def cron_of(expression: str, zone: str) -> Cron:
    """A schedule; raises as `Cron`."""
    return Cron(expression, zone)


def _wall_clock(expression: Expression, zone: Zone, at: float) -> Iterator[int]:
    last = at
    for local in expression.times(zone.local(at)):
        found, _ = zone.instant(local)
        if found > last:  # not the second one of two, nor one that merges with the one before
            yield int(found)
            last = found


def _elapsed(expression: Expression, zone: Zone, at: float) -> Iterator[int]:
    """Every instant whose local time fits: walked through one stretch of constant offset after the other."""
    begin = at
    while True:
        offset, end = zone.offset(begin), zone.next_change(begin)
        for local in expression.times(begin + offset):
            found = local - offset
            if found >= end:
                break
            yield int(found)
        else:
            return  # none fits any more
        # The change itself is the first instant of the next stretch.
        begin = end
        if expression.after(zone.local(end) - 1) == zone.local(end):
            yield int(end)
