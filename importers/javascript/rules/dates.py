"""Dates. Local time is UTC."""

import datetime
import email.utils
import math
import re
from typing import Any

from interlace.importers.javascript.rules.values import js_number


class Date:
    """A moment, as milliseconds since 1970."""

    def __init__(self, ms: float) -> None:
        self.ms = ms

    def parts(self) -> datetime.datetime:
        return datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(milliseconds=self.ms)

    def iso(self) -> str:
        if math.isnan(self.ms):
            raise ValueError("Invalid time value")
        return self.parts().strftime("%Y-%m-%dT%H:%M:%S.") + f"{int(self.ms) % 1000:03d}Z"

    def __str__(self) -> str:
        if math.isnan(self.ms):
            return "Invalid Date"
        return self.parts().strftime("%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)")


def js_now() -> int:
    return int(datetime.datetime.now(datetime.UTC).timestamp() * 1000)


def js_date(*given: Any) -> Date:
    """`new Date(…)`."""
    if not given:
        return Date(js_now())
    if len(given) > 1:
        return Date(js_utc(*given))
    value = given[0]
    if isinstance(value, Date):
        return Date(value.ms)
    return Date(js_moment(value) if isinstance(value, str) else js_number(value))


def js_moment(words: Any) -> float:
    """`Date.parse(…)`."""
    written = words.strip()
    try:
        if re.match(r"\d{4}(-\d\d)?$", written):
            written += "-01" * (2 - written.count("-"))
        moment = datetime.datetime.fromisoformat(written)
    except ValueError:
        try:
            moment = email.utils.parsedate_to_datetime(written)
        except (ValueError, TypeError):
            return js_written_date(written)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return int(moment.timestamp() * 1000)


def js_written_date(written: str) -> float:
    for form in (
        "%m/%d/%Y",
        "%m/%d/%Y %H:%M:%S",
        "%Y/%m/%d",
        "%Y/%m/%d %H:%M:%S",
        "%B %d, %Y",
        "%b %d, %Y",
        "%d %B %Y",
        "%d %b %Y",
    ):
        try:
            return int(
                datetime.datetime.strptime(written, form).replace(tzinfo=datetime.UTC).timestamp() * 1000
            )
        except ValueError:
            continue
    return math.nan


def js_utc(year: Any, month: Any = 0, day: Any = 1, *clock: Any) -> float:
    """`Date.UTC(…)`: months from 0; what is too large runs over into the next unit."""
    months = int(year) * 12 + int(month)
    first = datetime.datetime(months // 12, months % 12 + 1, 1, tzinfo=datetime.UTC)
    hour, minute, second, ms = ([int(part) for part in clock] + [0] * 4)[:4]
    moment = first + datetime.timedelta(
        days=int(day) - 1, hours=hour, minutes=minute, seconds=second, milliseconds=ms
    )
    return int(moment.timestamp() * 1000)


def js_to_iso(date: Any) -> str:
    made: str = date.iso()
    return made


def js_time(date: Any) -> float:
    return js_number(date)


def js_part(date: Any, name: str) -> float:
    """`date.getFullYear()` and the like."""
    if math.isnan(date.ms):
        return math.nan
    moment = date.parts()
    known = {
        "FullYear": moment.year,
        "Month": moment.month - 1,
        "Date": moment.day,
        "Day": (moment.weekday() + 1) % 7,
        "Hours": moment.hour,
        "Minutes": moment.minute,
        "Seconds": moment.second,
        "Milliseconds": moment.microsecond // 1000,
    }
    found: float = known[name]
    return found


def js_set_part(date: Any, name: str, *values: Any) -> float:
    """`date.setDate(…)` and the like."""
    names = ["FullYear", "Month", "Date", "Hours", "Minutes", "Seconds", "Milliseconds"]
    parts = [js_part(date, one) for one in names]
    place = names.index(name)
    for offset, value in enumerate(values):
        parts[place + offset] = js_number(value)
    date.ms = js_utc(*parts)
    return js_number(date)
