"""Templates compiled through the cache, and renaming of a name in any kind of source."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from interlace.engine.expressions.compiled import Compiled, compile_expression, compile_text
from interlace.engine.expressions.references import root_spans
from interlace.engine.expressions.rendering import Template
from interlace.engine.expressions.template import translate


@lru_cache(maxsize=1024)
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
        SyntaxProblem: the source is not valid.
    """
    if old not in source:
        return source
    if kind == "template":
        compiled = compile_template(source)
    else:
        compiled = compile_text(source) if kind == "text" else compile_expression(source)
    for start, end in sorted(set(root_spans([compiled.node], old)), reverse=True):
        source = source[:start] + new + source[end:]
    return source
