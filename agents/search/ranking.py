"""The order in which entries fit a request: by words and by meaning, step by step, with room for every owner."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from interlace.agents.search.entries import Entry
from interlace.agents.search.vectors import Vectors
from interlace.agents.search.words import parts

if TYPE_CHECKING:
    import numpy as np

    from interlace.agents.search.lexical import Lexical

MEANING: Final = 0.6
"""Weight of the meaning; that of the words is 1."""
WHOLE: Final = 0.6
"""Weight of the whole request beside its best step."""
_KEPT: Final = 16
_KEPT_ENTRIES: Final = 256
_POOL: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An entry that fits, the best first; `score` is 0 to about 1.5, `words` the part of it that words gave."""

    entry: Entry
    score: float
    words: float


@dataclass(slots=True)
class _Index:
    lexical: Lexical
    meanings: tuple[str, ...]
    vectors: np.ndarray | None = None


class Finder:
    """Ranks entries; what it needs of them is made once and kept."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._indexes: OrderedDict[bytes, _Index] = OrderedDict()
        self._entries: OrderedDict[str, tuple[Entry, ...]] = OrderedDict()

    def entries(self, key: str, make: Callable[[], Sequence[Entry]]) -> tuple[Entry, ...]:
        """The entries of a resource, made once for what `key` names: its id and its version."""
        if key not in self._entries:
            self._entries[key] = tuple(make())
            while len(self._entries) > _KEPT_ENTRIES:
                self._entries.popitem(last=False)
        self._entries.move_to_end(key)
        return self._entries[key]

    async def find(
        self, entries: Sequence[Entry], request: str, *, limit: int = 10, wait: bool = True
    ) -> list[Found]:
        """The entries that fit a request best. Entries that share no word and no meaning with it are left out.

        Args:
            entries: what is looked through.
            request: a name, words, or a whole task: its steps are looked for one by one.
            limit: most entries.
            wait: whether vectors of many new entries are waited for; else words alone decide meanwhile.
        """
        if not entries or not request.strip():
            return []
        import numpy as np  # noqa: PLC0415 - loaded by the first search

        index = await self._index(entries)
        texts = [request, *parts(request)]
        by_words = np.stack([index.lexical.scores(text) for text in texts])
        if index.vectors is None:
            index.vectors = await self._vectors.of(index.meanings, wait=wait)
        scores = by_words
        if index.vectors is not None:
            asked = await self._vectors.asked(texts)
            scores = by_words + MEANING * np.maximum(asked @ index.vectors.T, 0.0)
        total = combined(scores)
        order = np.argsort(-total, kind="stable")[: max(limit, _POOL)]
        return [
            Found(entry=entries[at], score=float(total[at]), words=float(by_words[:, at].max()))
            for at in order[:limit]
            if total[at] > 0
        ]

    async def _index(self, entries: Sequence[Entry]) -> _Index:
        key = hashlib.sha256(b"".join(entry.digest for entry in entries)).digest()
        known = self._indexes.get(key)
        if known is None:
            from interlace.agents.search.lexical import Lexical  # noqa: PLC0415 - see above

            lexical = await Lexical.of(entries)
            known = self._indexes[key] = _Index(lexical, tuple(entry.meaning for entry in entries))
            while len(self._indexes) > _KEPT:
                self._indexes.popitem(last=False)
        self._indexes.move_to_end(key)
        return known


def combined(scores: np.ndarray) -> np.ndarray:
    """One score an entry, of those for the whole request (first row) and for its steps."""
    found: np.ndarray = scores[0]
    if len(scores) > 1:
        found = WHOLE * scores[0] + (1 - WHOLE) * scores[1:].max(axis=0)
    return found
