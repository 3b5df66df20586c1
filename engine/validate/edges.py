"""Checks edges one by one and joins the nodes with those that are right."""

from __future__ import annotations

from interlace.engine.document import Edge
from interlace.engine.validate.graph import END, JUMPS, START, Entry, Graph, Scope
from interlace.engine.validate.report import Report

ERROR = "error"


def connect(graph: Graph, report: Report) -> None:
    """Join the nodes of every scope by its edges, reporting those that are wrong."""
    for scope in graph.scopes:
        wiring = _Wiring(graph, scope, report)
        for index, edge in enumerate(scope.body.edges):
            wiring.add(edge, index)


def shown(edge: Edge) -> str:
    """An edge in short form."""
    return (
        f"{edge.from_} -> {edge.to}" if edge.handle == "out" else f"{edge.from_}.{edge.handle} -> {edge.to}"
    )


class _Wiring:
    """The edges of one scope."""

    def __init__(self, graph: Graph, scope: Scope, report: Report) -> None:
        self._graph = graph
        self._scope = scope
        self._report = report
        self._joined: set[tuple[str, str, str]] = set()

    def add(self, edge: Edge, index: int) -> None:
        """Check an edge and join its nodes."""
        by_id = self._scope.by_id
        source, target = by_id.get(edge.from_), by_id.get(edge.to)
        if source is None:
            self._unknown_end(edge, edge.from_, index)
            if target is not None:
                target.certain = False
            return
        source.taken.setdefault(edge.handle, index)
        if target is None and edge.to not in JUMPS:
            self._unknown_end(edge, edge.to, index)
            return
        if not self._allowed(source, target, edge, index):
            return
        key = (edge.from_, edge.handle, edge.to)
        if key in self._joined:
            self._add(
                "duplicate_edge", edge, index, f"The edge {shown(edge)} stands twice.", "Remove one of them."
            )
            return
        self._joined.add(key)
        if target is None:
            self._scope.jumps.append((source, edge.handle))
            return
        if source.handles is None or edge.handle not in source.handles:
            target.certain = False
        source.outgoing.append((edge.handle, target))
        target.incoming.append((source, edge.handle))

    def _add(self, code: str, edge: Edge, index: int, message: str, fix: str | None) -> None:
        container = self._scope.container.id if self._scope.container is not None else None
        self._report.add_edge(code, message, node=edge.from_, container=container, index=index, fix=fix)

    def _unknown_end(self, edge: Edge, name: str, index: int) -> None:
        """One end of an edge is no node of the scope."""
        other = self._graph.by_id.get(name)
        if other is not None:
            message = f"The edge {shown(edge)} stands in {_place(self._scope)}, but {name!r} is a node of {_place(other.scope)}."
            fix = "Edges join nodes of one body; inside a body, outer nodes are read by their ids."
            self._add("edge_across_bodies", edge, index, message, fix)
            return
        guess = self._report.nearest(name, self._scope.by_id)
        if guess is not None and name == edge.to:
            # Most likely that node was meant, so it is not cut off as well.
            self._scope.by_id[guess].certain = False
        fix = f"Did you mean {guess!r}?" if guess else f"Add a node with the id {name!r}, or remove the edge."
        self._add(
            "unknown_node", edge, index, f"The edge {shown(edge)} names {name!r}, which is no node.", fix
        )

    def _allowed(self, source: Entry, target: Entry | None, edge: Edge, index: int) -> bool:
        """Whether the edge may stand there at all; an unknown handle is reported, but keeps the edge."""
        if target is None and self._scope.container is None:
            message = f"{edge.to} is a target inside the body of an ITERATION or LOOP only."
            self._add("break_outside_body", edge, index, message, "End the path at an END instead.")
            return False
        if target is not None and target.spec.type == START:
            message = f"The edge {shown(edge)} ends at START, where every run begins."
            self._add("edge_into_start", edge, index, message, "Remove the edge; use a LOOP to repeat.")
            return False
        if source.spec.type == END:
            message = f"The edge {shown(edge)} begins at END, after which nothing comes."
            self._add("edge_from_end", edge, index, message, "Let the edge begin at the node before the END.")
            return False
        self._check_handle(source, edge, index)
        return True

    def _check_handle(self, source: Entry, edge: Edge, index: int) -> None:
        handles = source.handles
        if handles is None or edge.handle in handles:
            if edge.handle == ERROR and source.spec.on_error != "branch":
                message = f"The edge {shown(edge)} is never taken: on_error of {source.id!r} is {source.spec.on_error!r}."
                self._add(
                    "error_edge_without_branch",
                    edge,
                    index,
                    message,
                    "Set on_error: branch, or remove the edge.",
                )
            return
        guess = self._report.nearest(edge.handle, handles)
        known = ", ".join(handle for handle in handles if handle != ERROR)
        message = f"{source.id!r} ({source.spec.type}) has no handle {edge.handle!r}; it has {known}."
        self._add(
            "unknown_handle",
            edge,
            index,
            message,
            f"Did you mean {guess!r}?" if guess and guess != ERROR else None,
        )


