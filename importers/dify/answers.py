"""Which answers or ends of a graph can be reached in one run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from interlace.importers.dify.file import DifyFile, DifyNode


def may_meet(file: DifyFile, nodes: Iterable[DifyNode]) -> list[tuple[DifyNode, DifyNode]]:
    """The pairs of nodes of the canvas that one run can both reach: one after the other, or side by side."""
    chosen = list(nodes)
    targets: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for edge in file.edges:
        if edge.target not in targets[edge.source][edge.handle]:
            targets[edge.source][edge.handle].append(edge.target)
    reach = {node: _reached(node, targets) for node in file.nodes}
    return [
        (one, other)
        for one, other in combinations(chosen, 2)
        if other.id in reach[one.id]
        or one.id in reach[other.id]
        or _side_by_side(one.id, other.id, targets, reach)
    ]


def _reached(start: str, targets: Mapping[str, Mapping[str, Sequence[str]]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for following in targets[waiting.pop()].values():
            for target in following:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
    return found


def _side_by_side(
    one: str, other: str, targets: Mapping[str, Mapping[str, Sequence[str]]], reach: Mapping[str, set[str]]
) -> bool:
    for handles in list(targets.values()):
        for following in handles.values():
            left = [target for target in following if target == one or one in reach[target]]
            right = [target for target in following if target == other or other in reach[target]]
            if left and right and (len(set(left) | set(right)) > 1):
                return True
    return False
