"""An n8n workflow as this converter sees it: nodes by name, what leads where, and the helpers of AI nodes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

from interlace.importers.foreign import Json, listed, mapping, number, text
from interlace.importers.report import NotImported

MOST_INPUTS: Final = 100
NOTE: Final = "stickyNote"


@dataclass(slots=True, kw_only=True)
class N8nNode:
    """A node. `kind` is its type without the package; `id` is the one that it gets here."""

    name: str
    kind: str
    package: str
    version: float
    parameters: Json
    credentials: Json
    raw: Json
    position: tuple[float, float] | None = None
    id: str = ""

    @property
    def is_trigger(self) -> bool:
        """Whether the node starts the workflow."""
        return self.kind.lower().endswith("trigger") or self.kind in ("webhook", "cron", "interval", "start")


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection of data: an output to an input."""

    source: str
    output: int
    target: str
    input: int


@dataclass(slots=True, kw_only=True)
class N8nFile:
    """One workflow."""

    name: str
    nodes: dict[str, N8nNode] = field(default_factory=dict)
    wires: list[Wire] = field(default_factory=list)
    helpers: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """By node: the kind of help (`ai_tool`, …) and the nodes that give it."""
    settings: Json = field(default_factory=dict)
    description: str = ""
    pinned: bool = False


def recognizes(data: Any) -> bool:
    """Whether the data looks like a workflow of n8n."""
    one = _unwrapped(data)
    return (
        isinstance(one, dict)
        and isinstance(one.get("nodes"), list)
        and isinstance(one.get("connections"), dict)
    )


def _unwrapped(data: Any) -> Any:
    if isinstance(data, list) and len(data) == 1:
        return data[0]
    if isinstance(data, dict) and "nodes" not in data:
        for key in ("workflow", "data"):
            if isinstance(data.get(key), dict) and "connections" in data[key]:
                return data[key]
    return data


def read_file(data: Any) -> N8nFile:
    """The workflow.

    Raises:
        NotImported: the data is none, or it is damaged.
    """
    if isinstance(data, list) and len(data) != 1:
        raise NotImported(f"the file holds {len(data)} workflows; import each from a file of its own")
    given = _unwrapped(data)
    if not isinstance(given, dict) or not isinstance(given.get("nodes"), list):
        raise NotImported("an n8n file has `nodes` and `connections`; here they are missing", code="damaged")
    file = N8nFile(
        name=text(given.get("name")),
        settings=mapping(given.get("settings")),
        description=text(given.get("description")),
        pinned=bool(mapping(given.get("pinData"))),
    )
    for index, raw in enumerate(given["nodes"]):
        node = _read_node(raw, index)
        if node.name in file.nodes:
            raise NotImported(
                f"two nodes are called {node.name!r}: the file is damaged", code="damaged", node=node.name
            )
        file.nodes[node.name] = node
    if not [node for node in file.nodes.values() if node.kind != NOTE]:
        raise NotImported("the file has no nodes: there is nothing to import", code="damaged")
    _read_connections(file, mapping(given.get("connections")))
    return file


def _read_node(raw: Any, index: int) -> N8nNode:
    if not isinstance(raw, dict) or not text(raw.get("name")) or not text(raw.get("type")):
        raise NotImported(f"nodes[{index}] has no name or no type: the file is damaged", code="damaged")
    package, _, kind = text(raw["type"]).rpartition(".")
    position = raw.get("position")
    place = None
    if isinstance(position, list) and len(position) == 2:  # noqa: PLR2004 - x and y
        x, y = number(position[0]), number(position[1])
        place = None if x is None or y is None else (x, y)
    return N8nNode(
        name=text(raw["name"]), kind=kind, package=package, version=number(raw.get("typeVersion")) or 1,
        parameters=mapping(raw.get("parameters")), credentials=mapping(raw.get("credentials")), raw=raw, position=place,
    )  # fmt: skip


def _read_connections(file: N8nFile, connections: Json) -> None:
    helpers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    broken: list[str] = []
    for source, kinds in connections.items():
        for kind, outputs in mapping(kinds).items():
            for output, targets in enumerate(listed(outputs)):
                for entry in listed(targets):
                    target = text(mapping(entry).get("node"))
                    missing = [name for name in (source, target) if name not in file.nodes]
                    if missing:
                        broken.append(f"{source!r} → {target!r} (there is no node {missing[0]!r})")
                    elif kind == "main":
                        place = int(number(mapping(entry).get("index")) or 0)
                        file.wires.append(Wire(source, output, target, min(max(place, 0), MOST_INPUTS)))
                    else:
                        helpers[target][kind].append(source)
    if broken:
        raise NotImported(
            f"the file is damaged: {len(broken)} of its connections lead from or to nodes that it does not hold:"
            f" {'; '.join(broken[:5])}{'; …' if len(broken) > 5 else ''}",  # noqa: PLR2004 - the first ones tell enough
            code="damaged_connection",
        )
    file.wires = list(dict.fromkeys(file.wires))
    file.helpers = {name: dict(kinds) for name, kinds in helpers.items()}
