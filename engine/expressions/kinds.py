"""Templates compiled through the cache, and renaming of a name in any kind of source."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from interlace.engine.expressions.compiled import CACHED, Compiled, compile_expression, compile_text
from interlace.engine.expressions.references import root_spans
from interlace.engine.expressions.rendering import Template
from interlace.engine.expressions.syntax import SyntaxProblem
from interlace.engine.expressions.template import translate


@lru_cache(maxsize=CACHED)
def _template(source: str, autoescape: bool) -> Template:
    return Template(source, translate(source), autoescape=autoescape)


def compile_template(source: str, *, autoescape: bool = False) -> Compiled:
    """Compile a template with statements; its value is always text.

    Args:
        source: the template.
        autoescape: escape the values for HTML, except those through `| safe`.

    Raises:
        SyntaxProblem: a tag or an expression is not valid.
    """
    return _template(source, autoescape)


def rename_root(source: str, old: str, new: str, *, kind: Literal["expression", "text", "template"]) -> str:
    """Give the source with every reference that starts from `old` starting from `new`; all else stays as it is.

    Fields, texts, and names that a template binds itself are left alone.

    Raises:
        SyntaxProblem: the source is not valid, or the new name is taken where it is read.
    """
    if old not in source:
        return source
    spans = sorted(set(root_spans([_compile(source, kind).node], old)), reverse=True)
    if not spans:
        return source
    already = len(set(root_spans([_compile(source, kind).node], new)))
    renamed = source
    for start, end in spans:
        renamed = renamed[:start] + new + renamed[end:]
    if len(set(root_spans([_compile(renamed, kind).node], new))) != len(spans) + already:
        raise SyntaxProblem(
            f"{old!r} cannot be renamed to {new!r}: a template binds that name itself", source, spans[-1][0]
        )
    return renamed


def _compile(source: str, kind: str) -> Compiled:
    if kind == "template":
        return compile_template(source)
    return compile_text(source) if kind == "text" else compile_expression(source)
