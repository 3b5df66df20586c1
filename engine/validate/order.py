"""Order, reachability and run conditions of the nodes: one pass over nodes and edges each."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from interlace.engine.validate.conditions import ALWAYS, NEVER, Condition, Conditions
from interlace.engine.validate.edges import ERROR
from interlace.engine.validate.graph import START, Entry, Graph, Scope
from interlace.engine.validate.report import Report

if TYPE_CHECKING:
    from networkx import DiGraph


def sort(graph: Graph, report: Report) -> None:
    """Order the nodes of every scope and note who comes before whom; cycles and unreachable nodes are reported."""
    for scope in graph.scopes:
        _sort(scope)
        if len(scope.order) < len(scope.entries):
            _report_cycles(scope, report)
        _reach(scope, report)
        _note_ancestors(scope)


def _sort(scope: Scope) -> None:
    waiting = {entry.index: len(entry.incoming) for entry in scope.entries}
    ready = deque(entry for entry in scope.entries if not entry.incoming)
    while ready:
        entry = ready.popleft()
        scope.order.append(entry)
        for _, target in entry.outgoing:
            waiting[target.index] -= 1
            if not waiting[target.index]:
                ready.append(target)


def _report_cycles(scope: Scope, report: Report) -> None:
    """Report one edge of each knot of cycles: the one that leads back on the way from the start."""
    import networkx as nx  # noqa: PLC0415 - its import takes longer than validating most documents

    placed = {entry.index for entry in scope.order}
    rest = [entry for entry in scope.entries if entry.index not in placed]
    for entry in rest:
        entry.certain = False
    scope.order.extend(rest)
    graph: nx.DiGraph[int] = nx.DiGraph()
    by_index = {entry.index: entry for entry in rest}
    graph.add_edges_from(
        (entry.index, target.index)
        for entry in rest
        for _, target in entry.outgoing
        if target.index in by_index
    )
    for knot in nx.strongly_connected_components(graph):
        first = next(iter(knot))
        if len(knot) > 1 or graph.has_edge(first, first):
            _report_cycle(scope, {index: by_index[index] for index in knot}, graph.subgraph(knot), report)


def _report_cycle(scope: Scope, knot: dict[int, Entry], graph: DiGraph[int], report: Report) -> None:
    from networkx import find_cycle  # noqa: PLC0415 - as above

    entered = [
        entry for entry in knot.values() if any(source.index not in knot for source, _ in entry.incoming)
    ]
    start = min(entered or knot.values(), key=lambda entry: entry.index)
    cycle = [source for source, _ in find_cycle(graph, start.index)]
    # The way in decides which edge leads back, so the cycle is told from there.
    first = cycle.index(start.index) if start.index in cycle else 0
    ids = [knot[index].id for index in (*cycle[first:], *cycle[:first])]
    last, back = ids[-1], ids[0]
    index = next(
        position for position, edge in enumerate(scope.body.edges) if edge.from_ == last and edge.to == back
    )
    container = scope.container.id if scope.container is not None else None
    report.add_edge(
        "cycle", f"The edges form a cycle: {' -> '.join([*ids, back])}.", node=last, container=container, index=index,
        fix="Remove an edge of it, or put the nodes that repeat into the body of a LOOP.",
    )  # fmt: skip


def _reach(scope: Scope, report: Report) -> None:
    """Report the nodes that no path reaches."""
    if scope.container is None:
        roots = [entry for entry in scope.entries if entry.spec.type == START]
        if not roots:
            return
    else:
        roots = [entry for entry in scope.entries if not entry.incoming]
    # A broken edge is reported at itself; what hangs on it is not unreachable as well.
    roots += [entry for entry in scope.entries if not entry.certain and entry not in roots]
    reached = {entry.index for entry in roots}
    todo = list(roots)
    while todo:
        for _, target in todo.pop().outgoing:
            if target.index not in reached:
                reached.add(target.index)
                todo.append(target)
    for entry in scope.entries:
        if entry.index not in reached:
            _report_unreachable(entry, report)


def _report_unreachable(entry: Entry, report: Report) -> None:
    entry.certain = False
    first, seen = entry, {entry.index}
    while first.incoming and first.incoming[0][0].index not in seen:
        first = first.incoming[0][0]
        seen.add(first.index)
    why = "no edge leads to it" if first is entry else f"no edge leads to {first.id!r} before it"
    report.add(
        "unreachable", f"No path leads from START to {entry.id!r}: {why}.", node=entry.id, field="id",
        occurrence=entry.occurrence, fix=f"Add an edge … -> {first.id}, or remove the node.",
    )  # fmt: skip


def _note_ancestors(scope: Scope) -> None:
    container = scope.container
    outer = container.ancestors if container is not None else 0
    sure = container is None or container.certain
    for entry in scope.order:
        made = outer
        certain = entry.certain and sure
        for source, _ in entry.incoming:
            made |= source.ancestors | (1 << source.index)
            certain = certain and source.certain
        entry.ancestors = made
        entry.certain = certain


def note_conditions(graph: Graph, report: Report) -> Conditions:
    """Note when each node runs, and report those that never can."""
    conditions = Conditions()
    for scope in graph.scopes:
        for entry in scope.order:
            entry.condition = _condition(entry, conditions)
            if entry.condition == NEVER and entry.certain and _all_possible(entry, conditions):
                _report_never(entry, report)
            _add_branch(entry, conditions)
    return conditions


def _condition(entry: Entry, conditions: Conditions) -> Condition:
    incoming = entry.incoming
    if not incoming or not entry.certain:
        return ALWAYS
    made = {edge_condition(source, handle, conditions) for source, handle in incoming}
    if entry.spec.join == "all":
        return conditions.all(made)
    made.discard(NEVER)
    return conditions.any(made) if made else NEVER


def edge_condition(source: Entry, handle: str, conditions: Conditions) -> Condition:
    """When the edges of a handle are taken."""
    if source.spec.disabled:
        first = source.handles[0] if source.handles else handle
        return source.condition if handle == first else NEVER
    literal = source.literals.get(handle)
    if literal is None:
        return source.condition
    known = source.when.get(handle)
    if known is None:
        known = source.when[handle] = conditions.through(source.condition, literal)
    return known


def _add_branch(entry: Entry, conditions: Conditions) -> None:
    """Give a node with several outcomes its literals."""
    if entry.spec.disabled or entry.node is None or entry.handles is None:
        entry.succeeds = NEVER if entry.spec.disabled else entry.condition
        return
    outcomes = [handle for handle in entry.handles if handle != ERROR or entry.spec.on_error == "branch"]
    entry.succeeds = entry.condition
    if len(outcomes) < 2 or entry.condition == NEVER:  # noqa: PLR2004 - one outcome is no choice
        return
    entry.literals = conditions.branch(entry.id, outcomes, exclusive=entry.node.exclusive())
    if ERROR in entry.literals:
        entry.succeeds = conditions.any(
            conditions.through(entry.condition, literal)
            for handle, literal in entry.literals.items()
            if handle != ERROR
        )


def _all_possible(entry: Entry, conditions: Conditions) -> bool:
    """Whether each single edge can be taken, so that only their combination cannot."""
    return all(edge_condition(source, handle, conditions) != NEVER for source, handle in entry.incoming)


def _report_never(entry: Entry, report: Report) -> None:
    edges = ", ".join(
        f"{source.id}.{handle}" if handle != "out" else source.id for source, handle in entry.incoming
    )
    report.add(
        "never_runs", f"{entry.id!r} waits for all of {edges}, but these are never taken in one run.",
        node=entry.id, field="join", occurrence=entry.occurrence, fix="Use join: any.",
    )  # fmt: skip
