"""Nodes that bring branches together: merge, compareDatasets."""

from __future__ import annotations

from typing import Any, Final

from interlace.importers.expressions import grouped, path, shown
from interlace.importers.foreign import objects, text, whole
from interlace.importers.n8n.context import Site, param
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Whole
from interlace.importers.n8n.nodes.code_of_ours import COMPARE, JOIN
from interlace.importers.n8n.values import Flow, Value, several, single
from interlace.importers.placeholder import failing_code

_OLD: Final = {
    "": "append", "append": "append", "passThrough": "choose", "wait": "choose", "mergeByIndex": "position", "multiplex": "all",
    "mergeByKey": "enrich1", "keepKeyMatches": "matches", "removeKeyMatches": "others1",
}  # fmt: skip
_JOINS: Final = {
    "keepMatches": ("matches", "both"), "keepNonMatches": ("others", "both"), "keepEverything": ("all", "both"),
    "enrichInput1": ("enrich", "both"), "enrichInput2": ("enrich", "swapped"),
}  # fmt: skip


def merge(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """Append, choose, or combine two lists of items."""
    given = node.parameters
    via = tuple(dict.fromkeys(tail for flow in flows for tail in flow.via))
    site = site.after(*via)
    pair = [*flows, several("[]")][:2] if len(flows) < 2 else flows  # noqa: PLR2004 - two inputs at least
    mode = text(given.get("mode"))
    if node.version < 2:  # noqa: PLR2004 - the modes changed there
        how = _OLD.get(mode, "append")
    elif mode in ("", "append"):
        how = "append"
    elif mode == "chooseBranch":
        how = "choose"
    elif mode == "combineBySql":
        return _sql(node, site, pair)
    else:
        how = {
            "combineByPosition": "position", "mergeByPosition": "position", "combineAll": "all", "multiplex": "all",
        }.get(text(given.get("combineBy") or given.get("combinationMode")), "fields")  # fmt: skip
    if how == "append":
        return _append(node, site, flows)
    if how == "choose":
        return _choose(node, site, pair)
    if how == "position":
        return _position(node, site, pair)
    if how == "all":
        return _all(node, site, pair)
    return _fields(node, site, pair, how)


def _append(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    config = {"mode": "concat", "values": [shown(flow.many.code) for flow in flows]}
    step = site.add(node, "VARIABLE_AGGREGATOR", config)
    return {
        0: several(path(step.id, "value"), *site.tails, may_be_empty=all(flow.one is None for flow in flows))
    }


def _choose(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """Wait for both, and go on with one."""
    wanted = text(node.parameters.get("output") or node.parameters.get("useDataOfInput")) or "input1"
    if wanted in ("empty", "specifiedInput"):
        wanted = text(node.parameters.get("useDataOfInput")) or wanted
    chosen = whole(wanted.removeprefix("input")) or 1
    flow = single(Value("{}")) if wanted == "empty" else flows[min(max(chosen, 1), len(flows)) - 1]
    value = flow.one if flow.one is not None else flow.many
    step = site.add(node, "TRANSFORM", {"input": shown(value.code)})
    step.join = "all"
    result = Value(path(step.id, "result"))
    return {0: single(result, *site.tails) if flow.one is not None else several(result.code, *site.tails)}


def _position(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    if flows[0].one is not None and flows[1].one is not None:
        step = site.add(
            node,
            "TRANSFORM",
            {"input": shown(flows[0].one.code), "steps": [{"merge": {"with": shown(flows[1].one.code)}}]},
        )
        return {0: single(Value(path(step.id, "result")), *site.tails)}
    left, right = (grouped(flow.many.code) for flow in flows[:2])
    if param(node, "options", "includeUnpaired") is True:
        site.ctx.say(
            "decision",
            "unpaired",
            "Items without a partner were kept in the file; here they are left out.",
            node,
        )
    shorter = f"[{left} | length, {right} | length] | min"
    pairs = f"{left}[:{shorter}] | zip({right}[:{shorter}])"
    step = site.add(
        node, "LIST_OPERATION", {"input": shown(pairs), "operations": [{"map": "item[0] | combine(item[1])"}]}
    )
    return {0: several(path(step.id, "result"), *site.tails)}


def _all(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """Every item of one with every item of the other."""
    if flows[0].one is not None and flows[1].one is not None:
        return _position(node, site, flows)
    config = {"code": "def main(left, right):\n    return {'items': [{**a, **b} for a in left for b in right]}\n",
              "inputs": {"left": _list(flows[0]), "right": _list(flows[1])}}  # fmt: skip
    step = site.add(node, "CODE", config)
    return {0: several(path(step.id, "items"), *site.tails)}


def _list(flow: Flow) -> str:
    return shown(flow.many.code)


def _fields(node: N8nNode, site: Site, flows: list[Flow], how: str) -> dict[int, Flow]:
    given = node.parameters
    keep, fields_from = _JOINS.get(text(given.get("joinMode")) or "keepMatches", ("matches", "both"))
    source = {"input1": "left", "input2": "right"}.get(text(given.get("outputDataFrom")))
    if how != "fields":
        keep = {"enrich1": "enrich", "others1": "others"}.get(how, "matches")
        source = "left" if how == "others1" else None
    if keep in ("matches", "others") and source is not None:
        fields_from = source
    left, right = flows[0], flows[1]
    pairs = _pairs(node)
    if fields_from == "swapped":
        left, right, fields_from = right, left, "both"
        pairs = [[b, a] for a, b in pairs]
    inputs = {
        "left": _list(left),
        "right": _list(right),
        "pairs": pairs,
        "keep": keep,
        "fields_from": fields_from,
    }
    step = site.add(node, "CODE", {"code": JOIN, "inputs": inputs})
    return {0: several(path(step.id, "items"), *site.tails)}


def _pairs(node: N8nNode) -> list[list[str]]:
    given = node.parameters
    made = [
        [text(one.get("field1")), text(one.get("field2"))]
        for one in objects(param(node, "mergeByFields", "values"))
    ]
    made = [[a, b or a] for a, b in made if a]
    if not made:
        made = [
            [name.strip(), name.strip()]
            for name in text(given.get("fieldsToMatchString")).split(",")
            if name.strip()
        ]
    if not made and text(given.get("propertyName1")):
        made = [
            [
                text(given.get("propertyName1")),
                text(given.get("propertyName2")) or text(given.get("propertyName1")),
            ]
        ]
    return made


def _sql(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    message = (
        f"{node.name!r} joined its inputs by SQL, which has no counterpart here; write the join in Python."
    )
    site.ctx.say("unsupported", "merge_sql", message, node)
    inputs: dict[str, Any] = {f"input{index}": _list(flow) for index, flow in enumerate(flows, 1)}
    step = site.add(
        node,
        "CODE",
        {**failing_code(message, text(node.parameters.get("query")), language="SQL"), "inputs": inputs},
    )
    return {0: several(path(step.id, "items"), *site.tails)}


def compare(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """Items of two lists: only in one, the same, different."""
    via = tuple(dict.fromkeys(tail for flow in flows for tail in flow.via))
    site = site.after(*via)
    pair = [*flows, several("[]")][:2]
    step = site.add(
        node,
        "CODE",
        {"code": COMPARE, "inputs": {"left": _list(pair[0]), "right": _list(pair[1]), "pairs": _pairs(node)}},
    )
    return {
        index: several(path(step.id, name), *site.tails)
        for index, name in enumerate(("in_left", "same", "different", "in_right"))
    }


KINDS: Final = {
    "merge": Whole(merge, needs_items=False),
    "compareDatasets": Whole(compare, needs_items=False),
}
