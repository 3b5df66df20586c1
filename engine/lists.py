"""Lists as nodes work on them: what counts as one, in which order values stand, and when two of them are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import orjson

from interlace.engine.errors import NodeError
from interlace.engine.expressions import Names
from interlace.engine.expressions.comparison import date_of, number_of
from interlace.engine.expressions.values import described, kind_of
from interlace.engine.json_text import read_json

Nulls = Literal["first", "last"]


def as_list(value: Any, what: str) -> list[Any]:
    """The list that a value is, or that its JSON text is.

    Raises:
        NodeError: it is neither; the message names `what` and the value's type.
    """
    if isinstance(value, list):
        return value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str):
        try:
            parsed = read_json(value)
        except ValueError:
            raise NodeError(
                f"{what} must be a list, got {described(value)}, which is no JSON list", kind="type"
            ) from None
        if isinstance(parsed, list):
            return parsed
        raise NodeError(f"{what} must be a list, got JSON text of a {kind_of(parsed)}", kind="type")
    raise NodeError(f"{what} must be a list, got {described(value)}", kind="type")


def identity(value: Any) -> Any:
    """A hashable key: two values have the same one when they are the same JSON (1 and 1.0 are, 1 and "1" are not)."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, int | float):
        return value
    return (list, orjson.dumps(_normal(value), option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS))


def _normal(value: Any) -> Any:
    """The value with whole floats as integers, so that equal numbers are written alike."""
    if isinstance(value, float) and value.is_integer():
        return int(value) if abs(value) < 2**53 else value
    if isinstance(value, dict):
        return {key: _normal(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(entry) for entry in value]
    return value


def ordered(keys: Sequence[Any], what: str, *, descending: bool = False, nulls: Nulls = "last") -> list[int]:
    """The positions of the keys in ascending (or descending) order; equal keys keep their order.

    Numbers and numeric texts order as numbers, dates as dates, other texts by their characters, false before true.
    Null keys stand at the end that `nulls` names, whatever the direction.

    Raises:
        NodeError: the keys are of kinds that have no common order, naming two of them.
    """
    present = [index for index, key in enumerate(keys) if key is not None]
    empty = [index for index, key in enumerate(keys) if key is None]
    comparable = order_keys([keys[index] for index in present], what, positions=present)
    places = sorted(range(len(present)), key=comparable.__getitem__, reverse=descending)
    # reverse=True of sorted() keeps equal keys in their order, which is what stable means here
    result = [present[place] for place in places]
    return empty + result if nulls == "first" else result + empty


def order_keys(values: Sequence[Any], what: str, *, positions: Sequence[int] | None = None) -> list[Any]:
    """The values (none of them null) in a form in which all of them have an order among each other.

    Raises:
        NodeError: they do not; the message names `what`, and two of the values at their positions.
    """
    if all(value.__class__ is int or value.__class__ is float for value in values):
        return list(values)
    if all(isinstance(value, bool) for value in values):
        return list(values)
    for convert in (_number, _date):
        converted = _all(convert, values)
        if converted is not None:
            return converted
    if all(isinstance(value, str) for value in values):
        return list(values)
    raise _no_order(values, what, range(len(values)) if positions is None else positions)


def _all(convert: Callable[[Any], Any], values: Sequence[Any]) -> list[Any] | None:
    converted = []
    for value in values:
        form = convert(value)
        if form is None:
            return None
        converted.append(form)
    return converted


def _number(value: Any) -> int | float | None:
    if isinstance(value, str):
        return number_of(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _date(value: Any) -> Any:
    return date_of(value) if isinstance(value, str) else None


def _no_order(values: Sequence[Any], what: str, positions: Sequence[int]) -> NodeError:
    for position, value in zip(positions, values, strict=True):
        if isinstance(value, list | tuple | dict):
            return NodeError(
                f"{what}: entry {position} is a {kind_of(value)}, which has no order; name a field with 'by'",
                kind="type",
            )
    first = values[0]
    other = next(i for i, v in enumerate(values) if kind_of(v) != kind_of(first))
    return NodeError(
        f"{what}: entry {positions[0]} is {described(first)} and entry {positions[other]} is {described(values[other])},"
        " which have no common order; make them one type in 'by'",
        kind="type",
    )


def number(value: Any, what: str) -> int | float:
    """The number that a value is, numeric text included.

    Raises:
        NodeError: it is none.
    """
    found = _number(value)
    if found is None:
        raise NodeError(f"{what} must be a number, got {described(value)}", kind="type")
    return found


class ItemNames:
    """`item` and `index` in front of other names; moved on from entry to entry. Implements `Names`."""

    __slots__ = ("_rest", "index", "item")

    def __init__(self, rest: Names) -> None:
        self.item: Any = None
        self.index = 0
        self._rest = rest

    def lookup(self, root: str) -> object:
        """The entry, its number, else what lies behind."""
        if root == "item":
            return self.item
        return self.index if root == "index" else self._rest.lookup(root)
