"""The nodes and edges of a document as integer-indexed records, one `Scope` for the document and for each body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.engine.document import BREAK, CONTINUE, Body, Document, NodeSpec
from interlace.engine.node import Node
from interlace.engine.registry import NodeType
from interlace.engine.schema import Schema
from interlace.engine.validate.conditions import ALWAYS, Condition

JUMPS = frozenset({BREAK, CONTINUE})
END, START = "END", "START"


@dataclass(slots=True, eq=False)
class Entry:
    """One node and what the validator knows of it."""

    index: int
    spec: NodeSpec
    scope: Scope
    occurrence: int = 0
    """Which of several nodes with this id."""
    type: NodeType | None = None
    node: Node[Any, Any] | None = None
    """The node with its config; None where the config is wrong."""
    handles: tuple[str, ...] | None = None
    """All handles that edges may leave from; None where they are not known."""
    incoming: list[tuple[Entry, str]] = field(default_factory=list)
    outgoing: list[tuple[str, Entry]] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)
    """Handle and index (in the scope's edges) of the first edge that leaves from it, broken edges included."""
    ancestors: int = 0
    """The nodes that are decided before, outer ones included, as a set of bits by index."""
    condition: Condition = ALWAYS
    """When it runs, given that the pass through its scope does."""
    succeeds: Condition = ALWAYS
    """When it has outputs."""
    literals: dict[str, int] = field(default_factory=dict)
    """The handles of a node with several outcomes, as literals of conditions."""
    when: dict[str, Condition] = field(default_factory=dict)
    """When the edges of a handle are taken, as far as it was asked."""
    certain: bool = True
    """Whether order and conditions are known: false around cycles, broken edges and unreachable nodes."""
    output: Schema | None = None
    body: Scope | None = None

    @property
    def id(self) -> str:
        """The node's id."""
        return self.spec.id


@dataclass(slots=True, eq=False)
class Scope:
    """The document, or the inside of one container."""

    container: Entry | None
    body: Document | Body
    entries: list[Entry] = field(default_factory=list)
    by_id: dict[str, Entry] = field(default_factory=dict)
    order: list[Entry] = field(default_factory=list)
    """The nodes so that each comes after those before it; nodes of cycles last."""
    jumps: list[tuple[Entry, str]] = field(default_factory=list)
    """Edges to $break and $continue."""
    own_names: Mapping[str, Schema] = field(default_factory=dict)
    """The extra names of the body: item, index, loop, loop variables."""
    names: Mapping[str, Schema] = field(default_factory=dict)
    """The same, those of the bodies around included."""
    depth: int = 0

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.container.scope if scope.container is not None else None


@dataclass(slots=True, eq=False)
class Graph:
    """All nodes of a document."""

    document: Document
    root: Scope
    entries: list[Entry] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    """Outer scopes before inner ones."""
    by_id: dict[str, Entry] = field(default_factory=dict)
    """The first node of each id."""


def build(document: Document) -> Graph:
    """Index the nodes of a document, bodies included; edges are added by `edges.connect`."""
    graph = Graph(document, Scope(None, document))
    todo = [graph.root]
    seen: dict[str, int] = {}
    while todo:
        scope = todo.pop(0)
        graph.scopes.append(scope)
        for spec in scope.body.nodes:
            occurrence = seen.get(spec.id, 0)
            seen[spec.id] = occurrence + 1
            entry = Entry(len(graph.entries), spec, scope, occurrence)
            graph.entries.append(entry)
            scope.entries.append(entry)
            scope.by_id.setdefault(spec.id, entry)
            graph.by_id.setdefault(spec.id, entry)
            if spec.body is not None:
                entry.body = Scope(entry, spec.body, depth=scope.depth + 1)
                todo.append(entry.body)
    return graph
