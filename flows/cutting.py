"""A document cut off behind one node: what a run up to there executes."""

from __future__ import annotations

from interlace.engine.document import Document, Edge, NodeSpec
from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem, nearest

END = "END"


def up_to(document: Document, node_id: str) -> Document:
    """The document with a node and all that runs before it; what came after is an END without outputs.

    A node inside a body stands for its outermost container, which runs as a whole.

    Raises:
        InvalidDocument: there is no such node.
    """
    target = _outermost(document, node_id)
    kept, waiting = {target}, [target]
    while waiting:
        here = waiting.pop()
        for edge in document.edges:
            if edge.to == here and edge.from_ not in kept:
                kept.add(edge.from_)
                waiting.append(edge.from_)
    specs = [spec for spec in document.nodes if spec.id in kept]
    edges = [
        edge for edge in document.edges if edge.from_ in kept and edge.to in kept and edge.from_ != target
    ]
    if any(spec.id == target and spec.type == END for spec in specs):
        return document.model_copy(update={"nodes": specs, "edges": edges})
    end = _free(document, "reached")
    cut = [edge for edge in document.edges if edge.from_ in kept and edge not in edges]
    leaving = list(dict.fromkeys((edge.from_, edge.handle) for edge in cut)) or [(target, "out")]
    edges += [Edge(from_=source, handle=handle, to=end) for source, handle in leaving]
    specs.append(NodeSpec(id=end, type=END, config={"outputs": {}}))
    return document.model_copy(update={"nodes": specs, "edges": edges, "triggers": []})


def _outermost(document: Document, node_id: str) -> str:
    for spec in document.nodes:
        inner = [spec.id]
        if spec.body is not None:
            inner += [found.id for found, _ in spec.body.walk()]
        if node_id in inner:
            return spec.id
    known = [spec.id for spec, _ in document.walk()]
    guess = nearest(node_id, known)
    hint = f"did you mean {guess!r}?" if guess else f"known: {', '.join(known)}"
    raise InvalidDocument(
        [Problem(code="unknown_node", node=node_id, message=f"no node {node_id!r}; {hint}")]
    )


def _free(document: Document, name: str) -> str:
    taken = {spec.id for spec, _ in document.walk()}
    number = 1
    while (wanted := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return wanted
