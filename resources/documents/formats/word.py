"""Word documents (docx)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from interlace.resources.documents.archive import open_archive
from interlace.resources.documents.formats.properties import core_properties
from interlace.resources.documents.limits import damaged
from interlace.resources.documents.outline import Outline

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph

_HEADING = re.compile(r"^(?:heading|überschrift|titre|título|見出し|标题)\s*(\d)", re.IGNORECASE)
_LIST_LEVEL = re.compile(r"(\d+)$")
_MOST_LEVEL = 6
_AROUND = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"})
_UNREAD = frozenset({"moveFrom", "Fallback"})
"""What stands elsewhere as well: text at the place that it was moved from, and the same for older programs."""


def extract_docx(content: bytes, outline: Outline) -> None:
    """Headings by style and outline level, paragraphs, lists and tables in order; then the notes.

    Raises:
        DocumentFault: damaged, encrypted or too large.
    """
    open_archive(content, outline.limits).close()
    import docx  # noqa: PLC0415 - only for Word documents
    from docx.table import Table as DocxTable  # noqa: PLC0415
    from docx.text.paragraph import Paragraph as DocxParagraph  # noqa: PLC0415

    try:
        document = docx.Document(io.BytesIO(content))
        outline.meta(core_properties(document.core_properties))
        for block in _blocks(document.element.body):
            if block.tag.endswith("}tbl"):
                for table in (block, *block.iterdescendants(block.tag)):
                    outline.table(_rows(DocxTable(table, document)))
            else:
                _paragraph(DocxParagraph(block, document), outline, document)
        outline.reset()
        for note in _notes(document):
            outline.paragraph(note)
    except (KeyError, ValueError, AttributeError, TypeError, SyntaxError) as error:
        raise damaged(f"the Word document cannot be read ({type(error).__name__}: {error})") from error


def _blocks(element: Any) -> Iterator[Any]:
    """Paragraphs and tables in order, those within content controls and marked changes too."""
    for child in element:
        tag = _tag(child)
        if tag in ("p", "tbl"):
            yield child
        elif tag in _AROUND:
            yield from _blocks(child)


def _notes(document: Document) -> Iterator[str]:
    """Footnotes, then endnotes; those that draw the line above them are none."""
    from docx.oxml import parse_xml  # noqa: PLC0415 - only for Word documents

    for kind in ("footnote", "endnote"):
        for relation in document.part.rels.values():
            if relation.is_external or relation.reltype.rpartition("/")[2] != f"{kind}s":
                continue
            root = parse_xml(
                relation.target_part.blob
            )  # with the library's own reader: no entities, nothing fetched
            for note in (child for child in root if _tag(child) == kind):
                if not any(name.endswith("}type") for name in note.attrib):
                    yield "\n".join("".join(_pieces(block)).strip() for block in _blocks(note))


def _tag(node: Any) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _paragraph(paragraph: Paragraph, outline: Outline, document: Document) -> None:
    text = "".join(_pieces(paragraph._p)).strip()  # noqa: SLF001 - the library's text leaves out insertions and fields
    style = paragraph.style
    name = (style.name or "") if style is not None else ""
    level = _heading_level(paragraph, name)
    if level is not None:
        outline.heading(text, level)
        return
    listed = _list_level(paragraph, name, document)
    if listed is not None:
        outline.item(text, listed[0], ordered=listed[1])
    elif "code" in name.lower() or "preformatted" in name.lower():
        outline.code(text)
    else:
        outline.paragraph(text)


def _pieces(element: Any) -> Iterator[str]:
    for node in element:
        tag = _tag(node)
        if tag == "t":
            yield node.text or ""
        elif tag == "tab":
            if _tag(element) == "r":
                yield "\t"
        elif tag in ("br", "cr"):
            yield "\n"
        elif tag == "noBreakHyphen":
            yield "-"
        elif tag not in _UNREAD:
            yield from _pieces(node)


def _heading_level(paragraph: Paragraph, name: str) -> int | None:
    if name == "Title":
        return 1
    if name == "Subtitle":
        return 2
    if found := _HEADING.match(name):
        return min(int(found[1]), _MOST_LEVEL)
    levels = paragraph._p.xpath("./w:pPr/w:outlineLvl/@w:val")  # noqa: SLF001 - no other way to the outline
    if levels and levels[0].isdigit() and int(levels[0]) < _MOST_LEVEL:
        return int(levels[0]) + 1
    return None


def _list_level(paragraph: Paragraph, name: str, document: Document) -> tuple[int, bool] | None:
    ids = paragraph._p.xpath("./w:pPr/w:numPr/w:numId/@w:val")  # noqa: SLF001 - numbering has no interface
    if ids and ids[0] != "0":
        levels = paragraph._p.xpath("./w:pPr/w:numPr/w:ilvl/@w:val")  # noqa: SLF001
        level = int(levels[0]) if levels and levels[0].isdigit() else 0
        return level, _is_numbered(document, ids[0], level)
    if name.startswith(("List Bullet", "List Number", "List Paragraph")) and name != "List Paragraph":
        depth = _LIST_LEVEL.search(name)
        return (int(depth[1]) - 1 if depth else 0), "Number" in name
    return None


def _is_numbered(document: Document, number: str, level: int) -> bool:
    try:
        numbering: Any = document.part.numbering_part.element
    except (KeyError, NotImplementedError):
        return False
    names = numbering.xpath(f"./w:num[@w:numId='{int(number)}']/w:abstractNumId/@w:val")
    if not names:
        return False
    kinds = numbering.xpath(
        f"./w:abstractNum[@w:abstractNumId='{int(names[0])}']/w:lvl[@w:ilvl='{level}']/w:numFmt/@w:val"
    )
    return bool(kinds) and kinds[0] not in ("bullet", "none")


def _rows(table: Table) -> list[list[str]]:
    """Texts of the cells; a cell that spans several stands in each."""
    rows: list[list[str]] = []
    for row in table.rows:
        before = [""] * row.grid_cols_before
        rows.append(before + [_cell(cell._tc) for cell in row.cells])  # noqa: SLF001 - as in `_paragraph`
    return rows


def _cell(element: Any) -> str:
    """The paragraphs of a cell; a table within it stands by itself."""
    texts = ["".join(_pieces(block)).strip() for block in _blocks(element) if _tag(block) == "p"]
    return "\n".join(texts).strip()
