"""A workflow file of FIM One as this converter sees it: its envelope taken off, nodes by id, edges with plain handles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from interlace.importers.foreign import Json, at, mapping, number, objects, text
from interlace.importers.report import NotImported

FORMAT: Final = "fim_workflow_v1"
_PLAIN: Final = frozenset({"", "source", "target", "default", "output", "out"})
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(slots=True, kw_only=True)
class FimNode:
    """A node. `id` is the file's, `name` the one that it gets here, `kind` its type in capitals."""

    id: str
    kind: str
    label: str
    data: Json
    position: tuple[float, float] | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class FimEdge:
    """An edge; the handle is empty for a node's only output."""

    source: str
    target: str
    handle: str


@dataclass(slots=True, kw_only=True)
class FimFile:
    """One workflow."""

    name: str
    description: str
    nodes: dict[str, FimNode] = field(default_factory=dict)
    edges: list[FimEdge] = field(default_factory=list)

    def following(self, node: str) -> list[str]:
        """The targets of a node's edges."""
        return list(dict.fromkeys(edge.target for edge in self.edges if edge.source == node))

    def reached(self, start: str) -> list[str]:
        """All that a node leads to, in the order of the file."""
        found: set[str] = set()
        waiting = self.following(start)
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting.extend(self.following(current))
        return [name for name in self.nodes if name in found]


def _blueprint(data: Any) -> tuple[Json, Json] | None:
    """The workflow around a blueprint, and the blueprint."""
    if not isinstance(data, dict):
        return None
    for holder in (data.get("workflow"), data.get("data"), data):
        if isinstance(holder, dict) and isinstance(holder.get("blueprint"), dict):
            return holder, holder["blueprint"]
    if isinstance(data.get("nodes"), list) and isinstance(data.get("edges"), list):
        return {}, data
    return None


def recognizes(data: Any) -> bool:
    """Whether the data looks like a workflow of FIM One."""
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return True
    found = _blueprint(data)
    return found is not None and isinstance(found[1].get("nodes"), list) and "connections" not in found[1]


def read_file(data: Any) -> FimFile:
    """The workflow.

    Raises:
        NotImported: the data is none, is of another format, or is damaged.
    """
    given = data.get("format") if isinstance(data, dict) else None
    if given is not None and given != FORMAT:
        raise NotImported(f"the format is {text(given)!r}; known is {FORMAT!r}")
    found = _blueprint(data)
    if found is None or not isinstance(found[1].get("nodes"), list):
        raise NotImported(
            "a file of FIM One has `workflow.blueprint.nodes`; here they are missing", code="damaged"
        )
    holder, blueprint = found
    file = FimFile(name=text(holder.get("name")), description=text(holder.get("description")))
    for index, raw in enumerate(blueprint["nodes"]):
        node = _node(raw, index)
        if node.id in file.nodes:
            raise NotImported(
                f"two nodes have the id {node.id!r}: the file is damaged", code="damaged", node=node.label
            )
        file.nodes[node.id] = node
    if not file.nodes:
        raise NotImported("the blueprint has no nodes: there is nothing to import", code="damaged")
    for raw in objects(blueprint.get("edges")):
        _edge(file, raw)
    return file


def _node(raw: Any, index: int) -> FimNode:
    if not isinstance(raw, dict) or not text(raw.get("id")):
        raise NotImported(f"blueprint.nodes[{index}] has no id: the file is damaged", code="damaged")
    data = mapping(raw.get("data"))
    kind = text(data.get("type")) or text(raw.get("type"))
    x, y = number(at(raw, "position", "x")), number(at(raw, "position", "y"))
    return FimNode(
        id=text(raw["id"]), kind=_kind(kind), label=text(data.get("label")).strip() or text(raw["id"]), data=data,
        position=None if x is None or y is None else (x, y),
    )  # fmt: skip


def _kind(written: str) -> str:
    return re.sub(
        r"[-\s]+", "_", _CAMEL.sub("_", written.strip()) if not written.isupper() else written.strip()
    ).upper()


def _edge(file: FimFile, raw: Json) -> None:
    source, target = text(raw.get("source")), text(raw.get("target"))
    for end in (source, target):
        if end not in file.nodes:
            raise NotImported(
                f"an edge joins {source!r} and {target!r}, but there is no node {end!r}: the file is damaged",
                code="damaged_connection",
            )
    handle = text(raw.get("sourceHandle"))
    file.edges.append(FimEdge(source, target, "" if handle in _PLAIN else handle))
