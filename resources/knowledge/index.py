"""One generation of a knowledge base in memory: kept up with the store, searched by meaning and by words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from interlace.resources.knowledge.definition import Fusion
from interlace.resources.knowledge.segment import Part, text_scores
from interlace.resources.knowledge.terms import query_terms
from interlace.store.knowledge import KnowledgeRepository
from interlace.store.knowledge_rows import Generation, KbDocument

Mode = Literal["hybrid", "dense", "text"]
_MOST_PARTS = 6
_POOL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that was found: `score` 0 to 1 says how well it fits, `dense` and `text` by which way."""

    document_id: str
    seq: int
    score: float
    dense: float
    text: float
    vector: np.ndarray


class Index:
    """The current generation of one base."""

    def __init__(
        self, store: KnowledgeRepository, generation: Generation, parts: Sequence[Part] = ()
    ) -> None:
        self.generation = generation
        self.documents: dict[str, KbDocument] = {}
        self._store = store
        self._parts = list(parts)
        self._held: dict[str, int] = {}
        self._revision = -1
        self._turn = asyncio.Lock()  # holds back a second reader of the same changes

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return sum(part.size for part in self._parts)

    async def refresh(self, generation: Generation) -> None:
        """Read what has changed since the last time."""
        if generation.revision == self._revision:
            return
        async with self._turn:
            if generation.revision == self._revision:
                return
            held = await self._store.held(generation.kb_id, generation.id)
            new = [name for name, (revision, _) in held.items() if self._held.get(name) != revision]
            gone = {name for name in self._held if name not in held} | set(new)
            parts = self._parts
            if len(parts) >= _MOST_PARTS or len(new) > len(held) // 2:
                parts, new, gone = [], list(held), set()
            rows = await self._store.segments(generation.id, new)
            for part in parts:
                part.drop(gone)
            if rows:
                dimensions = len(rows[0].vector) // 4
                parts = [*parts, await asyncio.to_thread(Part, rows, dimensions)]
            self._parts = parts
            self._held = {name: revision for name, (revision, _) in held.items()}
            self.documents = {name: document for name, (_, document) in held.items()}
            self._revision = generation.revision

    def search(
        self,
        query: str,
        vector: np.ndarray | None,
        *,
        mode: Mode,
        fusion: Fusion,
        limit: int = _POOL,
        allowed: Callable[[KbDocument], bool] | None = None,
    ) -> list[Hit]:
        """The best chunks, the best first; blocking, a few milliseconds."""
        parts, documents = (
            self._parts,
            self.documents,
        )  # a refresh puts others in their place, and changes none
        if not parts:
            return []
        usable = np.concatenate([part.alive & _allowed(part, documents, allowed) for part in parts])
        if not usable.any():
            return []
        empty = np.zeros(len(usable), dtype=np.float32)
        dense, text = empty, empty
        if mode != "text" and vector is not None:
            dense = np.concatenate([part.vectors @ vector for part in parts])
        if mode != "dense":
            text = np.concatenate(text_scores(parts, query_terms(query)))
        if mode == "hybrid" and fusion.method == "rrf":
            scores = np.zeros(len(usable), dtype=np.float32)
            for ranked, weight in ((dense, fusion.dense), (text, fusion.text)):
                best = _top(np.where(usable & (ranked > 0), ranked, -1.0), _POOL)
                scores[best] += weight / (fusion.k + 1 + np.arange(len(best)))
        else:
            scores = relevance(np.maximum(dense, 0.0), text, mode, fusion)
        order = _top(np.where(usable & (scores > 0), scores, -1.0), limit)
        return [_hit(parts, int(at), dense, text, mode, fusion) for at in order]


def _allowed(
    part: Part, documents: Mapping[str, KbDocument], allowed: Callable[[KbDocument], bool] | None
) -> np.ndarray:
    if allowed is None:
        return np.ones(len(part.keys), dtype=bool)
    good = [name in documents and allowed(documents[name]) for name in part.documents]
    found: np.ndarray = np.array(good, dtype=bool)[part.document_of]
    return found


def _hit(  # noqa: PLR0917 - private
    parts: Sequence[Part], at: int, dense: np.ndarray, text: np.ndarray, mode: Mode, fusion: Fusion
) -> Hit:
    meaning, words = max(0.0, float(dense[at])), float(text[at])
    for part in parts:
        if at < len(part.keys):
            document_id, seq = part.keys[at]
            return Hit(
                document_id=document_id, seq=seq, score=float(relevance(meaning, words, mode, fusion)),
                dense=meaning, text=words, vector=part.vectors[at],
            )  # fmt: skip
        at -= len(part.keys)
    raise IndexError(at)


def relevance(dense: Any, text: Any, mode: Mode, fusion: Fusion) -> Any:
    """How well a chunk fits, 0 to 1, whatever else there is: ranks alone say nothing about a bad best one.

    Meaning and words are taken as two witnesses: either is enough, both are better.
    """
    if mode == "dense":
        return dense
    if mode == "text":
        return text
    most = max(fusion.dense, fusion.text) or 1.0
    return 1 - (1 - fusion.dense / most * dense) * (1 - fusion.text / most * text)


def _top(scores: np.ndarray, count: int) -> np.ndarray:
    """The places of the highest scores above -1, the highest first."""
    found = np.argpartition(-scores, count)[:count] if len(scores) > count else np.arange(len(scores))
    found = found[np.argsort(-scores[found], kind="stable")]
    best: np.ndarray = found[scores[found] > -1.0]
    return best
