"""Values of a workflow as texts of a prompt."""

from __future__ import annotations

from typing import Any

import orjson


def as_text(value: Any) -> str:
    """A text as it is, null as nothing, anything else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
