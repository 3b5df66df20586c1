"""Dify's human input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlace.importers.build import Graph, spread
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.expressions import Ref, path
from interlace.importers.foreign import Json, objects, text, whole
from interlace.importers.naming import slug, unique

_UNITS: Final = {"hour": "h", "day": "d", "minute": "m", "second": "s"}
_HANDLES: Final = "_action_names"


def convert(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """HUMAN: fields of the form, buttons as actions, the time limit."""
    fields: Json = {}
    for entry in objects(node.data.get("inputs")):
        name = text(entry.get("output_variable_name")) or text(entry.get("variable"))
        if name:
            fields[name] = {"type": "string"}
    used = {"timeout", "error"}
    names = {
        text(one.get("id")): unique(slug(text(one.get("id")) or text(one.get("title"))) or "action", used)
        for one in objects(node.data.get("user_actions"))
    }
    node.data[_HANDLES] = names
    config = {
        "title": node.title, "message": ctx.worded(node.data.get("form_content"), node),
        "form": {"type": "object", "properties": fields} if fields else None, "actions": list(names.values()) or ["submit"],
    }  # fmt: skip
    limit = whole(node.data.get("timeout"))
    if limit and limit > 0:
        config["timeout"] = f"{limit}{_UNITS.get(text(node.data.get('timeout_unit')), 'h')}"
    methods = [
        text(one.get("type"))
        for one in objects(node.data.get("delivery_methods"))
        if one.get("enabled") is not False
    ]
    if [one for one in methods if one and one != "webapp"]:
        ctx.say(
            "decision",
            "channels",
            f"Requests were sent by {', '.join(filter(None, methods))}; the inbox has them here. Add `channels` for more.",
            node,
        )
    graph.add(ctx.step(node, "HUMAN", spread(config)))
    return node.name


def handle(node: DifyNode, name: str) -> str | None:
    """A button's id, or the time-out."""
    return "timeout" if name == "__timeout" else node.data.get(_HANDLES, {}).get(name)


def output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """A field of the form, or the button."""
    del ctx
    if not keys:
        return Ref(node.name)
    if keys[0] == "__action_id":
        return Ref(path(node.name, "action"), is_text=True)
    return Ref(path(node.name, "form", *keys))


KINDS: Final = {"human-input": Kind(convert, output, handle, fallback="ask")}
