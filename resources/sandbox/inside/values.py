"""The way from a Python value to JSON text, with the path of what has no place in JSON."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import uuid
from itertools import chain
from typing import Any

_DEEPEST = 200
_SCALARS = frozenset({str, int, bool, float, type(None)})
_WIDE = 1 << 63


class NotJson(ValueError):  # noqa: N818 - says what the value is
    """A value has no place in JSON; the message names its path."""


def _as_json(value: object) -> object:
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, uuid.UUID)):
        return str(value)
    raise TypeError


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_as_json)


def to_json(value: dict[str, Any]) -> tuple[bytes, bool]:
    """The value as UTF-8 JSON, and whether it holds integers beyond 64 bits (some readers would round them).

    Tuples become lists; dates ISO text; Decimal and UUID text.

    Raises:
        NotJson: with the path, for anything else that JSON has no form for.
    """
    try:
        data = _encoder.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        _explain(value, "", 0)
        raise NotJson(f"the result cannot be written as JSON: {error}") from None
    return data, _inspect(value)


def _inspect(value: dict[str, Any]) -> bool:
    """Whether wide integers stand in the value; the encoder makes text of other keys in silence, here they fail.

    It goes level by level, so that the loops run in C.
    """
    wide = False
    level: list[Any] = [value]
    while level:
        dicts = [item for item in level if isinstance(item, dict)]
        lists = [item for item in level if not isinstance(item, dict)]
        if not {str}.issuperset(map(type, chain.from_iterable(dicts))) and not all(
            isinstance(key, str) for key in chain.from_iterable(dicts)
        ):
            _explain(value, "", 0)
        members = [*chain.from_iterable(map(dict.values, dicts)), *chain.from_iterable(lists)]
        kinds = set(map(type, members))
        if int in kinds and not wide:
            numbers = [member for member in members if type(member) is int]
            wide = max(numbers) >= _WIDE or min(numbers) < -_WIDE
        level = (
            [] if kinds <= _SCALARS else [item for item in members if isinstance(item, (dict, list, tuple))]
        )
    return wide


def _explain(value: object, path: str, depth: int) -> None:
    """Raise NotJson for the first member that has no JSON form."""
    where = path or "the result"
    if depth > _DEEPEST:
        raise NotJson(f"{where[:60]}… is nested deeper than {_DEEPEST} levels or contains itself")
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                raise NotJson(f"{where} has the key {_short(key)} of type {_name(key)}; keys must be text")
            _explain(member, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, member in enumerate(value):
            _explain(member, f"{path}[{index}]", depth + 1)
    else:
        _explain_scalar(value, where)


def _explain_scalar(value: object, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise NotJson(f"{where} is {value!r}, which JSON has no number for; return None or text instead")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise NotJson(
                f"{where} holds half of a surrogate pair, which is no text: {_short(value)}"
            ) from None
    elif not isinstance(value, (int, float, type(None))):
        try:
            _as_json(value)
        except TypeError:
            advice = _ADVICE.get(type(value), "convert it to text, a number, a list or a dict")
            raise NotJson(
                f"{where} is of type {_name(value)}, which JSON has no form for; {advice}"
            ) from None


_ADVICE: dict[type, str] = {
    set: "use sorted(…) or list(…)",
    frozenset: "use sorted(…) or list(…)",
    bytes: "use .decode() or base64",
    bytearray: "use .decode() or base64",
    complex: "return its parts",
}


def _name(value: object) -> str:
    return type(value).__name__


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 - a line's worth
