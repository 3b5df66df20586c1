"""The tests of the language: what may stand after `is`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.comparison import OPERATORS, number_of
from interlace.engine.expressions.filters.data import regex_match, regex_search
from interlace.engine.expressions.values import Missing, described, missing_error


def is_empty(value: object) -> bool:
    """Null, missing, or a text, list or mapping without content; 0 and false are not empty."""
    return (
        value is None
        or isinstance(value, Missing)
        or (isinstance(value, str | list | tuple | Mapping) and not value)
    )


def is_number(value: object) -> bool:
    """A number; a boolean is none, nor is numeric text."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: object, name: str) -> int:
    if isinstance(value, Missing):
        raise missing_error(value, f"in the test '{name}'")
    number = number_of(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number):
        raise ExpressionError(
            f"the test '{name}' takes a whole number, not {described(value)}", kind="wrong_type"
        )
    return int(number)


def _divisible(value: object, by: object) -> bool:
    divisor = _whole(by, "divisibleby")
    if divisor == 0:
        raise ExpressionError("cannot divide by zero in the test 'divisibleby'", kind="division_by_zero")
    return _whole(value, "divisibleby") % divisor == 0


def _text_part(method: str) -> Callable[[object, object], bool]:
    def check(value: object, part: object) -> bool:
        if not isinstance(value, str):
            return False
        if not isinstance(part, str):
            raise ExpressionError(f"the test '{method}' takes text, not {described(part)}", kind="wrong_type")
        return bool(getattr(str, method)(value, part))

    return check


def _containing(value: object, item: object) -> bool:
    return OPERATORS["in"](item, value)


def _is_date(value: object) -> bool:
    # Imported here: the date filters need the comparison rules, which need no dates filters.
    from interlace.engine.expressions.filters.dates import moment_of  # noqa: PLC0415

    if not isinstance(value, str) or number_of(value) is not None:
        return False
    try:
        moment_of(value)
    except ExpressionError:
        return False
    return True


# How many arguments a test takes stands beside it.
PREDICATES: Final[dict[str, tuple[int, Callable[..., bool]]]] = {
    "defined": (0, lambda value: not isinstance(value, Missing)),
    "undefined": (0, lambda value: isinstance(value, Missing)),
    "empty": (0, is_empty),
    "none": (0, lambda value: value is None or isinstance(value, Missing)),
    "boolean": (0, lambda value: isinstance(value, bool)),
    "true": (0, lambda value: value is True),
    "false": (0, lambda value: value is False),
    "number": (0, is_number),
    "integer": (0, lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "float": (0, lambda value: isinstance(value, float)),
    "numeric": (
        0,
        lambda value: is_number(value) or (isinstance(value, str) and number_of(value) is not None),
    ),
    "string": (0, lambda value: isinstance(value, str)),
    "mapping": (0, lambda value: isinstance(value, Mapping)),
    "sequence": (0, lambda value: isinstance(value, list | tuple)),
    "iterable": (0, lambda value: isinstance(value, list | tuple | Mapping | str)),
    "date": (0, _is_date),
    "lower": (0, lambda value: isinstance(value, str) and value.islower()),
    "upper": (0, lambda value: isinstance(value, str) and value.isupper()),
    "even": (0, lambda value: _whole(value, "even") % 2 == 0),
    "odd": (0, lambda value: _whole(value, "odd") % 2 == 1),
    "divisibleby": (1, _divisible),
    "startingwith": (1, _text_part("startswith")),
    "endingwith": (1, _text_part("endswith")),
    "containing": (1, _containing),
    "matching": (
        1,
        lambda value, pattern: isinstance(value, str) and regex_search(value, pattern) is not None,
    ),
    "fullmatching": (1, lambda value, pattern: isinstance(value, str) and regex_match(value, pattern)),
    "eq": (1, OPERATORS["=="]),
    "ne": (1, OPERATORS["!="]),
    "lt": (1, OPERATORS["<"]),
    "le": (1, OPERATORS["<="]),
    "gt": (1, OPERATORS[">"]),
    "ge": (1, OPERATORS[">="]),
    "in": (1, OPERATORS["in"]),
    "sameas": (
        1,
        lambda value, other: value is other or (type(value) is type(other) and OPERATORS["=="](value, other)),
    ),
}
ALIASES: Final = {
    "equalto": "eq", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
    "lessthan": "lt", "greaterthan": "gt", "null": "none", "int": "integer", "text": "string", "list": "sequence",
    "startswith": "startingwith", "endswith": "endingwith", "contains": "containing", "matches": "matching",
    "object": "mapping", "blank": "empty",
}  # fmt: skip
# Tests that give an answer for a missing value; the others treat it as an error or as "no".
NULL_SAFE: Final = frozenset({"defined", "undefined", "empty", "none", "eq", "ne"})
