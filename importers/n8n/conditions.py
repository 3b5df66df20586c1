"""n8n's conditions, of all versions, as one expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from interlace.importers.expressions import constant, grouped
from interlace.importers.foreign import Json, mapping, number, objects, text
from interlace.importers.n8n.fields import Fields
from interlace.importers.n8n.values import NOTHING, Value
from interlace.importers.neat import neat

Form = Callable[[str, str], str]


def _safe(form: str) -> Form:
    """A form that a missing left side does not break."""
    return lambda left, right: form.format(left=f"({grouped(left)} | default(''))", right=grouped(right))


def _plain(form: str) -> Form:
    return lambda left, right: form.format(left=grouped(left), right=grouped(right))


FORMS: Final[dict[str, Form]] = {
    "equals": _plain("{left} == {right}"), "equal": _plain("{left} == {right}"), "notEquals": _plain("{left} != {right}"),
    "notEqual": _plain("{left} != {right}"), "contains": _safe("{right} in {left}"), "notContains": _safe("{right} not in {left}"),
    "startsWith": _safe("{left} is startingwith({right})"), "notStartsWith": _safe("not ({left} is startingwith({right}))"),
    "endsWith": _safe("{left} is endingwith({right})"), "notEndsWith": _safe("not ({left} is endingwith({right}))"),
    "regex": _safe("{left} is matching({right})"), "notRegex": _safe("not ({left} is matching({right}))"),
    "empty": _plain("{left} is empty"), "notEmpty": _plain("{left} is not empty"), "isEmpty": _plain("{left} is empty"),
    "isNotEmpty": _plain("{left} is not empty"), "exists": _plain("{left} != none"), "notExists": _plain("{left} == none"),
    "gt": _plain("{left} > {right}"), "larger": _plain("{left} > {right}"), "lt": _plain("{left} < {right}"),
    "smaller": _plain("{left} < {right}"), "gte": _plain("{left} >= {right}"), "largerEqual": _plain("{left} >= {right}"),
    "lte": _plain("{left} <= {right}"), "smallerEqual": _plain("{left} <= {right}"), "after": _plain("{left} > {right}"),
    "before": _plain("{left} < {right}"), "afterOrEquals": _plain("{left} >= {right}"),
    "beforeOrEquals": _plain("{left} <= {right}"), "lengthEquals": _safe("{left} | length == {right}"),
    "lengthNotEquals": _safe("{left} | length != {right}"), "lengthGt": _safe("{left} | length > {right}"),
    "lengthLt": _safe("{left} | length < {right}"), "lengthGte": _safe("{left} | length >= {right}"),
    "lengthLte": _safe("{left} | length <= {right}"),
}  # fmt: skip
_ORDERS: Final = frozenset(
    form
    for name, form in FORMS.items()
    if name in ("gt", "larger", "lt", "smaller", "gte", "largerEqual", "lte", "smallerEqual")
)
_OLD_KINDS: Final = ("string", "number", "boolean", "dateTime")


def condition(parameters: Json, fields: Fields) -> str | None:
    """The condition of an IF or a filter, None where the file has none."""
    given = parameters.get("conditions")
    if isinstance(given, dict) and isinstance(given.get("conditions"), list):
        return group(given, fields, ignore_case=mapping(parameters.get("options")).get("ignoreCase") is True)
    parts = [
        one(kind, entry.get("operation"), entry.get("value1"), entry.get("value2"), fields)
        for kind in _OLD_KINDS
        for entry in objects(mapping(given).get(kind))
    ]
    return joined(parts, "or" if parameters.get("combineOperation") == "any" else "and")


def group(given: Any, fields: Fields, *, ignore_case: bool = False) -> str | None:
    """Conditions of the newer form, joined by their combinator."""
    options = mapping(mapping(given).get("options"))
    folded = ignore_case or options.get("caseSensitive") is False
    parts = []
    for entry in objects(mapping(given).get("conditions")):
        operator = mapping(entry.get("operator"))
        kind, operation = text(operator.get("type")) or "string", text(operator.get("operation"))
        parts.append(
            one(kind, operation, entry.get("leftValue"), entry.get("rightValue"), fields, folded=folded)
        )
    return joined(parts, "or" if mapping(given).get("combinator") == "or" else "and")


def joined(parts: list[str], word: str) -> str | None:
    """Conditions of which all, or any, must hold."""
    if not parts:
        return None
    return neat(f" {word} ".join(f"({part})" for part in parts)) if len(parts) > 1 else neat(parts[0])


def one(kind: str, operation: Any, left: Any, right: Any, fields: Fields, *, folded: bool = False) -> str:
    """One comparison."""
    name = text(operation).lstrip("=") or ("smaller" if kind == "number" else "equal")
    first = fields.value(left)
    if kind == "boolean" and name in ("true", "false"):
        return _boolean(first, name)
    second = _typed(fields.value(right), right, kind)
    form = FORMS.get(name)
    if form is None:
        fields.lost(f"{text(left)} {name} {text(right)}", "an operator that is not known")
        return "false"
    if folded and kind == "string":
        first, second = _folded(first), _folded(second)
    if kind == "dateTime" and name not in ("exists", "notExists", "empty", "notEmpty"):
        first, second = _dated(first), _dated(second)
    if form in _ORDERS and NOTHING.code in (first.code, second.code):
        return "false"
    return form(first.code, second.code)


def _boolean(value: Value, name: str) -> str:
    if value.kind == "bool":
        return value.code if name == "true" else f"not {grouped(value.code)}"
    return f"{grouped(value.code)} is {name}"


def _typed(value: Value, given: Any, kind: str) -> Value:
    """A constant that is written as text although a number or a truth value is meant."""
    if not isinstance(given, str) or given.startswith("="):
        return value
    if kind in ("number", "array"):
        found = number(given)
        if found is not None:
            return Value(constant(int(found) if float(found).is_integer() else found), "number")
    if kind == "boolean" and given.lower() in ("true", "false"):
        return Value(given.lower(), "bool")
    return value


def _folded(value: Value) -> Value:
    if value.code[:1] in "'\"" and value.code.count(value.code[0]) == 2:  # noqa: PLR2004 - a constant
        return Value(value.code.lower(), "text")
    return Value(f"({grouped(value.code)} | default('') | string | lower)", "text")


def _dated(value: Value) -> Value:
    return value if value.kind == "date" else Value(f"({grouped(value.code)} | to_datetime)", "date")
