"""Dify's variable aggregator and assigner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.build import Graph, spread
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode, selector
from interlace.importers.dify.nodes.common import outputs
from interlace.importers.expressions import Ref, grouped, path, shown, whole
from interlace.importers.foreign import Json, at, listed, objects, text
from interlace.importers.naming import slug

_EMPTY: Final[dict[str, Any]] = {"string": "", "number": 0, "object": {}, "array": [], "boolean": False}
_COMPUTED: Final = {"-=": "-", "*=": "*", "/=": "/"}


def aggregator(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """VARIABLE_AGGREGATOR in mode first."""
    groups = objects(at(node.data, "advanced_settings", "groups"))
    if at(node.data, "advanced_settings", "group_enabled") is True and groups:
        made = [
            {"name": _group_name(group, index), "values": _values(group.get("variables"), node, ctx)}
            for index, group in enumerate(groups, 1)
        ]
        config: Json = {"groups": made}
    else:
        config = {"values": _values(node.data.get("variables"), node, ctx)}
    graph.add(ctx.step(node, "VARIABLE_AGGREGATOR", spread(config)))
    return node.name


def _group_name(group: Json, index: int) -> str:
    return slug(text(group.get("group_name"))) or f"group_{index}"


def _values(value: Any, node: DifyNode, ctx: Context) -> list[str]:
    return [whole(ctx.ref(one, node)) for one in listed(value) if selector(one)]


def aggregator_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """The value, or that of a group."""
    del ctx
    if not keys or keys[0] == "output":
        return Ref(path(node.name, "value", *keys[1:]))
    rest = keys[2:] if len(keys) > 1 and keys[1] == "output" else keys[1:]
    return Ref(path(node.name, slug(keys[0]) or keys[0], *rest))


def assigner(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """VARIABLE_ASSIGN; a variable of a loop around is written by its bare name."""
    items = objects(node.data.get("items"))
    if not items and node.data.get("assigned_variable_selector"):
        items = [_old(node.data)]
    made = [one for item in items for one in [_assignment(item, node, ctx)] if one is not None]
    if not made:
        ctx.say("changed", "no_assignment", "The assigner sets nothing in the file; it does nothing.", node)
        graph.add(ctx.step(node, "TEMPLATE", {"template": ""}))
        return node.name
    graph.add(ctx.step(node, "VARIABLE_ASSIGN", {"assignments": made}))
    return node.name


def _old(data: Json) -> Json:
    """The first form of the node: one variable, `over-write`, `append` or `clear`."""
    return {
        "variable_selector": data.get("assigned_variable_selector"), "operation": text(data.get("write_mode")) or "over-write",
        "input_type": "variable", "value": data.get("input_variable_selector"),
    }  # fmt: skip


def _assignment(item: Json, node: DifyNode, ctx: Context) -> Json | None:  # noqa: PLR0911 - one return a case
    keys = selector(item.get("variable_selector"))
    target = ctx.ref(keys, node).code
    name = target.removeprefix("vars.")
    if not keys or not name.isidentifier() or name == "none":
        ctx.say(
            "changed",
            "no_variable",
            f"It sets {'.'.join(keys) or 'nothing'}, which cannot be set; that was left out.",
            node,
        )
        return None
    operation = text(item.get("operation")) or "over-write"
    value = _value(item, node, ctx)
    if operation in ("over-write", "overwrite", "set"):
        return {"variable": name, "value": value}
    if operation == "clear":
        return {"variable": name, "value": _empty(keys, ctx)}
    if operation == "append":
        return {"variable": name, "op": "append", "value": value}
    if operation == "+=":
        return {"variable": name, "op": "increment", "value": value}
    code = _computed(operation, target, value)
    if code is None:
        ctx.say(
            "decision",
            "operation",
            f"The operation {operation!r} on {name} is not known; it was left out.",
            node,
        )
        return None
    return {"variable": name, "value": shown(code)}


def _computed(operation: str, target: str, value: Any) -> str | None:
    if operation in _COMPUTED:
        return f"{target} {_COMPUTED[operation]} {_bare(value)}"
    if operation == "extend":
        return f"{target} + {_bare(value)}"
    if operation == "remove-first":
        return f"{target}[1:]"
    return f"{target}[:-1]" if operation == "remove-last" else None


def _bare(value: Any) -> str:
    if isinstance(value, str) and value.startswith("{{") and value.endswith("}}"):
        return grouped(value[2:-2].strip())
    return repr(value) if not isinstance(value, bool | type(None)) else str(value).lower()


def _value(item: Json, node: DifyNode, ctx: Context) -> Any:
    value = item.get("value")
    if text(item.get("input_type")) == "variable" or (
        isinstance(value, list)
        and len(value) > 1
        and text(value[0]) in (*ctx.file.nodes, "sys", "conversation", "env")
    ):
        return whole(ctx.ref(value, node))
    return ctx.mixed(value, node) if isinstance(value, str) else value


def _empty(keys: list[str], ctx: Context) -> Any:
    if keys[0] == "conversation":
        return _EMPTY.get(text(ctx.draft.variables.get(keys[-1], {}).get("type")), "")
    around = ctx.file.nodes.get(keys[0])
    declared = objects(around.data.get("loop_variables")) if around is not None else []
    kind = next(
        (text(one.get("var_type")) for one in declared if text(one.get("label")) == keys[-1]), "string"
    )
    return _EMPTY.get("array" if kind.startswith("array") else kind, "")


KINDS: Final = {
    "variable-aggregator": Kind(aggregator, aggregator_output, fallback="merge"),
    "variable-assigner": Kind(aggregator, aggregator_output, fallback="merge"),
    "assigner": Kind(assigner, outputs({}, texts=frozenset()), fallback="assign"),
}
