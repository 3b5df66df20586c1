"""Words of names and requests: `getOrderById` is four words, and `please` says nothing about what is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from interlace.resources.knowledge.terms import is_stop, terms

_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINTS = re.compile(r"[_\-./:]+")
_ASIDE: Final = frozenset(
    {"also", "assist", "help", "like", "need", "pleas", "provid", "using", "want", "wish"}
)
"""What people say around a request, as stems."""
_BREAKS = re.compile(
    r"(?<=[.!?;])\s+|\n+|[。！？；]"  # noqa: RUF001 - the signs of Japanese and Chinese
    r"|,?\s+(?:and|then)\s+(?:then|after that|finally|also|next|lastly)\b[,\s]*"
    r"|[,;]?\s+(?:then|after that|afterwards|finally|additionally|also|lastly|next|moreover|furthermore)\b[,\s]*"
    r"|、?(?:その後|それから|次に|最後に|然后|接着|最后)",
    re.IGNORECASE,
)
_FEWEST: Final = 3
_MOST_PARTS: Final = 12


def spaced(name: str) -> str:
    """A name with spaces between its words."""
    return _HUMPS.sub(" ", _JOINTS.sub(" ", name))


def words(text: str) -> Iterator[str]:
    """The words that count, as stems; of Japanese and Chinese pairs of characters."""
    for term in terms(text):
        if not is_stop(term) and term not in _ASIDE:
            yield term


def asked(text: str) -> list[str]:
    """The distinct words of a request; all of them where none counts."""
    spread = spaced(text)
    return list(dict.fromkeys(words(spread))) or list(dict.fromkeys(terms(spread)))


def parts(text: str) -> list[str]:
    """The steps of a request: its sentences, and what follows words such as `then`; empty where it is one step."""
    found = [part.strip(" ,.") for part in _BREAKS.split(text) if part]
    kept = [part for part in found if len(asked(part)) >= _FEWEST]
    return kept[:_MOST_PARTS] if len(kept) > 1 else []
