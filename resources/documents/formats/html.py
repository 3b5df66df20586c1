"""HTML: what a reader sees, without navigation, scripts and styles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from html.parser import HTMLParser
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from interlace.resources.documents.document import Position
from interlace.resources.documents.limits import damaged
from interlace.resources.documents.outline import Outline

_DROPPED = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "canvas",
        "iframe",
        "object",
        "nav",
        "footer",
        "aside",
        "form",
        "button",
        "select",
        "dialog",
        "head",
    ]
)
_TOO_DEEP = "xcessive depth"
_CHARSET = re.compile(rb"(?:<meta[^>]+charset|<\?xml[^>]+encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "header",
        "hgroup",
        "hr",
        "html",
        "li",
        "main",
        "ol",
        "p",
        "section",
        "summary",
        "ul",
    ]
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACES = re.compile(r"[ \t\r\n\f\u200b]+")
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush:)-?\s*([\w+#]+)")
_DEPTH = 200
_SPAN = 200


def extract_html(content: bytes, outline: Outline) -> None:
    """The blocks of a page, and what its head says.

    Raises:
        DocumentFault: nothing of it can be read.
    """
    tree = parse(content)
    _head(tree, outline)
    body = tree.find("body")
    walk(tree if body is None else body, outline, Position())


def parse(content: bytes) -> Any:
    """The tree of a page, comments left out."""
    # Nesting has no limit of its own here: time and memory of the process have.
    parser = lxml_html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    text = _decoded(content).encode("utf-8", "replace")
    try:
        tree = lxml_html.document_fromstring(text, parser=parser)
        if any(_TOO_DEEP in entry.message for entry in parser.error_log):
            tree = lxml_html.document_fromstring(_flat(text.decode()), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise damaged(f"the page cannot be read as HTML ({error})") from None
    return tree


def _decoded(content: bytes) -> str:
    """The text of a page: by its mark, as it declares where that can be, else as its letters suggest."""
    from interlace.resources.documents.formats.text import declared, decode  # noqa: PLC0415 - only when needed

    found = _CHARSET.search(content[:4096])
    if found is not None and (text := declared(content, found[1].decode("ascii"))) is not None:
        return text
    return decode(content)[0]


class _Flat(HTMLParser):
    """The paragraphs of a page whose nesting is deeper than the parser goes: it would leave out what stands there."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = [""]
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Begin what is not seen, or another paragraph."""
        del attrs
        self._unseen += tag in _DROPPED
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        """End it."""
        self._unseen = max(0, self._unseen - (tag in _DROPPED))
        self._part(tag)

    def handle_data(self, data: str) -> None:
        """Text, where it is seen."""
        if not self._unseen:
            self.paragraphs[-1] += data

    def _part(self, tag: str) -> None:
        if (tag in _BLOCKS or tag in _HEADINGS or tag in ("br", "tr", "td")) and self.paragraphs[-1].strip():
            self.paragraphs.append("")


def _flat(text: str) -> bytes:
    reader = _Flat()
    reader.feed(text)
    reader.close()
    return "".join(f"<p>{escape(part)}</p>" for part in reader.paragraphs).encode("utf-8", "replace")


def plain_html(text: str) -> str:
    """The text of a piece of HTML."""
    try:
        return _SPACES.sub(" ", str(lxml_html.fromstring(f"<div>{text}</div>").text_content())).strip()
    except (etree.LxmlError, ValueError):
        return ""


def _head(tree: Any, outline: Outline) -> None:
    title = tree.findtext(".//title")
    named: dict[str, str] = {}
    for meta in tree.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        if name and meta.get("content"):
            named.setdefault(name, meta.get("content").strip())
    outline.meta(
        {
            "title": _clean(title or named.get("og:title", "")),
            "author": named.get("author") or named.get("article:author"),
            "created": named.get("article:published_time") or named.get("date") or named.get("dc.date"),
            "modified": named.get("article:modified_time"),
            "description": named.get("description") or named.get("og:description"),
            "declared_language": (tree.get("lang") or "").strip() or None,
        }
    )


def walk(root: Any, outline: Outline, position: Position) -> None:
    """Add what stands in an element to the outline."""
    _Walk(outline, position).element(root, 0)


class _Walk:
    """Text gathers in a paragraph until an element of block kind ends it."""

    def __init__(self, outline: Outline, position: Position) -> None:
        self._outline = outline
        self._position = position
        self._text: list[str] = []
        self._lists: list[bool] = []
        self._item: tuple[int, bool] | None = None

    def element(self, node: Any, depth: int) -> None:
        if depth > _DEPTH:
            self._text.append(_deep_text(node))
            return
        self._text.append(node.text or "")
        for child in node:
            if isinstance(child.tag, str):
                self._child(child, child.tag.lower().rpartition("}")[2], depth)
            self._text.append(child.tail or "")
        if depth == 0:
            self._flush()

    def _child(self, child: Any, tag: str, depth: int) -> None:
        if tag in _DROPPED or child.get("hidden") is not None or child.get("aria-hidden") == "true":
            return
        if tag == "br":
            self._text.append("\x0b")
        elif tag == "img":
            self._text.append(f" {child.get('alt') or ''} ")
        elif tag in _HEADINGS:
            self._flush()
            self._outline.heading(_clean(child.text_content()), _HEADINGS[tag], self._position)
        elif tag == "pre":
            self._flush()
            self._outline.code(str(child.text_content()), _code_language(child), self._position)
        elif tag == "table":
            self._flush()
            self._table(child, depth)
        elif tag in ("ul", "ol"):
            self._flush()
            self._lists.append(tag == "ol")
            self.element(child, depth + 1)
            self._flush()
            self._lists.pop()
        elif tag in _BLOCKS:
            self._flush()
            if tag == "li":
                self._item = (max(0, len(self._lists) - 1), bool(self._lists and self._lists[-1]))
            self.element(child, depth + 1)
            self._flush()
        else:
            self.element(child, depth + 1)

    def _table(self, table: Any, depth: int) -> None:
        rows = list(_own_rows(table))
        nested = any(True for _ in table.iter("table") if _ is not table)
        grid = _grid(rows)
        if nested or max((len(row) for row in grid), default=0) <= 1:
            # A table that holds tables, or has one column, lays out the page.
            for row in rows:
                self._flush()
                self.element(row, depth + 1)
                self._flush()
            return
        self._outline.table(grid, self._position)

    def _flush(self) -> None:
        text = "\n".join(_clean(part) for part in "".join(self._text).split("\x0b")).strip()
        self._text.clear()
        if not text:
            return
        if self._item is not None:
            level, ordered = self._item
            self._item = None
            self._outline.item(text, level, ordered=ordered, position=self._position)
        else:
            self._outline.paragraph(text, self._position)


def _deep_text(node: Any) -> str:
    """What a reader sees of an element, however deep it is, as running text."""
    parts: list[str] = []
    walker = etree.iterwalk(node, events=("start", "end"))
    for event, element in walker:
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            unseen = element.tag.lower() in _DROPPED or element.get("hidden") is not None
            if unseen:
                walker.skip_subtree()
            else:
                parts.append(element.text or "")
        elif element is not node:
            parts.append(f" {element.tail or ''}")
    return "".join(parts)


def _own_rows(table: Any) -> Iterable[Any]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child if row.tag == "tr")


def _grid(rows: Iterable[Any]) -> list[list[str]]:
    """Texts of cells, those that span several repeated in each."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in rows:
        line: list[str] = []
        below: dict[int, tuple[int, str]] = {}
        for cell in row:
            if cell.tag in ("td", "th"):
                _fill(line, hanging, below)
                text, down = _clean(cell.text_content()), _span(cell, "rowspan")
                for _ in range(_span(cell, "colspan")):
                    if down > 1:
                        below[len(line)] = (down - 1, text)
                    line.append(text)
        _fill(line, hanging, below)
        hanging = below
        grid.append(line)
    return grid


def _fill(line: list[str], hanging: dict[int, tuple[int, str]], below: dict[int, tuple[int, str]]) -> None:
    """Put in what cells of rows above reach down with."""
    while len(line) in hanging:
        left, text = hanging.pop(len(line))
        if left > 1:
            below[len(line)] = (left - 1, text)
        line.append(text)


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(1, int(value)), _SPAN) if value.isdigit() else 1


def _code_language(node: Any) -> str:
    for element in (node, *node.iter("code")):
        if found := _LANGUAGE.search(element.get("class") or ""):
            return found[1]
    return ""


def _clean(text: object) -> str:
    return _SPACES.sub(" ", str(text)).strip()
