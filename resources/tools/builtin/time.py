"""Tools for dates, times, zones and calendars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from interlace.engine.errors import NodeError
from interlace.engine.expressions.filters import dates
from interlace.engine.schema import Schema
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

Moment = Annotated[str | float, Field(description="ISO 8601, Unix seconds, or `now`.")]
Zone = Annotated[str, Field(max_length=80, description="IANA name, as Europe/Paris.")]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MOST_DAYS: Final = 100_000
_UNITS: Final = (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
_TIME: Final[Schema] = {
    "type": "object",
    "properties": {
        "time": {"type": "string"}, "date": {"type": "string"}, "weekday": {"type": "string"}, "week": {"type": "integer"},
        "time_zone": {"type": "string"}, "unix": {"type": "number"}, "text": {"type": "string"},
    },
    "required": ["time", "date", "weekday", "week", "time_zone", "unix"],
}  # fmt: skip


def moment_of(
    value: str | float, ctx: ToolContext, *, zone: str = "UTC", pattern: str | None = None
) -> datetime:
    """The moment that an argument names.

    Raises:
        ExpressionError: `bad_date`.
    """
    if isinstance(value, str) and value.strip().lower() == "now":
        return dates.present(ctx.now).astimezone(dates.zone(zone))
    return dates.moment_of(value, pattern, zone)


def described(moment: datetime, zone: str) -> dict[str, Any]:
    """A moment in all the forms that are asked for."""
    unix = moment.timestamp()
    return {
        "time": moment.isoformat(), "date": moment.date().isoformat(), "weekday": moment.strftime("%A"),
        "week": moment.isocalendar().week, "time_zone": zone, "unix": int(unix) if unix.is_integer() else unix,
    }  # fmt: skip


class NowArguments(Arguments):
    """Where the clock hangs."""

    time_zone: Zone = "UTC"


class CurrentTime(TypedTool[NowArguments]):
    """The present moment."""

    name = "current_time"
    description = "Give the present date and time in a time zone, with weekday and calendar week."
    category: ClassVar[Category] = "time"
    result = _TIME

    async def call(self, arguments: NowArguments, ctx: ToolContext) -> ToolResult:
        """Read the clock of the run."""
        moment = moment_of("now", ctx, zone=arguments.time_zone)
        found = described(moment, arguments.time_zone)
        return ToolResult(value=found, text=f"{found['time']} ({found['weekday']}, {arguments.time_zone})")


class ConvertTimeArguments(Arguments):
    """A moment, and how it is written."""

    time: Moment
    to_zone: Zone = "UTC"
    from_zone: Zone = Field("UTC", description="Zone of a time that names none.")
    read_as: str | None = Field(
        None, max_length=100, description="strptime pattern of `time`, as %d.%m.%Y %H:%M."
    )
    write_as: str | None = Field(None, max_length=100, description="strftime pattern of `text`.")


class ConvertTime(TypedTool[ConvertTimeArguments]):
    """Parsing, time zones and formatting."""

    name = "convert_time"
    description = "Parse a date or time, move it to another time zone, and write it in a format."
    category: ClassVar[Category] = "time"
    result = _TIME

    async def call(self, arguments: ConvertTimeArguments, ctx: ToolContext) -> ToolResult:
        """Convert."""
        moment = moment_of(arguments.time, ctx, zone=arguments.from_zone, pattern=arguments.read_as)
        moment = moment.astimezone(dates.zone(arguments.to_zone))
        found = described(moment, arguments.to_zone)
        if arguments.write_as is not None:
            found["text"] = dates.format_date(moment.isoformat(), arguments.write_as)
        return ToolResult(value=found, text=found.get("text") or f"{found['time']} ({found['weekday']})")


class AddTimeArguments(Arguments):
    """A moment, and how far to go from it."""

    time: Moment = "now"
    years: int = Field(0, ge=-10_000, le=10_000)
    months: int = Field(0, ge=-100_000, le=100_000)
    weeks: float = 0
    days: float = 0
    hours: float = 0
    minutes: float = 0
    seconds: float = 0
    time_zone: Zone = Field("UTC", description="Zone whose wall clock days and longer follow.")


class AddTime(TypedTool[AddTimeArguments]):
    """Date arithmetic."""

    name = "add_time"
    description = "Give the moment that is some years, months, weeks, days, hours … after a time, or before it (negative)."
    category: ClassVar[Category] = "time"
    result = _TIME

    async def call(self, arguments: AddTimeArguments, ctx: ToolContext) -> ToolResult:
        """Add."""
        zone = arguments.time_zone
        start = moment_of(arguments.time, ctx, zone=zone).isoformat()
        text = dates.add_time(
            start, arguments.weeks, arguments.days, arguments.hours, arguments.minutes, arguments.seconds,
            arguments.months, arguments.years, zone,
        )  # fmt: skip
        found = described(dates.moment_of(text).astimezone(dates.zone(zone)), zone)
        return ToolResult(value=found, text=f"{found['time']} ({found['weekday']})")


class BetweenArguments(Arguments):
    """Two moments."""

    start: Moment
    end: Moment = "now"
    time_zone: Zone = Field("UTC", description="Zone of times that name none.")


class TimeBetween(TypedTool[BetweenArguments]):
    """The time between two moments."""

    name = "time_between"
    description = (
        "Give how long it is from one time to another: in seconds, in days, and as years, months and days."
    )
    category: ClassVar[Category] = "time"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "seconds": {"type": "number"}, "days": {"type": "number"}, "text": {"type": "string"},
            "years": {"type": "integer"}, "months": {"type": "integer"}, "rest_days": {"type": "integer"},
        },
        "required": ["seconds", "days", "text", "years", "months", "rest_days"],
    }  # fmt: skip

    async def call(self, arguments: BetweenArguments, ctx: ToolContext) -> ToolResult:
        """Subtract."""
        zone = dates.zone(arguments.time_zone)
        start = moment_of(arguments.start, ctx, zone=arguments.time_zone).astimezone(zone)
        end = moment_of(arguments.end, ctx, zone=arguments.time_zone).astimezone(zone)
        seconds = (end.astimezone(UTC) - start.astimezone(UTC)).total_seconds()
        years, months, rest = _calendar(min(start, end).date(), max(start, end).date())
        sign = -1 if seconds < 0 else 1
        found = {
            "seconds": int(seconds) if seconds.is_integer() else seconds, "days": seconds / 86400, "text": _in_words(seconds),
            "years": sign * years, "months": sign * months, "rest_days": sign * rest,
        }  # fmt: skip
        return ToolResult(value=found, text=str(found["text"]))


def _calendar(start: date, end: date) -> tuple[int, int, int]:
    """Whole years, whole months, and the days that are left."""
    months = (end.year - start.year) * 12 + end.month - start.month
    while months and _shifted(start, months) > end:
        months -= 1
    return months // 12, months % 12, (end - _shifted(start, months)).days


def _shifted(start: date, months: int) -> date:
    moved = dates.add_time(f"{start.isoformat()}T00:00:00+00:00", months=months)
    return datetime.fromisoformat(moved).date()


def _in_words(seconds: float) -> str:
    rest, parts = abs(seconds), []
    for name, size in _UNITS:
        count = int(rest // size) if size > 1 else round(rest, 3)
        rest -= count * size
        if count:
            parts.append(f"{count:g} {name if count != 1 else name[:-1]}")
    return ("-" if seconds < 0 else "") + (" ".join(parts) or "0 seconds")


class BusinessDaysArguments(Arguments):
    """A first day, and the last one or how many days to go."""

    start: Moment
    end: Moment | None = Field(
        None, description="Count working days from start (not counted) to this day (counted)."
    )
    days: int | None = Field(
        None, ge=-10_000, le=10_000, description="Or give the day so many working days later."
    )
    weekend: list[Weekday] = Field(["sat", "sun"], max_length=6)
    holidays: list[str] = Field([], max_length=1000, description="Further days off, YYYY-MM-DD.")
    time_zone: Zone = "UTC"


class BusinessDays(TypedTool[BusinessDaysArguments]):
    """Working days."""

    name = "business_days"
    description = (
        "Count the working days between two dates, or give the date that is some working days later."
    )
    category: ClassVar[Category] = "time"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "days": {"type": "integer"},
            "date": {"type": "string"},
            "weekday": {"type": "string"},
        },
        "required": ["days", "date", "weekday"],
    }

    async def call(self, arguments: BusinessDaysArguments, ctx: ToolContext) -> ToolResult:
        """Count, or go."""
        if (arguments.end is None) == (arguments.days is None):
            raise NodeError(
                "business_days takes exactly one of end and days", kind="bad_arguments", retryable=False
            )
        zone = arguments.time_zone
        start = moment_of(arguments.start, ctx, zone=zone).astimezone(dates.zone(zone)).date()
        off = {dates.moment_of(text).date() for text in arguments.holidays}
        free = frozenset(_WEEKDAYS.index(day) for day in arguments.weekend)

        def works(day: date) -> bool:
            return day.weekday() not in free and day not in off

        if arguments.days is not None:
            days, last = arguments.days, _after(start, arguments.days, works)
        else:
            assert arguments.end is not None
            last = moment_of(arguments.end, ctx, zone=zone).astimezone(dates.zone(zone)).date()
            days = _count(start, last, works)
        found = {"days": days, "date": last.isoformat(), "weekday": last.strftime("%A")}
        text = (
            f"{found['date']} ({found['weekday']})" if arguments.days is not None else f"{days} working days"
        )
        return ToolResult(value=found, text=text)


def _count(start: date, end: date, works: Callable[[date], bool]) -> int:
    span = (end - start).days
    if abs(span) > _MOST_DAYS:
        raise NodeError(
            f"the dates lie more than {_MOST_DAYS:,} days apart", kind="bad_date", retryable=False
        )
    step = 1 if span >= 0 else -1
    return step * sum(works(start + timedelta(days=step * n)) for n in range(1, abs(span) + 1))


def _after(start: date, days: int, works: Callable[[date], bool]) -> date:
    step, left, day = (1 if days >= 0 else -1), abs(days), start
    for _ in range(_MOST_DAYS):
        if not left:
            return day
        try:
            day += timedelta(days=step)
        except OverflowError:
            break
        left -= works(day)
    raise NodeError("the date is outside the years 1 to 9999", kind="bad_date", retryable=False)


class CronArguments(Arguments):
    """A schedule, and from when on."""

    expression: str = Field(
        max_length=200, description="Five fields: minute hour day month weekday; or @daily and alike."
    )
    count: int = Field(5, ge=1, le=100, description="How many times.")
    after: Moment = "now"
    time_zone: Zone = "UTC"


class CronNext(TypedTool[CronArguments]):
    """When a schedule is due."""

    name = "cron_next"
    description = "Give the next times at which a cron expression is due, in a time zone."
    category: ClassVar[Category] = "time"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {"times": {"type": "array", "items": {"type": "string"}}},
        "required": ["times"],
    }

    async def call(self, arguments: CronArguments, ctx: ToolContext) -> ToolResult:
        """Look ahead."""
        zone = dates.zone(arguments.time_zone)
        after = moment_of(arguments.after, ctx, zone=arguments.time_zone)
        found = []
        for moment in _due(arguments.expression, after, zone):
            found.append(moment.isoformat())
            if len(found) == arguments.count:
                break
        return ToolResult(value={"times": found}, text="\n".join(found) or "never")


def _due(expression: str, after: datetime, zone: tzinfo) -> Iterator[datetime]:
    """Due times by the wall clock, after a moment.

    One that a clock change leaves out falls on the end of the gap; one that comes twice is due once. Where the hours
    are open (`*`) the schedule follows the time that passes: twice in the repeated hour, not at all in the gap.
    """
    from croniter import CroniterError, croniter  # noqa: PLC0415 - only where schedules are looked at

    fields = expression.split()
    if len(fields) != 5 and not expression.startswith("@"):  # noqa: PLR2004 - the fields of cron
        raise _bad_cron(expression, f"it has {len(fields)} fields")
    hourly = expression.strip() == "@hourly" or (len(fields) == 5 and fields[1].startswith("*"))  # noqa: PLR2004
    local = after.astimezone(zone)
    start = (local - timedelta(hours=2 if hourly else 0)).replace(tzinfo=None)
    try:
        times = croniter(expression, start, max_years_between_matches=30)
        last = after.astimezone(UTC)
        waiting: list[datetime] = []
        while True:
            naive = times.get_next(datetime)
            waiting = sorted({*waiting, *_moments(naive, zone, hourly=hourly)})
            # What is an hour behind cannot be overtaken any more by the repeated hour.
            limit = naive.replace(tzinfo=zone).astimezone(UTC) - (
                timedelta(hours=2) if hourly else timedelta(0)
            )
            while waiting and waiting[0] <= limit:
                moment = waiting.pop(0)
                if moment > last:
                    last = moment
                    yield moment.astimezone(zone)
    except CroniterError as error:
        raise _bad_cron(expression, str(error)) from None
    except (OverflowError, ValueError, KeyError, TypeError) as error:
        raise _bad_cron(expression, str(error) or type(error).__name__) from None


def _moments(naive: datetime, zone: tzinfo, *, hourly: bool) -> list[datetime]:
    first = naive.replace(tzinfo=zone).astimezone(UTC)
    exists = first.astimezone(zone).replace(tzinfo=None) == naive
    if not exists:
        # `first` is as far after the gap as the wall clock is inside it; hours that are open have no such time.
        return [] if hourly else [first]
    second = naive.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return [first, second] if hourly and second != first else [first]


def _bad_cron(expression: str, why: str) -> NodeError:
    return NodeError(
        f"{expression!r} is no cron expression: {why}; write five fields, as 30 9 * * mon-fri",
        kind="bad_cron",
        retryable=False,
    )
