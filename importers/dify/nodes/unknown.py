"""A kind of node that is not known: a placeholder that fails and says what it was."""

from __future__ import annotations

from typing import Final

from interlace.importers.build import Graph
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import outputs
from interlace.importers.placeholder import failing_code, settings_text


def convert(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """A CODE node that fails when it is reached."""
    message = f"{node.title!r} was a node of kind {node.kind!r} in Dify, which has no counterpart here; put another node in its place."
    ctx.say("unsupported", "unknown_kind", message, node)
    kept = {
        name: value for name, value in node.data.items() if not name.startswith("_") and name != "selected"
    }
    graph.add(ctx.step(node, "CODE", failing_code(message, settings_text(kept), language="Dify's settings")))
    return node.name


KINDS: Final = {"": Kind(convert, outputs({}, texts=frozenset()), fallback="unknown")}
