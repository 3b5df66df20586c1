"""Plain text, CSV and Markdown."""

from __future__ import annotations

import codecs
import csv
import io
import re
from typing import TYPE_CHECKING, Any

from interlace.resources.documents.document import Position
from interlace.resources.documents.outline import Outline

if TYPE_CHECKING:
    from markdown_it.token import Token

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before the mark of UTF-16, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ISO_2022_JP = re.compile(rb"\x1b(?:\$[@B]|\([BJ])")
"""Japanese in seven bits, as mails have it: without its signs it would pass for ASCII."""
_SAMPLE = 200_000
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)
_FRONT_LINE = re.compile(r"^(title|author|date|lang|language)\s*:\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_ITEM = re.compile(r"^(\s*)(?:[-*+•]|(\d+)[.)])\s+(.*)$")
_DELIMITERS = ",;\t|"


def decode(content: bytes) -> tuple[str, str]:
    """Text and encoding of bytes: by its mark, as UTF-8, else as its letters suggest."""
    for mark, name in _BOMS:
        if content.startswith(mark):
            return content.decode(name, "replace"), name
    if _ISO_2022_JP.search(content) and (text := _text_or(content, "iso2022_jp_2")) is not None:
        return text, "iso2022_jp"
    if (text := _text_or(content, "utf-8")) is not None:
        return text, "utf-8"
    from interlace.resources.documents.formats.encodings import guess  # noqa: PLC0415 - UTF-8 needs none of it

    name = guess(content).name
    return content.decode(name, "replace"), name


def declared(content: bytes, name: str) -> str | None:
    """Text in the encoding that a file or mail says it is in; None where it plainly is in another one.

    What is said to be Latin-1 or ASCII is read as Windows-1252, as browsers do: it has the letters of both.
    """
    if any(content.startswith(mark) for mark, _ in _BOMS):
        return None
    try:
        known = codecs.lookup(name).name
        if known in ("iso8859-1", "ascii"):
            return _text_or(content, "utf-8") or content.decode("cp1252", "replace")
        return content.decode(known)
    except (LookupError, UnicodeError):
        return None


def _text_or(content: bytes, name: str) -> str | None:
    try:
        return content.decode(name)
    except UnicodeError:
        return None


def extract_text(content: bytes, outline: Outline) -> None:
    """Paragraphs, parted by blank lines, each with its line."""
    text, encoding = decode(content)
    outline.meta({"encoding": encoding})
    paragraph: list[str] = []
    start = 1
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip():
            if not paragraph:
                start = number
            paragraph.append(line.rstrip())
        elif paragraph:
            outline.paragraph("\n".join(paragraph), Position(line=start))
            paragraph = []


def extract_csv(content: bytes, outline: Outline) -> None:
    """One table; its separator is found out."""
    text, encoding = decode(content)
    sample = text[:_SAMPLE]
    lines = sample.splitlines()[:200]
    csv.field_size_limit(len(text) + 1)  # the module's own is 128 KiB, and fails
    delimiter = _delimiter(lines)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    outline.meta({"encoding": encoding, "delimiter": delimiter})
    outline.table(rows, Position(line=1))


def _delimiter(lines: list[str]) -> str:
    """The separator that parts most lines into the same number of fields, more than one."""
    best, score = ",", 0.0
    for candidate in _DELIMITERS:
        counts = [len(row) for row in csv.reader(lines, delimiter=candidate) if row]
        if not counts:
            continue
        usual = max(set(counts), key=counts.count)
        points = (counts.count(usual) / len(counts)) * min(usual, 20) if usual > 1 else 0.0
        if points > score:
            best, score = candidate, points
    return best


def extract_markdown(content: bytes, outline: Outline) -> None:
    """Headings, paragraphs, lists, tables and code of CommonMark with tables, each with its line."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only where there is Markdown

    text, encoding = decode(content)
    outline.meta({"encoding": encoding})
    offset = 0
    if front := _FRONT.match(text):
        found = {name.lower(): value.strip("\"'") for name, value in _FRONT_LINE.findall(front[1])}
        outline.meta(
            {"title": found.get("title"), "author": found.get("author"), "created": found.get("date")}
        )
        offset = text[: front.end()].count("\n")
        text = text[front.end() :]
    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
    _Markdown(outline, offset).walk(tokens)


class _Markdown:
    def __init__(self, outline: Outline, offset: int) -> None:
        self._outline = outline
        self._offset = offset
        self._lists: list[bool] = []
        self._row: list[str] = []
        self._rows: list[list[str]] | None = None
        self._line = 1
        self._fresh = False

    def walk(self, tokens: list[Token]) -> None:  # noqa: C901, PLR0912 - one case a kind of token
        heading = 0
        for token in tokens:
            if token.map is not None:
                self._line = token.map[0] + 1 + self._offset
            match token.type:
                case "heading_open":
                    heading = int(token.tag[1])
                case "heading_close":
                    heading = 0
                case "bullet_list_open" | "ordered_list_open":
                    self._lists.append(token.type.startswith("ordered"))
                case "bullet_list_close" | "ordered_list_close":
                    self._lists.pop()
                case "list_item_open":
                    self._fresh = True
                case "table_open":
                    self._rows, self._table_line = [], self._line
                case "tr_open":
                    self._row = []
                case "tr_close" if self._rows is not None:
                    self._rows.append(self._row)
                case "table_close" if self._rows is not None:
                    self._outline.table(self._rows, Position(line=self._table_line))
                    self._rows = None
                case "fence" | "code_block":
                    self._outline.code(token.content, token.info.split(" ")[0], Position(line=self._line))
                case "html_block":
                    self._html(token.content)
                case "inline":
                    self._inline(token, heading)
                case _:
                    pass

    def _inline(self, token: Token, heading: int) -> None:
        text = _plain(token)
        place = Position(line=self._line)
        if self._rows is not None:
            self._row.append(text)
        elif heading:
            self._outline.heading(text, heading, place)
        elif self._lists and self._fresh:
            self._fresh = False
            self._outline.item(text, len(self._lists) - 1, ordered=self._lists[-1], position=place)
        else:
            self._outline.paragraph(text, place)

    def _html(self, content: str) -> None:
        from interlace.resources.documents.formats.html import plain_html  # noqa: PLC0415 - rare in Markdown

        self._outline.paragraph(plain_html(content), Position(line=self._line))


def _plain(token: Token) -> str:
    pieces: list[str] = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            pieces.append(child.content)
        elif child.type == "softbreak":
            pieces.append(" ")
        elif child.type == "hardbreak":
            pieces.append("\n")
        elif child.type == "image":
            pieces.append(child.content)
    return "".join(pieces)


def list_item(line: str) -> tuple[int, bool, str] | None:
    """Depth, whether numbered, and text of a line that looks like an item."""
    found: Any = _ITEM.match(line)
    if found is None:
        return None
    return len(found[1]) // 2, found[2] is not None, found[3]
