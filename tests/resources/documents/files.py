"""Files made here, and the real ones of the corpus where there is one."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest


def corpus() -> Path:
    """The folder of real documents, or skip."""
    given = os.environ.get("INTERLACE_CORPUS")
    places = [Path(given)] if given else [folder / "shared" / "corpus" for folder in Path(__file__).parents]
    for place in places:
        if (place / "documents").is_dir():
            return place / "documents"
    pytest.skip("no corpus here; INTERLACE_CORPUS names one")


def packed(**members: bytes) -> bytes:
    """An archive; `__` in a name is `/`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return out.getvalue()


def word(*paragraphs: tuple[str, str], table: list[list[str]] | None = None) -> bytes:
    """A Word document of (style, text)."""
    import docx

    document = docx.Document()
    for style, text in paragraphs:
        document.add_paragraph(text, style=style)
    if table is not None:
        grid = document.add_table(rows=0, cols=len(table[0]))
        for row in table:
            for cell, text in zip(grid.add_row().cells, row, strict=True):
                cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def slides(*titles: str) -> bytes:
    """A presentation, one slide a title."""
    from pptx import Presentation

    deck = Presentation()
    for title in titles:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"About {title}"
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def pdf(*pages: str, encrypted: bool = False) -> bytes:
    """A PDF of lines of text; an empty page has none. `encrypted` names a security handler nobody knows a key to."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for text in pages:
        lines = "".join(f"({line}) Tj 0 -16 Td " for line in text.splitlines() if line)
        stream = f"BT /F1 12 Tf 72 720 Td {lines}ET".encode() if text else b""
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1"
            b" << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>" % len(objects)
        )
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (
        b" ".join(b"%d 0 R" % kid for kid in kids),
        len(kids),
    )
    more = b""
    if encrypted:
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32))
        more = b" /Encrypt %d 0 R /ID [<00><00>]" % len(objects)
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(places) + 1, table)
    return (
        out
        + head
        + b"trailer << /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF"
        % (
            len(places) + 1,
            more,
            len(out),
        )
    )
