"""Who is told of every node that ends, for numbers about them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

NodeWatcher: TypeAlias = Callable[[str, str, float | None], None]
"""Told of a node that ends: its type, `succeeded` or `failed`, and the seconds of a successful attempt."""


def unwatched(_kind: str, _status: str, _seconds: float | None) -> None:
    """Tell nobody."""
