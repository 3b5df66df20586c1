"""Which nodes a replay concerns: what follows a node, and what a newer version has changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from interlace.engine.document import Body, Document, NodeSpec
from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem, nearest


def following(document: Document, start: Iterable[str]) -> set[str]:
    """Some nodes and all that come after them."""
    after: dict[str, list[str]] = defaultdict(list)
    for edge in document.edges:
        after[edge.from_].append(edge.to)
    found: set[str] = set()
    left = list(start)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += after[node]
    return found


def root_of(document: Document, path: str) -> str:
    """The node of the document that a replay begins at.

    Raises:
        InvalidDocument: there is none of that id; for a node in a body the message names the node that holds it.
    """
    ids = [node.id for node in document.nodes]
    if path in ids:
        return path
    inner = path.rpartition(".")[2]
    for node in document.nodes:
        if node.body is not None and any(spec.id == inner for spec in _inside(node.body)):
            raise _invalid(
                path,
                f"{path!r} stands in the body of {node.id}, which is done again as a whole; replay from {node.id}",
            )
    guess = nearest(path, ids)
    hint = f"did you mean {guess!r}?" if guess else f"the nodes are {', '.join(ids)}"
    raise _invalid(path, f"the workflow has no node {path!r}; {hint}")


def changed_nodes(before: Document, after: Document) -> set[str]:
    """Nodes of the newer document that are new, are defined differently, or are reached by other edges."""
    known, now = _definitions(before), _definitions(after)
    return {name for name, definition in now.items() if known.get(name) != definition}


def _definitions(document: Document) -> dict[str, Any]:
    incoming: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for edge in document.edges:
        incoming[edge.to].append((edge.from_, edge.handle))
    return {
        node.id: (_definition(node), sorted(incoming[node.id]), document.inputs if node.type == "START" else None)
        for node in document.nodes
    }  # fmt: skip


def _definition(node: NodeSpec) -> dict[str, Any]:
    """What decides a node's work: not its label and note."""
    own = node.model_dump(mode="json", by_alias=True, exclude={"label", "note", "body"})
    if node.body is not None:
        own["nodes"] = [_definition(spec) for spec in node.body.nodes]
        own["edges"] = [edge.model_dump(mode="json", by_alias=True) for edge in node.body.edges]
    return own


def _inside(body: Body) -> Iterable[NodeSpec]:
    for spec in body.nodes:
        yield spec
        if spec.body is not None:
            yield from _inside(spec.body)


def _invalid(node: str, message: str) -> InvalidDocument:
    return InvalidDocument([Problem(code="replay", node=node, message=message)])
