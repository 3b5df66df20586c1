"""Documents cut into chunks by their structure: headings are kept as a path, tables repeat their header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from interlace.resources.documents.document import Block, Position
from interlace.resources.documents.rendering import table_markdown, to_markdown
from interlace.resources.knowledge.sentences import sentences

_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_LETTERS_A_TOKEN = 4.0
_SMALL = 0.35
"""In units of the size: a smaller chunk goes on over the next heading."""
_WIDE_HEAD = 0.5
"""In units of the size: a longer header is not repeated with each part of its table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document.

    Args:
        text: what stands there.
        path: the headings above it, the outermost first.
        position: where it begins, as JSON; `page_end` where it ends on another page.
    """

    text: str
    path: tuple[str, ...] = ()
    position: dict[str, Any] = field(default_factory=dict)

    def embedded(self, title: str = "") -> str:
        """The text with what it stands under, as it is indexed."""
        above = [part for part in dict.fromkeys((title, *self.path)) if part and part not in self.text]
        return "\n".join([" > ".join(above), self.text]) if above else self.text


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    place: Position
    glue: str = "\n"


def weigh(text: str) -> float:
    """About how many tokens a text has: four letters, or one Chinese or Japanese character."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) / _LETTERS_A_TOKEN


def cut(blocks: Sequence[Block], *, size: int, overlap: int) -> list[Chunk]:
    """The chunks of a document.

    Args:
        blocks: what was extracted.
        size: most tokens of a chunk, as `weigh` counts them.
        overlap: tokens of the end of one chunk that the next one repeats, where both are of one section.
    """
    return list(_Cutter(size, overlap).cut(blocks))


class _Cutter:
    def __init__(self, size: int, overlap: int) -> None:
        self._size = size
        self._overlap = overlap
        self._pieces: list[_Piece] = []
        self._weight = 0.0
        self._fresh = False
        """Whether something was added since the last chunk: a chunk of nothing but overlap is none."""

    def cut(self, blocks: Sequence[Block]) -> Iterator[Chunk]:
        for block in blocks:
            if block.kind == "heading":
                yield from self._heading(block)
                continue
            if self._pieces and _elsewhere(self._pieces[-1].place, block.position):
                yield from self._flush(keep=False)
            for piece in self._parts(block):
                weight = weigh(piece.text)
                if self._pieces and self._weight + weight > self._size:
                    yield from self._flush(keep=block.kind != "table")
                self._add(piece, weight)
            if block.kind == "table":
                yield from self._flush(keep=False)
        yield from self._flush(keep=False)

    def _heading(self, block: Block) -> Iterator[Chunk]:
        if self._weight >= self._size * _SMALL or (
            self._pieces and _elsewhere(self._pieces[-1].place, block.position)
        ):
            yield from self._flush(keep=False)
        place = replace(block.position, path=(*block.position.path, block.text))
        self._add(_Piece(block.text, place), weigh(block.text))

    def _parts(self, block: Block) -> Iterator[_Piece]:
        if block.kind == "table":
            yield from self._rows(block)
            return
        text = to_markdown([block]) if block.kind in ("item", "code") else block.text
        if weigh(text) <= self._size:
            yield _Piece(text, block.position)
            return
        for part in _split(text, self._size):
            yield _Piece(part, block.position, " " if not _WIDE.match(part[-1]) else "")

    def _rows(self, block: Block) -> Iterator[_Piece]:
        head, body = block.rows[:1], block.rows[1:]
        first = weigh(table_markdown(head))
        if not body or first > self._size * _WIDE_HEAD:
            # A header that fills a chunk is repeated by none.
            for row in block.rows if body else head:
                yield from self._row(row, block.position)
            return
        group: list[tuple[str, ...]] = []
        weight = first
        for row in body:
            added = weigh(" | ".join(row))
            if group and weight + added > self._size:
                yield _Piece(table_markdown([*head, *group]), block.position)
                group, weight = [], first
            if added > self._size:
                yield from self._row(row, block.position)
                continue
            group.append(row)
            weight += added
        if group:
            yield _Piece(table_markdown([*head, *group]), block.position)

    def _row(self, row: tuple[str, ...], place: Position) -> Iterator[_Piece]:
        """A row without its header; one that is longer than a chunk in parts."""
        text = table_markdown([row])
        if weigh(text) <= self._size:
            yield _Piece(text, place)
            return
        for part in _split(" | ".join(row), self._size):
            yield _Piece(part, place)

    def _add(self, piece: _Piece, weight: float) -> None:
        self._pieces.append(piece)
        self._weight += weight
        self._fresh = True

    def _flush(self, *, keep: bool) -> Iterator[Chunk]:
        pieces, fresh = self._pieces, self._fresh
        self._pieces, self._weight, self._fresh = [], 0.0, False
        if not pieces or not fresh:
            return
        text = pieces[0].text
        for before, piece in pairwise(pieces):
            same = before.place is piece.place
            text += (piece.glue if same else "\n") + piece.text
        yield Chunk(text=text, path=_common(pieces), position=_span(pieces))
        if keep and self._overlap:
            self._repeat(pieces)

    def _repeat(self, pieces: list[_Piece]) -> None:
        kept: list[_Piece] = []
        weight = 0.0
        for piece in reversed(pieces):
            for sentence in reversed(sentences(piece.text)):
                added = weigh(sentence.text)
                if weight + added > self._overlap:
                    break
                kept.append(_Piece(sentence.text, piece.place, piece.glue))
                weight += added
            else:
                continue
            break
        self._pieces, self._weight, self._fresh = kept[::-1], weight, False


