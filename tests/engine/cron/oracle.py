"""The rule for clock changes said again, by looking at every instant: nothing here knows of gaps, folds or croniter."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

MONTHS = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


@dataclass(frozen=True)
class Fields:
    """What an expression asks of a wall-clock time; None asks nothing."""

    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int] | None
    last_day: bool
    months: frozenset[int]
    weekdays: frozenset[int] | None
    follows_elapsed_time: bool

    def fit(self, wall: datetime) -> bool:
        if wall.second not in self.seconds or wall.minute not in self.minutes or wall.hour not in self.hours:
            return False
        if wall.month not in self.months:
            return False
        day = self.days is not None and (
            wall.day in self.days or (self.last_day and wall.day == monthrange(wall.year, wall.month)[1])
        )
        weekday = self.weekdays is not None and wall.isoweekday() % 7 in self.weekdays
        if self.days is None and self.weekdays is None:
            return True
        return day or weekday


def read(expression: str) -> Fields:
    fields = expression.lower().split()
    seconds = _numbers(fields.pop(0), 0, 59, []) if len(fields) == 6 else frozenset({0})
    minute, hour, day, month, weekday = fields
    days = [part for part in day.split(",") if part != "l"]
    return Fields(
        seconds=seconds, minutes=_numbers(minute, 0, 59, []), hours=_numbers(hour, 0, 23, []),
        days=None if day in "*?" else frozenset().union(*(_numbers(part, 1, 31, []) for part in days)),
        last_day="l" in day.split(","), months=_numbers(month, 1, 12, MONTHS),
        weekdays=None if weekday in "*?" else frozenset(n % 7 for n in _numbers(weekday, 0, 7, DAYS)),
        follows_elapsed_time=any("*" in part or "/" in part for part in hour.split(",")),
    )  # fmt: skip


def _numbers(field: str, low: int, high: int, names: list[str]) -> frozenset[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        if span in "*?":
            first, last = low, high
        else:
            begin, dash, end = span.partition("-")
            first = names.index(begin) if begin in names else int(begin)
            last = (names.index(end) if end in names else int(end)) if dash else (high if step else first)
        found.update(range(first, last + 1, int(step or 1)))
    return frozenset(found)


def firings(expression: str, zone: str, begin: datetime, end: datetime) -> list[int]:
    """The instants in `(begin, end]` at which a schedule fires, in Unix seconds."""
    return walk((expression,), zone, begin, end)[expression]


def walk(expressions: Sequence[str], zone: str, begin: datetime, end: datetime) -> dict[str, list[int]]:
    """The same of several schedules; looked at from a day before, to know what the clock has shown."""
    info, found = ZoneInfo(zone), {expression: list[int]() for expression in expressions}
    wanted = [(read(expression), found[expression]) for expression in expressions]
    tick = timedelta(seconds=1 if any(len(expression.split()) == 6 for expression in expressions) else 60)
    utc = begin.astimezone(UTC) - timedelta(days=1)
    shown = utc.astimezone(info).replace(tzinfo=None) - tick  # the latest wall-clock time that was ever shown
    while utc <= end:
        wall = utc.astimezone(info).replace(tzinfo=None)
        new = []  # what the clock shows for the first time, or passes over
        while shown < wall:
            shown += tick
            new.append(shown)
        if utc > begin:
            for fields, instants in wanted:
                if any(map(fields.fit, (wall,) if fields.follows_elapsed_time else new)):
                    instants.append(int(utc.timestamp()))
        utc += tick
    return found


def changes(zone: str, begin: datetime, end: datetime) -> list[datetime]:
    """The hours before which the offset of a zone is another one than after."""
    return list(_changes(zone, begin, end))


@lru_cache(maxsize=1024)
def _changes(zone: str, begin: datetime, end: datetime) -> tuple[datetime, ...]:
    info, found, at = ZoneInfo(zone), [], begin
    before = at.astimezone(info).utcoffset()
    while at < end:
        then = at + timedelta(hours=1)
        after = then.astimezone(info).utcoffset()
        if before != after:
            found.append(at)
        at, before = then, after
    return tuple(found)


def same_clock(zone: str, begin: datetime, end: datetime) -> Hashable:
    """What is equal for two zones whose clocks show the same from begin to end."""
    places = [begin - timedelta(days=1), *changes(zone, begin - timedelta(days=1), end)]
    offsets = [
        (at + timedelta(minutes=minute)).astimezone(ZoneInfo(zone)).utcoffset()
        for at in places
        for minute in range(61)
    ]
    return tuple(places), tuple(offsets)
