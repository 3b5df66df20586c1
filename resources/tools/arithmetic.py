"""Steps of arithmetic, each bounded before it is made: exact fractions where it can be, else 34 digits."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeAlias

from interlace.engine.errors import NodeError

Number: TypeAlias = Fraction | Decimal
"""An exact number, or one with 34 digits."""

MAX_BITS: Final = 13_900
"""Of numerator and denominator: some 4,180 digits."""
_MAX_FACTORIAL: Final = 1500
DIGITS: Final = 34
_MAX_EXPONENT: Final = 20_000
CONTEXT: Final = decimal.Context(
    prec=DIGITS, Emax=_MAX_EXPONENT, Emin=-_MAX_EXPONENT,
    traps=[decimal.InvalidOperation, decimal.Overflow, decimal.DivisionByZero],
)  # fmt: skip
_PI: Final = Decimal("3.141592653589793238462643383279502884197")
_E: Final = Decimal("2.718281828459045235360287471352662497757")


def written(value: Number) -> str:
    """A number in full where its decimals end, else with 34 digits."""
    if isinstance(value, Decimal):
        return _plain(CONTEXT.plus(value))
    if value.denominator == 1:
        return str(value.numerator)
    rest, decimals = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        decimals = max(decimals, count)
    if rest == 1 and decimals <= DIGITS:
        scaled = abs(value.numerator) * 10**decimals // value.denominator
        digits = str(scaled).rjust(decimals + 1, "0")
        return f"{'-' if value < 0 else ''}{digits[:-decimals]}.{digits[-decimals:].rstrip('0')}"
    return _plain(_decimal(value))


def _plain(value: Decimal) -> str:
    text = f"{value:f}" if -DIGITS < value.adjusted() < DIGITS else f"{value.normalize(CONTEXT)}"
    return text.rstrip("0").rstrip(".") if "." in text and "E" not in text else text


def exact(value: Fraction) -> Fraction:
    """The number, if it is not beyond the limits.

    Raises:
        NodeError: `too_large`.
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise too_large()
    return value


def read_number(text: str) -> Number:
    """The number that a text of digits is."""
    clean = text.replace("_", "")
    _, _, exponent = clean.lower().partition("e")
    if exponent and abs(int(exponent)) > MAX_BITS // 3:
        raise too_large()
    return exact(Fraction(clean))


def _decimal(value: Number) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def add(left: Number, right: Number, sign: int) -> Number:
    """The sum, or with sign -1 the difference."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return exact(left + sign * right)
    return CONTEXT.add(_decimal(left), _decimal(right) * sign)


def _multiply(left: Number, right: Number) -> Number:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return exact(left * right)
    return CONTEXT.multiply(_decimal(left), _decimal(right))


def divide(left: Number, right: Number) -> Number:
    """The quotient, exact of exact numbers."""
    if not right:
        raise by_zero()
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return exact(left / right)
    return CONTEXT.divide(_decimal(left), _decimal(right))


def _floor_divide(left: Number, right: Number) -> Number:
    return _floor(divide(left, right))


def _modulo(left: Number, right: Number) -> Number:
    return add(left, _multiply(_floor_divide(left, right), right), -1)


def _floor(value: Number) -> Number:
    return exact(Fraction(math.floor(value)))


def power(base: Number, exponent: Number) -> Number:
    """`base ** exponent`, refused before it is made where it would be too large."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        times = exponent.numerator
        if not base and times < 0:
            raise by_zero()
        bits = max(abs(base.numerator).bit_length(), base.denominator.bit_length(), 2)
        if abs(base) != 1 and base and (bits - 1) * abs(times) > MAX_BITS:
            raise too_large()
        if base in (0, 1, -1):
            return Fraction(1) if not times or base == 1 or (base == -1 and times % 2 == 0) else base
        return exact(base**times)
    if not base and exponent < 0:
        raise by_zero()
    return CONTEXT.power(_decimal(base), _decimal(exponent))


def _whole(value: Number, what: str) -> int:
    if value != math.floor(value):
        raise bad_expression(f"{what} takes whole numbers")
    return math.floor(value)


def factorial(value: Number) -> Number:
    """The factorial of a whole number within the limit."""
    number = _whole(value, "the factorial")
    if not 0 <= number <= _MAX_FACTORIAL:
        raise bad_expression(f"the factorial takes 0 to {_MAX_FACTORIAL}")
    return exact(Fraction(math.factorial(number)))


def _root(value: Number) -> Number:
    if isinstance(value, Fraction) and value >= 0:
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above * above == value.numerator and below * below == value.denominator:
            return Fraction(above, below)
    return CONTEXT.sqrt(_decimal(value))


def _cube_root(value: Number) -> Number:
    found = CONTEXT.power(abs(_decimal(value)), CONTEXT.divide(Decimal(1), Decimal(3)))
    whole = Fraction(round(found))
    if isinstance(value, Fraction) and whole**3 == abs(value):
        return whole if value >= 0 else -whole
    return found if value >= 0 else -found


