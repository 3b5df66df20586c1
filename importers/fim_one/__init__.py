"""FIM One's blueprints, in every envelope they come in."""

from __future__ import annotations

from typing import Any

from interlace.importers.build import Draft
from interlace.importers.fim_one import nodes_data, nodes_flow, nodes_work
from interlace.importers.fim_one.context import Context
from interlace.importers.fim_one.file import FimFile, read_file, recognizes
from interlace.importers.fim_one.graph import fill
from interlace.importers.foreign import objects, text, texts
from interlace.importers.report import Report

__all__ = ["convert", "recognizes"]

KINDS = {**nodes_flow.KINDS, **nodes_data.KINDS, **nodes_work.KINDS}
_NOT_IN_BODIES = frozenset({"END", "START"})


def convert(data: Any, report: Report) -> Draft:
    """The draft of a blueprint.

    Raises:
        NotImported: the data is none of FIM One, or it is damaged.
    """
    file = read_file(data)
    draft = Draft(name=file.name, description=file.description.strip() or None)
    ctx = Context(file=file, draft=draft, report=report, kinds=KINDS)
    for node in file.nodes.values():
        node.name = draft.ids.give(node.id if node.id.isascii() else node.label, ctx.kind(node).fallback)
        if node.kind == "START":
            nodes_flow.declare(node, ctx)
        if node.kind == "VARIABLE_ASSIGN":
            for entry in objects(node.data.get("assignments")):
                if text(entry.get("variable")).isidentifier():
                    draft.variables.setdefault(text(entry["variable"]), {"type": "any"})
    _find_bodies(file, ctx)
    fill(draft.graph, [name for name in file.nodes if name not in ctx.inside], ctx)
    return draft


def _find_bodies(file: FimFile, ctx: Context) -> None:
    """Which nodes stand in the body of an iterator or loop; an inner one is part of the outer's body."""
    for node in file.nodes.values():
        if node.kind in ("ITERATOR", "ITERATION"):
            members = [
                name
                for name in file.reached(node.id)
                if file.nodes[name].kind not in _NOT_IN_BODIES and name != node.id
            ]
        elif node.kind == "LOOP":
            members = [
                name for name in texts(node.data.get("body_nodes")) if name in file.nodes and name != node.id
            ]
            members = [name for name in members if file.nodes[name].kind not in _NOT_IN_BODIES]
        else:
            continue
        ctx.bodies[node.id] = [name for name in members if name not in ctx.inside]
        ctx.inside |= {name: node.id for name in members if name not in ctx.inside}
