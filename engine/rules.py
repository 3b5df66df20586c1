"""The operators of rules, by the comparison rules of expressions, and why a condition does not hold in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import Compiled, Missing, Names, compile_expression
from interlace.engine.expressions.budget import refill
from interlace.engine.expressions.comparison import contains as contained
from interlace.engine.expressions.comparison import equal, ordering
from interlace.engine.expressions.filters.data import regex
from interlace.engine.expressions.syntax import Comparison, Node, Path
from interlace.engine.expressions.syntax import Literal as Constant
from interlace.engine.expressions.unparse import unparse
from interlace.engine.expressions.values import described, to_text

Operator = Literal[
    "==", "!=", "<", "<=", ">", ">=", "contains", "not contains", "starts with", "ends with", "matches", "in", "not in",
    "is empty", "is not empty", "exists", "between", "is true", "is false",
]  # fmt: skip
NO_RIGHT: Final = frozenset({"is empty", "is not empty", "exists", "is true", "is false"})
SEES_MISSING: Final = frozenset({"==", "!=", "is empty", "is not empty", "exists"})
"""Operators that never fail: for them a missing value is null, or an answer of its own."""
_SHOWN: Final = 60
_PAIR: Final = 2


def _text(value: Any, operator: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return to_text(value)
    raise ExpressionError(f"'{operator}' compares texts, not {described(value)}", kind="bad_comparison")


def _matches(left: Any, pattern: Any) -> bool:
    refill()
    return regex(pattern).search(_text(left, "matches")) is not None


def _empty(left: Any, right: Any) -> bool:
    del right
    return (
        left is None
        or isinstance(left, Missing)
        or (isinstance(left, str | list | tuple | Mapping) and not left)
    )


def _between(left: Any, right: Any) -> bool:
    if not isinstance(right, list | tuple) or len(right) != _PAIR:
        raise ExpressionError(
            f"'between' takes a list of two values, [from, to], not {described(right)}", kind="bad_comparison"
        )
    at_most = ordering("<=")
    return at_most(right[0], left) and at_most(left, right[1])


def _word(value: Any) -> Any:
    """The text `true` or `false`, which forms send, as what it says."""
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else value


OPERATORS: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": ordering("<"),
    "<=": ordering("<="),
    ">": ordering(">"),
    ">=": ordering(">="),
    "contains": lambda left, right: contained(right, left),
    "not contains": lambda left, right: not contained(right, left),
    "starts with": lambda left, right: _text(left, "starts with").startswith(_text(right, "starts with")),
    "ends with": lambda left, right: _text(left, "ends with").endswith(_text(right, "ends with")),
    "matches": _matches,
    "in": contained,
    "not in": lambda left, right: not contained(left, right),
    "is empty": _empty,
    "is not empty": lambda left, _: not _empty(left, None),
    "exists": lambda left, _: not isinstance(left, Missing),
    "between": _between,
    "is true": lambda left, _: _word(left) is True,
    "is false": lambda left, _: _word(left) is False,
}

_NEGATED: Final[dict[Operator, str]] = {
    "contains": "does not contain",
    "not contains": "contains",
    "starts with": "does not start with",
    "ends with": "does not end with",
    "matches": "does not match",
    "in": "is not in",
    "not in": "is in",
    "is empty": "is not empty",
    "is not empty": "is empty",
    "exists": "does not exist",
    "between": "is not between",
    "is true": "is not true",
    "is false": "is not false",
}


def failure(source: Any, left: Any, operator: str, right: Any) -> str:
    """Why a comparison does not hold: `amount 50 is not > 1000`.

    Args:
        source: the left side as it is written (`{{ inputs.amount }}`, or a bare expression).
        left: its value.
        operator: the operator.
        right: the value of the right side; ignored by operators without one.
    """
    verb = _NEGATED.get(operator, f"is not {operator}")  # type: ignore[call-overload]
    words = [_label(source), shown(left), verb]
    if operator == "between" and isinstance(right, list | tuple) and len(right) == _PAIR:
        words.append(f"{shown(right[0])} and {shown(right[1])}")
    elif operator not in NO_RIGHT:
        words.append(shown(right))
    return " ".join(word for word in words if word)


def _label(source: Any) -> str:
    """How the left side is called: `amount` for inputs.amount, the reference else; nothing for a constant."""
    if not isinstance(source, str):
        return ""
    text = source.strip().removeprefix("{{").removesuffix("}}").strip() if "{{" in source else ""
    return text.removeprefix("inputs.")


def shown(value: Any) -> str:
    """A value in a reason: short, texts in quotes, lists and objects by their size."""
    if isinstance(value, Missing):
        return "(missing)"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…")
    if isinstance(value, list | tuple):
        if len(value) <= 5 and all(isinstance(entry, str | int | float | None) for entry in value):  # noqa: PLR2004 - fits
            return f"[{', '.join(shown(entry) for entry in value)}]"
        return f"list of {len(value)}"
    if isinstance(value, Mapping):
        return f"object of {len(value)}"
    return "null" if value is None else to_text(value)


def reason(source: str) -> Callable[[Names], str]:
    """The function that says why an expression does not hold: like `failure` for a simple comparison, else with the values
    of what it reads: `inputs.amount > 1000 or vip is false (inputs.amount = 50, vip = false)`.
    """  # noqa: D205 - one sentence
    compiled = compile_expression(source)
    match compiled.node:
        case Comparison(first=Path() as left, links=((operator, Path() | Constant() as right),)):
            label, one, other = f"{{{{ {unparse(left)} }}}}", _compiled(left), _compiled(right)
            return lambda names: failure(
                label, one.evaluate_or_missing(names), operator, other.evaluate_or_missing(names)
            )
    text = " ".join(source.split())
    text = text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN - 1] + "…"
    references = list(dict.fromkeys(source[slice(*found.span)] for found in compiled.references))
    return lambda names: _values_read(text, references, names)


def _compiled(node: Node) -> Compiled:
    return compile_expression(unparse(node))


def _values_read(text: str, references: list[str], names: Names) -> str:
    parts = []
    for reference in references:
        try:
            value = compile_expression(reference).evaluate_or_missing(names)
        except ExpressionError:
            continue  # a part that the expression itself did not get to
        parts.append(f"{reference} = {shown(value)}")
    return f"{text} is false ({', '.join(parts)})" if parts else f"{text} is false"
