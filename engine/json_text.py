"""JSON text as values, whole numbers of any length among them."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

import orjson

# orjson reads whole numbers beyond 64 bits as floats, and so as other numbers
_LONG_NUMBER = re.compile(r"(?<![\d.])\d{19,}(?![\d.eE])")


def read_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        orjson.JSONDecodeError: it is no JSON.
        RecursionError: it is nested too deep.
    """
    if _LONG_NUMBER.search(text):
        orjson.loads(text)  # the stricter one decides what is JSON
        return json.loads(text, **STRICT)
    return orjson.loads(text)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is beyond the numbers of 64 bits")
    return value


STRICT: Final[dict[str, Any]] = {"parse_constant": _refuse, "parse_float": _finite}
"""For Python's own reader: NaN, Infinity and what becomes it are no JSON, and would be null where they are written."""
