"""Sentences of a text, in English, Japanese, Chinese and alike, with where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

_END = re.compile(
    r"(?:[。\uff01\uff1f!?｡]+[」』\uff09)\"'”\u2019】]*"
    r"|(?<![A-Z]\.[A-Z])(?<!\b[A-Z])(?<!\b(?:Mr|Dr|St|vs|No|cf))(?<!\b(?:Mrs|Inc|etc|Fig))(?<!\.)\.++[\"'”\u2019)\]]*(?=\s|$))\s*"
    r"|\n{1,}\s*"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: `text[start:end]` of its text is `self.text`."""

    text: str
    start: int
    end: int


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order; line breaks end one too."""
    found: list[Sentence] = []
    start = 0
    for match in [*_END.finditer(text), None]:
        end = len(text) if match is None else match.end()
        piece = text[start:end]
        stripped = piece.strip()
        if stripped:
            first = start + piece.index(stripped[0])
            found.append(Sentence(stripped, first, first + len(stripped)))
        start = end
    return found
