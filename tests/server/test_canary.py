"""A secret of a resource stands nowhere after a run of each node type that uses one, though the other side says it back."""

from __future__ import annotations

import base64
import json
import logging
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from interlace.flows.settings import Settings
from interlace.resources.http.testing import Received, serve
from interlace.resources.http.testing import Reply as Answer
from interlace.resources.models.testing import ScriptedModels
from interlace.resources.models.testing.script import Asked, Reply

CANARY = "cAnAry/9f3b+7Qz=wings"
FORMS = {CANARY, quote(CANARY, safe=""), base64.b64encode(CANARY.encode()).decode()}
SHOP = """
openapi: 3.1.0
info: {title: Shop, version: 1.0.0}
servers: [{url: "%s"}]
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
security: [{key: []}]
paths:
  /orders: {get: {operationId: list_orders, responses: {"200": {description: The orders}}}}
  /broken: {get: {operationId: be_broken, responses: {"200": {description: Never}}}}
"""
SECRET = "{{ secrets.CANARY }}"
NODES: dict[str, dict[str, Any]] = {
    "CONNECTOR": {"connector": "shop", "action": "list_orders"},
    "CONNECTOR broken": {"connector": "shop", "action": "be_broken"},
    "HTTP": {"url": "%s/orders", "auth": {"type": "bearer", "token": SECRET}},
    "HTTP broken": {"url": "%s/broken", "auth": {"type": "bearer", "token": SECRET}},
    "DATABASE broken": {"url": f"postgresql://reader:{SECRET}@127.0.0.1:1/x", "sql": "SELECT 1"},
    "MCP broken": {"server": "notes", "tool": "read"},
    "LLM": {"prompt": "Say it."},
    "LLM broken": {"prompt": "Say it.", "model": "broken"},
    "AGENT": {"prompt": "Say it."},
    "AGENT broken": {"prompt": "Say it.", "model": "broken"},
    "CLASSIFIER broken": {"input": "x", "classes": [{"id": "a", "description": "One."}, {"id": "b", "description": "Two."}], "model": "broken"},
    "PARAMETER_EXTRACTOR broken": {"input": "x", "fields": [{"name": "city", "description": "Which."}]},
    "QUESTION_UNDERSTANDING broken": {"input": "x", "mode": "rewrite"},
    "CODE": {"sandbox": "fast", "code": "def main(given):\n    return {'given': given}", "inputs": {"given": "{{ said.body }}"}},
}  # fmt: skip


def said(headers: dict[str, str]) -> str:
    """What was sent, word for word and in other spellings."""
    sent = [
        value.removeprefix("Bearer ") for name, value in headers.items() if name in ("authorization", "x-key")
    ]
    return " ".join(
        form
        for value in sent
        for form in (value, quote(value, safe=""), base64.b64encode(value.encode()).decode())
    )


def parrot(received: Received) -> Answer:
    back = said(received.headers)
    return Answer.of({"error": back}, 400) if "orders" not in received.path else Answer.of({"back": back})


def model(asked: Asked) -> Reply:
    back = said({name.lower(): value for name, value in asked.headers.items()})
    broken = asked.model == "broken" or "response_format" in asked.body
    return (
        Reply(status=401, error=f"Incorrect API key provided: {back}")
        if broken
        else Reply(text=f"Your key is {back}")
    )


@pytest.fixture
async def world(api: httpx2.AsyncClient) -> AsyncIterator[str]:
    """The address of the parrot; connector, model, MCP server and secret hold the canary."""
    async with serve(parrot) as server:
        with ScriptedModels([{"reply": model}], models=["scripted", "broken"]) as models:
            provider = {
                "name": "p", "base_url": models.url, "api_key": CANARY, "models": [{"name": "scripted"}, {"name": "broken"}],
                "roles": {"general": "scripted"},
            }  # fmt: skip
            notes = {"url": f"{server.url}/mcp", "headers": {"X-Key": CANARY}}
            for path, body in (
                ("/models", {"definition": provider}),
                ("/connectors", {"openapi": SHOP % server.url, "name": "shop"}),
                ("/mcp-servers", {"name": "notes", "definition": notes}),
            ):
                made = await api.post(f"/api/v1{path}", json=body)
                assert made.status_code < 300, made.text
            given = await api.put("/api/v1/connectors/shop/credentials", json={"values": {"key": CANARY}})
            assert given.status_code < 300, given.text
            kept = await api.put("/api/v1/secrets/CANARY", json={"value": CANARY})
            assert kept.status_code < 300, kept.text
            yield server.url


def document(name: str, url: str) -> dict[str, Any]:
    kind = name.partition(" ")[0]
    config = json.loads(json.dumps(NODES[name]).replace("%s", url))
    nodes = [
        {"id": "start", "type": "START"},
        {"id": "tried", "type": kind, "config": config, "on_error": "branch"},
    ]
    if kind == "CODE":
        said = {"url": f"{url}/orders", "auth": {"type": "bearer", "token": SECRET}}
        nodes.insert(1, {"id": "said", "type": "HTTP", "config": said})
    path = " -> ".join(str(node["id"]) for node in nodes)
    handles = ("a", "b") if kind == "CLASSIFIER" else ("out",)
    return {
        "name": f"canary {name}",
        "nodes": [*nodes, {"id": "done", "type": "END", "config": {"outputs": {"all": "{{ tried }}"}}}],
        "edges": [path, *(f"tried.{handle} -> done" for handle in (*handles, "error"))],
    }


async def test_nothing_keeps_or_tells_the_canary(
    api: httpx2.AsyncClient, world: str, settings: Settings, caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    caplog.set_level(logging.INFO)
    told: dict[str, str] = {}
    errors = set()
    for name in NODES:
        ran = await api.post("/api/v1/runs", params={"wait": "30s"}, json={"document": document(name, world)})
        assert ran.status_code == 200, (name, ran.text)
        run = ran.json()["run_id"]
        path = f"/api/v1/runs/{run}"
        parts = [ran, *[await api.get(path + part) for part in ("", "/events", "/context", "/export")]]
        assert [part.status_code for part in parts] == [200] * len(parts), name
        told[name] = "\n".join(part.text for part in parts)
        if '"node.failed"' in told[name]:
            errors.add(name)
    assert errors == {name for name in NODES if "broken" in name}, "each was refused by the parrot"
    for name in (
        "CONNECTOR",
        "HTTP",
        "LLM",
        "AGENT",
        "CODE",
        "LLM broken",
        "HTTP broken",
        "CONNECTOR broken",
    ):
        assert "[secret" in told[name], f"{name} was told it, and says that something stood there"
    out, err = capfd.readouterr()
    told |= {"logs": caplog.text + out + err, "home": _kept(settings.home)}
    found = {(place, form) for place, text in told.items() for form in FORMS if form in text}
    assert found == set()


def _kept(home: Path) -> str:
    """The database as text, and every other file."""
    with sqlite3.connect(home / "interlace.db") as database:
        rows = "\n".join(database.iterdump())
    database.close()
    files = [path for path in home.rglob("*") if path.is_file() and not path.name.startswith("interlace.db")]
    return rows + "\n".join(path.read_bytes().decode("latin-1") for path in files)
