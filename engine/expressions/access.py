"""Reads fields and items of plain data; never an attribute of an object of the program."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.values import Missing, described
from interlace.engine.problems import nearest

_SHOWN = 6
_COMPARED = 200
_MAX_NAME = 64


def member(value: Any, key: Any) -> Any:  # noqa: PLR0911 - one line a kind of value
    """Give `value[key]`, or `Missing` with the reason; never raises for absent data."""
    if isinstance(value, dict | Mapping):
        if isinstance(key, str):
            try:
                return value[key]
            except KeyError:
                return Missing(lambda: _no_field(value, key))
        if isinstance(key, int | float) and not isinstance(key, bool):
            return _numbered_field(value, key)
    elif isinstance(value, list | tuple | str):
        index = _index(key)
        if index is not None:
            if -len(value) <= index < len(value):
                return value[index]
            return Missing(lambda: _no_item(value, index))
    elif isinstance(value, Missing):
        return value
    return Missing(lambda: _no_members(value, key))


def _numbered_field(value: Mapping[Any, Any], key: float) -> Any:
    text = repr(key)
    return value[text] if text in value else Missing(lambda: _no_field(value, text))


def _index(key: Any) -> int | None:
    if isinstance(key, bool):
        return None
    if isinstance(key, int):
        return key
    return int(key) if isinstance(key, float) and key.is_integer() else None


def _no_field(value: Mapping[Any, Any], key: str) -> str:
    names = [str(name) for name in islice(value, _COMPARED)]
    shown = key if len(key) <= _MAX_NAME else key[: _MAX_NAME - 1] + "…"
    if not names:
        return f"there is no field {shown!r}, the mapping is empty"
    short = [name for name in names if len(name) <= _MAX_NAME]
    close = nearest(key, short) if len(key) <= _MAX_NAME else None
    if close is not None:
        return f"there is no field {shown!r}; did you mean {close!r}?"
    more = ", …" if len(value) > len(short[:_SHOWN]) else ""
    return f"there is no field {shown!r}, only {', '.join(short[:_SHOWN])}{more}"


def _no_item(value: Any, index: int) -> str:
    what = "characters" if isinstance(value, str) else "items"
    return f"there is no item {index}, it has {len(value)} {what}"


def _no_members(value: Any, key: Any) -> str:
    if value is None:
        return f"{key!r} is read from null"
    if isinstance(value, list | tuple):
        return f"a list has no field {key!r}; its items are read by number, such as [0]"
    return f"{described(value)} has no field {key!r}"


def sliced(value: Any, first: Any, last: Any, step: Any) -> Any:
    """Give `value[first:last:step]` of a text or a list.

    Raises:
        ExpressionError: another kind of value, or bounds that are not whole numbers.
    """
    if isinstance(value, Missing):
        return value
    if not isinstance(value, str | list | tuple):
        raise ExpressionError(
            f"only a text or a list can be sliced, not {described(value)}", kind="wrong_type"
        )
    bounds = []
    for bound in (first, last, step):
        index = _index(bound)
        if index is None and bound is not None:
            raise ExpressionError(
                f"the bounds of a slice are whole numbers, not {described(bound)}", kind="wrong_type"
            )
        bounds.append(index)
    if bounds[2] == 0:
        raise ExpressionError("the step of a slice cannot be 0", kind="wrong_type")
    return value[slice(*bounds)]
