"""Tables without rules: lines that stand in columns over several rows."""

from __future__ import annotations

from dataclasses import dataclass

from interlace.resources.documents.formats.lines import Line

_ROWS = 3
_COLUMNS = 3
_ROW_GAP = 2.6
"""In units of the letter size: a wider gap between two rows ends a table."""
_LONG_CELL = 0.45


@dataclass(frozen=True, slots=True)
class Grid:
    """A table and its upper edge in points."""

    top: float
    rows: list[list[str]]


def find_grids(lines: list[Line]) -> tuple[list[Grid], list[Line]]:
    """Tables of three columns and three rows at least, and the lines that are in none.

    Two columns are left alone: they are as often a page set in two columns.
    """
    rows = _rows(lines)
    grids: list[Grid] = []
    rest: list[Line] = []
    start = 0
    while start < len(rows):
        end = _extent(rows, start)
        grid = _grid(rows[start:end]) if end - start >= _ROWS else None
        if grid is None:
            rest += rows[start]
            start += 1
        else:
            grids.append(grid)
            start = end
    return grids, rest


def _rows(lines: list[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in lines:
        middle = (line.top + line.bottom) / 2
        if rows and rows[-1][0].top < middle < rows[-1][0].bottom:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _extent(rows: list[list[Line]], start: int) -> int:
    """Where the run of rows with several cells ends that begins at `start`."""
    if len(rows[start]) < _COLUMNS:
        return start
    end = start + 1
    while end < len(rows) and len(rows[end]) >= 2:  # noqa: PLR2004 - rows with blanks still have two cells
        gap = rows[end][0].top - rows[end - 1][0].bottom
        if gap > _ROW_GAP * rows[end][0].size:
            break
        end += 1
    return end


def _grid(rows: list[list[Line]]) -> Grid | None:
    spans = _columns(rows)
    if len(spans) < _COLUMNS:
        return None
    width = spans[-1][1] - spans[0][0]
    cells = [line for row in rows for line in row]
    long = sum(1 for line in cells if line.x1 - line.x0 > width * _LONG_CELL)
    if long > len(rows) / 2:  # running text in columns
        return None
    table = []
    for row in rows:
        texts = [""] * len(spans)
        for line in row:
            middle = (line.x0 + line.x1) / 2
            index = min(range(len(spans)), key=lambda i: _distance(spans[i], middle))
            texts[index] = f"{texts[index]} {line.text}".strip()
        table.append(texts)
    return Grid(min(line.top for line in rows[0]), table)


def _columns(rows: list[list[Line]]) -> list[tuple[float, float]]:
    """The spans that cells of all rows share, from left to right."""
    spans: list[tuple[float, float]] = []
    for x0, x1 in sorted((line.x0, line.x1) for row in rows for line in row):
        if spans and x0 < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], x1))
        else:
            spans.append((x0, x1))
    return spans


def _distance(span: tuple[float, float], x: float) -> float:
    return 0.0 if span[0] <= x <= span[1] else min(abs(span[0] - x), abs(span[1] - x))
