"""JSON as programs get it: fast where it can be, exact where numbers are longer than 64 bits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson


def to_json(value: Any, *, indent: bool = False, default: Callable[[Any], Any] = str) -> bytes:
    """The JSON of a value; what JSON has no form for goes through `default`."""
    options = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(value, default=default, option=options)
    except TypeError:  # orjson writes no integer beyond 64 bits
        return json.dumps(value, default=default, ensure_ascii=False, indent=2 if indent else None).encode()
