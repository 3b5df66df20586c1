"""Numbers."""

import decimal
import math
import random
import re
import uuid
from typing import Any

from interlace.importers.javascript.rules.values import js_digits, js_number, js_text, js_whole, undefined


def js_parse_int(value: Any, base: Any = 10) -> float:
    found = re.match(r"\s*[-+]?[0-9a-zA-Z]+" if base != 10 else r"\s*[-+]?\d+", js_text(value))
    try:
        return int(found[0], int(base) or 10) if found else math.nan
    except ValueError:
        return math.nan


def js_parse_float(value: Any) -> float:
    found = re.match(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", js_text(value), re.IGNORECASE)
    return js_whole(float(found[0])) if found else math.nan


def js_is_nan(value: Any) -> bool:
    number = js_number(value)
    return math.isnan(number)


def js_is_finite(value: Any) -> bool:
    return math.isfinite(js_number(value))


def js_is_integer(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value == value // 1
    )


def js_floor(value: Any) -> float:
    number = js_number(value)
    return math.floor(number) if math.isfinite(number) else number


def js_ceil(value: Any) -> float:
    number = js_number(value)
    return math.ceil(number) if math.isfinite(number) else number


def js_round(value: Any) -> float:
    number = js_number(value)
    return math.floor(number + 0.5) if math.isfinite(number) else number


def js_trunc(value: Any) -> float:
    number = js_number(value)
    return math.trunc(number) if math.isfinite(number) else number


def js_abs(value: Any) -> float:
    return abs(js_number(value))


def js_sqrt(value: Any) -> float:
    number = js_number(value)
    return js_whole(math.sqrt(number)) if number >= 0 else math.nan


def js_power(value: Any, exponent: Any) -> float:
    made = float(js_number(value)) ** js_number(exponent)
    return js_whole(made) if isinstance(made, float) else math.nan


def js_max(*values: Any) -> float:
    numbers = [js_number(value) for value in values]
    return math.nan if any(map(math.isnan, numbers)) else max(numbers, default=-math.inf)


def js_min(*values: Any) -> float:
    numbers = [js_number(value) for value in values]
    return math.nan if any(map(math.isnan, numbers)) else min(numbers, default=math.inf)


def js_log(value: Any) -> float:
    number = js_number(value)
    return js_whole(math.log(number)) if number > 0 else -math.inf if number == 0 else math.nan


def js_log10(value: Any) -> float:
    number = js_number(value)
    return js_whole(math.log10(number)) if number > 0 else -math.inf if number == 0 else math.nan


def js_random() -> float:
    return random.random()


def js_uuid() -> str:
    return str(uuid.uuid4())


def js_fixed(value: Any, digits: Any = 0) -> str:
    number = js_number(value)
    if not math.isfinite(number):
        return js_digits(number)
    step = decimal.Decimal(1).scaleb(-int(js_number(digits if digits is not undefined else 0)))
    return f"{decimal.Decimal(number).quantize(step, decimal.ROUND_HALF_UP):f}"
