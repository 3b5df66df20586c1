"""Filters for dates and times. Moments travel as ISO 8601 text with an offset, so they stay plain data."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.comparison import number_of
from interlace.engine.expressions.filters.text import count_of, text_of
from interlace.engine.expressions.values import described

_clock: ContextVar[Callable[[], datetime] | None] = ContextVar("clock", default=None)
_UNITS: Final = {"weeks": 604800.0, "days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}
_MAX_FORMAT: Final = 200
_MILLISECONDS_FROM: Final = 1e11
_MONTHS: Final = 12


def use_clock(clock: Callable[[], datetime]) -> Token[Callable[[], datetime] | None]:
    """Make `now()` read this clock in the current context; give the token for `restore_clock`."""
    return _clock.set(clock)


def restore_clock(token: Token[Callable[[], datetime] | None]) -> None:
    """Undo `use_clock`."""
    _clock.reset(token)


def present(otherwise: Callable[[], float]) -> datetime:
    """The moment that `now()` reads in this context; where no clock is set, the Unix time that `otherwise` gives."""
    clock = _clock.get()
    moment = clock() if clock is not None else datetime.fromtimestamp(otherwise(), UTC)
    return _aware(moment, UTC)


def now(tz: Any = "UTC") -> str:
    """The present moment in a time zone."""
    clock = _clock.get()
    moment = clock() if clock is not None else datetime.now(UTC)
    return _aware(moment, UTC).astimezone(zone(tz)).isoformat()


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo:
    if name.upper() in ("UTC", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ExpressionError(
            f"no time zone {name!r}; write an IANA name such as 'Asia/Tokyo'", kind="bad_date"
        ) from None


def zone(name: Any) -> tzinfo:
    """Give the time zone of an IANA name."""
    return _zone(text_of(name, "time zone")[:80])


def _aware(moment: datetime, fallback: tzinfo) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=fallback)


def moment_of(value: Any, pattern: Any = None, tz: Any = "UTC") -> datetime:
    """Give the moment that a value is: ISO text, text in a `strptime` pattern, seconds or milliseconds since 1970.

    Raises:
        ExpressionError: the value is not a moment.
    """
    if isinstance(value, str):
        number = number_of(value) if pattern is None and "-" not in value[1:] and len(value) != 8 else None  # noqa: PLR2004 - 20261130 is a date
        return _from_number(number, tz) if number is not None else _from_text(value, pattern, tz)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_number(value, tz)
    raise ExpressionError(f"{described(value)} is not a date", kind="bad_date")


def _from_number(number: float, tz: Any) -> datetime:
    seconds = number / 1000 if abs(number) >= _MILLISECONDS_FROM else number
    try:
        return datetime.fromtimestamp(seconds, zone(tz))
    except (OverflowError, ValueError, OSError):
        raise ExpressionError(f"number {number} is not a date", kind="bad_date") from None


def _from_text(text: str, pattern: Any, tz: Any) -> datetime:
    clean = text.strip()[:_MAX_FORMAT]
    try:
        if pattern is not None:
            return _aware(datetime.strptime(clean, text_of(pattern, "to_datetime")[:_MAX_FORMAT]), zone(tz))  # noqa: DTZ007 - made aware
        return _aware(datetime.fromisoformat(clean), zone(tz))
    except (ValueError, OverflowError) as error:
        shape = f"the pattern {pattern!r}" if pattern is not None else "an ISO 8601 date"
        raise ExpressionError(
            f"{described(text)} is not {shape}; give its pattern: to_datetime('%d.%m.%Y')", kind="bad_date"
        ) from error


def to_datetime(value: Any, pattern: Any = None, tz: Any = "UTC") -> str:
    """The moment as ISO 8601 text; `tz` is the zone of text that names none."""
    return moment_of(value, pattern, tz).isoformat()


def to_date(value: Any, pattern: Any = None, tz: Any = None) -> str:
    """The calendar date, `2026-11-30`; with `tz`, the date there."""
    moment = moment_of(value, pattern)
    return (moment.astimezone(zone(tz)) if tz is not None else moment).date().isoformat()


def format_date(value: Any, pattern: Any = "%Y-%m-%d %H:%M:%S", tz: Any = None) -> str:
    """The moment in a `strftime` pattern; with `tz`, as a clock there shows it."""
    moment = moment_of(value)
    shown = moment.astimezone(zone(tz)) if tz is not None else moment
    layout = text_of(pattern, "format_date")
    if len(layout) > _MAX_FORMAT:
        raise ExpressionError(f"a date pattern has at most {_MAX_FORMAT} characters", kind="bad_date")
    try:
        return shown.strftime(_without_widths(layout))
    except ValueError as error:
        raise ExpressionError(
            f"the date pattern {layout!r} is not valid: {error}", kind="bad_date"
        ) from error


def _without_widths(layout: str) -> str:
    """Drop the widths that the C library would honour, such as `%1000000d`."""
    out: list[str] = []
    in_directive = False
    for character in layout:
        if in_directive and character.isdigit():
            continue
        if in_directive:
            in_directive = character in "-_^#0E:"
        elif character == "%":
            in_directive = True
        out.append(character)
    return "".join(out)


def to_tz(value: Any, tz: Any) -> str:
    """The same moment, written in another time zone."""
    return moment_of(value).astimezone(zone(tz)).isoformat()


def timestamp(value: Any) -> int | float:
    """Seconds since 1970."""
    seconds = moment_of(value).timestamp()
    return int(seconds) if seconds.is_integer() else seconds


def add_time(  # noqa: PLR0917 - templates name them
    value: Any,
    weeks: Any = 0,
    days: Any = 0,
    hours: Any = 0,
    minutes: Any = 0,
    seconds: Any = 0,
    months: Any = 0,
    years: Any = 0,
    tz: Any = None,
) -> str:
    """The moment so much later; days and longer follow the wall clock of `tz`, the rest elapsed time."""
    moment = moment_of(value)
    if tz is not None:
        moment = moment.astimezone(zone(tz))
    try:
        moment = _add_months(moment, count_of(months, "add_time") + _MONTHS * count_of(years, "add_time"))
        moment += timedelta(weeks=_amount(weeks), days=_amount(days))
        elapsed = timedelta(hours=_amount(hours), minutes=_amount(minutes), seconds=_amount(seconds))
        if elapsed:
            moment = (moment.astimezone(UTC) + elapsed).astimezone(moment.tzinfo)
    except (OverflowError, ValueError):
        raise ExpressionError("the date is outside the years 1 to 9999", kind="bad_date") from None
    return moment.isoformat()


def _amount(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise ExpressionError(f"the filter 'add_time' takes numbers, not {described(value)}", kind="wrong_type")


def _add_months(moment: datetime, months: int) -> datetime:
    if not months:
        return moment
    year, month = divmod(moment.year * _MONTHS + moment.month - 1 + months, _MONTHS)
    for day in range(moment.day, 0, -1):
        try:
            return moment.replace(year=year, month=month + 1, day=day)
        except ValueError:
            if day <= 28:  # noqa: PLR2004 - every month has this day, so the year is at fault
                raise
    return moment


def date_diff(value: Any, other: Any, unit: Any = "seconds") -> float:
    """How much later the value is than `other`, in weeks, days, hours, minutes or seconds."""
    name = text_of(unit, "date_diff")
    if name not in _UNITS:
        raise ExpressionError(f"no unit {name!r}; known: {', '.join(_UNITS)}", kind="bad_date")
    return (moment_of(value) - moment_of(other)).total_seconds() / _UNITS[name]