def _place(scope: Scope) -> str:
    return "the document" if scope.container is None else f"the body of {scope.container.id!r}"


def check_handles(graph: Graph, report: Report) -> None:
    """Report handles from which no edge leaves, and paths that end at a node that is no END."""
    for entry in graph.entries:
        _check_error_handle(entry, report)
        if entry.handles is None or entry.spec.type == END or entry.spec.disabled:
            continue
        if not entry.taken:
            if entry.scope.container is None and entry.certain:
                report.add(
                    "side_branch", f"The path ends at {entry.id!r}, which is no END; its result is in no output.",
                    node=entry.id, field="id", occurrence=entry.occurrence,
                    fix="Add an edge from it if its result matters to what comes after.",
                )  # fmt: skip
            continue
        branches = [handle for handle in entry.handles if handle != ERROR]
        # A misspelt handle is reported at its edge; the handle that was meant is not missing as well.
        if len(branches) > 1 and entry.taken.keys() <= {*entry.handles}:
            _check_branches(entry, branches, report)


def _check_branches(entry: Entry, branches: list[str], report: Report) -> None:
    for handle in branches:
        if handle in entry.taken:
            continue
        code = "unconnected_else" if handle == "else" else "unconnected_handle"
        report.add(
            code, f"No edge leaves from the handle {handle!r} of {entry.id!r}: when it is taken, the path ends there.",
            node=entry.id, field=_place_of(entry, handle), occurrence=entry.occurrence,
            fix=f"Add an edge {entry.id}.{handle} -> …, or leave it so if nothing is to happen.",
        )  # fmt: skip


def _place_of(entry: Entry, handle: str) -> str | None:
    """The config field that declares a handle: a case, class or action."""
    for name in ("cases", "classes", "actions"):
        declared = entry.spec.config.get(name)
        for index, item in enumerate(declared if isinstance(declared, list) else ()):
            if item == handle or (isinstance(item, dict) and item.get("id") == handle):
                return f"config.{name}[{index}]"
    return "config"


def _check_error_handle(entry: Entry, report: Report) -> None:
    spec = entry.spec
    if spec.on_error == "branch" and ERROR not in entry.taken:
        report.add(
            "branch_without_error_edge", f"on_error of {spec.id!r} is 'branch', but no edge leaves from its handle 'error'.",
            node=spec.id, field="on_error", occurrence=entry.occurrence,
            fix=f"Add an edge {spec.id}.error -> …, or set on_error to stop or continue.",
        )  # fmt: skip
    if spec.on_error == "continue" and spec.type == "HUMAN":
        report.add(
            "continue_not_allowed", "HUMAN does not allow on_error: continue: no answer is never an answer.",
            node=spec.id, field="on_error", occurrence=entry.occurrence, fix="Use stop or branch.",
        )  # fmt: skip
    if spec.default_output is not None and spec.on_error != "continue":
        report.add(
            "unused_default_output", f"default_output is not used: on_error of {spec.id!r} is {spec.on_error!r}.",
            node=spec.id, field="default_output", occurrence=entry.occurrence, fix="Set on_error: continue, or remove it.",
        )  # fmt: skip
