"""Models over HTTP: stored, tried, used by a run, counted, and seen by nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from interlace.flows.platform import Platform
from interlace.resources.models.testing import Asked, ScriptedModels

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
ASK = {
    "name": "ask",
    "inputs": {"type": "object", "properties": {"q": {"type": "string"}}},
    "nodes": [
        {"id": "start", "type": "START"},
        {"id": "answer", "type": "LLM", "config": {"prompt": "{{ inputs.q }}", "model": "mine/scripted"}},
        {"id": "done", "type": "END", "config": {"outputs": {"text": "{{ answer.text }}"}}},
    ],
    "edges": ["start -> answer", "answer -> done"],
}


@pytest.fixture(autouse=True)
def _no_provider_of_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[ScriptedModels]:
    def echo(asked: Asked) -> dict[str, Any]:
        return {"text": f"You said {asked.user}", "chunk_size": 3, "usage": {"input": 1000, "output": 10}}

    with ScriptedModels([{"reply": echo}], api_key="sk-of-mine") as started:
        yield started


def definition(server: ScriptedModels, **fields: Any) -> dict[str, Any]:
    price = {"input": 2.0, "output": 0}
    models = [{"name": "scripted", "price": price, "capabilities": ["streaming", "json_schema"]}]
    return {"name": "mine", "base_url": server.url, "api_key": "sk-of-mine", "models": models, **fields}


async def test_from_adding_to_what_it_cost(
    api: httpx2.AsyncClient, server: ScriptedModels, platform: Platform
) -> None:
    added = await api.post("/api/v1/models", json={"definition": definition(server)})
    assert added.status_code == 201, added.text
    assert (added.json()["source"], added.json()["api_key"]) == ("stored", {"set": True})
    assert server.requests == []
    tried = (await api.post("/api/v1/models/mine/test", json={})).json()
    assert (tried["ok"], tried["model"], tried["listed"]) == (True, "scripted", server.script.models)
    ran = (await api.post("/api/v1/runs?wait=20", json={"document": ASK, "inputs": {"q": "hello"}})).json()
    assert ran["outputs"] == {"text": "You said hello"}
    [usage] = (await api.get("/api/v1/usage?group_by=run&days=1")).json()["items"][:1]
    assert usage["cost"] == 0.002
    [node] = [
        e
        for e in (await api.get("/api/v1/usage?group_by=node&all=true")).json()["items"]
        if e["group"] == "answer"
    ]
    assert (node["calls"], node["input_tokens"]) == (1, 1000)
    everywhere = (await api.get("/api/v1/models")).text + (
        await api.get(f"/api/v1/runs/{ran['run_id']}/events", headers={"accept": "application/json"})
    ).text
    assert "sk-of-mine" not in everywhere
    assert not platform.embedded.loaded, (
        "the embedding model must load with the first text to embed, not before"
    )


async def test_the_answer_streams_and_a_reader_that_comes_back_misses_nothing(
    api: httpx2.AsyncClient, server: ScriptedModels
) -> None:
    await api.post("/api/v1/models", json={"definition": definition(server)})
    ran = (await api.post("/api/v1/runs?wait=20", json={"document": ASK, "inputs": {"q": "x" * 300}})).json()

    async def deltas(after: int) -> list[tuple[int, str]]:
        lines = (
            await api.get(f"/api/v1/runs/{ran['run_id']}/events", headers={"last-event-id": str(after)})
        ).text
        found = [json.loads(line[6:]) for line in lines.splitlines() if line.startswith("data: ")]
        return [(e["seq"], e["data"]["text"]) for e in found if e["type"] == "node.delta"]

    pieces = await deltas(0)
    assert "".join(text for _, text in pieces) == ran["outputs"]["text"] == "You said " + "x" * 300
    rest = await deltas(pieces[0][0])
    assert rest == pieces[1:]


async def test_changing_and_removing(
    api: httpx2.AsyncClient, server: ScriptedModels, problem: Problem
) -> None:
    added = (await api.post("/api/v1/models", json={"definition": definition(server)})).json()
    again = await api.post("/api/v1/models", json={"definition": definition(server)})
    problem(again, 409, "conflict")
    kept = {"secret": f"model/{added['id']}/api_key"}
    changed = await api.put(
        "/api/v1/models/mine", json={"definition": definition(server, api_key=kept, timeout=5)}
    )
    assert changed.json()["timeout"] == 5
    assert (await api.post("/api/v1/models/mine/test", json={})).json()["ok"] is True
    assert (await api.delete("/api/v1/models/mine")).status_code == 204
    problem(await api.get("/api/v1/models/mine"), 404, "not_found")


async def test_a_provider_that_refuses_says_why(api: httpx2.AsyncClient, server: ScriptedModels) -> None:
    await api.post("/api/v1/models", json={"definition": definition(server, api_key="sk-wrong-one")})
    tried = (await api.post("/api/v1/models/mine/test", json={})).json()
    assert tried["ok"] is False
    assert tried["error"]["type"] == "http_401"
    assert "sk-wrong-one" not in str(tried)


async def test_budgets(api: httpx2.AsyncClient, server: ScriptedModels, problem: Problem) -> None:
    await api.post("/api/v1/models", json={"definition": definition(server)})
    body = {"scope": "user:local", "period": "day", "unit": "tokens", "most": 500}
    made = (await api.put("/api/v1/usage/budgets", json=body)).json()["id"]
    run = {"document": ASK, "inputs": {"q": "hello"}}
    assert (await api.post("/api/v1/runs?wait=20", json=run)).status_code == 200
    refused = (await api.post("/api/v1/runs?wait=20", json=run)).json()
    assert refused["error"]["type"] == "budget_exceeded"
    assert len(server.requests) == 1
    [budget] = (await api.get("/api/v1/usage/budgets")).json()["items"]
    assert (budget["spent"], budget["most"]) == (1010, 500)
    assert (await api.delete(f"/api/v1/usage/budgets/{made}")).status_code == 204
    problem(await api.put("/api/v1/usage/budgets", json={**body, "scope": "everybody"}), 400, "bad_budget")


async def test_nobody_else_sees_them(
    api: httpx2.AsyncClient, server: ScriptedModels, stranger: Callable[[], dict[str, str]], problem: Problem
) -> None:
    await api.post("/api/v1/models", json={"definition": definition(server)})
    other = stranger()
    assert (await api.get("/api/v1/models", headers=other)).json()["items"] == []
    problem(await api.get("/api/v1/models/mine", headers=other), 404, "not_found")
    problem(await api.delete("/api/v1/models/mine", headers=other), 404, "not_found")
    problem(await api.post("/api/v1/models/mine/test", json={}, headers=other), 404, "not_found")
    problem(await api.get("/api/v1/usage?all=true", headers=other), 403, "forbidden")
    assert (await api.get("/api/v1/usage", headers=other)).json()["items"] == []
    body = {"scope": "installation", "period": "day", "unit": "tokens", "most": 1}
    problem(await api.put("/api/v1/usage/budgets", json=body, headers=other), 403, "forbidden")


async def test_who_answers_for_a_role_or_what_to_do(api: httpx2.AsyncClient, server: ScriptedModels) -> None:
    roles = {item["role"]: item for item in (await api.get("/api/v1/model-roles")).json()["items"]}
    assert roles["general"]["models"] == []
    assert roles["general"]["error"]["type"] == "no_model"
    assert "OPENAI_API_KEY" in roles["general"]["error"]["message"]
    await api.post("/api/v1/models", json={"definition": definition(server)})
    roles = {item["role"]: item for item in (await api.get("/api/v1/model-roles")).json()["items"]}
    assert (roles["general"]["models"], roles["general"]["error"]) == (["mine/scripted"], None)


async def test_a_key_that_is_not_given_anew_stays(api: httpx2.AsyncClient, server: ScriptedModels) -> None:
    await api.post("/api/v1/models", json={"definition": definition(server, headers={"x-team": "blue"})})
    changed = {name: value for name, value in definition(server, retries=5).items() if name != "api_key"}
    shown = (await api.put("/api/v1/models/mine", json={"definition": changed})).json()
    assert (shown["api_key"], shown["headers"], shown["retries"]) == ({"set": True}, ["x-team"], 5)
    assert (await api.post("/api/v1/models/mine/test", json={})).json()["ok"] is True
    gone = {**changed, "api_key": None, "headers": {}}
    shown = (await api.put("/api/v1/models/mine", json={"definition": gone})).json()
    assert (shown["api_key"], shown["headers"]) == ({"set": False}, [])
