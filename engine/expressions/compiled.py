"""Compiled expressions: parsed at once, turned into closures on first use, cached by their source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from minijinja import Markup

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import check_size, refill
from interlace.engine.expressions.evaluator import build
from interlace.engine.expressions.parser import parse
from interlace.engine.expressions.references import Reference, references
from interlace.engine.expressions.syntax import (
    MAX_EXPRESSION,
    MAX_TEMPLATE,
    Embedded,
    Key,
    Literal,
    Node,
    Path,
    Record,
    Sequence,
    SyntaxProblem,
    multiplies,
)
from interlace.engine.expressions.text import parse_text
from interlace.engine.expressions.tokens import tokenize
from interlace.engine.expressions.values import JsonValue, Missing, Names, missing_error

CACHED: Final = 16_384
"""Sources that are kept compiled, about 3 KB each: more than the largest documents have, for they are read twice."""
_PLAIN: Final = frozenset({str, int, float, bool, type(None), dict, list})
_MAX_VALUE_DEPTH: Final = 100


class Compiled:
    """An expression, a text, a structure or a template, ready to be evaluated any number of times.

    `source` is what was compiled, `node` its tree. Thread-safe: evaluation keeps nothing here.
    """

    __slots__ = ("_references", "_run", "node", "source")

    def __init__(self, source: str, node: Node) -> None:
        self.source = source
        self.node = node
        self._references: tuple[Reference, ...] | None = None
        self._run: Callable[[Any], Any] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"

    @property
    def constant(self) -> bool:
        """Whether it holds no expression at all."""
        return isinstance(self.node, Literal)

    @property
    def references(self) -> tuple[Reference, ...]:
        """The names it reads, in the order in which they are written."""
        if self._references is None:
            self._references = self._find_references()
        return self._references

    def evaluate(self, names: Names) -> JsonValue:
        """Compute the value.

        Raises:
            ExpressionError: an operation is not possible, the value is missing, or a limit is reached.
        """
        value = self.evaluate_or_missing(names)
        if value.__class__ is Missing:
            raise missing_error(value)
        return value

    def evaluate_or_missing(self, names: Names) -> JsonValue | Missing:
        """Compute the value; one that is missing as a whole is given back as `Missing`.

        Raises:
            ExpressionError: an operation is not possible, or a limit is reached.
        """
        run = self._run
        if run is None:
            run = self._run = self._program()
        try:
            value = run(names)
        except (RecursionError, MemoryError, OverflowError, UnicodeError) as error:
            raise ExpressionError(
                f"the expression cannot be computed: {error}", kind="expression_limit"
            ) from error
        if value.__class__ in _PLAIN:
            return value
        return _settled(value)

    def _find_references(self) -> tuple[Reference, ...]:
        return references(self.node)

    def _program(self) -> Callable[[Any], Any]:
        """Give the closure; it starts a new budget unless it cannot spend any."""
        node = self.node
        run = build(node)
        if isinstance(node, Path | Literal):
            return run
        many = multiplies(node) and not _is_structure(node)

        def metered(names: Names) -> Any:
            refill()
            value = run(names)
            if many:
                check_size(value)
            return value

        return metered


def _settled(value: Any) -> Any:
    """Turn what only lives inside the language into plain data."""
    if isinstance(value, Markup):
        return str.__str__(value)
    return list(value) if isinstance(value, tuple) else value


def _is_structure(node: Node) -> bool:
    """Whether the tree was made by `compile_value`, whose parts check their own size."""
    parts = (
        node.items
        if isinstance(node, Sequence)
        else [v for _, v in node.pairs]
        if isinstance(node, Record)
        else []
    )
    return any(isinstance(part, Embedded) or _is_structure(part) for part in parts)


def _check_length(source: str) -> None:
    if len(source) > MAX_EXPRESSION:
        raise SyntaxProblem(
            f"an expression has at most {MAX_EXPRESSION:,} characters", source, MAX_EXPRESSION
        )


@lru_cache(maxsize=CACHED)
def compile_expression(source: str) -> Compiled:
    """Compile a bare expression (a field marked ƒ!); one written in `{{ }}` is understood as well.

    Raises:
        SyntaxProblem: the text is not an expression.
    """
    _check_length(source)
    stripped = source.strip()
    if stripped.startswith("{{") and stripped.endswith("}}"):
        node = parse_text(source)
        if not isinstance(node, Literal) and _single(source):
            return Compiled(source, node)
    return Compiled(source, parse(source, tokenize(source)))


def _single(source: str) -> bool:
    start = source.index("{{") + 2
    return not source[tokenize(source, start, closer="}}").stop :].strip()


def compile_text(source: str) -> Compiled:
    """Compile a text that may contain `{{ }}`; without any it is a constant.

    Raises:
        SyntaxProblem: an expression in it is not valid.
    """
    return _text(source) if len(source) <= MAX_TEMPLATE else Compiled(source, parse_text(source))


@lru_cache(maxsize=CACHED)
def _text(source: str) -> Compiled:
    return Compiled(source, parse_text(source))


def compile_value(value: JsonValue) -> Compiled:
    """Compile a JSON structure whose texts may contain `{{ }}`; constant parts are shared, not copied.

    Raises:
        SyntaxProblem: an expression in it is not valid; `place` is the path to its text.
    """
    return compile_text(value) if isinstance(value, str) else Compiled("", _structure(value, ()))


def _structure(value: JsonValue, place: tuple[Key, ...]) -> Node:
    if isinstance(value, str):
        if "{{" not in value:
            return Literal(value)
        try:
            node = compile_text(value).node
        except SyntaxProblem as problem:
            problem.place = place
            raise
        return node if isinstance(node, Literal) else Embedded(place, value, node)
    if len(place) > _MAX_VALUE_DEPTH:
        raise SyntaxProblem(f"the structure is nested more than {_MAX_VALUE_DEPTH} levels deep", "", 0)
    if isinstance(value, Mapping):
        return _mapping({key: _structure(part, (*place, key)) for key, part in value.items()}, value)
    if isinstance(value, list):
        return _list([_structure(part, (*place, index)) for index, part in enumerate(value)], value)
    return Literal(value)


def _mapping(nodes: Mapping[str, Node], value: Mapping[str, JsonValue]) -> Node:
    """The node of a mapping; the value itself where no part of it is an expression."""
    constants = {key: node.value for key, node in nodes.items() if isinstance(node, Literal)}
    if len(constants) < len(nodes):
        return Record(tuple((Literal(key), node) for key, node in nodes.items()))
    return Literal(value if all(constants[key] is part for key, part in value.items()) else constants)


def _list(nodes: list[Node], value: list[JsonValue]) -> Node:
    """The node of a list; the value itself where no part of it is an expression."""
    constants = [node.value for node in nodes if isinstance(node, Literal)]
    if len(constants) < len(nodes):
        return Sequence(tuple(nodes))
    return Literal(
        value if all(one is part for one, part in zip(constants, value, strict=True)) else constants
    )
