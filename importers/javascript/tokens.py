"""Splits JavaScript into tokens. A slash begins a regular expression where no value stands before it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from interlace.importers.javascript.syntax import NotJavaScript

_SPACE: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*")
_NUMBER: Final = re.compile(r"0[xX][0-9a-fA-F]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_OPERATOR: Final = re.compile(
    r"=>|\.\.\.|>>>=|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)|\*\*|\+\+|--|<<|>>"
    r"|[-+*/%&|^]=|[-+*/%<>!?:.,()\[\]{}=;&|^~]"
)
_REGEX: Final = re.compile(r"/((?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/([a-z]*)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ESCAPED: Final = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_MOST: Final = 100_000
_BEFORE_VALUES: Final = frozenset(
    {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "else", "do"}
)
_LAST: Final = 0x10FFFF
_HALVES: Final = range(0xD800, 0xE000)
"""Halves of pairs, which stand for nothing alone."""


class Token(NamedTuple):
    """`kind`: name, number, string, regex, template, op, end. `parts` are a template's texts and expressions, in turn."""

    kind: str
    text: str
    start: int
    parts: tuple[str, ...] = ()
    after_line: bool = False
    """Whether a line ends before it, where a semicolon may be left out."""


def tokenize(source: str) -> list[Token]:
    """The tokens of an expression or a program.

    Raises:
        NotJavaScript: a character or a text that is not part of the language.
    """
    if len(source) > _MOST:
        raise NotJavaScript("it is too long")
    made: list[Token] = []
    at, after_line = 0, False
    while at < len(source):
        space = _SPACE.match(source, at)
        if space is not None:
            after_line = after_line or "\n" in space[0]
            at = space.end()
            continue
        token, at = _next(source, at, made[-1] if made else None)
        made.append(token._replace(after_line=True) if after_line else token)
        after_line = False
    made.append(Token("end", "", at))
    return made


def _next(source: str, at: int, before: Token | None) -> tuple[Token, int]:
    letter = source[at]
    if letter in "'\"":
        return _string(source, at)
    if letter == "`":
        return _template(source, at)
    if letter == "/" and _value_may_begin(before):
        found = _REGEX.match(source, at)
        if found is not None:
            return Token("regex", found[1], at, (found[2],)), found.end()
    for kind, pattern in (("name", _NAME), ("number", _NUMBER), ("op", _OPERATOR)):
        found = pattern.match(source, at)
        if found is not None and found.end() > at:
            return Token(kind, found[0], at), found.end()
    raise NotJavaScript(f"{letter!r} is not understood")


def _value_may_begin(before: Token | None) -> bool:
    """Whether a slash here begins a regular expression."""
    if before is None:
        return True
    if before.kind == "name":
        return before.text in _BEFORE_VALUES
    return before.kind == "op" and before.text not in (")", "]", "++", "--")


def _string(source: str, at: int) -> tuple[Token, int]:
    quote, end = source[at], at + 1
    while end < len(source) and source[end] != quote:
        end += 2 if source[end] == "\\" else 1
    if end >= len(source):
        raise NotJavaScript("a text is not closed")
    return Token("string", unescape(source[at + 1 : end]), at), end + 1


def _template(source: str, at: int) -> tuple[Token, int]:
    parts: list[str] = []
    end = start = at + 1
    while end < len(source) and source[end] != "`":
        if source[end] == "\\":
            end += 2
        elif source.startswith("${", end):
            parts.append(unescape(source[start:end]))
            close = _closing(source, end + 2)
            parts.append(source[end + 2 : close])
            end = start = close + 1
        else:
            end += 1
    if end >= len(source):
        raise NotJavaScript("a template text is not closed")
    parts.append(unescape(source[start:end]))
    return Token("template", "", at, tuple(parts)), end + 1


def _closing(source: str, at: int) -> int:
    """Where the brace that closes `${` stands."""
    depth = 0
    while at < len(source):
        letter = source[at]
        if letter in "'\"":
            at = _string(source, at)[1]
            continue
        if letter == "`":
            at = _template(source, at)[1]
            continue
        if letter == "}" and depth == 0:
            return at
        depth += {"{": 1, "}": -1}.get(letter, 0)
        at += 1
    raise NotJavaScript("`${` is not closed")


def unescape(words: str) -> str:
    """The text that a literal stands for."""
    if "\\" not in words:
        return words

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "ux" and len(code) > 1:
            number = int(code[1:].strip("{}"), 16)
            return chr(number) if number <= _LAST and number not in _HALVES else ""
        return _ESCAPES.get(code, code)

    return _ESCAPED.sub(one, words)
