"""Dify's iteration and loop: the nodes inside become the body."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.build import Graph, spread
from interlace.importers.dify.conditions import expression
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode, selector
from interlace.importers.dify.graph import fill
from interlace.importers.dify.nodes.common import apply_policies
from interlace.importers.expressions import Ref, path, whole
from interlace.importers.foreign import Json, at, number, objects, text
from interlace.importers.foreign import whole as whole_number
from interlace.importers.naming import slug

_ON_ERROR: Final = {
    "continue-on-error": "null",
    "continue_on_error": "null",
    "remove-abnormal-output": "drop",
    "remove_abnormal_output": "drop",
}
_LISTS: Final = frozenset({
    ("iteration", "output"), ("list-operator", "result"), ("knowledge-retrieval", "result"), ("tool", "json"), ("tool", "files"),
    ("agent", "json"), ("agent", "files"), ("http-request", "files"),
})  # fmt: skip
"""Outputs that are always lists, by kind."""
_NAMES: Final = "_variable_names"
_MOST_PARALLEL: Final = 1000


def iteration(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """ITERATION over the list."""
    data = node.data
    config: Json = {"items": whole(ctx.ref(data.get("iterator_selector"), node))}
    step = ctx.step(node, "ITERATION", config)
    step.body = Graph()
    fill(step.body, node, ctx)
    if selector(data.get("output_selector")):
        config["output"] = whole(ctx.ref(data.get("output_selector"), node))
    if data.get("is_parallel") is True:
        config["parallel"] = max(1, min(whole_number(data.get("parallel_nums")) or 10, _MOST_PARALLEL))
    on_error = _ON_ERROR.get(text(data.get("error_handle_mode")))
    if on_error:
        config["on_item_error"] = on_error
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def iteration_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """The results; inside, `item` and `index`."""
    if keys and keys[0] in ("item", "index"):
        return Ref(path(keys[0], *keys[1:]))
    results = path(node.name, "results")
    if keys and keys[0] == "output":
        if node.data.get("flatten_output") is False or not _gives_lists(node, ctx):
            return Ref(path(results, *keys[1:]))
        # Where lists are put into one, an item that failed leaves nothing behind.
        failed = _ON_ERROR.get(text(node.data.get("error_handle_mode"))) == "null"
        return Ref(f"{results} | reject('none') | flatten" if failed else f"{results} | flatten")
    return Ref(path(node.name, *keys))


def _gives_lists(node: DifyNode, ctx: Context) -> bool:  # noqa: PLR0911 - one return a kind
    """Whether each item gives a list: Dify puts such lists into one."""
    if text(node.data.get("output_type")).startswith("array[array"):
        return True
    chosen = selector(node.data.get("output_selector"))
    source = ctx.file.nodes.get(chosen[0]) if chosen else None
    if source is None or len(chosen) < 2:  # noqa: PLR2004 - a node and its output
        return False
    if source.kind == "code":
        return text(at(source.data.get("outputs"), chosen[1], "type")).startswith("array")
    if source.kind in ("variable-aggregator", "variable-assigner"):
        return _aggregates_lists(source, chosen)
    if source.kind == "parameter-extractor":
        declared = {
            text(one.get("name")): text(one.get("type")) for one in objects(source.data.get("parameters"))
        }
        return declared.get(chosen[1], "").startswith("array")
    if source.kind == "llm":
        kind = at(source.data, "structured_output", "schema", "properties", *chosen[2:], "type")
        return chosen[1] == "files" or (len(chosen) == 3 and kind == "array")  # noqa: PLR2004 - a field of the answer
    if source.kind == "document-extractor":
        return source.data.get("is_array_file") is True
    return (source.kind, chosen[1]) in _LISTS


def _aggregates_lists(source: DifyNode, chosen: Sequence[str]) -> bool:
    groups = objects(at(source.data, "advanced_settings", "groups"))
    named = next((one for one in groups if text(one.get("group_name")) == chosen[1]), source.data)
    return text(named.get("output_type")).startswith("array")


def loop(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """LOOP: variables, the condition that ends it, and its limit of rounds, which is no failure in Dify."""
    data = node.data
    variables = {
        name: _first(entry, node, ctx)
        for entry, name in zip(_entries(node), names(node, ctx).values(), strict=True)
    }
    config: Json = {"variables": variables}
    step = ctx.step(node, "LOOP", config)
    step.body = Graph()
    fill(step.body, node, ctx)
    conditions = objects(data.get("break_conditions"))
    if conditions:
        own = all(selector(one.get("variable_selector"))[:1] == [node.id] for one in conditions)
        data["_inside"] = True
        code = expression(conditions, data.get("logical_operator"), node, ctx, negated=own)
        data["_inside"] = False
        config["while" if own else "until"] = code
    config["max_rounds"] = max(1, min(whole_number(data.get("loop_count")) or 10, 10_000))
    config["on_max"] = "continue"
    step.config = spread(config)
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def _entries(node: DifyNode) -> list[Json]:
    return [entry for entry in objects(node.data.get("loop_variables")) if text(entry.get("label"))]


def names(node: DifyNode, ctx: Context) -> dict[str, str]:
    """The loop variables' names here, by Dify's: they share one space with the ids of nodes."""
    found = node.data.get(_NAMES)
    if not isinstance(found, dict):
        found = {
            text(entry["label"]): ctx.draft.ids.give(slug(text(entry["label"])) or "value", "value")
            for entry in _entries(node)
        }
        node.data[_NAMES] = found
    return found


def _first(entry: Json, node: DifyNode, ctx: Context) -> Any:  # noqa: PLR0911 - one return a case
    value = entry.get("value")
    if text(entry.get("value_type")) == "variable":
        return whole(ctx.ref(value, node))
    kind = text(entry.get("var_type"))
    if kind == "number":
        found = number(value)
        return 0 if found is None else int(found) if float(found).is_integer() else found
    if kind == "boolean":
        return value is True or text(value).lower() == "true"
    if kind == "string":
        return ctx.mixed(text(value), node)
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return [] if kind.startswith("array") else {} if kind == "object" else value
    return value


def loop_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """A loop variable: by its bare name inside, as an output of the loop outside."""
    if not keys:
        return Ref(node.name)
    if keys[0] == "loop_round":
        return Ref(path(node.name, "rounds"))
    if keys[0] == "index":
        return Ref("loop.round")
    known = names(node, ctx)
    if keys[0] not in known:
        return Ref("none")
    if node.data.get("_inside"):
        return Ref(path(known[keys[0]], *keys[1:]))
    return Ref(path(node.name, known[keys[0]], *keys[1:]))


KINDS: Final = {
    "iteration": Kind(iteration, iteration_output, fallback="each"),
    "loop": Kind(loop, loop_output, fallback="repeat"),
}