def _elsewhere(before: Position, after: Position) -> bool:
    """Whether a slide, a sheet or a chapter ends between them; pages of running text go on."""
    return any(getattr(before, name) != getattr(after, name) for name in ("slide", "sheet", "section"))


def _split(text: str, size: int) -> Iterator[str]:
    """Sentences of a text; those that are longer than a chunk by their letters, at a blank where there is one.

    Looks at no letter more often than a few times, however long the text: no piece is longer than four letters a token.
    """
    longest = int(size * _LETTERS_A_TOKEN) + 1
    for sentence in sentences(text):
        whole, start = sentence.text, 0
        while start < len(whole):
            window = whole[start : start + longest]
            fits = _fitting(window, size)
            if fits == len(window):  # the window is longer than what may fit, so this is the rest
                yield window
                break
            space = window.rfind(" ", fits // 2, fits)
            end = fits if space < 0 else space
            yield window[:end]
            start += end
            while start < len(whole) and whole[start].isspace():
                start += 1


def _fitting(window: str, size: int) -> int:
    """How many of the first letters weigh no more than `size`, at least one."""
    if weigh(window) <= size:
        return len(window)
    weight = 0.0
    for index, letter in enumerate(window):
        weight += 1.0 if _WIDE.match(letter) else 1 / _LETTERS_A_TOKEN
        if weight > size:
            return max(1, index)
    return len(window)


def _common(pieces: list[_Piece]) -> tuple[str, ...]:
    """The headings that all pieces stand under."""
    path = pieces[0].place.path
    for piece in pieces[1:]:
        other = piece.place.path
        length = next(
            (i for i, (a, b) in enumerate(zip(path, other, strict=False)) if a != b),
            min(len(path), len(other)),
        )
        path = path[:length]
    return path


def _mostly(pieces: list[_Piece]) -> tuple[str, ...]:
    """The headings that the most of the text stands under."""
    sizes: dict[tuple[str, ...], int] = {}
    for piece in pieces:
        sizes[piece.place.path] = sizes.get(piece.place.path, 0) + len(piece.text)
    return max(sizes, key=sizes.__getitem__)


def _span(pieces: list[_Piece]) -> dict[str, Any]:
    first, last = pieces[0].place, pieces[-1].place
    found = first.as_json()
    found.pop("path", None)
    path = _common(pieces) or _mostly(pieces)
    if path:
        found["path"] = list(path)
    if first.page is not None and last.page != first.page:
        found["page_end"] = last.page
    return found
