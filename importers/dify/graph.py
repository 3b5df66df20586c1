"""From the nodes of a canvas, or of one body, to steps and edges."""

from __future__ import annotations

from collections.abc import Iterable

from interlace.engine.document import BREAK
from interlace.importers.build import ERROR, OUT, Graph
from interlace.importers.dify.context import Context
from interlace.importers.dify.file import DifyNode, is_body_start
from interlace.importers.foreign import objects, text


def fill(graph: Graph, parent: DifyNode | None, ctx: Context) -> None:
    """Add the steps and edges of a body, or of the whole canvas."""
    inside = ctx.file.children(parent.id if parent else None)
    if parent is not None:
        parent.data["_inside"] = True
    entries: dict[str, str] = {}
    for node in inside:
        if node.kind == "loop-end":
            entries[node.id] = BREAK
            ctx.say("carried", "node", "Edges to it leave the loop: they lead to `$break`.", node)
        elif is_body_start(node):
            ctx.say("carried", "node", "It only marks where the body begins.", node)
        elif node.kind != "note" and not is_body_start(node):
            before = len(graph.steps)
            entries[node.id] = ctx.kind(node).convert(node, ctx, graph)
            _carried(node, ctx, len(graph.steps) > before)
    _link(graph, inside, entries, ctx)
    if parent is not None:
        parent.data["_inside"] = False


def _carried(node: DifyNode, ctx: Context, made: bool) -> None:
    """Every node has an entry: carried over, unless something else was said about it."""
    said = {
        entry.level
        for entry in ctx.report.entries
        if entry.source_node == node.title and entry.node == node.name
    }
    if made and not said:
        ctx.say("carried", "node", f"{node.kind}: carried over.", node)


def _link(graph: Graph, inside: Iterable[DifyNode], entries: dict[str, str], ctx: Context) -> None:
    known = {node.id: node for node in inside}
    for edge in ctx.file.edges:
        source = known.get(edge.source)
        if source is None or edge.target not in known or is_body_start(source):
            continue
        target = entries.get(edge.target)
        if target is None or edge.source not in entries or entries[edge.source] == BREAK:
            continue
        handle = _handle(source, edge.handle, ctx)
        if handle is None:
            ctx.say(
                "changed",
                "unknown_handle",
                f"An edge leaves from {edge.handle!r}, which the node does not have; it was left out.",
                source,
            )
            continue
        graph.link(source.name, target, handle)
        if source.kind == "parameter-extractor" and handle == OUT:
            graph.link(source.name, target, "missing")
        if source.kind == "question-classifier" and edge.handle == first_class(source):
            graph.link(source.name, target, "else")


def first_class(node: DifyNode) -> str:
    """The class that Dify takes where the model names none of them."""
    return text(next(iter(objects(node.data.get("classes"))), {}).get("id"))


def _handle(node: DifyNode, handle: str, ctx: Context) -> str | None:
    if handle == "fail-branch":
        return ERROR
    chosen = ctx.kind(node).handle
    if chosen is not None:
        return chosen(node, handle)
    return OUT
