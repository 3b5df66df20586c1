"""Lines of a PDF page in reading order: columns one after the other, lines of a paragraph together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Box = tuple[float, float, float, float]

_WORD_GAP = 0.25
_CELL_GAP = 1.2
"""In units of the letter size: a wider gap parts columns or cells, not words."""
_PARAGRAPH_GAP = 0.75
_SAME_SIZE = 0.12
_FULL = 0.72
_GUTTER_LINES = 5
_ITEM = re.compile(r"(?:[•\-\u2013*▪◦·]|\(?\d{1,3}[.)])(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Line:
    """A run of words without a wide gap. Lengths in points from the top left."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    bold: bool
    column: int = 0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together."""

    lines: list[Line]

    @property
    def top(self) -> float:
        """Upper edge in points."""
        return self.lines[0].top

    @property
    def column(self) -> int:
        """0 where the page has one column."""
        return self.lines[0].column


def full_to(lines: list[Line]) -> float:
    """Where a line has to end at least to count as full: what follows a shorter one begins a line of its own."""
    return max((line.x1 for line in lines), default=0.0) * _FULL


def read_lines(page: Any, without: Sequence[Box]) -> list[Line]:
    """Lines of a page from top to bottom, left to right, those inside the boxes left out."""
    words = page.extract_words(
        extra_attrs=["fontname", "size"], x_tolerance_ratio=0.15, keep_blank_chars=False, use_text_flow=False
    )
    words = [word for word in words if not any(_inside(word, box) for box in without)]
    rows: list[list[dict[str, Any]]] = []
    for word in sorted(words, key=lambda w: (w["bottom"], w["x0"])):
        middle = (word["top"] + word["bottom"]) / 2
        if rows and any(other["top"] < middle < other["bottom"] for other in rows[-1][-3:]):
            rows[-1].append(word)
        else:
            rows.append([word])
    lines: list[Line] = []
    for row in rows:
        row.sort(key=lambda w: w["x0"])
        run = [row[0]]
        for word in row[1:]:
            if word["x0"] - run[-1]["x1"] > _CELL_GAP * max(word["size"], run[-1]["size"]):
                lines.append(_line(run))
                run = []
            run.append(word)
        lines.append(_line(run))
    return lines


def _inside(word: dict[str, Any], box: Box) -> bool:
    x, y = (word["x0"] + word["x1"]) / 2, (word["top"] + word["bottom"]) / 2
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


def _line(words: list[dict[str, Any]]) -> Line:
    text = words[0]["text"]
    for before, word in pairwise(words):
        gap = word["x0"] - before["x1"]
        text += (" " if gap > _WORD_GAP * 0.4 * word["size"] else "") + word["text"]
    letters = sum(len(w["text"]) for w in words)
    bold = sum(
        len(w["text"]) for w in words if "bold" in w["fontname"].lower() or "black" in w["fontname"].lower()
    )
    return Line(
        text=text, x0=words[0]["x0"], x1=words[-1]["x1"], top=min(w["top"] for w in words),
        bottom=max(w["bottom"] for w in words), size=max(w["size"] for w in words), bold=bold > letters / 2,
    )  # fmt: skip


def group(lines: list[Line]) -> list[Paragraph]:
    """Paragraphs in reading order."""
    paragraphs: list[Paragraph] = []
    for line in _by_columns(lines):
        if paragraphs and _continues(paragraphs[-1].lines[-1], line):
            paragraphs[-1].lines.append(line)
        else:
            paragraphs.append(Paragraph([line]))
    return paragraphs


def _continues(before: Line, line: Line) -> bool:
    size = max(before.size, line.size)
    if before.column != line.column or abs(before.size - line.size) > _SAME_SIZE * size:
        return False
    if before.bold != line.bold:
        return False
    gap = line.top - before.bottom
    if not -0.5 * size < gap < _PARAGRAPH_GAP * size:
        return False
    return not _ITEM.match(line.text)


def _by_columns(lines: list[Line]) -> list[Line]:
    """Two columns are read one after the other; what spans both parts the page in bands."""
    gutter = _gutter(lines)
    if gutter is None:
        return lines
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line in lines:
        if line.x1 <= gutter:
            left.append(_placed(line, 1))
        elif line.x0 >= gutter:
            right.append(_placed(line, 2))
        else:
            ordered += [*left, *right, line]
            left, right = [], []
    return [*ordered, *left, *right]


def _gutter(lines: list[Line]) -> float | None:
    """Where a page of two columns is parted, None where it has one."""
    if len(lines) < 2 * _GUTTER_LINES:
        return None
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    width = right - left
    best, fewest = None, len(lines)
    for step in range(35, 66):
        x = left + width * step / 100
        crossing = sum(1 for line in lines if line.x0 < x < line.x1)
        if crossing < fewest:
            best, fewest = x, crossing
    if best is None or fewest > len(lines) * 0.15:
        return None
    first = [line for line in lines if line.x1 <= best]
    second = [line for line in lines if line.x0 >= best]
    long = width * 0.25
    enough = all(
        sum(1 for line in side if line.x1 - line.x0 > long) >= _GUTTER_LINES for side in (first, second)
    )
    return best if enough else None


def _placed(line: Line, column: int) -> Line:
    return Line(line.text, line.x0, line.x1, line.top, line.bottom, line.size, line.bold, column)
