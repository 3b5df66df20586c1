"""SQL text cut into code, quoted text, comments and `:name` parameters, by each server's own lexical rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from interlace.engine.errors import NodeError
from interlace.resources.databases.url import Dialect

MAX_SQL = 100_000

Kind = Literal["code", "quoted", "comment", "parameter"]

_NAME = r"(?P<parameter>(?<![:\w\\]):(?P<name>[A-Za-z_][A-Za-z0-9_]*))"
# PostgreSQL counts every character outside ASCII as part of a name.
_LETTER = "A-Za-z_\x80-\U0010ffff"
_NOT_IN_NAME = rf"(?<![{_LETTER}0-9$])"
# Order matters: the first alternative that matches at a place wins. A cast `::` is eaten whole.
_LEXICON: dict[Dialect, str] = {
    "postgresql": (
        r"(?P<comment>--[^\n]*)"
        r"|(?P<nested>/\*)"
        rf"|(?P<quoted>{_NOT_IN_NAME}[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\""
        rf"|{_NOT_IN_NAME}\$(?P<tag>(?:[{_LETTER}][{_LETTER}0-9]*)?)\$.*?\$(?P=tag)\$)"
        r"|::|" + _NAME + rf"|(?P<native>{_NOT_IN_NAME}\$\d+)"
        rf"|(?P<broken>'|\"|{_NOT_IN_NAME}\$(?:[{_LETTER}][{_LETTER}0-9]*)?\$)"
    ),
    "mysql": (
        r"(?P<comment>#[^\n]*|--(?=[\x00-\x20]|$)[^\n]*|/\*.*?\*/)"
        r"|(?P<quoted>'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`(?:[^`]|``)*`)"
        r"|::|" + _NAME + r"|(?P<broken>/\*|'|\"|`)|(?P<native>\?)"
    ),
    "duckdb": (
        r"(?P<comment>--[^\n]*)"
        r"|(?P<nested>/\*)"
        rf"|(?P<quoted>{_NOT_IN_NAME}'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
        r"|::|" + _NAME + rf"|(?P<native>\?\d*|{_NOT_IN_NAME}\$\w+)|(?P<broken>'|\"|\$)"
    ),
    "sqlite": (
        r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|$(?![\s\S])))"
        r"|(?P<quoted>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\])"
        r"|" + _NAME + r"|(?P<broken>'|\"|`|\[|::)|(?P<native>\?\d*|(?<!\w)[@$][\w:]+)"
    ),
}
# What one reader takes for a comment, a template or an escape and another for code.
_UNCLEAR: dict[Dialect, re.Pattern[str]] = {
    "postgresql": re.compile(r"[{}]|\\"),
    "mysql": re.compile(r"[{}]|\\|--"),
    "sqlite": re.compile(r"[{}]|\\"),
    "duckdb": re.compile(r"[{}#]|\\"),
}
_STRING_STARTS: dict[Dialect, str] = {"postgresql": "'$eE", "mysql": "'\"", "sqlite": "'", "duckdb": "'"}
_EXECUTED = re.compile(r"/\*M?!")
_UNICODE = re.compile(r"[uU]&\Z")
_COMMENT_EDGE = re.compile(r"/\*|\*/")


@cache
def _lexicon(dialect: Dialect) -> re.Pattern[str]:
    # Compiled when it is first used: 20 ms are much for a start that needs none of them.
    return re.compile(_LEXICON[dialect], re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text; `name` is set for parameters."""

    kind: Kind
    text: str
    start: int
    name: str = ""


@lru_cache(maxsize=256)
def pieces(dialect: Dialect, sql: str) -> tuple[Piece, ...]:
    """The text in order, nothing left out: joining the pieces gives the text back.

    Raises:
        NodeError: kind `sql_refused`, for what no reader and no server would take the same way: unclosed quotes,
            comments that MySQL executes, `U&` escapes, a driver's own placeholders, NUL.
    """
    if len(sql) > MAX_SQL:
        raise refused(f"the text is longer than {MAX_SQL:,} characters")
    if "\x00" in sql:
        raise refused("the text holds a NUL character")
    found: list[Piece] = []
    pattern = _lexicon(dialect)
    at = start = 0
    while (match := pattern.search(sql, at)) is not None:
        at = match.end()
        piece = _piece(dialect, sql, match)
        if piece is None:
            continue
        if match.start() > start:
            found.append(Piece("code", sql[start : match.start()], start))
        found.append(piece)
        at = start = match.start() + len(piece.text)
    if start < len(sql):
        found.append(Piece("code", sql[start:], start))
    return tuple(found)


