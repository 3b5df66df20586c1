"""Pages of a listing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items, and the cursor that the next page begins after; None on the last page."""

    items: list[T]
    cursor: str | None


def page(found: Sequence[T], limit: int, cursors: Sequence[str]) -> Page[T]:
    """A page from up to `limit + 1` items and their cursors: the one too many says that there are more."""
    if len(found) <= limit:
        return Page(list(found), None)
    return Page(list(found[:limit]), cursors[limit - 1])
