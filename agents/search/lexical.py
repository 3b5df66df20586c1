"""Words in fields: BM25 over names, descriptions and parameters, each with a weight of its own."""

from __future__ import annotations

import asyncio
import difflib
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from interlace.agents.search.entries import Entry
from interlace.agents.search.words import asked, words
from interlace.resources.knowledge.terms import is_weak

WEIGHTS: Final[Mapping[str, float]] = {
    "owner": 1.0, "name": 3.0, "description": 1.5, "parameters": 1.0, "details": 0.5,
}  # fmt: skip
_K1: Final = 1.2
_B: Final = 0.75
_SLICE: Final = 50
_LONG: Final = 5
"""Letters of a word in which a slip of the pen is looked for."""
_ALIKE: Final = 0.83
_SURE: Final = 0.7
_MOST_SPELLINGS: Final = 10_000


class Lexical:
    """The words of some entries; it does not change."""

    def __init__(self, counted: Sequence[Mapping[str, Counter[str]]]) -> None:
        self._size = len(counted)
        lengths = {name: sum(sum(entry[name].values()) for entry in counted) for name in WEIGHTS}
        mean = {name: max(length / max(1, self._size), 1e-9) for name, length in lengths.items()}
        postings: dict[str, dict[int, float]] = defaultdict(dict)
        for at, entry in enumerate(counted):
            for name, counts in entry.items():
                spread = 1 - _B + _B * sum(counts.values()) / mean[name]
                for word, often in counts.items():
                    held = postings[word]
                    held[at] = held.get(at, 0.0) + WEIGHTS[name] * often / spread
        self._postings = {
            word: (np.fromiter(held, dtype=np.int32), np.fromiter(held.values(), dtype=np.float32))
            for word, held in postings.items()
        }

        self._by_letter: dict[str, list[str]] = defaultdict(list)
        self._spellings: dict[str, str] = {}

    @classmethod
    async def of(cls, entries: Sequence[Entry]) -> Lexical:
        """The words of entries; others get their turn while thousands of them are counted."""
        counted = []
        for at, entry in enumerate(entries, 1):
            counted.append({name: Counter(words(text)) for name, text in entry.fields.items()})
            if at % _SLICE == 0:
                await asyncio.sleep(0)
        return cls(counted)

    def scores(self, text: str) -> np.ndarray:
        """How well each entry fits by its words, as a share of the most that could be reached: 0 to 1."""
        found = np.zeros(self._size, dtype=np.float32)
        most = 0.0
        for word in asked(text):
            held, sure = self._held(word)
            frequency = 0 if held is None else len(held[0])
            weight = math.log(1 + (self._size - frequency + 0.5) / (frequency + 0.5))
            weight *= 0.5 if is_weak(word) else 1.0
            most += weight * (_K1 + 1)
            if held is not None:
                places, often = held
                found[places] += sure * weight * often * (_K1 + 1) / (often + _K1)
        return found / np.float32(most or 1.0)

    def _held(self, word: str) -> tuple[tuple[np.ndarray, np.ndarray] | None, float]:
        """Where a word stands; of one that stands nowhere the word that it was probably meant to be, less sure."""
        held = self._postings.get(word)
        if held is not None or len(word) < _LONG or not word.isascii() or not word.isalpha():
            return held, 1.0
        alike = self._spellings.get(word)
        if alike is None:
            if not self._by_letter:
                for known in self._postings:
                    self._by_letter[known[0]].append(known)
            near = difflib.get_close_matches(word, self._by_letter.get(word[0], ()), n=1, cutoff=_ALIKE)
            if len(self._spellings) > _MOST_SPELLINGS:
                self._spellings.clear()
            alike = self._spellings[word] = near[0] if near else ""
        return self._postings.get(alike), _SURE
