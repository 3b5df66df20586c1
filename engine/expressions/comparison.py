"""How values compare: numeric text is the number beside a number, dates order as dates, nothing else is guessed."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import charge_steps, checked_text, too_large
from interlace.engine.expressions.values import Missing, described, missing_error, to_text

_NUMERIC: Final = re.compile(
    r"\s*[+-]?(?:[0-9]+(?P<fraction>\.[0-9]*)?|(?P<leading>\.[0-9]+))(?P<power>[eE][+-]?[0-9]{1,4})?\s*\Z"
)
_MAX_NUMERIC: Final = 400
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:\Z|[T ][0-9]{2}:[0-9]{2})")
_LONG: Final = 4096
_MAX_COMPARED: Final = 400_000

_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def number_of(text: str) -> int | float | None:
    """Give the number that a text is, or None: `"12"`, `" 1.5 "`, `"007"` are numbers, `"1_000"` and `"nan"` are not."""
    if len(text) > _MAX_NUMERIC or (match := _NUMERIC.match(text)) is None:
        return None
    if match["fraction"] is None and match["leading"] is None and match["power"] is None:
        return int(text)
    number = float(text)
    return number if number - number == 0 else None


def date_of(text: str) -> datetime | None:
    """Give the moment that an ISO date or date-time is (UTC where it names no zone), or None."""
    if _ISO_DATE.match(text) is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def equal(left: object, right: object) -> bool:
    """Whether two values are the same; never fails. A missing value equals null."""
    kind = left.__class__
    if kind is right.__class__:
        if kind is str or kind is int or kind is float or kind is bool:
            return left == right
        if left is right:
            return True
    return _equal(left, right, [_MAX_COMPARED])


def _equal(left: object, right: object, steps: list[int]) -> bool:  # noqa: PLR0911 - one line a kind
    if left is right:
        return True
    if isinstance(left, Missing) or left is None:
        return right is None or isinstance(right, Missing)
    if isinstance(left, bool) or isinstance(right, bool):
        return _equal_boolean(left, right)
    if isinstance(left, int | float):
        return _equal_number(left, right)
    if isinstance(left, str):
        if isinstance(right, str):
            return left == right
        return isinstance(right, int | float) and _equal_number(right, left)
    if isinstance(left, list | tuple):
        return isinstance(right, list | tuple) and _equal_lists(left, right, steps)
    if isinstance(left, Mapping):
        return isinstance(right, Mapping) and _equal_mappings(left, right, steps)
    return left == right


def _equal_boolean(left: object, right: object) -> bool:
    """A boolean equals itself and its word, as a form or a query string sends it; never a number."""
    flag, other = (left, right) if isinstance(left, bool) else (right, left)
    return isinstance(other, str) and other == ("true" if flag else "false")


def _equal_number(number: float, other: object) -> bool:
    if isinstance(other, str):
        return number_of(other) == number
    return isinstance(other, int | float) and number == other


def _equal_lists(left: Any, right: Any, steps: list[int]) -> bool:
    return (
        len(left) == len(right)
        and _spend(steps, len(left))
        and all(_equal(a, b, steps) for a, b in zip(left, right, strict=True))
    )


def _equal_mappings(left: Mapping[Any, Any], right: Mapping[Any, Any], steps: list[int]) -> bool:
    return (
        len(left) == len(right)
        and _spend(steps, len(left))
        and all(key in right and _equal(value, right[key], steps) for key, value in left.items())
    )


def _spend(steps: list[int], count: int) -> bool:
    steps[0] -= count
    if steps[0] < 0:
        raise too_large("the compared structures are too large")
    return True


def ordering(symbol: str) -> Callable[[object, object], bool]:
    """Give the function of `<`, `<=`, `>` or `>=`.

    The function raises ExpressionError where the two values have no order; the message names both kinds.
    """
    compare = _ORDERS[symbol]

    def ordered(left: object, right: object) -> bool:
        kind = left.__class__
        if (kind is int or kind is float) and (right.__class__ is int or right.__class__ is float):
            return compare(left, right)
        a, b = comparable(left, right, symbol)
        return compare(a, b)

    return ordered


def comparable(left: object, right: object, symbol: str) -> tuple[Any, Any]:
    """Give two values in the form in which they have an order.

    Raises:
        ExpressionError: null, a list, a mapping, a boolean, a missing value, or text against a number.
    """
    for value in (left, right):
        if isinstance(value, Missing):
            raise missing_error(value, f"as a side of '{symbol}'")
    if isinstance(left, str) and isinstance(right, str):
        return _comparable_texts(left, right)
    a, b = _as_number(left), _as_number(right)
    if a is None or b is None:
        raise ExpressionError(
            f"cannot compare {described(left)} {symbol} {described(right)}: "
            "an order exists between two numbers, two texts or two dates",
            kind="bad_comparison",
        )
    return a, b


def _comparable_texts(left: str, right: str) -> tuple[Any, Any]:
    a, b = number_of(left), number_of(right)
    if a is not None and b is not None:
        return a, b
    first, second = date_of(left), date_of(right)
    if first is not None and second is not None:
        return first, second
    return left, right


def _as_number(value: object) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    return number_of(value) if isinstance(value, str) else None


def contains(item: object, container: object) -> bool:
    """Whether `item in container`: part of a text, an item of a list (by the rule of `==`), a key of a mapping."""
    for value in (item, container):
        if isinstance(value, Missing):
            raise missing_error(value, "as a side of 'in'")
    if isinstance(container, str):
        checked_text(container)
        if isinstance(item, str) or (isinstance(item, int | float) and not isinstance(item, bool)):
            return to_text(item) in container
    elif isinstance(container, list | tuple):
        if len(container) > _LONG:
            charge_steps(len(container))
        return any(equal(item, other) for other in container)
    elif isinstance(container, Mapping):
        return isinstance(item, str | int) and (item in container or to_text(item) in container)
    raise ExpressionError(
        f"cannot look for {described(item)} in {described(container)}: 'in' takes a text, a list or a mapping",
        kind="bad_comparison",
    )


def absent(item: object, container: object) -> bool:
    """Whether `item not in container`."""
    return not contains(item, container)


OPERATORS: Final[dict[str, Callable[[object, object], bool]]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    **{symbol: ordering(symbol) for symbol in _ORDERS},
    "in": contains,
    "not in": absent,
}


def sort_key(value: object) -> tuple[int, Any]:
    """Give a key that orders any values: null, booleans, numbers and numeric texts, texts, then the rest as JSON."""
    if value is None or isinstance(value, Missing):
        return (0, 0)
    if isinstance(value, bool):
        return (1, value)
    number = _as_number(value)
    if number is not None:
        return (2, number)
    return (3, value) if isinstance(value, str) else (4, to_text(value))
