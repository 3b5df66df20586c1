"""Nodes that work on the whole list of items: aggregate, splitOut, sort, limit, removeDuplicates, summarize, itemLists."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, Final

from interlace.importers.build import Graph, Step
from interlace.importers.expressions import constant, grouped, path, shown
from interlace.importers.foreign import Json, objects, text, whole
from interlace.importers.n8n.context import Site, param
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Whole
from interlace.importers.n8n.nodes.code_of_ours import SUMMARIZE
from interlace.importers.n8n.values import NOTHING, Flow, Value, several, shaped, single

_KEY: Final = re.compile(r"""([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]""")


def _operations(node: N8nNode, site: Site, flow: Flow, operations: list[Json]) -> dict[int, Flow]:
    step = site.add(node, "LIST_OPERATION", {"input": shown(flow.many.code), "operations": operations})
    made = several(path(step.id, "result"), *site.tails, may_be_empty=flow.may_be_empty and flow.one is None)
    return {0: replace(made, shape=flow.shape)}


def limit(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """The first or last items."""
    count = node.parameters.get("maxItems", 1)
    found = whole(count)
    if found is None:
        code = site.fields(node).value(count).code
        return {0: several(f"{grouped(flows[0].many.code)}[:{code}]", *site.tails)}
    last = text(node.parameters.get("keep")) == "lastItems"
    return _operations(node, site, flows[0], [{"slice": [-found, None] if last else [0, found]}])


def sort(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """Sorted by fields, the first of them first."""
    if text(node.parameters.get("type")) in ("random", "code"):
        site.ctx.say(
            "decision",
            "sort",
            f"The items are sorted by {text(node.parameters.get('type'))} in the file; here they keep their order.",
            node,
        )
        return {0: flows[0].through(*site.tails)}
    operations: list[Json] = []
    for entry in reversed(objects(param(node, "sortFieldsUi", "sortField"))):
        by: Json = {"by": path("item", *keys_of(text(entry.get("fieldName"))))}
        if text(entry.get("order")) == "descending":
            by["descending"] = True
        operations.append({"sort": by})
    return _operations(node, site, flows[0], operations or [{"sort": True}])


def unique(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """One item of each kind."""
    if text(node.parameters.get("operation")) not in ("", "removeDuplicateInputItems", "removeDuplicates"):
        site.ctx.say(
            "decision",
            "history",
            "It compares with items of earlier runs in the file; here only with those of this run.",
            node,
        )
    names = _names(node.parameters.get("fieldsToCompare"))
    compare = text(node.parameters.get("compare"))
    if compare == "selectedFields" and names:
        keys = [f"{grouped(path('item', *keys_of(name)))} | default(none)" for name in names]
        by = {"by": keys[0] if len(keys) == 1 else f"[{', '.join(keys)}] | tojson"}
        return _operations(node, site, flows[0], [{"unique": by}])
    if compare == "allFieldsExcept":
        site.ctx.say(
            "decision", "compare", "All fields but some are compared in the file; here all are.", node
        )
    return _operations(node, site, flows[0], [{"unique": {"by": "item | tojson(sort_keys=true)"}}])


def _names(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text(entry.get("fieldName")) for entry in objects(value.get("fields"))]
    return [name.strip() for name in text(value).split(",") if name.strip()]


def aggregate(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """All items in one: their objects in a list, or a list for each field."""
    items = grouped(flows[0].many.code)
    how = text(node.parameters.get("aggregate")) or "aggregateIndividualFields"
    made: Json = {}
    if how == "aggregateAllItemData":
        name = text(node.parameters.get("destinationFieldName")).removeprefix("=") or "data"
        if text(node.parameters.get("include")) == "allFieldsExcept":
            site.ctx.say(
                "decision",
                "fields",
                "Some fields are left out of the list in the file; here all are in it.",
                node,
            )
        made[name] = shown(_only(node, flows[0]))
    else:
        keep = param(node, "options", "keepMissing") is True
        merge = param(node, "options", "mergeLists") is True
        for entry in objects(param(node, "fieldsToAggregate", "fieldToAggregate")):
            field = text(entry.get("fieldToAggregate")).lstrip("=")
            renamed = (
                text(entry.get("outputFieldName")).removeprefix("=")
                if entry.get("renameField") is True
                else ""
            )
            if field:
                made[renamed or str(keys_of(field)[-1])] = shown(
                    _column(items, field, keep=keep, merge=merge)
                )
    step = site.add(node, "TRANSFORM", {"input": made})
    return {0: single(shaped(path(step.id, "result"), dict.fromkeys(made, "list")), *site.tails)}


def _only(node: N8nNode, flow: Flow) -> str:
    include = text(node.parameters.get("include"))
    names = _names(
        node.parameters.get("fieldsToInclude")
        if include == "specifiedFields"
        else node.parameters.get("fieldsToExclude")
    )
    if include in ("specifiedFields", "allFieldsExcept") and names:
        query = "{" + ", ".join(f"{name}: {name}" for name in names) + "}"
        return (
            f"{grouped(flow.many.code)} | jmespath({constant(f'[*].{query}')})"
            if include == "specifiedFields"
            else flow.many.code
        )
    return flow.many.code


def _column(items: str, field: str, *, keep: bool, merge: bool) -> str:
    keys = keys_of(field)
    if any(not isinstance(key, str) or "." in key for key in keys):
        query = "[*]" + "".join(f"[{key}]" if isinstance(key, int) else f".{json.dumps(key)}" for key in keys)
        code = f"{items} | jmespath({constant(query)})"
    elif keep:
        code = f"{items} | map(attribute={constant(field)}, default=none)"
    else:
        code = f"{items} | selectattr({constant(field)}, 'defined') | map(attribute={constant(field)})"
    return f"{code} | flatten" if merge else code


def keys_of(field: str) -> list[str | int]:
    """The keys of a field's name: `a.b[0]['c d']`."""
    found = [
        int(number_of) if number_of else plain or quoted or double
        for plain, number_of, quoted, double in _KEY.findall(field)
    ]
    return found or [field]


def split_out(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """An item for each entry of a list; entries that are objects are the items."""
    given = node.parameters.get("fieldToSplitOut")
    names = [name.strip().removeprefix("=") for name in text(given).split(",") if name.strip()]
    if not names:
        return {0: flows[0].through(*site.tails)}
    if len(names) > 1:
        site.ctx.say(
            "decision",
            "split",
            f"Several fields are split side by side in the file; here only {names[0]}.",
            node,
        )
    keys = keys_of(names[0])
    include = text(node.parameters.get("include")) or "noOtherFields"
    target = text(
        node.parameters.get("destinationFieldName") or param(node, "options", "destinationFieldName")
    ) or str(keys[-1])
    renamed = bool(
        text(node.parameters.get("destinationFieldName") or param(node, "options", "destinationFieldName"))
    )
    if include != "noOtherFields":
        return _with_others(node, site, flows[0], keys, target)
    entry = f"{{{constant(target)}: item}}"
    each = [] if renamed else [{"map": f"item if item is mapping else {entry}"}]
    each = [{"map": entry}] if renamed else each
    if flows[0].one is not None:
        found = flows[0].one.get(*keys).code
        source = "[]" if found == NOTHING.code else found
        step = site.add(node, "LIST_OPERATION", {"input": shown(source), "operations": each})
    else:
        operations: list[Json] = [{"map": path("item", *keys)}, {"flatten": 1}, *each]
        step = site.add(
            node, "LIST_OPERATION", {"input": shown(flows[0].many.code), "operations": operations}
        )
    return {0: several(path(step.id, "result"), *site.tails)}


def _with_others(
    node: N8nNode, site: Site, flow: Flow, keys: list[str | int], target: str
) -> dict[int, Flow]:
    """Each entry together with the other fields of its item: an ITERATION over the items, a list in it."""
    inner = site.ctx.draft.ids.give(f"{node.id}_entries", "entries")
    whole_item = site.ctx.draft.ids.give(f"{node.id}_item", "item")
    step = site.add(
        node, "ITERATION", {"items": shown(flow.many.code), "output": shown(path(inner, "result"))}
    )
    step.body = Graph()
    step.body.add(
        Step(id=whole_item, type="TRANSFORM", config={"input": "{{ item }}"}),
        Step(id=inner, type="LIST_OPERATION", config={
            "input": shown(path(whole_item, "result", *keys)),
            "operations": [{"map": f"{whole_item}.result | combine({{{constant(target)}: item}})"}],
        }),
    )  # fmt: skip
    step.body.link(whole_item, inner)
    return {0: several(f"({step.id}.results | flatten)", *site.tails)}


def summarize(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """Sums, counts, … by groups, in Python: the rules are more than a list operation knows."""
    fields = [
        {
            "field": text(entry.get("field")),
            "how": text(entry.get("aggregation")) or "count",
            "separator": text(entry.get("separateBy") or ","),
        }
        for entry in objects(param(node, "fieldsToSummarize", "values"))
    ]
    groups = _names(node.parameters.get("fieldsToSplitBy"))
    config = {
        "code": SUMMARIZE,
        "inputs": {"items": shown(flows[0].many.code), "fields": fields, "groups": groups},
    }
    step = site.add(node, "CODE", config)
    return {0: several(path(step.id, "items"), *site.tails, may_be_empty=False)}


def first_batch(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """Batches that nothing leads back for: only the first one is ever given, and the end never comes."""
    newer = node.version >= 3  # noqa: PLR2004 - the outputs changed places there, and the default
    size = site.fields(node).value(node.parameters.get("batchSize") or (1 if newer else 10)).code
    site.ctx.say(
        "changed",
        "first_batch",
        "Nothing leads back to the node, so that only its first batch is worked on, as in n8n.",
        node,
    )
    flow = flows[0].through(*site.tails)
    if flow.one is None and size == "1":
        first = flow.item(f"({grouped(flow.many.code)} | first)")
        flow = replace(flow, many=Value(f"[{first.code}]", "items"), one=first, may_be_empty=False)
    elif flow.one is None:
        flow = replace(flow, many=Value(f"{grouped(flow.many.code)}[:{size}]", "items"))
    return {1 if newer else 0: flow}


def item_lists(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """The older node for lists, by its operation."""
    operation = text(node.parameters.get("operation")) or "splitOutItems"
    convert = {
        "splitOutItems": split_out, "limit": limit, "sort": sort, "removeDuplicates": unique, "summarize": summarize,
        "aggregateItems": aggregate, "concatenateItems": aggregate,
    }.get(operation, split_out)  # fmt: skip
    return convert(node, site, flows)


KINDS: Final = {
    "limit": Whole(limit, needs_items=False), "sort": Whole(sort, needs_items=False), "removeDuplicates": Whole(unique, needs_items=False),
    "aggregate": Whole(aggregate), "splitOut": Whole(split_out, needs_items=False), "summarize": Whole(summarize),
    "itemLists": Whole(item_lists, needs_items=False), "splitInBatches": Whole(first_batch),
}  # fmt: skip
