"""A Dify export as this converter sees it: the app, its settings, and the nodes of its graph by id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from interlace.importers.foreign import Json, at, listed, mapping, number, objects, text, texts
from interlace.importers.report import NotImported

CHAT_MODES: Final = frozenset({"advanced-chat", "chat", "agent-chat"})
MODES: Final = frozenset({*CHAT_MODES, "workflow", "completion"})
_BODY_STARTS: Final = frozenset({"iteration-start", "loop-start"})


@dataclass(slots=True, kw_only=True)
class DifyNode:
    """A node of the canvas. `id` is Dify's; `name` is the id that it gets here."""

    id: str
    kind: str
    title: str
    data: Json
    parent: str | None = None
    position: tuple[float, float] | None = None
    size: tuple[float, float] | None = None
    name: str = ""


@dataclass(slots=True, kw_only=True)
class DifyEdge:
    """An edge with the handle that it leaves from."""

    source: str
    target: str
    handle: str


@dataclass(slots=True, kw_only=True)
class DifyFile:
    """One export."""

    name: str
    description: str
    mode: str
    features: Json
    variables: list[Json] = field(default_factory=list)
    environment: list[Json] = field(default_factory=list)
    nodes: dict[str, DifyNode] = field(default_factory=dict)
    edges: list[DifyEdge] = field(default_factory=list)
    model_config: Json = field(default_factory=dict)

    @property
    def is_chat(self) -> bool:
        """Whether the app is talked to."""
        return self.mode in CHAT_MODES

    def children(self, parent: str | None) -> list[DifyNode]:
        """The nodes inside an iteration or loop; of the canvas itself for None."""
        return [node for node in self.nodes.values() if node.parent == parent]


def recognizes(data: Any) -> bool:
    """Whether the data looks like an export of Dify."""
    return isinstance(data, dict) and (
        (isinstance(data.get("app"), dict) and ("workflow" in data or "model_config" in data or "mode" in data["app"]))
        or (data.get("kind") in ("app", "rag_pipeline") and isinstance(data.get("workflow"), dict))
    )  # fmt: skip


def read_file(data: Any) -> DifyFile:
    """The export.

    Raises:
        NotImported: the data is none, or its graph is damaged.
    """
    if not isinstance(data, dict):
        raise NotImported(f"a Dify file is a mapping, not {_called(data)}")
    if data.get("kind") == "rag_pipeline":
        raise NotImported(
            "this is a knowledge pipeline of Dify: it fills a knowledge base and is no workflow; make the knowledge base with"
            " `interlace kb add` and give it the documents"
        )
    app = data.get("app")
    if not isinstance(app, dict):
        raise NotImported(
            "a Dify file has `app` with the app's name and mode; here it is missing", code="damaged"
        )
    workflow, settings = data.get("workflow"), mapping(data.get("model_config"))
    mode = text(app.get("mode")) or ("workflow" if isinstance(workflow, dict) else "chat")
    if mode not in MODES:
        raise NotImported(f"app.mode is {mode!r}; known: {', '.join(sorted(MODES))}")
    file = DifyFile(
        name=text(app.get("name")),
        description=text(app.get("description")),
        mode=mode,
        features=mapping(at(workflow, "features")),
        model_config=settings,
    )
    if isinstance(workflow, dict):
        _read_workflow(file, workflow)
    elif mode in ("workflow", "advanced-chat"):
        raise NotImported(f"an app of mode {mode} has `workflow.graph`; here it is missing", code="damaged")
    elif not settings:
        raise NotImported(f"an app of mode {mode} has `model_config`; here it is missing", code="damaged")
    return file


def _read_workflow(file: DifyFile, workflow: Json) -> None:
    graph = workflow.get("graph")
    if not isinstance(graph, dict) or not isinstance(graph.get("nodes"), list):
        raise NotImported("workflow.graph.nodes is missing or no list: the file is damaged", code="damaged")
    file.variables = objects(workflow.get("conversation_variables"))
    file.environment = objects(workflow.get("environment_variables"))
    for index, raw in enumerate(graph["nodes"]):
        node = _read_node(raw, index)
        if node.id in file.nodes:
            raise NotImported(
                f"two nodes have the id {node.id!r}: the file is damaged", code="damaged", node=node.title
            )
        file.nodes[node.id] = node
    for node in file.nodes.values():
        if node.parent is not None and node.parent not in file.nodes:
            raise NotImported(
                f"node {node.title!r} stands inside {node.parent!r}, which does not exist: the file is damaged",
                code="damaged", node=node.title,
            )  # fmt: skip
        _check_nesting(node, file)
    for raw in objects(graph.get("edges")):
        _read_edge(file, raw)


def _check_nesting(node: DifyNode, file: DifyFile) -> None:
    seen = {node.id}
    outer = node.parent
    while outer is not None:
        if outer in seen:
            raise NotImported(
                f"node {node.title!r} stands inside itself: the file is damaged",
                code="damaged",
                node=node.title,
            )
        seen.add(outer)
        outer = file.nodes[outer].parent if outer in file.nodes else None


def _read_node(raw: Any, index: int) -> DifyNode:
    if not isinstance(raw, dict) or not text(raw.get("id")):
        raise NotImported(f"workflow.graph.nodes[{index}] has no id: the file is damaged", code="damaged")
    data = mapping(raw.get("data"))
    kind = text(data.get("type")) or text(raw.get("type"))
    parent = text(raw.get("parentId")) or text(data.get("iteration_id")) or text(data.get("loop_id")) or None
    return DifyNode(
        id=text(raw["id"]),
        kind="note" if raw.get("type") == "custom-note" else kind,
        title=text(data.get("title")).strip() or kind or "node",
        data=data,
        parent=parent,
        position=_pair(raw.get("position"), "x", "y"),
        size=_pair(data, "width", "height"),
    )


def _pair(value: Any, first: str, second: str) -> tuple[float, float] | None:
    left, right = number(at(value, first)), number(at(value, second))
    return None if left is None or right is None else (round(left, 1), round(right, 1))


def _read_edge(file: DifyFile, raw: Json) -> None:
    source, target = text(raw.get("source")), text(raw.get("target"))
    for end in (source, target):
        if end not in file.nodes:
            raise NotImported(
                f"an edge joins {source!r} and {target!r}, but there is no node {end!r}: the file is damaged",
                code="damaged_connection", node=file.nodes[source].title if source in file.nodes else None,
            )  # fmt: skip
    if "note" in (file.nodes[source].kind, file.nodes[target].kind):
        return
    file.edges.append(
        DifyEdge(source=source, target=target, handle=text(raw.get("sourceHandle")) or "source")
    )


def is_body_start(node: DifyNode) -> bool:
    """Whether the node only marks where a body begins."""
    return node.kind in _BODY_STARTS


def selector(value: Any) -> list[str]:
    """A value selector: the id of a node and the keys that follow."""
    if isinstance(value, str):
        return [part for part in value.split(".") if part]
    return texts(listed(value))


def _called(value: Any) -> str:
    return {list: "a list", str: "a text", type(None): "nothing"}.get(type(value), type(value).__name__)
