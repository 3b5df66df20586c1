"""PDF: lines put together to headings, paragraphs, lists and tables, page by page."""

from __future__ import annotations

import io
import re
from collections import Counter
from typing import Any

from interlace.resources.documents.document import Position
from interlace.resources.documents.formats.columns import find_grids
from interlace.resources.documents.formats.lines import Line, full_to, group, read_lines
from interlace.resources.documents.formats.ocr import recognise
from interlace.resources.documents.formats.text import list_item
from interlace.resources.documents.limits import DocumentFault, damaged, encrypted, too_large
from interlace.resources.documents.outline import Outline

_HEADING_RATIO = 1.15
_HEADING_LETTERS = 200
_DATE = re.compile(r"D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?")
Pages = tuple[tuple[int, int], ...]


def extract_pdf(content: bytes, outline: Outline, pages: Pages | None, *, ocr: bool) -> None:
    """The pages of a PDF; `pages` limits them to ranges from 1, ends included.

    Raises:
        DocumentFault: damaged, encrypted, too large, or scanned without text.
    """
    import pdfplumber  # noqa: PLC0415 - only for PDFs
    from pdfminer.pdfdocument import PDFPasswordIncorrect  # noqa: PLC0415
    from pdfminer.pdfexceptions import PDFException  # noqa: PLC0415
    from pdfminer.psexceptions import PSException  # noqa: PLC0415
    from pdfplumber.utils.exceptions import PdfminerException  # noqa: PLC0415

    try:
        with pdfplumber.open(io.BytesIO(content)) as document:
            _document(document, content, outline, pages, ocr=ocr)
    except (PdfminerException, PDFException, PSException) as error:
        cause = error.args[0] if isinstance(error, PdfminerException) and error.args else error
        if isinstance(cause, PDFPasswordIncorrect):
            raise encrypted("the PDF is protected by a password") from None
        raise damaged(f"the PDF cannot be read ({type(cause).__name__}: {cause})") from error
    except (
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        AssertionError,
    ) as error:
        raise damaged(f"the PDF cannot be read ({type(error).__name__}: {error})") from error


def _document(document: Any, content: bytes, outline: Outline, pages: Pages | None, *, ocr: bool) -> None:
    count = len(document.pages)
    if not count:
        raise damaged("the PDF has no page that can be read")
    if count > outline.limits.pages:
        raise too_large(f"the PDF has {count:,} pages; {outline.limits.pages:,} are allowed")
    outline.meta({"pages": count, **_metadata(document.metadata)})
    wanted = [n for n in range(1, count + 1) if pages is None or any(a <= n <= b for a, b in pages)]
    if not wanted:
        raise DocumentFault("document_pages", f"none of the asked pages exists: the PDF has {count}")
    found: list[_Page] = []
    silent: list[int] = []
    for number in wanted:
        page = document.pages[number - 1]
        read = _Page(page, number)
        page.close()
        found.append(read)
        if not read.lines and not read.tables:
            silent.append(number)
    body = _body_size(found)
    if silent and ocr:
        _recognised(content, silent, outline)
    elif silent and len(silent) == len(wanted):
        outline.metadata["scanned"] = True
    elif silent:
        outline.warnings.append(f"{len(silent)} pages have no text (pictures or empty): {silent[:20]}")
    for read in found:
        read.write(outline, body)


def _recognised(content: bytes, silent: list[int], outline: Outline) -> None:
    for number, text in recognise(content, silent):
        for paragraph in re.split(r"\n\s*\n", text):
            outline.paragraph(paragraph, Position(page=number))
    outline.metadata["ocr"] = True


class _Page:
    """What one page holds; read at once, as the parsed page is let go of."""

    def __init__(self, page: Any, number: int) -> None:
        self.number = number
        ruled = page.find_tables()
        self.tables: list[tuple[float, list[list[str]]]] = []
        boxes = []
        for table in ruled:
            rows = [[cell or "" for cell in row] for row in table.extract()]
            if len(rows) > 1 and max(len(row) for row in rows) > 1:
                boxes.append(table.bbox)
                self.tables.append((table.bbox[1], rows))
        self.lines = read_lines(page, boxes)
        grids, self.lines = find_grids(self.lines)
        self.tables += [(grid.top, grid.rows) for grid in grids]

    def write(self, outline: Outline, body: float) -> None:
        """Add the page's blocks in reading order; `body` is the size of running text."""
        place = Position(page=self.number)
        full = full_to([line for line in self.lines if not line.column])
        waiting = sorted(self.tables, key=lambda table: table[0])
        for paragraph in group(self.lines):
            while waiting and waiting[0][0] < paragraph.top and not paragraph.column:
                outline.table(waiting.pop(0)[1], place)
            self._paragraph(paragraph.lines, outline, body, full, place)
        for _, rows in waiting:
            outline.table(rows, place)

    @staticmethod
    def _paragraph(lines: list[Line], outline: Outline, body: float, full: float, place: Position) -> None:
        text = _running(lines, full)
        size = max(line.size for line in lines)
        bold = all(line.bold for line in lines)
        short = len(text) <= _HEADING_LETTERS and not text.endswith((".", "。", ",", ";", "\uff1b"))
        if (
            short
            and any(c.isalpha() for c in text)
            and body
            and (
                size >= body * _HEADING_RATIO
                or (bold and size >= body and len(lines) == 1 and ":" not in text)
            )
        ):
            ratio = size / body
            outline.heading(text, 1 if ratio >= 1.6 else 2 if ratio >= 1.3 else 3, place)  # noqa: PLR2004 - by eye, on real files
            return
        item = list_item(lines[0].text)
        if item is not None:
            rest = [line.text for line in lines[1:]]
            outline.item(join([item[2], *rest]), 0, ordered=item[1], position=place)
        else:
            outline.paragraph(text, place)


def _body_size(pages: list[_Page]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


def _running(lines: list[Line], full: float) -> str:
    """The lines as text; one that ends early keeps its break."""
    parts: list[list[str]] = [[]]
    for line in lines:
        parts[-1].append(line.text)
        if line.x1 < full and not line.column:
            parts.append([])
    return "\n".join(join(part) for part in parts if part)


def join(lines: Any) -> str:
    """Lines of one paragraph as running text: words parted at the line's end are put together, CJK needs no blank."""
    text = ""
    for line in lines:
        if not text:
            text = line
        elif text.endswith("-") and len(text) > 1 and text[-2].isalpha() and line[:1].islower():
            text = text[:-1] + line
        elif _CJK.match(text[-1]) and _CJK.match(line[:1]):
            text += line
        else:
            text += " " + line
    return text


def _metadata(raw: dict[str, Any]) -> dict[str, Any]:
    def clean(name: str) -> str | None:
        value = raw.get(name)
        return value.replace("\0", "").strip() or None if isinstance(value, str) else None

    return {
        "title": clean("Title"), "author": clean("Author"), "subject": clean("Subject"), "keywords": clean("Keywords"),
        "created": _moment(clean("CreationDate")), "modified": _moment(clean("ModDate")), "producer": clean("Producer"),
    }  # fmt: skip


def _moment(value: str | None) -> str | None:
    found = _DATE.match(value or "")
    if found is None:
        return None
    year, month, day, hour, minute, second = (part or "" for part in found.groups())
    return f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}"
