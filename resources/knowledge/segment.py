"""A part of an index in memory: vectors, and for each term the chunks that hold it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from interlace.resources.knowledge.terms import is_weak, number, terms
from interlace.store.knowledge_rows import Segment as Row

_K1 = 1.2
_B = 0.75


def packed_terms(text: str) -> tuple[bytes, int]:
    """The terms of a text as the store keeps them, and how many there are."""
    counts: Counter[int] = Counter(number(term) for term in terms(text))
    pairs = np.array(sorted(counts.items()), dtype=np.uint32).reshape(-1, 2)
    return pairs.tobytes(), sum(counts.values())


class Part:
    """Some chunks of an index. Which of them still count is `alive`; the rest never changes."""

    def __init__(self, rows: Sequence[Row], dimensions: int) -> None:
        self.keys = [(row.document_id, row.seq) for row in rows]
        names = {name: at for at, name in enumerate(dict.fromkeys(row.document_id for row in rows))}
        self.documents = list(names)
        self.document_of = np.array([names[row.document_id] for row in rows], dtype=np.int32)
        self.alive = np.ones(len(rows), dtype=bool)
        self.lengths = np.array([row.length for row in rows], dtype=np.float32)
        self.vectors = np.frombuffer(b"".join(row.vector for row in rows), dtype=np.float32)
        self.vectors = self.vectors.reshape(len(rows), dimensions)
        sizes = [len(row.terms) // 8 for row in rows]
        pairs = np.frombuffer(b"".join(row.terms for row in rows), dtype=np.uint32).reshape(-1, 2)
        order = np.argsort(pairs[:, 0], kind="stable")
        self._rows = np.repeat(np.arange(len(rows), dtype=np.int32), sizes)[order]
        self._counts = np.minimum(pairs[:, 1][order], 65_535).astype(np.uint16)
        self._terms, self._starts = np.unique(pairs[:, 0][order], return_index=True)

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        arrays = (self.vectors, self._rows, self._counts, self._terms, self._starts, self.lengths)
        return sum(array.nbytes for array in arrays) + 150 * len(self.keys)

    def drop(self, documents: set[str]) -> None:
        """Let documents count no more."""
        gone = [at for at, name in enumerate(self.documents) if name in documents]
        if gone:
            self.alive = self.alive & ~np.isin(
                self.document_of, gone
            )  # another one: a search may be reading this

    def holding(self, term: int) -> tuple[np.ndarray, np.ndarray]:
        """The chunks that hold a term, and how often."""
        at = int(np.searchsorted(self._terms, term))
        if at >= len(self._terms) or self._terms[at] != term:
            return self._rows[:0], self._counts[:0]
        start = self._starts[at]
        end = self._starts[at + 1] if at + 1 < len(self._starts) else len(self._rows)
        return self._rows[start:end], self._counts[start:end]


def text_scores(parts: Sequence[Part], query: Sequence[str]) -> list[np.ndarray]:
    """BM25 of every chunk of every part, as a share of the most that the query can reach: 0 to 1."""
    total = sum(int(part.alive.sum()) for part in parts) or 1
    length = sum(float(part.lengths[part.alive].sum()) for part in parts) / total or 1.0
    scores = [np.zeros(len(part.keys), dtype=np.float32) for part in parts]
    most = 0.0
    for term in query:
        found = [part.holding(number(term)) for part in parts]
        frequency = sum(int(part.alive[rows].sum()) for part, (rows, _) in zip(parts, found, strict=True))
        weight = float(np.log(1 + (total - frequency + 0.5) / (frequency + 0.5)))
        weight *= 0.5 if is_weak(term) else 1.0
        most += weight * (_K1 + 1)
        if not frequency:
            continue
        for part, (rows, counts), score in zip(parts, found, scores, strict=True):
            often = counts.astype(np.float32)
            score[rows] += (
                weight * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * part.lengths[rows] / length))
            )
    return [score / most if most else score for score in scores]
