"""The structure that every format is brought to: blocks with positions, and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["heading", "paragraph", "item", "table", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a block stands; what a format does not have is None.

    Args:
        page: page of a PDF, from 1.
        slide: slide of a presentation, from 1.
        sheet: name of a sheet.
        range: cells of a sheet, `A1:C9`.
        line: line of a text file, from 1.
        section: chapter of a book, or attachment of a mail.
        path: headings above it, the outermost first.
    """

    page: int | None = None
    slide: int | None = None
    sheet: str | None = None
    range: str | None = None
    line: int | None = None
    section: str | None = None
    path: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Only what is known."""
        found = {
            "page": self.page, "slide": self.slide, "sheet": self.sheet, "range": self.range, "line": self.line,
            "section": self.section, "path": list(self.path),
        }  # fmt: skip
        return {name: value for name, value in found.items() if value not in (None, [])}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Position:
        """The opposite of `as_json`."""
        return cls(**{**data, "path": tuple(data.get("path", ()))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One piece of a document.

    Args:
        kind: heading, paragraph, item (of a list), table or code.
        text: its text; of a table empty.
        level: of a heading 1 to 6, of an item its depth from 0.
        ordered: whether an item is numbered.
        rows: of a table the cells' texts; the first row is the header.
        language: of code.
        position: where it stands.
    """

    kind: Kind
    text: str = ""
    level: int = 0
    ordered: bool = False
    rows: tuple[tuple[str, ...], ...] = ()
    language: str = ""
    position: Position = field(default_factory=Position)

    def as_json(self) -> dict[str, Any]:
        """Only what differs from nothing."""
        found: dict[str, Any] = {
            "kind": self.kind, "text": self.text, "level": self.level, "ordered": self.ordered,
            "rows": [list(row) for row in self.rows], "language": self.language, "position": self.position.as_json(),
        }  # fmt: skip
        return {name: value for name, value in found.items() if value or name == "kind"}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Block:
        """The opposite of `as_json`."""
        more = {
            "rows": tuple(tuple(row) for row in data.get("rows", ())),
            "position": Position.from_json(data.get("position", {})),
        }
        return cls(**{**data, **more})


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What a document holds.

    Args:
        format: pdf, docx, pptx, xlsx, odt, html, markdown, csv, text, epub or eml.
        blocks: in reading order.
        metadata: title, author, created, modified (ISO 8601), language (a guess), pages, and what the format adds.
        warnings: what could not be taken over, in words.
    """

    format: str
    blocks: tuple[Block, ...]
    metadata: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For the way out of the process that extracts, and for the store."""
        return {
            "format": self.format,
            "blocks": [block.as_json() for block in self.blocks],
            "metadata": dict(self.metadata),
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Extracted:
        """The opposite of `as_json`."""
        return cls(
            format=data["format"],
            blocks=tuple(Block.from_json(block) for block in data["blocks"]),
            metadata=data["metadata"],
            warnings=tuple(data.get("warnings", ())),
        )
