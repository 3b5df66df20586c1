"""Runs templates: minijinja goes through the statements, our closures compute the expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import minijinja
from minijinja import Markup

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import checked_text, refill, reserve_text
from interlace.engine.expressions.compiled import Compiled
from interlace.engine.expressions.evaluator import Run, build
from interlace.engine.expressions.filters.builtin import FUEL
from interlace.engine.expressions.filters.lists import items_of
from interlace.engine.expressions.filters.registry import Namespace
from interlace.engine.expressions.references import Reference
from interlace.engine.expressions.statements import Entry, Translation
from interlace.engine.expressions.syntax import Concat, Literal, SyntaxProblem
from interlace.engine.expressions.values import Missing, Names, described, missing_error, to_text

_NAME: Final = "template"
_MAX_CALLS: Final = 250_000
_NOTHING: Final[dict[str, Any]] = {}


class TemplateFailure(ExpressionError):  # noqa: N818 - beside minijinja's TemplateError
    """An expression of a template could not be computed; `line` counts from 1."""

    def __init__(self, message: str, line: int, kind: str) -> None:
        super().__init__(f"line {line}: {message}" if line else message, kind=kind)
        self.line = line


class TemplateScope:
    """What an expression of a template reads from: the names of the node, and in `values` the template's own.

    One serves a whole rendering: expressions run one after the other, never inside each other.
    """

    __slots__ = ("escapes", "lookup", "values")

    def __init__(self, lookup: Callable[[str], object], *, escapes: bool) -> None:
        self.escapes = escapes
        self.lookup = lookup
        self.values: dict[str, Any] = {}


class Template(Compiled):
    """A template, compiled into a minijinja program when it is first rendered."""

    __slots__ = ("_autoescape", "_environment", "_found", "_pieces", "entries")

    def __init__(self, source: str, translation: Translation, *, autoescape: bool) -> None:
        self.entries: list[Entry] = translation.emitter.nodes
        parts = tuple(entry.node for entry in self.entries)
        constant = not parts and translation.source == source and "{" not in source
        super().__init__(source, Literal(_stripped(source)) if constant else Concat(parts, 0, len(source)))
        self._found = tuple(sorted(translation.references, key=lambda reference: reference.span))
        self._autoescape = autoescape
        self._pieces = None if autoescape else translation.pieces
        self._environment = _environment(translation, autoescape=autoescape) if self._pieces is None else None

    def _find_references(self) -> tuple[Reference, ...]:
        return self._found

    def _program(self) -> Callable[[Any], Any]:
        if isinstance(self.node, Literal):
            return build(self.node)
        closures = [(build(entry.node), entry.locals, entry.line) for entry in self.entries]
        environment, escapes = self._environment, self._autoescape
        if environment is None:
            return self._joined(closures)

        def render(names: Names) -> str:
            refill()
            rendering = _Rendering(TemplateScope(names.lookup, escapes=escapes), closures)
            try:
                return checked_text(environment.render_template(_NAME, **rendering.callbacks()))
            except minijinja.TemplateError as error:
                raise _translated(error) from error

        return render

    def _joined(self, closures: list[tuple[Run, tuple[str, ...], int]]) -> Callable[[Any], str]:
        """Without statements there is nothing that minijinja would be needed for: it takes ten times the memory."""
        assert self._pieces is not None
        *pieces, last = self._pieces
        ending = _stripped(last) if isinstance(last, str) else last
        parts = (*pieces, ending) if ending != "" else tuple(pieces)

        def join(names: Names) -> str:
            refill()
            rendering = _Rendering(TemplateScope(names.lookup, escapes=False), closures)
            texts = [part if isinstance(part, str) else rendering.output(part) for part in parts]
            if len(texts) == 1:
                # The text itself, not a copy of it: a long one may go through many nodes.
                return checked_text(texts[0])
            reserve_text(sum(map(len, texts)))
            return "".join(texts)

        return join


class _Rendering:
    """The callbacks of one rendering."""

    __slots__ = ("_calls", "_closures", "_scope")

    def __init__(self, scope: TemplateScope, closures: list[tuple[Run, tuple[str, ...], int]]) -> None:
        self._scope = scope
        self._closures = closures
        self._calls = 0

    def callbacks(self) -> dict[str, Any]:
        """Give what the program calls, by name."""
        return {
            "__value": self.value,
            "__output": self.output,
            "__items": self.items,
            "__block": self.block,
            "__assign": self.assign,
            "__absent": Missing("the condition of the inline if is false and it has no else", "… if …"),
            "__missing": Missing("it was not given a value in this template"),
        }

    def value(self, number: int, *arguments: Any) -> Any:
        """Compute an expression; the value may be missing."""
        run, names, line = self._closures[number]
        self._calls += 1
        if self._calls > _MAX_CALLS:
            raise TemplateFailure("the template takes too many steps", line, "expression_limit")
        scope = self._scope
        scope.values = dict(zip(names, arguments, strict=True)) if names else _NOTHING
        try:
            return run(scope)
        except ExpressionError as error:
            self._fail(error, line)

    def output(self, number: int, *arguments: Any) -> str:
        """Compute an expression and give its text."""
        value = self.value(number, *arguments)
        try:
            return value if isinstance(value, str) else to_text(value)
        except ExpressionError as error:
            self._fail(error, self._closures[number][2])

    def block(self, number: int, *arguments: Any) -> Any:
        """Compute what a filter makes of a block's text, which is escaped already."""
        return Markup(self.output(number, *arguments))

    def items(self, number: int, *arguments: Any) -> Any:
        """Compute what a for goes through."""
        value = self.value(number, *arguments)
        if isinstance(value, list):
            return value
        line = self._closures[number][2]
        try:
            if isinstance(value, Missing):
                raise missing_error(value, "as the list of a for")
            if isinstance(value, Mapping | str | tuple):
                return items_of(value, "for")
            raise _not_items(value)
        except ExpressionError as error:
            self._fail(error, line)

    def assign(self, namespace: Any, key: str, value: Any) -> str:
        """Set a field of a namespace."""
        if not isinstance(namespace, Namespace):
            raise ExpressionError(
                f"only a namespace() has fields that can be set, such as {key!r}", kind="wrong_type"
            )
        namespace[key] = value
        return ""

    def _fail(self, error: ExpressionError, line: int) -> NoReturn:
        if isinstance(error, TemplateFailure):
            raise error
        raise TemplateFailure(error.message, line, error.kind) from error


