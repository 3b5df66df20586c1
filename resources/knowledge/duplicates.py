"""Chunks that say the same: alike in meaning, of the same words, numbers and negations.

Likeness alone is not enough: "25 days" and "30 days" are alike, and a search that gives one of them hides the contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlace.resources.knowledge.terms import normalise, terms

if TYPE_CHECKING:
    import numpy as np

NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|without|cannot|prohibited|forbidden)\b|n['\u2019]t\b|ません|ない|なし|禁止|不|没有|未|禁",
    re.IGNORECASE,
)


def saying_nothing_new(texts: Sequence[str], vectors: Sequence[np.ndarray], alike: float) -> list[bool]:
    """Of each chunk whether one before it, that is kept, says the same.

    Args:
        texts: the chunks, the best first.
        vectors: what they mean, of length 1.
        alike: the least likeness, 0 to 1, of two that may count as the same.
    """
    kept: list[int] = []
    facts: dict[int, _Facts] = {}
    found: list[bool] = []
    for index, vector in enumerate(vectors):
        near = [other for other in kept if float(vector @ vectors[other]) >= alike]
        for place in (index, *near) if near else ():
            facts.setdefault(place, _Facts(texts[place]))
        same = any(facts[index].says_as(facts[other]) for other in near)
        found.append(same)
        if not same:
            kept.append(index)
    return found


class _Facts:
    def __init__(self, text: str) -> None:
        plain = normalise(text)
        self._numbers = NUMBER.findall(plain)
        self._denials = len(NEGATION.findall(plain))
        self._words = frozenset(terms(text))

    def says_as(self, other: _Facts) -> bool:
        """Whether it has the words of the other one, its numbers in their order, and as many negations."""
        return (
            self._numbers == other._numbers
            and self._denials == other._denials
            and self._words == other._words
        )
