from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.flows.documents import GREETING, chain, template

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PATH = "/api/v1/workflows"
NEWER = GREETING.replace("Hello", "Good day")


async def _push(api: httpx2.AsyncClient, document: str = GREETING, **body: Any) -> dict[str, Any]:
    answer = await api.post(PATH, json={"document": document, **body})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_push_publish_run(api: httpx2.AsyncClient, problem: Problem) -> None:
    pushed = await _push(api, note="first")
    assert pushed | {"id": ""} == {
        "id": "", "name": "greeting", "version": 1, "created": True, "published": False,
    }  # fmt: skip
    run = f"{PATH}/greeting/run?wait=20s"
    inputs = {"inputs": {"name": "Ada"}}
    problem(await api.post(run, json=inputs), 409, "conflict")
    assert (await api.post(run, json={**inputs, "version": "latest"})).json()["outputs"] == {
        "text": "Hello Ada"
    }
    assert (await api.post(f"{PATH}/greeting/publish", json={})).json() == {"published_version": 1}
    assert (await _push(api))["created"] is False
    assert (await _push(api, NEWER))["version"] == 2
    assert (await api.post(run, json=inputs)).json()["outputs"] == {"text": "Hello Ada"}
    assert (await api.post(run, json={**inputs, "version": 2})).json()["outputs"] == {"text": "Good day Ada"}
    problem(await api.post(run, json={**inputs, "version": 3}), 404, "not_found")
    problem(await api.post(run, json={**inputs, "version": "newest"}), 404, "not_found")
    problem(await api.post(run, json={"inputs": {"name": 1}}), 422, "validation")
    versions = (await api.get(f"{PATH}/{pushed['id']}/versions")).json()["items"]
    assert [(v["number"], v["note"]) for v in versions] == [(2, ""), (1, "first")]


async def test_documents_and_differences(api: httpx2.AsyncClient) -> None:
    await _push(api, publish=True)
    await _push(api, NEWER)
    found = (await api.get(f"{PATH}/greeting")).json()
    assert (found["version"], found["published_version"]) == (2, 1)
    assert found["document"]["nodes"][1]["config"]["template"].startswith("Good day")
    text = (await api.get(f"{PATH}/greeting/document?version=1")).text
    assert text.startswith("schema: interlace/v1\nname: greeting\n")
    changes = (await api.get(f"{PATH}/greeting/diff")).json()
    assert "greet" in json.dumps(changes)
    assert (await api.get(f"{PATH}/greeting/diff?before=2&after=latest")).json() != changes


async def test_validation_runs_nothing(api: httpx2.AsyncClient) -> None:
    answer = (await api.post(f"{PATH}/validate", json={"document": GREETING})).json()
    assert answer["valid"] is True
    assert answer["types"]["greet"]["properties"]["text"]
    bad = GREETING.replace("greet.text", "gret.text")
    (found,) = (await api.post(f"{PATH}/validate", json={"document": bad})).json()["problems"]
    assert (found["code"], found["node"]) == ("unknown_name", "done")
    assert set(found) == {"severity", "code", "node", "field", "line", "message", "fix"}
    await _push(api)
    assert (await api.post(f"{PATH}/greeting/validate")).json()["valid"] is True


async def test_an_invalid_document_is_not_stored(api: httpx2.AsyncClient, problem: Problem) -> None:
    bad = GREETING.replace("greet.text", "gret.text")
    problem(await api.post(PATH, json={"document": bad}), 422, "validation")
    assert (await api.get(PATH)).json() == {"items": [], "next_cursor": None}


async def test_a_node_alone(api: httpx2.AsyncClient, problem: Problem) -> None:
    await _push(
        api, chain(template("a", "A {{ inputs.x | default(1) }}"), template("b", "{{ a.text }}!"), name="two")
    )
    body: dict[str, Any] = {"node": "b", "inputs": {"a": {"text": "given"}}}
    answer = (await api.post(f"{PATH}/two/test-node", json=body)).json()
    assert (answer["status"], answer["outputs"]["text"]) == ("succeeded", "given!")
    assert (await api.get("/api/v1/runs")).json()["items"] == []
    body["node"] = "c"
    problem(await api.post(f"{PATH}/two/test-node", json=body), 422, "validation")


async def test_pages_and_deleting(api: httpx2.AsyncClient, problem: Problem) -> None:
    for name in "abc":
        await _push(api, chain(name=name))
    first = (await api.get(PATH, params={"limit": 2})).json()
    assert [item["name"] for item in first["items"]] == ["a", "b"]
    second = (await api.get(PATH, params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [item["name"] for item in second["items"]] == ["c"]
    assert (await api.delete(f"{PATH}/b")).status_code == 204
    problem(await api.get(f"{PATH}/b"), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None), ("DELETE", "", None), ("GET", "/versions", None), ("POST", "/publish", {}),
        ("POST", "/validate", None), ("GET", "/diff", None), ("POST", "/run", {}), ("GET", "/document", None),
        ("POST", "/test-node", {"node": "greet"}),
    ],
)  # fmt: skip
async def test_workflows_of_others_are_not_found(
    api: httpx2.AsyncClient, problem: Problem, stranger: Any, method: str, path: str, body: Any
) -> None:
    pushed = await _push(api, publish=True)
    for name in ("greeting", pushed["id"]):
        answer = await api.request(method, f"{PATH}/{name}{path}", json=body, headers=stranger())
        problem(answer, 404, "not_found")
