"""OpenDocument texts (odt)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlace.resources.documents.archive import open_archive, read
from interlace.resources.documents.formats.ebook import xml
from interlace.resources.documents.limits import damaged, encrypted
from interlace.resources.documents.outline import Outline

_DC = "{http://purl.org/dc/elements/1.1/}"
_SPANNED = 200
_REPEATED = 200
_AROUND = frozenset({"section", "index-body", "table-of-content", "bibliography", "numbered-paragraph"})


def extract_odt(content: bytes, outline: Outline) -> None:
    """Headings, paragraphs, lists and tables in order; then the notes.

    Raises:
        DocumentFault: damaged, encrypted or too large.
    """
    with open_archive(content, outline.limits) as archive:
        names = set(archive.namelist())
        if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise encrypted("the document is protected by a password")
        tree = xml(read(archive, "content.xml"), "content.xml")
        if "meta.xml" in names:
            outline.meta(_metadata(xml(archive.read("meta.xml"), "meta.xml")))
    body = next(tree.iter("{*}text"), None)
    if body is None:
        raise damaged("the document has no text body")
    ordered = _ordered_styles(tree)
    for element in body:
        _element(element, outline, ordered)
    outline.reset()
    for note in body.iter("{*}note-body"):
        outline.paragraph("\n".join(_text(part) for part in note))


def _element(element: Any, outline: Outline, ordered: set[str]) -> None:
    tag = _tag(element)
    if tag == "h":
        level = next((v for k, v in element.attrib.items() if k.endswith("}outline-level")), "1")
        outline.heading(_text(element), min(int(level), 6) if level.isdigit() else 1)
    elif tag == "p":
        style = next((v for k, v in element.attrib.items() if k.endswith("}style-name")), "")
        if style in ("Title", "Subtitle"):
            outline.heading(_text(element), 1 if style == "Title" else 2)
        else:
            outline.paragraph(_text(element))
    elif tag == "list":
        _list(element, outline, ordered, 0, ordered=False)
    elif tag == "table":
        outline.table(_rows(element))
    elif tag in _AROUND or tag.endswith("-index"):
        for child in element:
            _element(child, outline, ordered)


def _list(element: Any, outline: Outline, styles: set[str], depth: int, *, ordered: bool) -> None:
    style = next((v for k, v in element.attrib.items() if k.endswith("}style-name")), None)
    if style is not None:
        ordered = f"{style}:{depth + 1}" in styles
    for entry in element:
        for child in entry:
            if _tag(child) == "list":
                _list(child, outline, styles, depth + 1, ordered=ordered)
            elif _tag(child) == "h":
                _element(child, outline, styles)
            else:
                outline.item(_text(child), depth, ordered=ordered)


def _ordered_styles(tree: Any) -> set[str]:
    """`style:level` of the list styles that number."""
    found = set()
    for style in tree.iter("{*}list-style"):
        name = next((v for k, v in style.attrib.items() if k.endswith("}name")), "")
        for level in style:
            if _tag(level) == "list-level-style-number":
                number = next((v for k, v in level.attrib.items() if k.endswith("}level")), "1")
                found.add(f"{name}:{number}")
    return found


def _rows(table: Any) -> list[list[str]]:
    rows: list[list[str]] = []
    for row in table.iter("{*}table-row"):
        if next(row.iterancestors("{*}table")) is not table:
            continue
        line: list[str] = []
        for cell in row:
            tag = _tag(cell)
            if tag == "covered-table-cell":
                line += [line[-1] if line else ""] * _count(cell, "number-columns-repeated")
            elif tag == "table-cell":
                text = "\n".join(filter(None, (_text(p) for p in cell.iter("{*}p"))))
                line += [text] * _count(cell, "number-columns-repeated")
        rows.append(line)
    return rows


def _count(element: Any, name: str) -> int:
    value = next((v for k, v in element.attrib.items() if k.endswith("}" + name)), "1")
    return min(int(value), _SPANNED) if value.isdigit() else 1


def _text(element: Any) -> str:
    return "".join(_pieces(element)).strip()


def _pieces(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        tag = _tag(child)
        if tag == "s":
            yield " " * _count(child, "c")
        elif tag == "tab":
            yield "\t"
        elif tag == "line-break":
            yield "\n"
        elif tag not in ("annotation", "note", "tracked-changes"):
            yield from _pieces(child)
        yield child.tail or ""


def _tag(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _metadata(tree: Any) -> dict[str, Any]:
    def first(*names: str) -> str | None:
        found = (e.text.strip() for name in names for e in tree.iter(name) if e.text and e.text.strip())
        return next(found, None)

    pages = next((v for e in tree.iter("{*}document-statistic") for k, v in e.attrib.items() if k.endswith("}page-count")), "")  # fmt: skip
    return {
        "title": first(_DC + "title"), "author": first("{*}initial-creator", _DC + "creator"),
        "created": first("{*}creation-date"), "modified": first(_DC + "date"), "subject": first(_DC + "subject"),
        "pages": int(pages) if pages.isdigit() else None,
    }  # fmt: skip
