"""Small documents that tests run."""

from __future__ import annotations

import itertools
import json
from typing import Any


def chain(*nodes: dict[str, Any], outputs: dict[str, Any] | None = None, **document: Any) -> str:
    """START, the nodes in a row, END; as JSON text."""
    every = [
        {"id": "start", "type": "START"},
        *nodes,
        {"id": "done", "type": "END", "config": {"outputs": outputs or {}}},
    ]
    ids = [node["id"] for node in every]
    edges = [{"from": a, "to": b} for a, b in itertools.pairwise(ids)]
    return json.dumps({"name": "test", **document, "nodes": every, "edges": edges})


def http(node: str, url: str, **more: Any) -> dict[str, Any]:
    """An HTTP node that asks for a URL."""
    spec = {key: more.pop(key) for key in ("timeout", "retry", "on_error", "wait", "effects") if key in more}
    return {"id": node, "type": "HTTP", **spec, "config": {"url": url, **more}}


def template(node: str, text: str) -> dict[str, Any]:
    """A TEMPLATE node."""
    return {"id": node, "type": "TEMPLATE", "config": {"template": text}}


def sub(node: str, workflow: str, **config: Any) -> dict[str, Any]:
    """A SUB_WORKFLOW node."""
    return {"id": node, "type": "SUB_WORKFLOW", "config": {"workflow": workflow, **config}}


GREETING = chain(
    template("greet", "Hello {{ inputs.name }}"),
    outputs={"text": "{{ greet.text }}"},
    name="greeting",
    inputs={"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
)
