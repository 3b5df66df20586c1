"""Parses text that may contain `{{ … }}`."""

from __future__ import annotations

from interlace.engine.expressions.parser import parse
from interlace.engine.expressions.syntax import MAX_EXPRESSION, Concat, Literal, Node, SyntaxProblem
from interlace.engine.expressions.tokens import tokenize

# Long texts (prompts) are fine: only what stands between braces is code.
_MAX_EXPRESSIONS = 500


def parse_text(source: str) -> Node:
    """Parse a text; one single `{{ … }}` with nothing but white space around it is that expression itself.

    Raises:
        SyntaxProblem: an expression is not valid or not closed, or is too long.
    """
    begin = source.find("{{")
    if begin < 0:
        return Literal(source, 0, len(source))
    parts: list[Node] = []
    expressions: list[Node] = []
    position = 0
    while begin >= 0:
        node, stop = _embedded(source, begin)
        text = source[position:begin]
        if source.startswith("-", begin + 2):
            text = text.rstrip()
        if text:
            parts.append(Literal(text, position, begin))
        parts.append(node)
        expressions.append(node)
        position = stop
        if source.startswith("-}}", stop - 3):
            position = len(source) - len(source[stop:].lstrip())
        begin = source.find("{{", position)
        if len(expressions) > _MAX_EXPRESSIONS:
            raise SyntaxProblem(f"a text has at most {_MAX_EXPRESSIONS} expressions", source, position)
    if position < len(source):
        parts.append(Literal(source[position:], position, len(source)))
    if len(expressions) == 1 and all(part is expressions[0] or _is_blank(part) for part in parts):
        return expressions[0]
    return Concat(tuple(parts), 0, len(source))


def _is_blank(part: Node) -> bool:
    return isinstance(part, Literal) and isinstance(part.value, str) and not part.value.strip()


def _embedded(source: str, begin: int) -> tuple[Node, int]:
    start = begin + 3 if source.startswith("-", begin + 2) else begin + 2
    tokens = tokenize(source, start, closer="}}")
    if tokens.stop - start > MAX_EXPRESSION:
        raise SyntaxProblem(f"an expression is longer than {MAX_EXPRESSION:,} characters", source, start)
    return parse(source, tokens), tokens.stop
