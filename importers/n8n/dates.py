"""Dates of Luxon and JavaScript: `$now`, `DateTime`, `new Date()`, and their methods."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from interlace.importers.expressions import constant, grouped
from interlace.importers.javascript.syntax import Call, Js, Name
from interlace.importers.n8n.values import NotTranslated, Value

_TOKENS: Final = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%-m", "dd": "%d", "d": "%-d", "HH": "%H", "H": "%-H",
    "hh": "%I", "h": "%-I", "mm": "%M", "m": "%-M", "ss": "%S", "s": "%-S", "SSS": "%f", "a": "%p", "EEEE": "%A", "EEE": "%a",
    "cccc": "%A", "ccc": "%a", "ZZ": "%:z", "ZZZ": "%z", "o": "%-j", "ooo": "%j", "WW": "%V", "W": "%-V", "X": "%s", "YYYY": "%Y",
    "DD": "%d", "D": "%-d", "YY": "%y", "T": "%H:%M:%S",
}  # fmt: skip
_LAYOUT: Final = re.compile(r"'([^']*)'|([A-Za-z])\2*|[^A-Za-z']+")
_UNITS: Final = {"year", "month", "week", "day", "hour", "minute", "second", "millisecond"}
_PARTS: Final = {
    "year": "%Y",
    "month": "%m",
    "day": "%d",
    "hour": "%H",
    "minute": "%M",
    "second": "%S",
    "weekday": "%u",
}
ONLY_DATES: Final = frozenset({
    "toISO", "toISODate", "toFormat", "toISOString", "toMillis", "getTime", "setZone", "plus", "minus", "toDateTime", "toDate",
    "beginningOf", "startOf", "endOfMonth", "toSeconds", "toUnixInteger", "getFullYear", "getMonth", "getDate", "getHours", "getDay",
    "diffNow", "diff", "diffTo", "diffToNow", "toLocaleString", "toRelative", "toISOTime", "toJSDate", "isWeekend",
})  # fmt: skip


def constructed(js: Call, value: Callable[[Js], Value]) -> Value:
    """`new Date()` and `new Date(x)`.

    Raises:
        NotTranslated: anything else is constructed.
    """
    if not isinstance(js.callee, Name) or js.callee.name != "Date":
        raise NotTranslated("`new` of anything but a date")
    if not js.arguments:
        return Value("now()", "date")
    if len(js.arguments) == 1:
        given = value(js.arguments[0])
        code = f"{grouped(given.code)} / 1000" if given.kind == "number" else given.code
        return Value(f"{grouped(code)} | to_datetime", "date")
    raise NotTranslated("a date of several numbers")


def layout(pattern: str) -> str:
    """A pattern of Luxon or Moment as one of strftime.

    Raises:
        NotTranslated: a token has no counterpart.
    """
    made = ""
    for match in _LAYOUT.finditer(pattern):
        piece = match[0]
        if match[1] is not None:
            made += match[1].replace("%", "%%")
        elif match[2] is not None:
            if piece not in _TOKENS:
                raise NotTranslated(f"{piece!r} in the format of a date")
            made += _TOKENS[piece]
        else:
            made += piece.replace("%", "%%")
    return made


def member(base: Value, key: str) -> Value:
    """A part of a date, as `$now.year`.

    Raises:
        NotTranslated: there is no such part.
    """
    if key not in _PARTS:
        raise NotTranslated(f"{key} of a date")
    return Value(f"({grouped(base.code)} | format_date('{_PARTS[key]}') | int)", "number")


def method(base: Value, name: str, arguments: list[Value]) -> Value | None:  # noqa: PLR0911 - one return a case
    """A method of a date, None where there is no such method."""
    operand = grouped(base.code)
    simple = {
        "toISO": "string", "toISOString": "string", "toJSON": "string", "toString": "string", "toISODate": "date", "toDateTime": "to_datetime",
        "toDate": "to_datetime", "toJSDate": "string", "valueOf": "string", "toLocal": "string", "toUTC": "to_tz('UTC')",
    }  # fmt: skip
    if name in simple and (not arguments or name == "toISO"):
        code = operand if base.kind == "date" and simple[name] == "string" else f"{operand} | {simple[name]}"
        return Value(code, "text" if name == "toISODate" else "date")
    if name in ("toMillis", "getTime"):
        return Value(f"({operand} | timestamp * 1000)", "number")
    if name in ("toSeconds", "toUnixInteger"):
        return Value(f"({operand} | timestamp)", "number")
    if name in ("getFullYear", "getDate", "getHours"):
        return member(base, {"getFullYear": "year", "getDate": "day", "getHours": "hour"}[name])
    if name == "getMonth":
        return Value(f"({operand} | format_date('%m') | int - 1)", "number")
    if len(arguments) >= 1:
        return _with_arguments(operand, name, arguments)
    return None


def _with_arguments(operand: str, name: str, arguments: list[Value]) -> Value | None:
    first = arguments[0]
    if name in ("format", "toFormat"):
        pattern = _text(first)
        return (
            None
            if pattern is None
            else Value(f"{operand} | format_date({constant(layout(pattern))})", "text")
        )
    if name in ("setZone", "toTimezone"):
        return Value(f"{operand} | to_tz({first.code})", "date")
    if name in ("plus", "minus"):
        options = _amounts(arguments, minus=name == "minus")
        return None if options is None else Value(f"{operand} | add_time({options})", "date")
    if name in ("diff", "diffTo") and len(arguments) > 1:
        unit = _unit(_text(arguments[1]) or "")
        return None if unit is None else Value(f"{operand} | date_diff({first.code}, '{unit}')", "number")
    return None


def _amounts(arguments: list[Value], *, minus: bool) -> str | None:
    """`{days: 1}` or `1, 'days'` as options of `add_time`."""
    sign = "-" if minus else ""
    if arguments[0].fields is not None and arguments[0].base is None:
        pairs = [(_unit(name), value.code) for name, value in arguments[0].fields.items()]
    elif len(arguments) > 1:
        pairs = [(_unit(_text(arguments[1]) or ""), arguments[0].code)]
    else:
        pairs = [("milliseconds", arguments[0].code)]
    if any(unit is None for unit, _ in pairs):
        return None
    return ", ".join(
        f"seconds={sign}{grouped(code)} / 1000" if unit == "milliseconds" else f"{unit}={sign}{grouped(code)}"
        for unit, code in pairs
    )


def _unit(name: str) -> str | None:
    plain = name.rstrip("s").lower()
    return f"{plain}s" if plain in _UNITS else None


def _text(value: Value) -> str | None:
    """The text of a constant."""
    if value.kind != "text" or not (value.code[:1] in "'\"" and value.code[-1:] == value.code[:1]):
        return None
    inner = value.code[1:-1]
    return None if value.code[0] in inner or "\\" in inner else inner
