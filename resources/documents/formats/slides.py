"""Presentations (pptx)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from interlace.resources.documents.archive import open_archive
from interlace.resources.documents.document import Position
from interlace.resources.documents.formats.properties import core_properties
from interlace.resources.documents.limits import damaged, too_large
from interlace.resources.documents.outline import Outline

_DEPTH = 20


def extract_pptx(content: bytes, outline: Outline) -> None:
    """Slide by slide: title, texts from top to bottom, tables, charts' numbers, notes.

    Raises:
        DocumentFault: damaged, encrypted or too large.
    """
    open_archive(content, outline.limits).close()
    from pptx import Presentation  # noqa: PLC0415 - only for presentations
    from pptx.exc import PythonPptxError  # noqa: PLC0415

    try:
        deck = Presentation(io.BytesIO(content))
        outline.meta(core_properties(deck.core_properties))
        if len(deck.slides) > outline.limits.pages:
            raise too_large(f"{len(deck.slides):,} slides; {outline.limits.pages:,} are allowed")
        outline.meta({"pages": len(deck.slides)})
        for number, slide in enumerate(deck.slides, 1):
            _slide(slide, Position(slide=number), outline)
    except (KeyError, ValueError, AttributeError, TypeError, SyntaxError, PythonPptxError) as error:
        raise damaged(f"the presentation cannot be read ({type(error).__name__}: {error})") from error


def _slide(slide: Any, position: Position, outline: Outline) -> None:
    outline.reset()
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        outline.heading(title.text_frame.text.replace("\x0b", " "), 1, position)
    skipped = None if title is None else title.shape_id
    for shape in _ordered(slide.shapes, 0):
        if shape.shape_id != skipped:
            _shape(shape, position, outline)
    if slide.has_notes_slide:
        notes = slide.notes_slide.notes_text_frame
        if notes is not None and notes.text.strip():
            outline.paragraph(f"Notes: {notes.text}", position)


def _ordered(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    """Shapes from top to bottom and left to right, groups opened."""
    for shape in sorted(shapes, key=lambda s: (s.top or 0, s.left or 0)):
        if hasattr(shape, "shapes") and depth < _DEPTH:
            yield from _ordered(shape.shapes, depth + 1)
        else:
            yield shape


def _shape(shape: Any, position: Position, outline: Outline) -> None:
    if getattr(shape, "has_table", False) and shape.has_table:
        outline.table([[cell.text for cell in row.cells] for row in shape.table.rows], position)
    elif getattr(shape, "has_chart", False) and shape.has_chart:
        _chart(shape.chart, position, outline)
    elif shape.has_text_frame:
        paragraphs = [p for p in shape.text_frame.paragraphs if p.text.strip()]
        for paragraph in paragraphs:
            text = paragraph.text.replace("\x0b", "\n")
            if paragraph.level or (shape.is_placeholder and len(paragraphs) > 1):
                outline.item(text, paragraph.level, position=position)
            else:
                outline.paragraph(text, position)
    else:
        described = shape._element.xpath(".//p:cNvPr/@descr")  # noqa: SLF001 - no interface to alternative texts
        if described and described[0].strip():
            outline.paragraph(described[0], position)


def _chart(chart: Any, position: Position, outline: Outline) -> None:
    if chart.has_title and chart.chart_title.has_text_frame:
        outline.paragraph(chart.chart_title.text_frame.text, position)
    for plot in chart.plots:
        names = [str(category) for category in plot.categories]
        series = list(plot.series)
        values = [list(one.values) for one in series]
        rows = [["", *(str(one.name) for one in series)]]
        for index, name in enumerate(names):
            rows.append([name, *(_number(v[index]) if index < len(v) else "" for v in values)])
        outline.table(rows, position)


def _number(value: object) -> str:
    return "" if value is None else (f"{value:g}" if isinstance(value, float) else str(value))
