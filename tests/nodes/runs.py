"""One node in the smallest document around it, run by the real engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import interlace.nodes
from interlace.engine.document import NodeSpec
from interlace.engine.events import Event
from interlace.engine.node import Finding
from interlace.engine.protocols import Services
from interlace.engine.registry import Registry
from interlace.engine.testing import MemoryJournal, run_document

REGISTRY = Registry()
REGISTRY.discover(interlace.nodes)


@dataclass
class NodeRun:
    """How the node `n` of a run ended."""

    outputs: dict[str, Any]
    error: dict[str, Any] | None
    handles: tuple[str, ...]
    why: Mapping[str, str]
    events: list[Event] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        assert self.error is None, self.error
        return self.outputs[name]

    @property
    def message(self) -> str:
        assert self.error is not None, self.outputs
        return str(self.error["message"])

    @property
    def kind(self) -> str:
        assert self.error is not None, self.outputs
        return str(self.error["type"])

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event.data for event in self.events if event.type == kind]


async def run_node(
    kind: str,
    config: Mapping[str, Any],
    inputs: Mapping[str, Any] | None = None,
    *,
    body: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
    services: Services | None = None,
    before: Sequence[Mapping[str, Any]] = (),
    settings: Mapping[str, Any] | None = None,
) -> NodeRun:
    """Run a node called `n` after START, and after `before` where given (in a row)."""
    spec: dict[str, Any] = {"id": "n", "type": kind, "config": dict(config)}
    if body is not None:
        spec["body"] = body
    chain = ["start", *(str(node["id"]) for node in before), "n"]
    edges = [{"from": a, "to": b} for a, b in pairwise(chain)]
    edges += [{"from": "n", "handle": handle, "to": "done"} for handle in _node(kind, config).handles()]
    document = {
        "name": "test",
        "variables": dict(variables or {}),
        "settings": dict(settings or {}),
        "nodes": [{"id": "start", "type": "START"}, *before, spec, {"id": "done", "type": "END"}],
        "edges": edges,
    }
    journal = MemoryJournal()
    result = await run_document(document, inputs or {}, registry=REGISTRY, services=services, journal=journal)
    for event in journal.events:
        if event.path == "n" and event.type == "node.succeeded":
            data = event.data
            return NodeRun(data["outputs"], None, tuple(data["handles"]), data.get("why", {}), journal.events)
    return NodeRun({}, result.error, (), {}, journal.events)


def _node(kind: str, config: Mapping[str, Any]) -> Any:
    node_type = REGISTRY[kind]
    return node_type(node_type.config_type.model_validate(config))


def check(kind: str, config: Mapping[str, Any], *, body: Mapping[str, Any] | None = None) -> list[Finding]:
    """What the type's own static check finds."""
    spec = NodeSpec.model_validate({"id": "n", "type": kind, "config": dict(config), "body": body})
    return list(_node(kind, config).check(spec))