def _not_items(value: object) -> ExpressionError:
    return ExpressionError(
        f"a for goes through a list or a mapping, not {described(value)}", kind="wrong_type"
    )


def _stripped(source: str) -> str:
    """Without one line break at the end, as Jinja has it."""
    return source[:-2] if source.endswith("\r\n") else source.removesuffix("\n")


def _environment(translation: Translation, *, autoescape: bool) -> minijinja.Environment:
    environment = minijinja.Environment(
        pycompat=False,
        undefined_behavior="strict",
        fuel=FUEL,
        auto_escape_callback=lambda _name: autoescape,
    )
    try:
        environment.add_template(_NAME, translation.source)
    except minijinja.TemplateError as error:
        source = translation.emitter.source
        line = max(error.line or 1, 1)
        position = sum(len(part) + 1 for part in source.split("\n")[: line - 1])
        raise SyntaxProblem(
            f"the template is not valid: {error.detail or error.message}", source, position
        ) from error
    return environment


def _translated(error: minijinja.TemplateError) -> ExpressionError:
    at = error.line or 0
    if error.kind == "OutOfFuel":
        return TemplateFailure(
            "the template takes too many steps or makes too much text", at, "expression_limit"
        )
    return TemplateFailure(
        f"the template cannot be rendered: {error.detail or error.message}", at, "expression"
    )