def blanked(dialect: Dialect, sql: str) -> str:
    """The text with each comment replaced by as many blanks, line ends kept: what is judged and what is sent."""
    return "".join(
        re.sub(r"[^\n]", " ", piece.text) if piece.kind == "comment" else piece.text
        for piece in pieces(dialect, sql)
    )


def skeleton(dialect: Dialect, sql: str) -> str:
    """The text without comments and with every string as `'1'`: nothing a literal holds can confuse a parser.

    Raises:
        NodeError: kind `sql_refused`, see `pieces`.
    """
    return "".join(text for text, _ in _bones(dialect, sql))


def originals(dialect: Dialect, sql: str) -> list[tuple[int, int]]:
    """Where each piece begins, in `skeleton` and in the text itself; names and code are of one length in both."""
    found: list[tuple[int, int]] = []
    at = 0
    for text, start in _bones(dialect, sql):
        found.append((at, start))
        at += len(text)
    return found


def _bones(dialect: Dialect, sql: str) -> Iterator[tuple[str, int]]:
    escaped = False
    for piece in pieces(dialect, sql):
        text = piece.text
        if piece.kind == "comment":
            text = " "
        elif piece.kind == "parameter" and dialect == "duckdb":
            text = f"${piece.name}"  # `:name` at the beginning of a column reads as the end of a name for it
        elif piece.kind == "quoted" and text[0] in _STRING_STARTS[dialect]:
            if escaped and text[0] == "'":
                raise refused("a string continued after E'…'", "Write one string.")
            escaped = text[0] in "eE"
            text = " '1' " if text[0] in "$eE" else "'1'"
        elif piece.kind == "code" and (unclear := _UNCLEAR[dialect].search(text)):
            where = line_and_column(sql, piece.start + unclear.start())
            raise refused(f"{unclear[0]!r} at {where}", "Put text into quotes, values into parameters.")
        if not text.isspace() and piece.kind != "quoted":
            escaped = False
        yield text, piece.start


def refused(what: str, instead: str = "") -> NodeError:
    """The error of a statement the policy does not allow."""
    return NodeError(
        f"The statement is not allowed: {what}." + (f" {instead}" if instead else ""),
        kind="sql_refused",
        retryable=False,
    )


def line_and_column(sql: str, offset: int) -> str:
    """Where an offset stands, counted from 1: `line 2, column 8`."""
    before = sql[:offset]
    return f"line {before.count(chr(10)) + 1}, column {offset - before.rfind(chr(10))}"


def _piece(dialect: Dialect, sql: str, match: re.Match[str]) -> Piece | None:
    start, text = match.start(), match[0]
    groups = match.groupdict()
    if groups.get("nested"):
        return Piece("comment", sql[start : _nested_end(sql, start)], start)
    if groups.get("comment"):
        if dialect == "mysql" and _EXECUTED.match(text):
            raise refused("a comment that MySQL executes ('/*! … */')", "Write the code without the comment.")
        return Piece("comment", text, start)
    if groups.get("quoted"):
        if dialect in ("postgresql", "duckdb") and _UNICODE.search(sql, max(0, start - 2), start):
            raise refused("U& escapes", "Write the characters themselves.")
        return Piece("quoted", text, start)
    if groups.get("parameter"):
        return Piece("parameter", text, start, match["name"])
    if groups.get("broken"):
        raise refused(f"{text!r} at {line_and_column(sql, start)} is not closed or not known here")
    if groups.get("native"):
        raise refused(f"the placeholder {text!r}", "Write ':name' and give the value in the parameters.")
    return None


def _nested_end(sql: str, start: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(sql, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    raise refused(f"the comment at {line_and_column(sql, start)} is not closed")
