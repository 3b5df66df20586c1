"""Arithmetic on numbers, with every result bounded before it is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import checked_text, reserve_items, reserve_text
from interlace.engine.expressions.values import Missing, described, missing_error

_MAX_BITS: Final = 64


def _number(value: object) -> bool:
    return value.__class__ is int or value.__class__ is float


def refused(left: object, symbol: str, right: object) -> ExpressionError:
    """Make the error for operands that an operator does not take."""
    for value in (left, right):
        if isinstance(value, Missing):
            return missing_error(value, f"as a side of '{symbol}'")
    hint = ""
    if isinstance(left, str) or isinstance(right, str):
        hint = "; join texts with '~', turn text into a number with '| number'"
    return ExpressionError(
        f"cannot compute {described(left)} {symbol} {described(right)}{hint}", kind="wrong_type"
    )


def bounded(value: Any) -> Any:
    """Give a number back if JSON can hold it.

    Raises:
        ExpressionError: an integer beyond 64 bits, an infinite result or one that is not a number.
    """
    if value.__class__ is int:
        if value.bit_length() < _MAX_BITS:
            return value
        raise ExpressionError("the result is larger than a 64-bit integer holds", kind="expression_limit")
    if value.__class__ is float and math.isfinite(value):
        return value
    raise ExpressionError("the result is not a finite number", kind="expression_limit")


def add(left: Any, right: Any) -> Any:
    """`left + right`: two numbers, two texts or two lists."""
    if _number(left) and _number(right):
        return bounded(left + right)
    if isinstance(left, str) and isinstance(right, str):
        return checked_text(left + right)
    if isinstance(left, list) and isinstance(right, list):
        reserve_items(len(left) + len(right))
        return [*left, *right]
    raise refused(left, "+", right)


def subtract(left: Any, right: Any) -> Any:
    """`left - right`."""
    if _number(left) and _number(right):
        return bounded(left - right)
    raise refused(left, "-", right)


def multiply(left: Any, right: Any) -> Any:
    """`left * right`: two numbers, or a text or a list so many times."""
    if _number(left) and _number(right):
        return bounded(left * right)
    if right.__class__ is int and isinstance(left, str):
        reserve_text(len(left) * max(right, 0))
        return left * right
    if right.__class__ is int and isinstance(left, list):
        reserve_items(len(left) * max(right, 0))
        return left * right
    raise refused(left, "*", right)


def divide(left: Any, right: Any) -> Any:
    """`left / right`, always a number with a fraction."""
    if _number(left) and _number(right):
        _check_divisor(left, "/", right)
        return bounded(left / right)
    raise refused(left, "/", right)


def divide_down(left: Any, right: Any) -> Any:
    """`left // right`, rounded down."""
    if _number(left) and _number(right):
        _check_divisor(left, "//", right)
        return bounded(left // right)
    raise refused(left, "//", right)


def remainder(left: Any, right: Any) -> Any:
    """`left % right`, with the sign of the divisor."""
    if _number(left) and _number(right):
        _check_divisor(left, "%", right)
        return bounded(left % right)
    raise refused(left, "%", right)


def power(left: Any, right: Any) -> Any:
    """`left ** right`, refused before it is computed where it cannot fit."""
    if not (_number(left) and _number(right)):
        raise refused(left, "**", right)
    if left == 0 and right < 0:
        raise ExpressionError(f"cannot divide by zero: 0 ** {right}", kind="division_by_zero")
    if left.__class__ is int and right.__class__ is int and right > 0 and abs(left) > 1:
        if (abs(left).bit_length() - 1) * right >= _MAX_BITS:
            raise ExpressionError("the result is larger than a 64-bit integer holds", kind="expression_limit")
        return bounded(left**right)
    try:
        result = left**right
    except OverflowError:
        raise ExpressionError("the result is not a finite number", kind="expression_limit") from None
    return bounded(result)


def _check_divisor(left: Any, symbol: str, right: Any) -> None:
    if right == 0:
        raise ExpressionError(f"cannot divide by zero: {left} {symbol} {right}", kind="division_by_zero")


def negate(value: Any) -> Any:
    """`-value`."""
    if _number(value):
        return bounded(-value)
    if isinstance(value, Missing):
        raise missing_error(value, "as the operand of '-'")
    raise ExpressionError(f"cannot negate {described(value)}", kind="wrong_type")


def plus(value: Any) -> Any:
    """`+value`, for numbers only."""
    if _number(value):
        return value
    if isinstance(value, Missing):
        raise missing_error(value, "as the operand of '+'")
    raise ExpressionError(f"'+' takes a number, not {described(value)}", kind="wrong_type")


OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": divide_down,
    "%": remainder,
    "**": power,
}
