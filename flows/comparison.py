"""What differs between two values, place by place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_SHOWN = 200
"""Longer values are shown by hash and size."""
_ABSENT: dict[str, bool] = {"absent": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One place at which two values differ; long ones stand as `{sha256, size}`, missing ones as `{absent: true}`."""

    path: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        """The change for programs."""
        return {"path": self.path, "before": self.before, "after": self.after}


def differences(before: Any, after: Any) -> list[Change]:
    """All places at which two JSON values differ, by paths such as `body.items[0].name`."""
    return list(_walk(before, after, ""))


def _walk(before: Any, after: Any, path: str) -> Iterator[Change]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{path}.{key}" if path else str(key)
            yield from _walk(before.get(key, _ABSENT), after.get(key, _ABSENT), inner)
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            one = before[index] if index < len(before) else _ABSENT
            other = after[index] if index < len(after) else _ABSENT
            yield from _walk(one, other, f"{path}[{index}]")
    elif type(before) is not type(after) or before != after:
        yield Change(path=path, before=_shown(before), after=_shown(after))


def _shown(value: Any) -> Any:
    if value is _ABSENT or isinstance(value, bool | int | float | None):
        return value
    text = orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS)
    return value if len(text) <= _SHOWN else {"sha256": hashlib.sha256(text).hexdigest(), "size": len(text)}
