"""What becomes of a database's values: JSON only, by stated rules.

| database value | in the result |
|---|---|
| NULL, boolean, text | null, boolean, text |
| integer | number; text beyond 64 bits |
| float | number; null for NaN and infinities |
| decimal | number where an integer within ±2^53 or a float holds it exactly, else text |
| date, time, timestamp | ISO 8601 text as the server gives it, `T` between date and time, zones in UTC |
| interval | ISO 8601 duration (PostgreSQL), `HH:MM:SS` text (MySQL TIME) |
| UUID, network address, range, enum | text |
| bytes | base64 text |
| JSON | parsed (MariaDB and SQLite keep JSON as text, so there it stays text) |
| array | list |
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

MAX_SAFE_INT = 2**53
_INT_64 = 2**63
_PLAIN = frozenset({str, bool, type(None)})


def number(text: str) -> int | float | str | None:
    """The JSON value of a decimal's text: a number where that is exact, else the text; null for NaN, infinity."""
    if "." not in text and "e" not in text and "E" not in text:
        digits = text.lstrip("+-")
        if not digits.isdigit():
            return None
        return int(text) if len(digits) < 16 or abs(int(text)) <= MAX_SAFE_INT else text  # noqa: PLR2004 - 10^15
    value = float(text)
    if not math.isfinite(value):
        return text
    if len(text) < 16:  # noqa: PLR2004 - every decimal of 15 digits survives a float
        return value
    return value if Decimal(repr(value)) == Decimal(text) else text


def json_value(value: object) -> object:
    """Any driver value as JSON, by the rules of this module."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    convert = _CONVERTERS.get(kind)
    return convert(value) if convert is not None else _other(value)


def json_rows(
    names: Sequence[str], rows: Sequence[Sequence[object]], unsure: Sequence[int]
) -> list[dict[str, object]]:
    """The rows as objects with JSON values; `unsure` are the columns whose values may not be JSON yet."""
    result = [dict(zip(names, row, strict=True)) for row in rows]
    for index in unsure:
        column = [row[index] for row in rows]
        if not _is_json(set(map(type, column)), column):
            name = names[index]
            for row_object, value in zip(result, column, strict=True):
                row_object[name] = json_value(value)
    return result


def unique_names(names: Sequence[str]) -> list[str]:
    """The column names with a number at each repeated one: `id, id` becomes `id, id_2`."""
    taken: set[str] = set()
    result: list[str] = []
    for name in names:
        fresh, number_ = name, 1
        while fresh in taken or (number_ > 1 and fresh in names):
            number_ += 1
            fresh = f"{name}_{number_}"
        taken.add(fresh)
        result.append(fresh)
    return result


def parsed_json(text: str | bytes) -> object:
    """A JSON column's value."""
    return json.loads(text)


def _is_json(kinds: set[type], column: Sequence[Any]) -> bool:
    """Whether a column needs no conversion; looks at whole columns, as each value on its own costs more."""
    rest = kinds - _PLAIN
    if not rest:
        return True
    if rest not in ({int}, {float}):
        return False
    values = [value for value in column if value is not None] if type(None) in kinds else column
    if rest == {float}:
        return kinds.isdisjoint({str, bool}) and math.isfinite(sum(values))
    return kinds.isdisjoint({str}) and bool(min(values) >= -_INT_64 and max(values) < _INT_64)


def _integer(value: int) -> int | str:
    return value if -_INT_64 <= value < _INT_64 else str(value)


def _float(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _bytes(value: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(value).decode("ascii")


def _duration(value: dt.timedelta) -> str:
    """MySQL's TIME, which may be negative and longer than a day."""
    micro = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
    sign, micro = ("-", -micro) if micro < 0 else ("", micro)
    seconds, micro = divmod(micro, 1_000_000)
    fraction = f".{micro:06d}" if micro else ""
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"


def _list(value: Sequence[object]) -> list[object]:
    return [json_value(item) for item in value]


def _object(value: dict[object, object]) -> dict[str, object]:
    return {str(key): json_value(item) for key, item in value.items()}


def _decimal(value: Decimal) -> int | float | str | None:
    return number(str(value)) if value.is_finite() else None


def _iso(value: dt.date | dt.time) -> str:
    return value.isoformat()


def _other(value: object) -> object:
    if isinstance(value, (list, tuple, set, frozenset)):
        return _list(list(value))
    return str(value)


_CONVERTERS: dict[type, Callable[..., object]] = {
    int: _integer,
    float: _float,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    Decimal: _decimal,
    dt.timedelta: _duration,
    dt.date: _iso,
    dt.time: _iso,
    dt.datetime: _iso,
    list: _list,
    tuple: _list,
    dict: _object,
}
