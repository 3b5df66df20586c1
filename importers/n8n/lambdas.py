"""Functions given to methods of lists: `map(x => x.name)`, `filter(x => x.age > 3)`, … as filters by attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from interlace.importers.expressions import constant, grouped
from interlace.importers.javascript.syntax import Arrow, Binary, Call, Const, Js, Member, Name, Unary
from interlace.importers.n8n.values import NotTranslated, Value

if TYPE_CHECKING:
    from interlace.importers.n8n.translate import Translator

_TESTS: Final = {
    "==": "eq",
    "===": "eq",
    "!=": "ne",
    "!==": "ne",
    "<": "lt",
    ">": "gt",
    "<=": "le",
    ">=": "ge",
}
_TURNED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_ASKS: Final = {"includes": "containing", "startsWith": "startingwith", "endsWith": "endingwith"}
_TYPES: Final = {
    "string": "string",
    "number": "number",
    "boolean": "boolean",
    "object": "mapping",
    "undefined": "undefined",
}


def apply(base: Value, name: str, arguments: tuple[Js, ...], translator: Translator) -> Value:  # noqa: PLR0911 - one return a case
    """A method of a list with a function.

    Raises:
        NotTranslated: the function is more than a field or comparisons of fields.
    """
    arrow = arguments[0]
    assert isinstance(arrow, Arrow)
    operand = grouped(base.code)
    items = base.kind == "items"
    if name == "map":
        return _map(operand, arrow, items, translator)
    if name == "sort":
        return _sort(operand, arrow, items)
    if name == "reduce":
        return _reduce(operand, arrow, arguments[1:], items)
    chosen = _filter(operand, arrow, items, translator, negated=name == "every")
    kind = base.kind if items else "list"
    if name == "filter":
        return Value(chosen, kind)
    if name == "find":
        return Value(f"({chosen} | first | default(none))")
    if name == "some":
        return Value(f"({chosen} | length > 0)", "bool")
    if name == "every":
        return Value(f"({chosen} | length == 0)", "bool")
    raise NotTranslated(f"the method {name!r} with a function")


def type_test(js: Binary, value: Callable[[Js], Value]) -> Value | None:
    """`typeof x === 'string'` as a test."""
    if js.operator not in _TESTS or not isinstance(js.left, Unary) or js.left.operator != "typeof":
        return None
    if (
        not isinstance(js.right, Const)
        or js.right.value not in _TYPES
        or _TESTS[js.operator] not in ("eq", "ne")
    ):
        return None
    word = "is" if _TESTS[js.operator] == "eq" else "is not"
    return Value(f"{grouped(value(js.left.operand).code)} {word} {_TYPES[js.right.value]}", "bool")


def attribute(js: Js, parameter: str, *, items: bool) -> str | None:
    """The dotted path of a field of the parameter; `` for the parameter itself, None for anything else."""
    keys: list[str] = []
    while isinstance(js, Member):
        if not isinstance(js.key, Const) or isinstance(js.key.value, bool | float | type(None)):
            return None
        key = str(js.key.value)
        if "." in key:
            return None
        keys.append(key)
        js = js.base
    if not isinstance(js, Name) or js.name != parameter:
        return None
    keys.reverse()
    if items:
        if keys[:1] != ["json"]:
            return None
        keys = keys[1:]
    return ".".join(keys)


def _map(operand: str, arrow: Arrow, items: bool, translator: Translator) -> Value:
    parameter = arrow.parameters[0] if arrow.parameters else ""
    steps: list[str] = []
    body = arrow.body
    while isinstance(body, Call) and isinstance(body.callee, Member) and isinstance(body.callee.key, Const):
        found = {"toUpperCase": "upper", "toLowerCase": "lower", "trim": "trim", "toString": "string"}.get(
            str(body.callee.key.value)
        )
        if found is None or body.arguments:
            raise NotTranslated("a function that computes with each entry")
        steps.insert(0, found)
        body = body.callee.base
    if isinstance(body, Const):
        raise NotTranslated("a function that gives a constant")
    field = attribute(body, parameter, items=items)
    if field is None:
        raise NotTranslated("a function that computes with each entry")
    del translator
    code = f"{operand} | map(attribute={constant(field)})" if field else operand
    for step in steps:
        code += f" | map('{step}')"
    return Value(code, "list")


def _filter(operand: str, arrow: Arrow, items: bool, translator: Translator, *, negated: bool) -> str:
    parameter = arrow.parameters[0] if arrow.parameters else ""
    body = arrow.body
    if negated:
        return f"{operand} | {_one(body, parameter, items, translator, negated=True)}"
    parts: list[Js] = []
    while isinstance(body, Binary) and body.operator == "&&":
        parts.insert(0, body.right)
        body = body.left
    parts.insert(0, body)
    return operand + "".join(
        f" | {_one(part, parameter, items, translator, negated=False)}" for part in parts
    )


def _one(js: Js, parameter: str, items: bool, translator: Translator, *, negated: bool) -> str:
    """One comparison of a field as `selectattr`."""
    if isinstance(js, Unary) and js.operator == "!":
        return _one(js.operand, parameter, items, translator, negated=not negated)
    word = "reject" if negated else "select"
    field = attribute(js, parameter, items=items)
    if field is not None:
        return f"{word}attr({constant(field)})" if field else word
    if isinstance(js, Name) and js.name == "Boolean":
        return word
    test, side, other = _comparison(js)
    field = attribute(side, parameter, items=items)
    if field is None and test in (*_TESTS.values(),):
        field, other, test = attribute(other, parameter, items=items), side, _TURNED.get(test, test)
    if field is None:
        raise NotTranslated("a function that compares more than a field of each entry")
    right = translator.value(other).code
    return f"{word}attr({constant(field)}, '{test}', {right})" if field else f"{word}('{test}', {right})"


def _comparison(js: Js) -> tuple[str, Js, Js]:
    if isinstance(js, Binary) and js.operator in _TESTS:
        return _TESTS[js.operator], js.left, js.right
    if (
        isinstance(js, Call)
        and isinstance(js.callee, Member)
        and isinstance(js.callee.key, Const)
        and len(js.arguments) == 1
    ):
        found = _ASKS.get(str(js.callee.key.value))
        if found is not None:
            return found, js.callee.base, js.arguments[0]
    raise NotTranslated("a function that compares more than a field of each entry")


def _sort(operand: str, arrow: Arrow, items: bool) -> Value:
    """`(a, b) => a.x - b.x`."""
    if len(arrow.parameters) == 2 and isinstance(arrow.body, Binary) and arrow.body.operator == "-":  # noqa: PLR2004 - a and b
        for first, second, reverse in ((0, 1, ""), (1, 0, "reverse=true")):
            left = attribute(arrow.body.left, arrow.parameters[first], items=items)
            right = attribute(arrow.body.right, arrow.parameters[second], items=items)
            if left is not None and left == right:
                options = ", ".join(
                    part for part in (f"attribute={constant(left)}" if left else "", reverse) if part
                )
                return Value(
                    f"{operand} | sort" + (f"({options})" if options else ""), "items" if items else "list"
                )
    raise NotTranslated("a sort by more than a number")


def _reduce(operand: str, arrow: Arrow, rest: tuple[Js, ...], items: bool) -> Value:
    """`(sum, x) => sum + x.amount, 0`."""
    body = arrow.body
    starts_at_zero = len(rest) == 1 and isinstance(rest[0], Const) and rest[0].value == 0
    if len(arrow.parameters) >= 2 and starts_at_zero and isinstance(body, Binary) and body.operator == "+":  # noqa: PLR2004 - sum and entry
        first, second = arrow.parameters[0], arrow.parameters[1]
        right = body.right
        if (
            isinstance(right, Binary)
            and right.operator == "||"
            and isinstance(right.right, Const)
            and right.right.value == 0
        ):
            right = right.left
        field = attribute(right, second, items=items)
        if isinstance(body.left, Name) and body.left.name == first and field is not None:
            return Value(
                f"({operand} | sum" + (f"(attribute={constant(field)}))" if field else ")"), "number"
            )
    raise NotTranslated("a reduce that is no sum")