def _logarithm(value: Number, base: Number | None = None) -> Number:
    if value <= 0:
        raise bad_expression("the logarithm takes numbers above 0")
    if base is None:
        return CONTEXT.ln(_decimal(value))
    if base <= 0 or base == 1:
        raise bad_expression("the base of a logarithm is above 0 and not 1")
    found = CONTEXT.divide(CONTEXT.ln(_decimal(value)), CONTEXT.ln(_decimal(base)))
    whole = round(found)
    if abs(whole) <= MAX_BITS and isinstance(base, Fraction) and abs(found - whole) < Decimal("1e-28"):
        return Fraction(whole)
    return found


def _float(function: Callable[[float], float]) -> Callable[[Number], Number]:
    """A function that only floats have: 15 digits."""

    def apply(value: Number) -> Number:
        try:
            found = function(float(value))
        except OverflowError:
            raise too_large() from None
        return Decimal(repr(found)) if math.isfinite(found) else _refuse()

    return apply


def _refuse() -> Number:
    raise too_large()


def _round(value: Number, digits: Number = Fraction(0)) -> Number:
    places = _whole(digits, "round")
    if abs(places) > DIGITS:
        raise bad_expression(f"round takes -{DIGITS} to {DIGITS} digits")
    scale = Fraction(10) ** places
    scaled = Fraction(value) * scale
    whole = math.floor(abs(scaled) + Fraction(1, 2))  # half away from zero, as people round
    return exact(Fraction(whole if scaled >= 0 else -whole) / scale)


def _of_two(function: Callable[[int, int], int], what: str) -> Callable[[Number, Number], Number]:
    def apply(left: Number, right: Number) -> Number:
        first, second = _whole(left, what), _whole(right, what)
        if what in ("comb", "perm") and not (0 <= second <= first <= _MAX_FACTORIAL):
            raise bad_expression(f"{what}(n, k) takes 0 to {_MAX_FACTORIAL}, k not above n")
        return exact(Fraction(function(first, second)))

    return apply


def _all(function: Callable[[tuple[Number, ...]], Number], what: str) -> Callable[..., Number]:
    def apply(*values: Number) -> Number:
        if not values:
            raise bad_expression(f"{what}() takes at least one number")
        return function(values)

    return apply


def _total(values: tuple[Number, ...]) -> Number:
    found: Number = Fraction(0)
    for value in values:
        found = add(found, value, 1)
    return found


PRODUCTS: Final[Mapping[str, Callable[[Number, Number], Number]]] = {
    "*": _multiply,
    "/": divide,
    "//": _floor_divide,
    "%": _modulo,
}
CONSTANTS: Final[Mapping[str, Number]] = {
    "pi": _PI, "π": _PI, "e": _E, "tau": CONTEXT.multiply(_PI, Decimal(2)), "τ": CONTEXT.multiply(_PI, Decimal(2)), "phi": CONTEXT.divide(CONTEXT.add(Decimal(1), CONTEXT.sqrt(Decimal(5))), Decimal(2)),
}  # fmt: skip
FUNCTIONS: Final[Mapping[str, Callable[..., Number]]] = {
    "sqrt": _root, "cbrt": _cube_root, "abs": abs, "round": _round, "floor": _floor,
    "ceil": lambda value: exact(Fraction(math.ceil(value))), "trunc": lambda value: exact(Fraction(math.trunc(value))),
    "sign": lambda value: Fraction((value > 0) - (value < 0)), "exp": lambda value: CONTEXT.exp(_decimal(value)),
    "ln": _logarithm, "log": _logarithm, "log10": lambda value: _logarithm(value, Fraction(10)),
    "log2": lambda value: _logarithm(value, Fraction(2)), "pow": power, "mod": _modulo, "fact": factorial,
    "factorial": factorial, "sin": _float(math.sin), "cos": _float(math.cos), "tan": _float(math.tan),
    "asin": _float(math.asin), "acos": _float(math.acos), "atan": _float(math.atan), "sinh": _float(math.sinh),
    "cosh": _float(math.cosh), "tanh": _float(math.tanh),
    "degrees": lambda value: divide(_multiply(value, Fraction(180)), _PI),
    "radians": lambda value: divide(_multiply(value, _PI), Fraction(180)),
    "atan2": lambda y, x: _float(lambda value: math.atan2(value, float(x)))(y),
    "gcd": _of_two(math.gcd, "gcd"), "lcm": _of_two(math.lcm, "lcm"), "comb": _of_two(math.comb, "comb"),
    "perm": _of_two(math.perm, "perm"), "min": _all(min, "min"), "max": _all(max, "max"), "sum": _all(_total, "sum"),
    "avg": _all(lambda values: divide(_total(values), Fraction(len(values))), "avg"),
    "hypot": lambda x, y: _root(add(_multiply(x, x), _multiply(y, y), 1)),
}  # fmt: skip


def bad_expression(message: str) -> NodeError:
    """The error of an expression that cannot be read, or has no value."""
    return NodeError(message, kind="bad_expression", retryable=False)


def by_zero() -> NodeError:
    """The error of a division by zero."""
    return NodeError("a division by zero", kind="division_by_zero", retryable=False)


def too_large() -> NodeError:
    """The error of a number beyond the limits."""
    return NodeError(
        "a number would have more than 4,000 digits; write the expression another way",
        kind="too_large",
        retryable=False,
    )
