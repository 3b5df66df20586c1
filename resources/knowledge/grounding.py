"""Answers that stand on the documents: citations, quotes word for word, conflicts, confidence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from interlace.resources.knowledge.duplicates import NEGATION, NUMBER
from interlace.resources.knowledge.result import Conflict, Found, Quote
from interlace.resources.knowledge.sentences import sentences
from interlace.resources.knowledge.terms import normalise, query_terms, terms

if TYPE_CHECKING:
    import numpy as np

Embed = Callable[[Sequence[str]], Awaitable["np.ndarray"]]

_DENSE = (0.15, 0.60)
_WORDS = (0.08, 0.50)
"""Where confidence begins and is full; the first is what 95 of 100 questions reach in texts that know nothing of it."""
_QUOTED_CHUNKS = 5
_MOST_SENTENCES = 60
_MOST_QUOTES = 5
_LEAST_QUOTE = 0.12
_SHARE_OF_BEST = 0.6
_ALIKE = 0.70
_MARKS = re.compile(r"[\"“”„«»「」『』]")
_QUOTED = re.compile(r"[\"“„«「『]([^\"”»」』]{8,}?)[\"”»」』]")


def confidence_of(chunks: Sequence[Found]) -> float:
    """How sure it is that the answer stands in the chunks, 0 to 1: by the best meaning and the best words."""
    if not chunks:
        return 0.0
    dense = max(chunk.dense for chunk in chunks)
    words = max(chunk.words for chunk in chunks)
    return round(1 - (1 - _share(dense, _DENSE)) * (1 - _share(words, _WORDS)), 4)


def _share(value: float, span: tuple[float, float]) -> float:
    return min(1.0, max(0.0, (value - span[0]) / (span[1] - span[0])))


def citations_of(chunks: Sequence[Found]) -> list[dict[str, Any]]:
    """`[n]` with source, title, position, and the document that it is."""
    return [
        {
            "n": chunk.n, "source": chunk.source, "title": chunk.metadata.get("title") or chunk.metadata.get("name"),
            "position": chunk.position, "where": where(chunk.position),
            "document_id": chunk.metadata.get("document_id"), "knowledge_base": chunk.metadata.get("knowledge_base"),
        }
        for chunk in chunks
    ]  # fmt: skip


def context_of(chunks: Sequence[Found]) -> str:
    """The chunks as a model reads them, each under its number and source."""
    pieces = []
    for chunk in chunks:
        place = where(chunk.position)
        pieces.append(f"[{chunk.n}] {chunk.source}{f', {place}' if place else ''}\n{chunk.text}")
    return "\n\n".join(pieces)


def where(position: dict[str, Any]) -> str:
    """A position in words: `page 3, Leave > Carry over`."""
    parts = []
    if "page" in position:
        end = position.get("page_end")
        parts.append(f"page {position['page']}" if end is None else f"pages {position['page']} to {end}")
    parts += [
        f"{name} {position[name]}"
        for name in ("slide", "sheet", "range", "section", "line")
        if name in position
    ]
    if position.get("path"):
        parts.append(" > ".join(position["path"]))
    return ", ".join(parts)


def is_verbatim(quote: str, text: str) -> bool:
    """Whether a quote stands in a text, but for blanks and forms of the same letter."""
    wanted = _plain(quote)
    return bool(wanted) and wanted in _plain(text)


def check_quotes(answer: str, chunks: Sequence[Found]) -> list[str]:
    """The quotes of an answer that stand in none of the chunks."""
    return [quote for quote in _QUOTED.findall(answer) if not any(is_verbatim(quote, c.text) for c in chunks)]


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", unicodedata.normalize("NFKC", text)).split())


async def quotes_of(query: str, chunks: Sequence[Found], embed: Embed) -> list[Quote]:
    """The sentences that answer best, each word for word as it stands in its chunk."""
    found = [
        (chunk, sentence.text)
        for chunk in chunks[:_QUOTED_CHUNKS]
        for sentence in sentences(chunk.text)
        if len(sentence.text) > 3  # noqa: PLR2004 - a number or a mark alone is no sentence
    ][:_MOST_SENTENCES]
    if not found:
        return []
    vectors = await embed([query, *(text for _, text in found)])
    meaning = vectors[1:] @ vectors[0]
    wanted = set(query_terms(query))
    scored = []
    for (chunk, text), dense in zip(found, meaning, strict=True):
        share = len(wanted & set(terms(text))) / (len(wanted) or 1)
        own = 1 - (1 - 0.6 * max(0.0, float(dense))) * (1 - 0.8 * share)
        scored.append((own * (0.5 + 0.5 * chunk.score), chunk, text))
    scored.sort(key=lambda entry: -entry[0])
    best = scored[0][0]
    kept: list[Quote] = []
    for score, chunk, text in scored:
        if len(kept) == _MOST_QUOTES or score < max(_LEAST_QUOTE, best * _SHARE_OF_BEST):
            break
        if is_verbatim(text, chunk.text) and all(normalise(text) != normalise(q.text) for q in kept):
            kept.append(Quote(n=chunk.n, text=text, score=round(score, 4)))
    return kept


async def conflicts_of(quotes: Sequence[Quote], chunks: Sequence[Found], embed: Embed) -> list[Conflict]:
    """Quotes of different documents that are alike, but differ in a number or in a negation."""
    documents = {chunk.n: chunk.metadata.get("document_id") for chunk in chunks}
    pairs = [(a, b) for a, b in combinations(quotes, 2) if documents.get(a.n) != documents.get(b.n)]
    if not pairs:
        return []
    vectors = dict(zip((q.text for q in quotes), await embed([q.text for q in quotes]), strict=True))
    found = []
    for a, b in pairs:
        if float(vectors[a.text] @ vectors[b.text]) < _ALIKE:
            continue
        reason = _difference(a.text, b.text)
        if reason is not None:
            found.append(Conflict(between=(a.n, b.n), quotes=(a.text, b.text), reason=reason))
    return found


def _difference(a: str, b: str) -> str | None:
    first, second = (set(NUMBER.findall(normalise(text))) for text in (a, b))
    if first and second and first != second:
        only = [", ".join(sorted(one - other)) or "none" for one, other in ((first, second), (second, first))]
        return f"numbers differ: {only[0]} against {only[1]}"
    if bool(NEGATION.search(a)) != bool(NEGATION.search(b)):
        return "one denies what the other says"
    return None
