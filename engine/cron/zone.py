"""A time zone as stretches of one offset each."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from interlace.engine.cron.expression import CronError
from interlace.engine.problems import nearest

_STEP: Final = 6 * 3600
"""Clocks that change twice within six hours have not been seen."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_YEAR: Final = 9998


class Zone:
    """An IANA time zone. Instants are Unix seconds, local times seconds since 1970-01-01T00:00:00 of its wall clock."""

    def __init__(self, name: str, info: ZoneInfo) -> None:
        self.name = name
        self._info = info
        self._changes: dict[int, tuple[float, ...]] = {}

    def offset(self, at: float) -> float:
        """Seconds that the wall clock is ahead of UTC at an instant."""
        moment = _EPOCH + timedelta(seconds=at)
        return _offset(moment.astimezone(self._info))

    def local(self, at: float) -> float:
        """What the wall clock shows at an instant."""
        return at + self.offset(at)

    def next_change(self, after: float) -> float:
        """The first instant after another one at which the offset changes; infinity where it never does again."""
        year = _year(after)
        for looked_at in range(year, min(year + 2, _LAST_YEAR)):
            changes = self.changes(looked_at)
            place = bisect_right(changes, after)
            if place < len(changes):
                return changes[place]
        # None for a year at least: to be looked at again from there.
        return _start(min(year + 1, _LAST_YEAR))

    def changes(self, year: int) -> tuple[float, ...]:
        """The instants of a year (UTC) at which the offset changes."""
        if year not in self._changes:
            self._changes[year] = tuple(self._find(_start(year), _start(year + 1)))
        return self._changes[year]

    def instant(self, local: float) -> tuple[float, bool]:
        """The instant of a local time, and whether it was moved: of two the first, of none the first after the gap."""
        wall = _EPOCH + timedelta(seconds=local)
        at = local - _offset(wall.replace(tzinfo=self._info))
        if self.local(at) == local:
            return at, False
        # With the offset after the gap it would be before it.
        before = local - _offset(wall.replace(tzinfo=self._info, fold=1))
        return self._exactly(before, at, self.offset(before)), True

    def is_repeated(self, at: float) -> int:
        """0 for an instant whose wall-clock time comes once, 1 or 2 where it comes twice: the first, the second."""
        local = self.local(at)
        wall = _EPOCH + timedelta(seconds=local)
        first = local - _offset(wall.replace(tzinfo=self._info))
        second = local - _offset(wall.replace(tzinfo=self._info, fold=1))
        if first >= second:
            return 0
        return 1 if at == first else 2

    def _find(self, begin: float, end: float) -> list[float]:
        found = []
        at, offset = begin, self.offset(begin)
        while at < end:
            then = min(at + _STEP, end)
            offset_then = self.offset(then)
            if offset_then != offset:
                found.append(self._exactly(at, then, offset))
            at, offset = then, offset_then
        return found

    def _exactly(self, low: float, high: float, offset: float) -> float:
        """The first second of `(low, high]` at which the offset is another one than at `low`."""
        while high - low > 1:
            middle = (low + high) // 2
            if self.offset(middle) == offset:
                low = middle
            else:
                high = middle
        return high


@lru_cache(maxsize=1024)
def zone_of(name: str) -> Zone:
    """The zone of an IANA name.

    Raises:
        CronError: there is none of that name.
    """
    try:
        return Zone(name, ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        from zoneinfo import available_timezones  # noqa: PLC0415 - reads a folder, for the message alone

        guess = nearest(name, available_timezones())
        hint = f" Did you mean {guess!r}?" if guess else " Names look like Europe/Berlin."
        raise CronError(f"there is no time zone {name!r}.{hint}") from None


def _offset(moment: datetime) -> float:
    found = moment.utcoffset()
    assert found is not None
    return found.total_seconds()


def _year(at: float) -> int:
    return (_EPOCH + timedelta(seconds=at)).year


def _start(year: int) -> float:
    return (datetime(year, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()


def iso(at: float, offset: float) -> str:
    """An instant as ISO 8601 text with its offset."""
    return (_EPOCH + timedelta(seconds=at)).astimezone(timezone(timedelta(seconds=offset))).isoformat()
