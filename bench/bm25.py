"""Plain BM25, as a yardstick for what the product finds: no stemming, no stop words, no scores of anything else."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORDS = re.compile(r"[a-z0-9]+|[^\W\da-z_]+", re.IGNORECASE)
_K1, _B = 1.2, 0.75


def words_of(text: str) -> list[str]:
    """Words in lower case; of scripts without spaces every pair of neighbouring characters."""
    found: list[str] = []
    for run in _WORDS.findall(text.lower()):
        if ord(run[0]) < 0x2E80 or len(run) == 1:
            found.append(run)
        else:
            found += [run[at : at + 2] for at in range(len(run) - 1)]
    return found


class Bm25:
    """An index of documents by key."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self._keys = [key for key, _ in documents]
        counts = [Counter(words_of(text)) for _, text in documents]
        self._lengths = [sum(count.values()) for count in counts]
        self._mean = sum(self._lengths) / max(len(counts), 1)
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, count in enumerate(counts):
            for word, times in count.items():
                self._postings.setdefault(word, []).append((number, times))

    def best(self, question: str, most: int) -> list[str]:
        """Keys of the documents that fit best, the best one first."""
        scores: dict[int, float] = {}
        for word in words_of(question):
            postings = self._postings.get(word, [])
            rarity = math.log(1 + (len(self._keys) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, times in postings:
                weight = times + _K1 * (1 - _B + _B * self._lengths[number] / self._mean)
                scores[number] = scores.get(number, 0.0) + rarity * times * (_K1 + 1) / weight
        ranked = sorted(scores, key=lambda number: (-scores[number], number))
        return [self._keys[number] for number in ranked[:most]]
