"""Reading data whose shape nobody vouches for: every function gives its type, whatever the value is."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def mapping(value: Any) -> Json:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[Json]:
    """The objects of a list."""
    return [entry for entry in listed(value) if isinstance(entry, dict)]


def text(value: Any, default: str = "") -> str:
    """The text; numbers and truth values as text, anything else is the default."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return default


def texts(value: Any) -> list[str]:
    """The texts and numbers of a list, as texts."""
    return [text(entry) for entry in listed(value) if isinstance(entry, str | int | float)]


def number(value: Any) -> float | None:
    """The number, also where it is written as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str):
        try:
            found = float(value)
        except ValueError:
            return None
        return found if found == found and abs(found) != float("inf") else None  # noqa: PLR0124 - NaN is not itself
    return None


def whole(value: Any) -> int | None:
    """The whole number, also where it is written as text."""
    found = number(value)
    return None if found is None or abs(found) > 2**53 else int(found)


def at(value: Any, *keys: str) -> Any:
    """The value under nested keys, None where one is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
