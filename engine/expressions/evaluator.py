"""Turns a tree into a closure that computes it; built once an expression, on first use.

A closure takes the scope (names, and for templates also `values`, what the template binds) and gives a value or
`Missing`. Paths read plain data only; every operation that could make
something large is charged to the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items
from typing import Any, Final, TypeAlias

from minijinja import Markup, escape, safe

from interlace.engine.expressions import arithmetic, comparison
from interlace.engine.expressions.access import member, sliced
from interlace.engine.expressions.budget import check_size, checked_text, reserve_items, reserve_text
from interlace.engine.expressions.filters.registry import FILTERS, FUNCTIONS
from interlace.engine.expressions.predicates import NULL_SAFE, PREDICATES
from interlace.engine.expressions.syntax import (
    Binary,
    Call,
    Comparison,
    Concat,
    Conditional,
    Embedded,
    Filter,
    Item,
    Key,
    Literal,
    Local,
    Node,
    Path,
    Record,
    Sequence,
    Slice,
    Test,
    Unary,
    multiplies,
)
from interlace.engine.expressions.unparse import path_text, unparse
from interlace.engine.expressions.values import Missing, Names, missing_error, to_text

Run: TypeAlias = Callable[[Any], Any]
_SMALL_LIST: Final = 512
_MAY_MISS: Final = frozenset({"first", "last"})
_SMALL_TEXT: Final = 32 * 1024


def build(node: Node) -> Run:
    """Give the closure of a tree."""
    return _BUILDERS[node.__class__](node)


def _literal(node: Literal) -> Run:
    value = node.value
    return lambda _scope: value


def _path(node: Path) -> Run:
    root, keys = node.root, node.keys
    if len(keys) == 1 and isinstance(keys[0], str):
        return _field(root, keys[0])

    def walk(scope: Names) -> Any:
        start = value = scope.lookup(root)
        for key in keys:
            if isinstance(value, dict) or (value.__class__ is list and key.__class__ is int):
                try:
                    value = value[key]  # type: ignore[index]
                    continue
                except (KeyError, IndexError):
                    pass
            return descend(start, root, keys)
        return value if value.__class__ is not Missing else descend(value, root, keys)

    return walk


def _field(root: str, key: str) -> Run:
    """Give the closure of the most common path, `node.field`."""

    def field(scope: Names) -> Any:
        value = scope.lookup(root)
        if isinstance(value, dict):
            try:
                return value[key]
            except KeyError:
                pass
        return descend(value, root, (key,))

    return field


def descend(value: Any, root: str, keys: tuple[Key, ...]) -> Any:
    """Follow the keys of a path; what is not there is `Missing`, with the whole path and the reason."""
    if value.__class__ is Missing:
        return value.at(path_text(root, keys))
    for index, key in enumerate(keys):
        value = member(value, key)
        if value.__class__ is Missing:
            if value.reference:
                return value
            return Missing(_reason(value, root, keys[:index]), path_text(root, keys))
    return value


def _reason(missing: Missing, root: str, keys: tuple[Key, ...]) -> Callable[[], str]:
    return lambda: f"in `{path_text(root, keys)}` {missing.reason}"


def _local(node: Local) -> Run:
    """Give the closure of a name that a template binds; what it reads of its loop is passed under `loop.key`."""
    root, keys = node.root, node.keys
    if root == "loop" and keys:
        root, keys = f"loop.{keys[0]}", keys[1:]

    def read(scope: Any) -> Any:
        start = value = scope.values[root]
        for key in keys:
            if isinstance(value, dict):
                try:
                    value = value[key]
                    continue
                except KeyError:
                    pass
            return descend(start, root, keys)
        return value if value.__class__ is not Missing else descend(value, root, keys)

    return read


def _item(node: Item) -> Run:
    base, key = build(node.base), build(node.key)
    text = unparse(node)[:120]

    def run(scope: Any) -> Any:
        value, place = base(scope), key(scope)
        if place.__class__ is Missing:
            return place
        found = member(value, place)
        return _placed(found, text)

    return run


def _slice(node: Slice) -> Run:
    base = build(node.base)
    first, last, step = (
        build(part) if part is not None else None for part in (node.first, node.last, node.step)
    )

    def run(scope: Any) -> Any:
        return _measured(
            sliced(
                base(scope),
                None if first is None else _given(first(scope), "as a bound of a slice"),
                None if last is None else _given(last(scope), "as a bound of a slice"),
                None if step is None else _given(step(scope), "as the step of a slice"),
            )
        )

    return run


def _given(value: Any, use: str) -> Any:
    if value.__class__ is Missing:
        raise missing_error(value, use)
    return value


def _measured(value: Any) -> Any:
    """Charge a large result."""
    if value.__class__ is str:
        return checked_text(value) if len(value) > _SMALL_TEXT else value
    if value.__class__ is list and len(value) > _SMALL_LIST:
        reserve_items(len(value))
    return value


def _sequence(node: Sequence) -> Run:
    items = [build(item) for item in node.items]
    return lambda scope: [_given(item(scope), "as an item of a list") for item in items]


def _record(node: Record) -> Run:
    pairs = [(build(key), build(value)) for key, value in node.pairs]

    def run(scope: Any) -> Any:
        return {_key(key(scope)): _given(value(scope), "as a value of a mapping") for key, value in pairs}

    return run


def _key(value: Any) -> str:
    return value if value.__class__ is str else to_text(_given(value, "as a key of a mapping"))


def _unary(node: Unary) -> Run:
    operand = build(node.operand)
    if node.operator == "not":
        return lambda scope: not operand(scope)
    function = arithmetic.negate if node.operator == "-" else arithmetic.plus
    return lambda scope: function(operand(scope))


def _binary(node: Binary) -> Run:
    left, right = build(node.left), build(node.right)
    if node.operator == "or":
        return lambda scope: left(scope) or right(scope)
    if node.operator == "and":

        def both(scope: Any) -> Any:
            value = left(scope)
            if value:
                return right(scope)
            return False if value.__class__ is Missing else value

        return both
    function = arithmetic.OPERATORS[node.operator]
    return lambda scope: function(left(scope), right(scope))


def _concat(node: Concat) -> Run:
    parts = [build(part) for part in node.parts]

    def run(scope: Any) -> Any:
        texts = []
        marked = False
        for part in parts:
            value = part(scope)
            if value.__class__ is str:
                texts.append(value)
            else:
                marked = marked or value.__class__ is Markup
                texts.append(to_text(value))
        if marked and getattr(scope, "escapes", False):
            return safe("".join(text if text.__class__ is Markup else escape(text) for text in texts))
        length = sum(map(len, texts))
        if length > _SMALL_TEXT:
            reserve_text(length)
        return "".join(texts)

    return run


def _comparison(node: Comparison) -> Run:
    first = build(node.first)
    links = [(comparison.OPERATORS[operator], build(operand)) for operator, operand in node.links]
    if len(links) == 1:
        ((compare, second),) = links
        return lambda scope: compare(first(scope), second(scope))

    def chain(scope: Any) -> bool:
        left = first(scope)
        for compare, operand in links:
            right = operand(scope)
            if not compare(left, right):
                return False
            left = right
        return True

    return chain


def _conditional(node: Conditional) -> Run:
    test, then = build(node.test), build(node.then)
    if node.otherwise is not None:
        otherwise = build(node.otherwise)
        return lambda scope: then(scope) if test(scope) else otherwise(scope)
    absent = Missing("the condition of the inline if is false and it has no else", unparse(node)[:120])
    return lambda scope: then(scope) if test(scope) else absent


def _default(node: Filter) -> Run:
    operand = build(node.operand)
    options = {name: build(value) for name, value in node.options}
    for name, argument in zip(("default", "boolean"), node.arguments, strict=False):
        options[name] = build(argument)
    fallback: Run = options.get("default", lambda _scope: "")
    boolean: Run | None = options.get("boolean")

    def run(scope: Any) -> Any:
        value = operand(scope)
        if (
            value is None
            or value.__class__ is Missing
            or (boolean is not None and not value and boolean(scope))
        ):
            return fallback(scope)
        return value

    return run


def _filter(node: Filter) -> Run:
    if node.name == "default":
        return _default(node)
    function = FILTERS[node.name].function
    operand = build(node.operand)
    use = f"as the input of the filter {node.name!r}"

    def given(scope: Any) -> Any:
        value = operand(scope)
        if value.__class__ is Missing:
            raise missing_error(value, use)
        if value.__class__ is str and len(value) > _SMALL_TEXT:
            checked_text(value)
        return value

    if not node.arguments and not node.options:
        if node.name in _MAY_MISS:
            text = unparse(node)[:120]
            return lambda scope: _placed(function(given(scope)), text)
        return lambda scope: _measured(function(given(scope)))
    arguments, options = _arguments(
        node.arguments, node.options, f"as an argument of the filter {node.name!r}"
    )
    return lambda scope: _measured(function(given(scope), *arguments(scope), **options(scope)))


def _placed(value: Any, text: str) -> Any:
    """Say of a missing value which expression it is the result of."""
    return value.at(text) if value.__class__ is Missing else value


def _arguments(
    arguments: tuple[Node, ...], options: tuple[tuple[str, Node], ...], use: str
) -> tuple[Callable[[Any], Items[Any]], Callable[[Any], dict[str, Any]]]:
    """Give functions that compute the arguments of a call; a missing one is an error."""
    positional = [build(argument) for argument in arguments]
    named = [(name, build(value)) for name, value in options]
    if all(isinstance(argument, Literal) for argument in arguments):
        constants = tuple(argument.value for argument in arguments if isinstance(argument, Literal))
        values: Callable[[Any], Items[Any]] = lambda _scope: constants  # noqa: E731 - one of two forms
    else:
        values = lambda scope: [_given(run(scope), use) for run in positional]  # noqa: E731 - one of two forms
    return values, lambda scope: {name: _given(run(scope), use) for name, run in named}


def _test(node: Test) -> Run:
    _, check = PREDICATES[node.name]
    operand = build(node.operand)
    if not node.arguments:
        return lambda scope: check(operand(scope))
    arguments = [build(argument) for argument in node.arguments]
    if node.name in NULL_SAFE:
        return lambda scope: check(operand(scope), *(argument(scope) for argument in arguments))
    use = f"as an argument of the test {node.name!r}"
    return lambda scope: check(operand(scope), *(_given(argument(scope), use) for argument in arguments))


def _call(node: Call) -> Run:
    if node.local:
        # The template has called its macro already and passes the result under this name.
        name = f"#{node.start}"
        return lambda scope: scope.values[name]
    function = FUNCTIONS[node.name].function
    arguments, options = _arguments(node.arguments, node.options, f"as an argument of {node.name}()")
    return lambda scope: _measured(function(*arguments(scope), **options(scope)))


def _embedded(node: Embedded) -> Run:
    run = build(node.node)
    if not multiplies(node.node):
        return run

    def checked(scope: Any) -> Any:
        value = run(scope)
        check_size(value)
        return value

    return checked


_BUILDERS: Final[dict[type, Callable[[Any], Run]]] = {
    Literal: _literal,
    Path: _path,
    Local: _local,
    Item: _item,
    Slice: _slice,
    Sequence: _sequence,
    Record: _record,
    Unary: _unary,
    Binary: _binary,
    Concat: _concat,
    Comparison: _comparison,
    Conditional: _conditional,
    Filter: _filter,
    Test: _test,
    Call: _call,
    Embedded: _embedded,
}
