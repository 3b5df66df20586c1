"""Putting a document together: steps, edges and inputs become a `Document` that validates, in a stable order."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from interlace.engine.document import Document
from interlace.importers.foreign import Json
from interlace.importers.naming import Ids
from interlace.importers.report import Report

START, END = "start", "end"
OUT: Final = "out"
ERROR: Final = "error"
_LONGEST_NAME: Final = 200


@dataclass(slots=True, kw_only=True)
class Step:
    """A node of the document that is being made. `source` is its name in the file it comes from."""

    id: str
    type: str
    config: Json = field(default_factory=dict)
    label: str | None = None
    note: str | None = None
    join: str = "any"
    on_error: str = "stop"
    default_output: Json | None = None
    retry: Json | None = None
    timeout: float | str | None = None
    wait: Json | None = None
    disabled: bool = False
    body: Graph | None = None
    position: tuple[float, float] | None = None
    source: str | None = None

    def as_spec(self) -> Json:
        """As it stands in a document."""
        spec: Json = {"id": self.id, "type": self.type}
        for name in ("label", "note", "default_output", "retry", "timeout", "wait"):
            value = getattr(self, name)
            if value is not None:
                spec[name] = value
        if self.join != "any":
            spec["join"] = self.join
        if self.on_error != "stop":
            spec["on_error"] = self.on_error
        if self.disabled:
            spec["disabled"] = True
        if self.config:
            spec["config"] = self.config
        if self.body is not None:
            spec["body"] = self.body.as_spec()
        return spec


@dataclass(slots=True)
class Graph:
    """Steps and the edges between them: of the document, or of a body."""

    steps: list[Step] = field(default_factory=list)
    edges: dict[tuple[str, str, str], None] = field(default_factory=dict)

    def add(self, *steps: Step) -> None:
        """Add steps."""
        self.steps.extend(steps)

    def link(self, source: str, target: str, handle: str = OUT) -> None:
        """Add an edge, once."""
        self.edges[source, handle, target] = None

    def chain(self, *ids: str) -> None:
        """Add the edges of a row of steps."""
        for source, target in itertools.pairwise(ids):
            self.link(source, target)

    def as_spec(self) -> Json:
        """As it stands in a document."""
        order = {step.id: index for index, step in enumerate(self.steps)}
        edges = sorted(self.edges, key=lambda edge: order.get(edge[0], len(order)))
        return {
            "nodes": [step.as_spec() for step in self.steps],
            "edges": [{"from": source, "handle": handle, "to": target} for source, handle, target in edges],
        }

    def walk(self) -> Iterator[Step]:
        """Every step, bodies included."""
        for step in self.steps:
            yield step
            if step.body is not None:
                yield from step.body.walk()


@dataclass(slots=True, kw_only=True)
class Draft:
    """The document that is being made."""

    name: str
    description: str | None = None
    inputs: dict[str, Json] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    variables: dict[str, Json] = field(default_factory=dict)
    chat: bool = False
    timeout: float | None = None
    triggers: list[Json] = field(default_factory=list)
    graph: Graph = field(default_factory=Graph)
    notes: list[Json] = field(default_factory=list)
    ids: Ids = field(default_factory=Ids)

    def need_input(self, name: str, schema: Json) -> None:
        """Declare an input unless it is declared already."""
        self.inputs.setdefault(name, schema)


def assemble(draft: Draft, report: Report) -> Document:
    """The document of a draft: steps that nothing reaches are left out, branches without a target are closed."""
    graph = draft.graph
    _bound(graph, draft, report)
    _prune(graph, report)
    for inner in (graph, *(step.body for step in graph.walk() if step.body is not None)):
        _close(inner, report)
        inner.steps = _in_flow_order(inner)
    positions = {
        step.id: list(step.position)
        for step in graph.walk()
        if step.position is not None and all(abs(at) < 1e9 for at in step.position)  # noqa: PLR2004 - a canvas
    }
    spec: Json = {"name": (draft.name.strip() or "Imported workflow")[:_LONGEST_NAME], **graph.as_spec()}
    if draft.description:
        spec["description"] = draft.description
    if draft.inputs:
        required = [name for name in draft.inputs if name in draft.required]
        spec["inputs"] = {
            "type": "object", **({"required": required} if required else {}), "properties": draft.inputs,
        }  # fmt: skip
    if draft.variables:
        spec["variables"] = draft.variables
    settings: Json = {}
    if draft.timeout is not None:
        settings["timeout"] = draft.timeout
    if draft.chat:
        settings["chat"] = True
    if settings:
        spec["settings"] = settings
    if draft.triggers:
        spec["triggers"] = draft.triggers
    ui: Json = {
        **({"positions": positions} if positions else {}),
        **({"notes": draft.notes} if draft.notes else {}),
    }
    if ui:
        spec["ui"] = ui
    return Document.model_validate(spec)


def _bound(graph: Graph, draft: Draft, report: Report) -> None:
    """There is a START, and an END that ends what ends nowhere else."""
    starts = [step for step in graph.steps if step.type == "START"]
    if not starts:
        start = Step(id=draft.ids.give(START, START), type="START")
        entered = {target for _, _, target in graph.edges}
        roots = [step.id for step in graph.steps if step.id not in entered]
        graph.steps.insert(0, start)
        for root in roots or [step.id for step in graph.steps[1:2]]:
            graph.link(start.id, root)
        report.add("changed", "no_start", "The file has no beginning; a START stands before its first nodes.")
    if not any(step.type == "END" for step in graph.steps):
        end = Step(id=draft.ids.give(END, END), type="END")
        left = {source for source, _, _ in graph.edges}
        leaves = [step.id for step in graph.steps if step.id not in left]
        graph.add(end)
        for leaf in leaves or [graph.steps[0].id]:
            graph.link(leaf, end.id)
        report.add("changed", "no_end", "The file has no end; an END stands after its last nodes.")


def _prune(graph: Graph, report: Report) -> None:
    following = defaultdict(list)
    for source, _, target in graph.edges:
        following[source].append(target)
    waiting = deque(step.id for step in graph.steps if step.type == "START")
    reached = set(waiting)
    while waiting:
        for target in following[waiting.popleft()]:
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    for step in graph.steps:
        if step.id not in reached:
            report.add(
                "changed", "not_connected",
                "Nothing leads to this node, so it would never run; it was left out.", source=step.source,
            )  # fmt: skip
    graph.steps = [step for step in graph.steps if step.id in reached]
    known = {step.id for step in graph.steps}
    graph.edges = {edge: None for edge in graph.edges if edge[0] in known and edge[2] in known}


def _close(graph: Graph, report: Report) -> None:
    """`on_error: branch` and the edges of `error` go together."""
    branching = {source for source, handle, _ in graph.edges if handle == ERROR}
    for step in graph.steps:
        if step.on_error == "branch" and step.id not in branching:
            step.on_error = "stop"
            report.add(
                "changed", "error_branch",
                "The branch for failures leads nowhere in the file; a failure stops the run.",
                source=step.source, node=step.id,
            )  # fmt: skip
        elif step.id in branching:
            step.on_error = "branch"


def _in_flow_order(graph: Graph) -> list[Step]:
    """The steps as the flow reaches them; the order of the file decides between equals."""
    by_id = {step.id: step for step in graph.steps}
    following: dict[str, list[str]] = defaultdict(list)
    missing = dict.fromkeys(by_id, 0)
    for source, target in dict.fromkeys((source, target) for source, _, target in graph.edges):
        if source in by_id and target in by_id:
            following[source].append(target)
            missing[target] += 1
    made: list[Step] = []
    ready = [step.id for step in graph.steps if missing[step.id] == 0]
    while ready:
        current = ready.pop(0)
        made.append(by_id[current])
        free = []
        for target in following[current]:
            missing[target] -= 1
            if missing[target] == 0:
                free.append(target)
        ready = [*free, *ready]
    done = {step.id for step in made}
    ends = [step for step in made if step.type == "END"]
    return [
        *(step for step in made if step.type != "END"), *(step for step in graph.steps if step.id not in done), *ends,
    ]  # fmt: skip


def spread(config: dict[str, Any]) -> dict[str, Any]:
    """A config without the fields that say nothing."""
    return {name: value for name, value in config.items() if value is not None and value not in ("", [], {})}
