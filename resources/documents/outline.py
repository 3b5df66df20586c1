"""Collects the blocks of a document and knows under which headings each stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interlace.resources.documents.document import Block, Kind, Position
from interlace.resources.documents.limits import DocumentLimits, too_large


@dataclass(slots=True)
class Outline:
    """What a format writes into; it counts against the limits as it grows.

    Args:
        limits: of characters and cells.
    """

    limits: DocumentLimits
    blocks: list[Block] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _characters: int = 0
    _cells: int = 0

    def heading(self, text: str, level: int, position: Position | None = None) -> None:
        """A heading; what follows stands below it until one of the same or a higher level."""
        text = " ".join(text.split())
        if not text:
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._add("heading", position, text=text, level=level)
        self._headings.append((level, text))

    def paragraph(self, text: str, position: Position | None = None) -> None:
        """Running text."""
        if text.strip():
            self._add("paragraph", position, text=text.strip())

    def item(
        self, text: str, level: int = 0, *, ordered: bool = False, position: Position | None = None
    ) -> None:
        """An item of a list."""
        if text.strip():
            self._add("item", position, text=text.strip(), level=level, ordered=ordered)

    def code(self, text: str, language: str = "", position: Position | None = None) -> None:
        """Text whose line breaks count."""
        if text.strip():
            self._add("code", position, text=text.strip("\n"), language=language)

    def table(self, rows: Sequence[Sequence[str]], position: Position | None = None) -> None:
        """A table; the first row is its header. Rows and columns without any text at the edges are left out.

        Raises:
            DocumentFault: the document has more cells than allowed.
        """
        kept = trim(rows)
        if not kept:
            return
        self._cells += sum(len(row) for row in kept)
        if self._cells > self.limits.cells:
            raise too_large(f"the tables have more than {self.limits.cells:,} cells")
        self._add("table", position, rows=kept)

    def reset(self) -> None:
        """Leave all headings: a new page of slides, sheet, chapter."""
        self._headings.clear()

    def meta(self, values: Mapping[str, Any]) -> None:
        """Note metadata; empty values are left out."""
        self.metadata.update({name: value for name, value in values.items() if value not in (None, "", [])})

    def _add(self, kind: Kind, position: Position | None, **fields: Any) -> None:
        size = len(fields.get("text", "")) + sum(len(c) for row in fields.get("rows", ()) for c in row)
        self._characters += size
        if self._characters > self.limits.characters:
            raise too_large(f"the document has more than {self.limits.characters:,} characters of text")
        place = replace(position or Position(), path=tuple(text for _, text in self._headings))
        self.blocks.append(Block(kind=kind, position=place, **fields))


def trim(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Rows of equal width, without empty rows and without empty columns at the right."""
    filled = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    width = max((max((i for i, c in enumerate(row, 1) if c), default=0) for row in filled), default=0)
    return tuple(tuple((row + [""] * width)[:width]) for row in filled)
