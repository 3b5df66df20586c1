"""What meta-tools share: names that are checked, details in pages, searching."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import orjson

from interlace.agents.search import Entry, Finder
from interlace.agents.stubs import MOST_NAMES, shortened
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema

LISTED: Final = 50
"""Names on a page of a list."""
FOUND: Final = 8
"""Results of a search."""
DETAILED: Final = 10
"""Things described in full at once."""
_CHARACTERS: Final = 24_000
"""Of a page in full: about 6,000 tokens."""
_TOLD: Final = 160
_NEAR: Final = 3

PAGE: Final[Schema] = {"type": "integer", "minimum": 1}
QUERY: Final[Schema] = {"type": "string", "description": "What is looked for, in words."}
T = TypeVar("T")


def one_of(labels: Iterable[str]) -> Schema:
    """The type of a name out of these; of very many the name is checked at the call alone."""
    known = list(labels)
    return {"enum": known} if len(known) <= MOST_NAMES else {"type": "string"}


def one_or_several(description: str) -> Schema:
    """The type of a name, or of several."""
    return {"type": ["string", "array"], "items": {"type": "string"}, "description": description}


def names_in(value: Any) -> list[str]:
    """The names of such an argument."""
    if value is None or value == "":
        return []
    return [value] if isinstance(value, str) else [str(name) for name in value]


def known(label: Any, things: Mapping[str, T], what: str) -> T:
    """The thing that a label names.

    Raises:
        NodeError: `bad_arguments`: none is named; `resource_not_found`, with the nearest names.
    """
    if not isinstance(label, str) or not label:
        raise NodeError(f"`{what}` is needed: {listing(things)}", kind="bad_arguments", retryable=False)
    if label in things:
        return things[label]
    raise NodeError(
        f"there is no {what} {label!r}; {near(label, things)}", kind="resource_not_found", retryable=False
    )


def near(name: str, names: Iterable[str]) -> str:
    """A hint with the names most like this one, or with what there is."""
    every = list(names)
    folded = {entry.casefold(): entry for entry in every}
    found = difflib.get_close_matches(name.casefold(), folded, n=_NEAR, cutoff=0.5)
    if not found:
        return f"there are {listing(every)}" if every else "there is none"
    return f"did you mean {' or '.join(repr(folded[entry]) for entry in found)}?"


def listing(names: Iterable[str], most: int = 20) -> str:
    """Some names in a row, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def needed(arguments: Mapping[str, Any], name: str, subcommand: str) -> Any:
    """An argument that a subcommand needs.

    Raises:
        NodeError: `bad_arguments`.
    """
    value = arguments.get(name)
    if value is None or value == "":
        raise NodeError(f"`{subcommand}` needs `{name}`", kind="bad_arguments", retryable=False)
    return value


def paged(name: str, things: Sequence[Any], page: Any, size: int = LISTED) -> dict[str, Any]:
    """One page of a list, and where the rest is."""
    at = page if isinstance(page, int) and page > 0 else 1
    shown = list(things[(at - 1) * size : at * size])
    return {name: shown} | _place(len(things), at, -(-len(things) // size))


def in_full(name: str, things: Sequence[T], page: Any, tell: Callable[[T], Any]) -> dict[str, Any]:
    """Things described in full, as many at once as may be read: a page holds some characters, and one thing at least."""
    at = page if isinstance(page, int) and page > 0 else 1
    pages: list[list[Any]] = [[]]
    room = _CHARACTERS
    for thing in things:
        told = tell(thing)
        size = len(orjson.dumps(told, default=str, option=orjson.OPT_NON_STR_KEYS))
        if pages[-1] and (size > room or len(pages[-1]) >= DETAILED):
            pages.append([])
            room = _CHARACTERS
        pages[-1].append(told)
        room -= size
    shown = pages[at - 1] if at <= len(pages) else []
    return {name: shown} | _place(len(things), at, len(pages))


def _place(total: int, page: int, pages: int) -> dict[str, Any]:
    return {"total": total, "page": page, "pages": pages} if pages > 1 or page > 1 else {}


async def search(
    finder: Finder, entries: Sequence[Entry], query: str, tell: Callable[[Entry], dict[str, Any]]
) -> dict[str, Any]:
    """What fits words best, told shortly."""
    found = await finder.find(entries, query, limit=FOUND)
    results = [tell(hit.entry) for hit in found]
    return {"results": results} if results else {"results": [], "note": "Nothing fits; try other words."}


def briefly(text: str) -> str:
    """A description in a list."""
    return shortened(text, _TOLD)
