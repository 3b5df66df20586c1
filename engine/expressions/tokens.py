"""Splits expression text into tokens with one compiled pattern."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from interlace.engine.expressions.syntax import SyntaxProblem

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<name>[^\W\d]\w*)
  | (?P<number>(?<!\.)[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?(?!\w)
      | 0[xX][0-9a-fA-F_]+\b | 0[oO][0-7_]+\b | 0[bB][01_]+\b | [0-9]+)
  | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*' | "[^"\\]*(?:\\.[^"\\]*)*")
  | (?P<op>\*\*|//|==|!=|<=|>=|[-+*/%~<>=|.,:()\[\]{}])
  | (?P<bad>\S)
  )""",
    re.VERBOSE | re.DOTALL,
)
_finditer: Final = _TOKEN.finditer
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_PLAIN_ESCAPES: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0",
    "\\": "\\", "'": "'", '"': '"', "/": "/", "\n": "",
}  # fmt: skip
_KEYWORDS: Final = {word: word for word in ("and", "or", "not", "in", "is", "if", "else")}
# Words that cannot start a reference: a node with such an id could not be read.
WORDS: Final = frozenset({*_KEYWORDS, "true", "false", "none", "True", "False", "None"})
END: Final = "end"


class Tokens(NamedTuple):
    """The tokens of one expression, as parallel lists.

    `kinds` holds `name`, `number`, `string`, a keyword or the operator itself, and `end` at last; `stop` is the offset
    after the expression (after the closing braces where it stands in `{{ }}`).
    """

    kinds: list[str]
    texts: list[str]
    starts: list[int]
    ends: list[int]
    stop: int


def tokenize(source: str, start: int = 0, *, closer: str = "") -> Tokens:
    """Split `source` from `start` on.

    Args:
        source: the text.
        start: where the expression begins.
        closer: `}}` or `%}` (each also with `-` or `+` before it) ends the expression; otherwise the text's end does.

    Raises:
        SyntaxProblem: a character or a string that is not part of the language, or no closer.
    """
    kinds: list[str] = []
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    depth = 0
    keyword = _KEYWORDS.get
    for match in _finditer(source, start):
        group = match.lastgroup
        text = match[group]  # type: ignore[index]
        begin = match.end() - len(text)
        if group == "name":
            kinds.append(keyword(text, "name"))
        elif group == "op":
            if closer and depth == 0 and text[0] in "}%-+" and (stop := _closes(source, begin, closer)):
                return _finished(kinds, texts, starts, ends, begin, stop)
            if text in "([{":
                depth += 1
            elif text in ")]}":
                depth -= 1
            kinds.append(text)
        elif group == "bad":
            raise SyntaxProblem(_stray(text), source, begin)
        else:
            kinds.append(group)  # type: ignore[arg-type]
        texts.append(text)
        starts.append(begin)
        ends.append(match.end())
    if closer:
        raise SyntaxProblem(
            f"{'{{' if closer == '}}' else '{%'} is not closed by {closer}", source, max(start - 2, 0)
        )
    return _finished(kinds, texts, starts, ends, len(source), len(source))


def _finished(  # noqa: PLR0917 - the columns of a token list
    kinds: list[str], texts: list[str], starts: list[int], ends: list[int], begin: int, stop: int
) -> Tokens:
    kinds.append(END)
    texts.append("")
    starts.append(begin)
    ends.append(begin)
    return Tokens(kinds, texts, starts, ends, stop)


def _closes(source: str, begin: int, closer: str) -> int:
    """Give the offset after the closer that begins at `begin`, or 0."""
    if source.startswith(closer, begin):
        return begin + 2
    if source[begin] in "-+" and source.startswith(closer, begin + 1):
        return begin + 3
    return 0


def _stray(text: str) -> str:
    if text in "'\"":
        return "a text is not closed by its quote"
    if text == "!":
        return "'!' is not an operator; write 'not'"
    if text == "&":
        return "'&' is not an operator; write 'and'"
    if text == "$":
        return "names are written without '$'"
    return f"{text!r} is not part of the language"


def string_value(text: str, source: str, begin: int) -> str:
    """Give the text that a quoted literal stands for; unknown escapes keep their backslash."""
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    value = _ESCAPE.sub(_unescape, inner)
    try:
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise SyntaxProblem("a \\u escape is half of a surrogate pair", source, begin) from None


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else match[0]  # noqa: PLR2004 - the last code point
    return _PLAIN_ESCAPES.get(code, match[0])


def number_value(text: str, source: str, begin: int) -> int | float:
    """Give the number that a literal stands for."""
    clean = text.replace("_", "")
    lowered = clean.lower()
    if lowered[:2] in ("0x", "0o", "0b"):
        number: int | float = int(lowered, 0) if len(lowered) > 2 else 0  # noqa: PLR2004 - digits after the prefix
    elif "." in clean or "e" in lowered:
        number = float(clean)
        if number in (float("inf"), float("-inf")):
            raise SyntaxProblem("the number is too large", source, begin)
    elif len(clean) > 20:  # noqa: PLR2004 - more digits than 64 bits hold
        raise SyntaxProblem("the number is too large", source, begin)
    else:
        number = int(clean)
    if isinstance(number, int) and number.bit_length() > 64:  # noqa: PLR2004 - what JSON stores keep exactly
        raise SyntaxProblem("the number is too large", source, begin)
    return number
