"""Durations as people write them: `500ms`, `30s`, `10m`, `2h`, `3d`, or a number of seconds."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PATTERN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def parse_duration(value: Any) -> Any:
    """Seconds of a duration text; anything but a text passes through for the number check that follows.

    Raises:
        ValueError: the text is no duration.
    """
    if not isinstance(value, str):
        if isinstance(value, bool):
            raise ValueError("a duration is a text such as '30s' or a number of seconds, not true or false")  # noqa: TRY004 - pydantic words it
        return value
    match = _PATTERN.fullmatch(value.strip())
    if match is None:
        raise ValueError(f"{value!r} is no duration; write 500ms, 30s, 10m, 2h, 3d or a number of seconds")
    return float(match[1]) * _UNITS[match[2]]


Seconds = Annotated[
    float,
    BeforeValidator(parse_duration),
    Field(ge=0),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": r"^\d+(\.\d+)?(ms|s|m|h|d)$"},
            ],
            "examples": ["30s", "10m", 5],
        }
    ),
]
