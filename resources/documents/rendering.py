"""Extracted documents as Markdown, plain text, pages and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from interlace.resources.documents.document import Block, Extracted, Position

_BLANKS = re.compile(r"\s*\n\s*")


def to_markdown(blocks: Iterable[Block]) -> str:
    """Markdown of blocks, in order."""
    pieces: list[str] = []
    before: Block | None = None
    for block in blocks:
        text = _block(block)
        if not text:
            continue
        if pieces:
            tight = before is not None and before.kind == block.kind == "item"
            pieces.append("\n" if tight else "\n\n")
        pieces.append(text)
        before = block
    return "".join(pieces)


def _block(block: Block) -> str:
    if block.kind == "heading":
        return f"{'#' * max(1, min(block.level, 6))} {_BLANKS.sub(' ', block.text)}"
    if block.kind == "item":
        return f"{'    ' * block.level}{'1.' if block.ordered else '-'} {_BLANKS.sub(' ', block.text)}"
    if block.kind == "code":
        fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", block.text)), default=0) + 1)
        return f"{fence}{block.language}\n{block.text}\n{fence}"
    if block.kind == "table":
        return table_markdown(block.rows)
    return block.text


def table_markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is the header; line breaks in cells become `<br>`."""
    if not rows:
        return ""
    width = max(len(row) for row in rows)

    def line(row: Sequence[str]) -> str:
        cells = [_BLANKS.sub("<br>", cell.strip()).replace("|", "\\|") for cell in row]
        return "| " + " | ".join(cells + [""] * (width - len(cells))) + " |"

    head, *body = rows
    return "\n".join([line(head), "|" + " - |" * width, *(line(row) for row in body)])


def to_text(blocks: Iterable[Block]) -> str:
    """Plain text: no marks, cells of tables separated by tabs."""
    pieces = []
    for block in blocks:
        text = "\n".join("\t".join(row) for row in block.rows) if block.kind == "table" else block.text
        if text:
            pieces.append(text)
    return "\n\n".join(pieces)


def to_pages(document: Extracted) -> list[dict[str, Any]]:
    """Markdown by page, slide, sheet or section; a document without any of them is one page."""

    def place(block: Block) -> tuple[str, str]:
        position: Position = block.position
        for name in ("page", "slide", "sheet", "section"):
            value = getattr(position, name)
            if value is not None:
                return name, str(value)
        return "page", "1"

    pages = []
    for number, ((name, value), blocks) in enumerate(groupby(document.blocks, place), 1):
        shown: Any = int(value) if name in ("page", "slide") else value
        pages.append({"number": number, name: shown, "text": to_markdown(blocks)})
        if name == "page":
            pages[-1]["number"] = shown
    return pages


def to_tables(document: Extracted) -> list[dict[str, Any]]:
    """Every table: columns, rows as objects where the header's names are distinct, and its position."""
    found = []
    for block in document.blocks:
        if block.kind != "table" or not block.rows:
            continue
        head, *body = block.rows
        columns = [name.strip() or f"column_{index}" for index, name in enumerate(head, 1)]
        columns = [f"{c}_{i}" if c in columns[:i] else c for i, c in enumerate(columns)]
        rows = [dict(zip(columns, [*row, *[""] * (len(columns) - len(row))], strict=False)) for row in body]
        found.append({"columns": columns, "rows": rows, "position": block.position.as_json()})
    return found
