"""Nodes that send items one way or another: if, filter, switch."""

from __future__ import annotations

from typing import Any, Final

from interlace.importers.expressions import grouped
from interlace.importers.foreign import mapping, objects, text, whole
from interlace.importers.n8n.conditions import condition, group, one
from interlace.importers.n8n.context import param
from interlace.importers.n8n.fields import Fields
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Branch, Case, Cases
from interlace.importers.naming import slug, unique
from interlace.importers.neat import neat

_RESERVED: Final = frozenset({"else", "error", "rest", "input", "each", "any"})


def if_(node: N8nNode, fields: Fields) -> Cases:
    """Output 0 where the condition holds, 1 where not."""
    return Cases((Case(0, condition(node.parameters, fields) or "true", "yes"),), rest=1)


def filter_(node: N8nNode, fields: Fields) -> Cases:
    """Items for which the condition holds go on."""
    return Cases((Case(0, condition(node.parameters, fields) or "true", "kept"),))


def switch(node: N8nNode, fields: Fields) -> Cases:
    """An output for each rule."""
    if node.parameters.get("mode") == "expression":
        return _by_number(node, fields)
    if node.version < 3:  # noqa: PLR2004 - the rules changed there
        return _old(node, fields)
    cases, used = [], set(_RESERVED)
    rules = param(node, "rules", "values") or param(node, "rules", "rules")
    folded = mapping(node.parameters.get("options")).get("ignoreCase") is True
    for index, rule in enumerate(objects(rules)):
        when = group(rule.get("conditions"), fields, ignore_case=folded) or "true"
        cases.append(Case(index, when, _name(rule.get("outputKey"), rule, index, used)))
    fallback = param(node, "options", "fallbackOutput")
    fallback = node.parameters.get("fallbackOutput") if fallback is None else fallback
    every = param(node, "options", "allMatchingOutputs") is True
    if not cases and mapping(node.parameters.get("conditions")).get("conditions"):
        return Cases((Case(0, condition(node.parameters, fields) or "false", "first"),), rest=1)
    return Cases(tuple(cases), rest=_rest(fallback, len(cases)), every=every)


def _name(key: Any, rule: Any, index: int, used: set[str]) -> str:
    wanted = text(key)
    if not wanted:
        found = objects(mapping(mapping(rule).get("conditions")).get("conditions"))
        wanted = text(found[0].get("rightValue")) if len(found) == 1 else ""
        wanted = "" if wanted.startswith("=") else wanted
    return unique(slug(wanted, longest=24) or f"way_{index + 1}", used)


def _rest(fallback: Any, count: int) -> int | None:
    if fallback == "extra":
        return count
    found = whole(fallback)
    return found if found is not None and 0 <= found <= count else None


def _old(node: N8nNode, fields: Fields) -> Cases:
    """Rules that compare one value."""
    kind = text(node.parameters.get("dataType")) or "number"
    cases, used, most = [], set(_RESERVED), -1
    for index, rule in enumerate(objects(param(node, "rules", "rules"))):
        output = whole(rule.get("output"))
        output = output if output is not None else (0 if node.version < 2 else index)  # noqa: PLR2004 - then they are counted
        name = rule.get("operation") or ("smaller" if kind == "number" else "equal")
        when = one(kind, name, node.parameters.get("value1"), rule.get("value2"), fields)
        wanted = text(rule.get("outputKey") or rule.get("value2"))
        cases.append(
            Case(
                max(output, 0),
                neat(when),
                unique(
                    slug("" if wanted.startswith("=") else wanted, longest=24) or f"way_{index + 1}", used
                ),
            )
        )
        most = max(most, output)
    fallback = whole(node.parameters.get("fallbackOutput"))
    return Cases(
        tuple(cases),
        rest=fallback if fallback is not None and fallback >= 0 else None,
    )


def _by_number(node: N8nNode, fields: Fields) -> Cases:
    """An expression that gives the number of the output."""
    number_of = fields.value(node.parameters.get("output"))
    count = whole(node.parameters.get("numberOutputs")) or whole(node.parameters.get("outputsAmount")) or 4
    count = max(1, min(count, 50))
    return Cases(
        tuple(
            Case(index, neat(f"{grouped(number_of.code)} == {index}"), f"way_{index}")
            for index in range(count)
        )
    )


KINDS: Final = {"if": Branch(if_), "filter": Branch(filter_), "switch": Branch(switch)}
