"""Writing our expression language: constants, paths, and texts in which `{{` stands for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from interlace.engine.expressions import SyntaxProblem, compile_expression
from interlace.engine.expressions.unparse import literal_text, path_text
from interlace.importers.neat import neat

_SIMPLE: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:\d+|'[^'\\]*'|\"[^\"\\]*\")\])*")


class Ref(NamedTuple):
    """An expression; `is_text` where its value is certainly a text, `written` where it is a text or nothing."""

    code: str
    is_text: bool = False
    written: bool = False


Part = str | Ref
"""A piece of a text: what stands for itself, or an expression."""


def constant(value: Any) -> str:
    """A JSON value as an expression."""
    return literal_text(value)


def path(root: str, *keys: str | int) -> str:
    """A name with the keys that follow it; the root may itself be any expression."""
    if not keys:
        return root
    if _SIMPLE.fullmatch(root):
        tail = path_text("", keys)
        return root + tail
    return f"({root})" + path_text("", keys)


def is_simple(code: str) -> bool:
    """Whether the expression is a mere path."""
    return _SIMPLE.fullmatch(code) is not None


def grouped(code: str) -> str:
    """The expression so that an operator or a field may follow it."""
    return code if is_simple(code) or re.fullmatch(r"[\w.]+|'[^'\\]*'", code) else f"({code})"


def literal(words: str) -> str:
    """A text that stands for itself inside a field with expressions."""
    return words.replace("{{", "{{ '{{' }}") if "{{" in words else words


def shown(code: str) -> str:
    """An expression inside a text."""
    return "{{ " + neat(code) + " }}"


def whole(ref: Ref) -> str:
    """A field whose value is that of the expression."""
    return shown(ref.code)


def mixed(parts: Iterable[Part]) -> str:
    """A field that takes any value: one expression alone keeps its type."""
    kept = [part for part in parts if part != ""]
    return "".join(shown(part.code) if isinstance(part, Ref) else literal(part) for part in kept)


def worded(parts: Iterable[Part], *, exact: bool = False) -> str:
    """A field that takes a text: one expression alone is turned into text where it may be something else.

    Args:
        parts: the text.
        exact: keep white space around a single expression, which means nothing otherwise.
    """
    kept = [part for part in parts if part != ""]
    refs = [part for part in kept if isinstance(part, Ref)]
    if len(refs) != 1 or any(isinstance(part, str) and part.strip() for part in kept):
        return mixed(kept)
    if len(kept) == 1:
        return mixed(kept) if refs[0].is_text else shown(f"{grouped(refs[0].code)} | string")
    if refs[0].is_text and not exact:
        return mixed(kept)
    return shown(" ~ ".join(grouped(part.code) if isinstance(part, Ref) else constant(part) for part in kept))


def tidy(words: str) -> str:
    """A longer text with line ends as everywhere, and without blanks before them."""
    return "\n".join(line.rstrip() for line in words.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def failing(message: str) -> str:
    """An expression that fails whatever stands around it; the message is part of what the failure says."""
    return f"'' | hash({constant(message)})"


def is_valid(code: str) -> bool:
    """Whether our parser takes the expression."""
    try:
        compile_expression(code)
    except SyntaxProblem:
        return False
    return True
