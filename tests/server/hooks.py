"""Workflows with webhooks, and how tests call them."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import httpx2

ECHO_OUTPUTS = {"inputs": "{{ inputs }}", "trigger": "{{ trigger }}"}


def hook_flow(
    *triggers: dict[str, Any], name: str = "hooked", inputs: dict[str, Any] | None = None, node: dict[str, Any] | None = None,
    end: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """START → an optional node → END, which gives back inputs and trigger."""
    nodes: list[dict[str, Any]] = [{"id": "start", "type": "START"}]
    edges = ["start -> done"]
    if node is not None:
        nodes.append({"id": "step", **node})
        edges = ["start -> step", "step -> done"]
        if node["type"] == "HUMAN":
            edges = ["start -> step", "step.approve -> done", "step.reject -> done", "step.timeout -> done"]
    nodes.append({"id": "done", "type": "END", "config": end or {"outputs": ECHO_OUTPUTS}})
    return {
        "name": name, "inputs": inputs or {"type": "object"}, "triggers": [{"type": "webhook", **one} for one in triggers],
        "nodes": nodes, "edges": edges,
    }  # fmt: skip


async def published(api: httpx2.AsyncClient, document: dict[str, Any]) -> dict[str, Any]:
    """Publish a workflow; gives its first webhook as the API shows it."""
    pushed = await api.post("/api/v1/workflows", json={"document": document, "publish": True})
    assert pushed.status_code == 201, pushed.text
    found = await api.get("/api/v1/webhooks", params={"workflow": document["name"]})
    webhook: dict[str, Any] = found.json()["items"][-1]
    return webhook


def github(secret: str, body: bytes) -> dict[str, str]:
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"x-hub-signature-256": f"sha256={digest}", "content-type": "application/json"}
