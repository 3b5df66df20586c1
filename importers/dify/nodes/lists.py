"""Dify's list operator: filter, extract, order, limit."""

from __future__ import annotations

from typing import Any, Final

from interlace.importers.build import Graph, spread
from interlace.importers.dify.conditions import OPERATORS
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import outputs
from interlace.importers.expressions import constant, is_simple, path, whole
from interlace.importers.foreign import Json, at, mapping, number, objects, text
from interlace.importers.foreign import whole as whole_number

_FIELDS: Final = {"mime_type": "media_type", "type": "media_type", "url": "ref", "extension": "name"}
_FORMS: Final = {
    "contains": "{right} in {left}", "not contains": "{right} not in {left}", "starts with": "{left} is startingwith({right})",
    "ends with": "{left} is endingwith({right})", "in": "{left} in {right}", "not in": "{left} not in {right}",
    "is empty": "{left} is empty", "is not empty": "{left} is not empty",
}  # fmt: skip


def convert(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """LIST_OPERATION, in Dify's order: filter, extract, order, limit."""
    is_filtered = at(node.data, "filter_by", "enabled") is True
    conditions = objects(at(node.data, "filter_by", "conditions")) if is_filtered else []
    operations: list[Json] = [{"filter": _filter(condition, node, ctx)} for condition in conditions]
    if at(node.data, "extract_by", "enabled") is True:
        operations.append({"slice": _one(node.data["extract_by"], node, ctx)})
    if at(node.data, "order_by", "enabled") is True:
        operations.append({"sort": _order(mapping(node.data["order_by"]))})
    size = whole_number(at(node.data, "limit", "size"))
    if at(node.data, "limit", "enabled") is True and size is not None:
        operations.append({"slice": [0, max(size, 0)]})
    config = {"input": whole(ctx.ref(node.data.get("variable"), node)), "operations": operations}
    graph.add(ctx.step(node, "LIST_OPERATION", spread(config)))
    return node.name


def _filter(condition: Json, node: DifyNode, ctx: Context) -> str:
    operator = OPERATORS.get(text(condition.get("comparison_operator")))
    if operator is None:
        ctx.say(
            "decision",
            "operator",
            f"The operator {condition.get('comparison_operator')!r} is not known; nothing passes.",
            node,
        )
        return "false"
    key = text(condition.get("key"))
    left = path("item", _FIELDS.get(key, key)) if key else "item"
    right = _right(condition.get("value"), text(node.data.get("item_var_type")), node, ctx)
    return _FORMS.get(operator, f"{{left}} {operator} {{right}}").format(left=left, right=right)


def _right(value: Any, kind: str, node: DifyNode, ctx: Context) -> str:
    if isinstance(value, str) and "{{#" in value:
        code = ctx.mixed(value, node)[2:-2].strip()
        return code if is_simple(code) else f"({code})"
    if kind == "number" and (found := number(value)) is not None:
        return constant(int(found) if float(found).is_integer() else found)
    return constant(value if isinstance(value, str | int | float | bool | list) else text(value))


def _order(setting: Json) -> Json | bool:
    key = text(setting.get("key"))
    made = spread({"by": path("item", _FIELDS.get(key, key)) if key else None})
    if text(setting.get("value")).lower() == "desc":
        made["descending"] = True
    return made or True


def _one(setting: Any, node: DifyNode, ctx: Context) -> list[int]:
    serial = whole_number(at(setting, "serial"))
    if serial is None:
        ctx.say(
            "decision",
            "serial",
            f"Which entry is taken ({at(setting, 'serial')!r}) is computed in the file; the first is taken here.",
            node,
        )
        serial = 1
    return [max(serial - 1, 0), max(serial, 1)]


KINDS: Final = {
    "list-operator": Kind(
        convert, outputs({"result": ("result",), "first_record": ("first",), "last_record": ("last",)}, texts=frozenset()),
        fallback="list",
    ),
}  # fmt: skip
