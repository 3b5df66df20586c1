"""Pages of lists that are read whole: what an installation has few of, by a key that sorts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, Field

T = TypeVar("T")


class Paging(BaseModel):
    """Which part of a list is wanted."""

    limit: int = Field(200, ge=1, le=1000)
    cursor: str | None = Field(None, max_length=1000, description="`next_cursor` of the page before.")


def _paging(wanted: Annotated[Paging, Query()]) -> Paging:
    return wanted


Wanted = Annotated[Paging, Depends(_paging)]


def part(
    items: Sequence[T],
    key: Callable[[T], str],
    wanted: Paging,
    shown: Callable[[T], Any],
    *,
    newest: bool = False,
) -> dict[str, Any]:
    """`{items, next_cursor}` of a whole list, in the order of a key that no two items share.

    `newest` begins with the last one. A page after a cursor holds what follows it, whatever was removed meanwhile.
    """
    ordered = sorted(items, key=key, reverse=newest)
    if wanted.cursor is not None:
        after = wanted.cursor
        ordered = [item for item in ordered if (key(item) < after if newest else key(item) > after)]
    page = ordered[: wanted.limit]
    more = len(ordered) > wanted.limit
    return {"items": [shown(item) for item in page], "next_cursor": key(page[-1]) if more else None}


def in_order(
    items: Sequence[T], key: Callable[[T], str], wanted: Paging, shown: Callable[[T], Any]
) -> dict[str, Any]:
    """`{items, next_cursor}` of a whole list in its own order; a cursor that is in it no more begins anew."""
    keys = [key(item) for item in items]
    start = keys.index(wanted.cursor) + 1 if wanted.cursor in keys else 0
    end = start + wanted.limit
    page = items[start:end]
    return {
        "items": [shown(item) for item in page],
        "next_cursor": keys[end - 1] if end < len(items) else None,
    }
