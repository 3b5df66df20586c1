"""From the nodes of a blueprint, or of one body, to steps and edges."""

from __future__ import annotations

from collections.abc import Sequence

from interlace.importers.build import ERROR, OUT, Graph
from interlace.importers.fim_one.context import Context
from interlace.importers.fim_one.file import FimNode

_BRANCHING = frozenset(
    {"CONDITION_BRANCH", "CONDITION", "QUESTION_CLASSIFIER", "CLASSIFIER", "HUMAN_INTERVENTION", "HUMAN"}
)


def fill(graph: Graph, names: Sequence[str], ctx: Context) -> None:
    """Add the steps and edges of some nodes."""
    inside = set(names)
    for name in names:
        node = ctx.file.nodes[name]
        ctx.kind(node).convert(node, ctx, graph)
        if not any(
            entry.source_node == node.label and entry.node == node.name for entry in ctx.report.entries
        ):
            ctx.say("carried", "node", f"{node.kind}: carried over.", node)
    for edge in ctx.file.edges:
        source, target = edge.source, edge.target
        if source in inside and target in inside:
            graph.link(
                ctx.file.nodes[source].name,
                ctx.file.nodes[target].name,
                _handle(ctx.file.nodes[source], edge.handle, ctx),
            )
        elif target in inside and source not in inside:
            _from_body(graph, source, target, inside, ctx)


def _from_body(graph: Graph, source: str, target: str, inside: set[str], ctx: Context) -> None:
    """An edge out of a body leaves from the container."""
    outer = ctx.inside.get(source)
    if outer is not None and outer in inside and target != outer:
        graph.link(ctx.file.nodes[outer].name, ctx.file.nodes[target].name)


def _handle(node: FimNode, handle: str, ctx: Context) -> str:
    if "fail" in handle.lower() or handle.lower().rpartition("-")[2] == "error":
        return ERROR
    chosen = ctx.kind(node).handle
    if chosen is not None and (handle or node.kind not in _BRANCHING or node.kind.startswith("HUMAN")):
        return chosen(node, handle)
    return "else" if chosen is not None else OUT
