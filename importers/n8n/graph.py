"""The shape of an n8n workflow: what is reached, what goes in circles, what can run together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from interlace.importers.n8n.file import Wire


@dataclass(slots=True)
class Shape:
    """The wires among some nodes."""

    names: list[str]
    wires: list[Wire]
    outgoing: dict[str, list[Wire]] = field(default_factory=dict)
    incoming: dict[str, list[Wire]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = set(self.names)
        outgoing: dict[str, list[Wire]] = defaultdict(list)
        incoming: dict[str, list[Wire]] = defaultdict(list)
        self.wires = [wire for wire in self.wires if wire.source in known and wire.target in known]
        for wire in self.wires:
            outgoing[wire.source].append(wire)
            incoming[wire.target].append(wire)
        self.outgoing, self.incoming = dict(outgoing), dict(incoming)

    def reached(self, starts: Iterable[str], *, without: Iterable[str] = ()) -> set[str]:
        """The nodes that some nodes lead to, themselves included; never through `without`."""
        closed = set(without)
        found = {name for name in starts if name not in closed}
        waiting = list(found)
        while waiting:
            for wire in self.outgoing.get(waiting.pop(), ()):
                if wire.target not in found and wire.target not in closed:
                    found.add(wire.target)
                    waiting.append(wire.target)
        return found

    def reached_in_order(self, starts: Iterable[str], among: Iterable[str]) -> list[str]:
        """Some nodes in the order in which a walk from the starts meets them."""
        allowed = set(among)
        found = dict.fromkeys(name for name in starts if name in allowed)
        waiting = list(found)
        while waiting:
            for wire in self.outgoing.get(waiting.pop(0), ()):
                if wire.target in allowed and wire.target not in found:
                    found[wire.target] = None
                    waiting.append(wire.target)
        return list(found)

    def units(self) -> list[list[str]]:
        """Nodes in the order in which they can run; those of one circle together, in the order of the file."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from((wire.source, wire.target) for wire in self.wires)
        place = {name: index for index, name in enumerate(self.names)}
        condensed = nx.condensation(graph)
        members: Mapping[int, set[str]] = {unit: condensed.nodes[unit]["members"] for unit in condensed}
        order = nx.lexicographical_topological_sort(
            condensed, key=lambda unit: min(place[name] for name in members[unit])
        )
        return [sorted(members[unit], key=place.__getitem__) for unit in order]

    def is_circle(self, unit: Sequence[str]) -> bool:
        """Whether the nodes of a unit go in a circle."""
        return len(unit) > 1 or any(wire.target == unit[0] for wire in self.outgoing.get(unit[0], ()))


def may_meet(one: Wire, other: Wire, shape: Shape, exclusive: Callable[[str], bool]) -> bool:
    """Whether one run can take both wires.

    Args:
        one: a wire.
        other: another one to the same input.
        shape: the wires.
        exclusive: whether a node takes only one of its outputs.
    """
    if one.source == other.source:
        return one.output == other.output or not exclusive(one.source)
    reach = {name: shape.reached([name]) for name in {one.source, other.source}}
    if other.source in reach[one.source] or one.source in reach[other.source]:
        return not _parted(one, other, shape, exclusive)
    for wires in shape.outgoing.values():
        handles: dict[int, list[Wire]] = defaultdict(list)
        for wire in wires:
            handles[wire.output if exclusive(wire.source) else 0].append(wire)
        for following in handles.values():
            left = {wire.target for wire in following if one.source in shape.reached([wire.target])}
            right = {wire.target for wire in following if other.source in shape.reached([wire.target])}
            if left and right and len(left | right) > 1:
                return True
    return False


def _parted(one: Wire, other: Wire, shape: Shape, exclusive: Callable[[str], bool]) -> bool:
    """Whether a wire leaves a branching node on another way than the one that leads to the other wire."""
    for first, second in ((one, other), (other, one)):
        if exclusive(first.source):
            ways = [
                wire
                for wire in shape.outgoing.get(first.source, ())
                if second.source in shape.reached([wire.target])
            ]
            if ways and all(wire.output != first.output for wire in ways):
                return True
    return False
