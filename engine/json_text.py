"""JSON text as values, whole numbers of any length among them."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

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
        return json.loads(text, parse_constant=_refuse)
    return orjson.loads(text)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
