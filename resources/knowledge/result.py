"""What a search gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A chunk that was found.

    Args:
        text: what stands there, letter by letter.
        score: how well it fits, 0 to 1.
        source: of the document.
        position: where in it: page, slide, sheet and range, line, section, path of headings.
        metadata: of the document, with `knowledge_base`, `document_id` and `title`.
        n: its number in context and citations.
        dense: likeness of the meaning, 0 to 1.
        words: share of the most that the words of the query could reach.
    """

    text: str
    score: float
    source: str
    position: dict[str, Any]
    metadata: dict[str, Any]
    n: int = 0
    dense: float = 0.0
    words: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence that stands word for word in chunk `n`."""

    n: int
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two quotes of different documents that say the same of different things."""

    between: tuple[int, int]
    quotes: tuple[str, str]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The answer of a search; `refused` says why a grounded one gives nothing."""

    chunks: list[Found]
    context: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    confidence: float = 0.0
    quotes: list[Quote] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    refused: str | None = None

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        found = asdict(self)
        for conflict in found["conflicts"]:
            conflict["between"], conflict["quotes"] = list(conflict["between"]), list(conflict["quotes"])
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Retrieved:
        """The opposite of `as_json`."""
        more = {
            "chunks": [Found(**chunk) for chunk in data["chunks"]],
            "quotes": [Quote(**quote) for quote in data["quotes"]],
            "conflicts": [
                Conflict(between=tuple(c["between"]), quotes=tuple(c["quotes"]), reason=c["reason"])
                for c in data["conflicts"]
            ],
        }
        return cls(**{**data, **more})
