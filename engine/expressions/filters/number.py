"""Filters that make or work on numbers."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any, Final

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.arithmetic import bounded
from interlace.engine.expressions.comparison import number_of
from interlace.engine.expressions.filters.text import count_of, text_of
from interlace.engine.expressions.values import described

_ABSENT: Final = object()
_ROUNDING: Final = {"common": ROUND_HALF_UP, "ceil": ROUND_CEILING, "floor": ROUND_FLOOR}
_MAX_PRECISION: Final = 20


def number(value: Any, default: Any = _ABSENT) -> Any:
    """The number that a value is: numbers, numeric texts; `default` for anything else."""
    found: Any = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = value
    elif isinstance(value, str):
        found = number_of(value)
    if found is not None:
        return found
    if default is _ABSENT:
        raise ExpressionError(
            f"{described(value)} is not a number; give a default: number(0)", kind="wrong_type"
        )
    return default


def integer(value: Any, default: Any = _ABSENT, base: Any = 10) -> Any:
    """The whole number, cut towards zero; `true` is 1."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and base != 10:  # noqa: PLR2004 - the usual base
        return _based(value, default, base)
    found = number(value, None if default is not _ABSENT else _ABSENT)
    return default if found is None else bounded(int(found))


def _based(value: str, default: Any, base: Any) -> Any:
    try:
        return bounded(int(value[:80], count_of(base, "int")))
    except ValueError:
        if default is _ABSENT:
            raise ExpressionError(
                f"{described(value)} is not a number of base {base}", kind="wrong_type"
            ) from None
        return default


def real(value: Any, default: Any = _ABSENT) -> Any:
    """The number with a fraction."""
    found = number(value, None if default is not _ABSENT else _ABSENT)
    return default if found is None else bounded(float(found))


def absolute(value: Any) -> Any:
    """Without its sign."""
    return bounded(abs(number(value)))


def rounded(value: Any, precision: Any = 0, method: Any = "common") -> Any:
    """Rounded to `precision` decimals, halves away from zero; `method`: common, ceil, floor."""
    amount = number(value)
    places = count_of(precision, "round")
    mode = _ROUNDING.get(text_of(method, "round"))
    if mode is None:
        raise ExpressionError(
            f"no way to round called {method!r}; known: {', '.join(_ROUNDING)}", kind="wrong_type"
        )
    if isinstance(amount, int) and places >= 0:
        return amount
    if abs(places) > _MAX_PRECISION:
        return amount
    written = repr(amount)
    if isinstance(amount, float) and mode is ROUND_HALF_UP and places >= 0 and "e" not in written:
        fraction = written.partition(".")[2]
        if len(fraction) != places + 1 or fraction[-1] != "5":
            return round(amount, places)
    exact = Decimal(written)
    exponent = Decimal(1).scaleb(-places)
    scaled = (exact / exponent).to_integral_value(mode) * exponent
    return int(scaled) if isinstance(amount, int) else float(scaled)


def truth(value: Any) -> bool:
    """Whether the value counts as true."""
    return bool(value)


def floor_of(value: Any) -> int:
    """The next whole number below."""
    found: float = number(value)
    return math.floor(found)


def ceiling_of(value: Any) -> int:
    """The next whole number above."""
    found: float = number(value)
    return math.ceil(found)


def number_format(value: Any, decimals: Any = 2, thousands: Any = ",", point: Any = ".") -> str:
    """With thousands separated and a fixed number of decimals: `1,234.50`."""
    places = min(max(count_of(decimals, "number_format"), 0), _MAX_PRECISION)
    exact = (
        Decimal(repr(number(value))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
        if _small(value)
        else None
    )
    text = f"{exact:,f}" if exact is not None else f"{number(value):,.{places}f}"
    swap = {",": text_of(thousands, "number_format"), ".": text_of(point, "number_format")}
    return "".join(swap.get(character, character) for character in text)


def _small(value: Any) -> bool:
    return bool(abs(number(value)) < 1e7)  # noqa: PLR2004 - leaves room for 20 decimals in a decimal's 28 digits
