"""The types that operators give, and the combinations that cannot work."""

from __future__ import annotations

from typing import Any, Final

from interlace.engine.expressions.comparison import equal, number_of
from interlace.engine.problems import nearest
from interlace.engine.schema import ARRAY, INTEGER, NUMBER, STRING, UNKNOWN, Schema, described, kinds

_NUMBERS: Final = frozenset({"integer", "number"})
_ORDERED: Final = frozenset({"integer", "number", "string"})
_CONTAINERS: Final = frozenset({"string", "array", "object"})


def arithmetic(operator: str, left: Schema, right: Schema) -> tuple[Schema, str | None]:
    """Give the type of an operation, and what is wrong with it where it certainly fails."""
    a, b = kinds(left), kinds(right)
    if a <= _NUMBERS and b <= _NUMBERS:
        whole = operator not in ("/", "**") and a == b == {"integer"}
        return (INTEGER if whole else NUMBER), None
    if operator == "+":
        for kind, schema in (("string", STRING), ("array", ARRAY)):
            if a == b == {kind}:
                return schema, None
        possible = bool(a & _NUMBERS and b & _NUMBERS) or bool(a & b & {"string", "array"})
    elif operator == "*":
        if b <= _NUMBERS and a in ({"string"}, {"array"}):
            return (STRING if a == {"string"} else ARRAY), None
        possible = bool(a & (_NUMBERS | {"string", "array"}) and b & _NUMBERS)
    else:
        possible = bool(a & _NUMBERS and b & _NUMBERS)
    if possible:
        return (NUMBER if operator not in ("+", "*") else UNKNOWN), None
    hint = ""
    if "string" in a | b:
        hint = "; join texts with '~', turn text into a number with '| number'"
    return NUMBER, f"cannot compute {described(left)} {operator} {described(right)}{hint}"


def order_problem(operator: str, left: Schema, right: Schema) -> str | None:
    """Say why `<`, `<=`, `>` or `>=` between two types certainly fails, or None."""
    a, b = kinds(left), kinds(right)
    if a & _ORDERED and b & _ORDERED:
        for text, other in ((left, b), (right, a)):
            constant = text.get("const")
            if isinstance(constant, str) and other <= _NUMBERS and number_of(constant) is None:
                return f"cannot compare text {constant!r} with a number by '{operator}'"
        return None
    return f"cannot compare {described(left)} {operator} {described(right)}: they have no order"


def membership_problem(operator: str, left: Schema, right: Schema) -> str | None:  # noqa: ARG001 - same shape as order_problem
    """Say why `in` certainly fails, or None."""
    if kinds(right) & _CONTAINERS:
        return None
    return f"'{operator}' takes a text, a list or a mapping on its right, not {described(right)}"


def equality_problem(left: Schema, right: Schema) -> str | None:
    """Say why `==` or `!=` always gives the same answer: a constant that the other side never has."""
    for one, other in ((left, right), (right, left)):
        if "const" not in other or "anyOf" in one:
            continue
        listed = one.get("enum")
        constant: Any = other["const"]
        if not isinstance(listed, list) or any(equal(value, constant) for value in listed):
            continue
        close = nearest(str(constant), [str(value) for value in listed])
        return f"the value is never {constant!r}" + (f"; did you mean {close!r}?" if close else "")
    return None
