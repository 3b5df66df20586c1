"""Dify's conditions as rules, and as expressions where a field takes those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.dify.context import Context
from interlace.importers.dify.file import DifyNode
from interlace.importers.expressions import Ref, constant, grouped, is_simple, shown, whole
from interlace.importers.foreign import Json, mapping, number, objects, text
from interlace.importers.naming import slug, unique

OPERATORS: Final = {
    "contains": "contains", "not contains": "not contains", "start with": "starts with", "end with": "ends with", "is": "==",
    "is not": "!=", "=": "==", "==": "==", "≠": "!=", "!=": "!=", ">": ">", "<": "<", "≥": ">=", ">=": ">=", "≤": "<=",
    "<=": "<=", "empty": "is empty", "not empty": "is not empty", "null": "is empty", "not null": "is not empty", "in": "in",
    "not in": "not in", "exists": "is not empty", "not exists": "is empty", "before": "<", "after": ">",
}  # fmt: skip
_ALONE: Final = frozenset({"is empty", "is not empty"})
_FILE_FIELDS: Final = {
    "name": "name", "size": "size", "mime_type": "media_type", "type": "media_type", "url": "ref", "extension": "name",
    "related_id": "ref",
}  # fmt: skip
_FILE_TYPES: Final = {"image": "image/", "audio": "audio/", "video": "video/", "document": "application/"}
_TESTS: Final = {"==": "eq", "!=": "ne", ">": "gt", "<": "lt", ">=": "ge", "<=": "le", "in": "in", "contains": "containing",
                 "starts with": "startingwith", "ends with": "endingwith"}  # fmt: skip
_NEGATED: Final = {"==": "!=", "!=": "==", ">": "<=", "<": ">=", ">=": "<", "<=": ">"}


def rules(conditions: Any, logical: Any, node: DifyNode, ctx: Context) -> Json:
    """The conditions as a group of rules, `{all: […]}` or `{any: […]}`."""
    made = [rule for condition in objects(conditions) for rule in _rules(condition, node, ctx)]
    if not made:
        made = [{"left": False, "operator": "is true"}]
        ctx.say("changed", "no_condition", "A branch has no condition; it is never taken.", node)
    return {"any" if text(logical) == "or" and len(made) > 1 else "all": made}


def _rules(condition: Json, node: DifyNode, ctx: Context) -> list[Json]:
    left = ctx.ref(condition.get("variable_selector"), node)
    written = text(condition.get("comparison_operator"))
    inner = mapping(condition.get("sub_variable_condition"))
    if inner.get("conditions"):
        return [_files(left, written, inner, node, ctx)]
    if written == "all of":
        wanted = condition.get("value")
        return [{"left": whole(left), "operator": "contains", "right": one} for one in _values(wanted)]
    operator = OPERATORS.get(written)
    if operator is None:
        ctx.say(
            "decision", "operator", f"The operator {written!r} is not known; the condition never holds.", node
        )
        return [{"left": False, "operator": "is true"}]
    if operator in _ALONE:
        return [{"left": whole(left), "operator": operator}]
    return [{"left": whole(left), "operator": operator, "right": _right(condition, operator, node, ctx)}]


def _right(condition: Json, operator: str, node: DifyNode, ctx: Context) -> Any:
    value = condition.get("value")
    kind = text(condition.get("varType") or condition.get("var_type"))
    if text(condition.get("numberVarType")) == "variable":
        return whole(ctx.ref(value, node))
    if operator in ("in", "not in"):
        return _values(value) if not isinstance(value, str) or "{{#" not in value else ctx.mixed(value, node)
    if isinstance(value, bool) or (kind == "boolean" and text(value).lower() in ("true", "false", "1", "0")):
        return value if isinstance(value, bool) else text(value).lower() in ("true", "1")
    if isinstance(value, str):
        found = number(value) if kind == "number" else None
        if found is not None and "{{" not in value:
            return int(found) if found.is_integer() else found
        return ctx.mixed(value, node)
    return value if isinstance(value, int | float | list) else text(value)


def _values(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str | int | float)]
    return [part.strip() for part in text(value).split(",") if part.strip()]


def _files(left: Ref, written: str, inner: Json, node: DifyNode, ctx: Context) -> Json:
    """Conditions on the files of a list: how many of them fit."""
    code = left.code
    for condition in objects(inner.get("conditions")):
        field = _FILE_FIELDS.get(text(condition.get("key")))
        test = _TESTS.get(OPERATORS.get(text(condition.get("comparison_operator")), ""))
        value = condition.get("value")
        if condition.get("key") == "type":
            found = _values(value)
            test, value = "startingwith", _FILE_TYPES.get(text(found[0]) if found else "", "")
        if field is None or test is None:
            ctx.say(
                "decision",
                "operator",
                f"A condition on files ({condition.get('key')}) cannot be carried over.",
                node,
            )
            return {"left": False, "operator": "is true"}
        code = f"{code} | selectattr('{field}', '{test}', {constant(value if not isinstance(value, dict) else '')})"
    if written in ("not contains", "not exists", "empty"):
        return {"left": shown(code), "operator": "is empty"}
    if written == "all of":
        return {
            "left": shown(f"{code} | length"),
            "operator": "==",
            "right": shown(f"{grouped(left.code)} | length"),
        }
    return {"left": shown(code), "operator": "is not empty"}


def expression(conditions: Any, logical: Any, node: DifyNode, ctx: Context, *, negated: bool = False) -> str:
    """The conditions as one bare expression."""
    given = rules(conditions, logical, node, ctx).popitem()[1] if objects(conditions) else []
    made = [_expression(rule, negated=negated) for rule in given]
    either = (text(logical) == "or") is not negated
    return (" or " if either else " and ").join(made if len(made) < 2 else [_group(one) for one in made])  # noqa: PLR2004 - one needs no brackets


def _group(code: str) -> str:
    return f"({code})" if " or " in code or " and " in code else code


def _expression(rule: Json, *, negated: bool) -> str:
    left = _bare(rule["left"])
    operator, right = rule["operator"], rule.get("right")
    if operator in _ALONE:
        positive = (operator == "is empty") is not negated
        return f"{left} is empty" if positive else f"{left} is not empty"
    other = _bare(right)
    if operator in _NEGATED:
        return f"{left} {_NEGATED[operator] if negated else operator} {other}"
    forms = {
        "contains": f"{other} in {left}", "not contains": f"{other} not in {left}", "in": f"{left} in {other}",
        "not in": f"{left} not in {other}", "starts with": f"{left} is startingwith({other})",
        "ends with": f"{left} is endingwith({other})", "is true": f"{left} is true",
    }  # fmt: skip
    code = forms.get(operator, "false")
    return f"not ({code})" if negated else code


def _bare(value: Any) -> str:
    """A field's value as an expression."""
    if isinstance(value, str) and value.startswith("{{") and value.endswith("}}") and value.count("{{") == 1:
        inner = value[2:-2].strip()
        return inner if is_simple(inner) else f"({inner})"
    if isinstance(value, str) and "{{" in value:
        return mixed_expression(value)
    return constant(value)


def mixed_expression(value: str) -> str:
    """A text with `{{ }}` in it as one expression."""
    made = []
    for index, piece in enumerate(value.replace("}}", "{{").split("{{")):
        if index % 2:
            made.append(f"({piece.strip()})")
        elif piece:
            made.append(constant(piece))
    return " ~ ".join(made) or "''"


def case_name(rule_group: Json, used: set[str], number_of: int, total: int) -> str:
    """What a branch is called: by the text that it asks for, else by its number."""
    entries: Sequence[Any] = next(iter(rule_group.values()))
    only = mapping(entries[0]) if len(entries) == 1 else {}
    wanted = only.get("right")
    word = (
        slug(wanted, longest=24)
        if isinstance(wanted, str) and "{{" not in wanted and only.get("operator") in ("==", "contains")
        else ""
    )
    if not word or word in ("else", "error", "true", "false"):
        word = "yes" if total == 1 else f"case_{number_of}"
    return unique(word, used)
