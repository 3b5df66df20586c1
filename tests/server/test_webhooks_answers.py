"""What webhooks answer, their addresses, and those beside the document."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from tests.server.hooks import github, hook_flow, published

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
SECRET = "webhook-secret-1"


async def report(api: httpx2.AsyncClient, run_id: str) -> dict[str, Any]:
    """The run when it has ended."""
    platform: Platform = api._transport.app.state.platform  # type: ignore[attr-defined]
    await platform.runner.wait(run_id, 20)
    found: dict[str, Any] = (await api.get(f"/api/v1/runs/{run_id}")).json()
    return found


@pytest.mark.parametrize("mode", ["outputs", "response"])
async def test_waiting_for_the_outputs(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, mode: str
) -> None:
    end: dict[str, Any] = {"outputs": {"twice": "{{ inputs.n * 2 }}"}}
    if mode == "response":
        end["response"] = {"status": 201, "headers": {"x-made": "yes"}, "body": {"made": "{{ inputs.n }}"}}
    hook = await published(api, hook_flow({"response": {"mode": "wait"}}, end=end))
    answer = await anonymous.post(hook["path"], json={"n": 4})
    if mode == "response":
        assert (answer.status_code, answer.headers["x-made"], answer.json()) == (201, "yes", {"made": 4})
    else:
        assert (answer.status_code, answer.json()["outputs"], answer.json()["status"]) == (
            200,
            {"twice": 8},
            "succeeded",
        )


async def test_a_run_that_fails_is_no_success(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    node = {"type": "TEMPLATE", "config": {"template": "{{ inputs.gone }}"}}
    hook = await published(api, hook_flow({"response": {"mode": "wait"}}, node=node))
    failed = problem(await anonymous.post(hook["path"], json={}), 500, "run_failed")
    assert (await api.get(f"/api/v1/runs/{failed['run_id']}")).json()["status"] == "failed"


async def test_a_run_that_waits_or_takes_long_says_so(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    hook = await published(
        api, hook_flow({"response": {"mode": "wait"}}, node={"type": "HUMAN", "config": {"title": "?"}})
    )
    answer = await anonymous.post(hook["path"], json={})
    assert (answer.status_code, answer.json()["status"], len(answer.json()["waiting"])) == (
        202,
        "suspended",
        1,
    )
    slow = {"type": "TEMPLATE", "config": {"template": "x"}, "wait": {"for": "1.2s"}}
    other = await published(
        api, hook_flow({"response": {"mode": "wait", "timeout": 1}}, name="slow", node=slow)
    )
    waited = problem(await anonymous.post(other["path"], json={}), 504, "still_running")
    assert waited["run_id"]


async def test_pausing_and_a_new_address(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    hook = await published(api, hook_flow({}))
    base = f"/api/v1/webhooks/{hook['id']}"
    assert (await api.post(f"{base}/pause")).json()["paused"] is True
    problem(await anonymous.post(hook["path"], json={}), 503, "paused")
    await api.post(f"{base}/resume")
    assert (await anonymous.post(hook["path"], json={})).status_code == 202
    changed = (await api.post(f"{base}/rotate-token")).json()
    assert changed["path"] != hook["path"]
    problem(await anonymous.post(hook["path"], json={}), 404, "not_found")
    assert (await anonymous.post(changed["path"], json={})).status_code == 202


async def test_the_token_is_nowhere_in_the_database(api: httpx2.AsyncClient, platform: Platform) -> None:
    hook = await published(api, hook_flow({}))
    token = hook["path"].removeprefix("/hooks/")
    content = b"".join(file.read_bytes() for file in platform.settings.home.glob("interlace.db*"))
    assert hashlib.sha256(token.encode()).hexdigest().encode() in content
    assert token.encode() not in content


async def test_webhooks_beside_the_document(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    await published(api, hook_flow({}))
    body = {
        "workflow": "hooked",
        "name": "mine",
        "signature": {"type": "github"},
        "secret": SECRET,
        "inputs": {"a": 1},
    }
    made = (await api.post("/api/v1/webhooks", json=body)).json()
    assert (made["source"], made["name"], made["secret_set"]) == ("own", "mine", True)
    answer = await anonymous.post(made["path"], content=b"{}", headers=github(SECRET, b"{}"))
    assert (await report(api, answer.json()["run_id"]))["outputs"]["inputs"] == {"a": 1}
    changed = await api.patch(f"/api/v1/webhooks/{made['id']}", json={"inputs": {"a": 2}, "max_size": 1})
    assert (changed.json()["inputs"], changed.json()["max_size"]) == ({"a": 2}, 1)
    problem(
        await api.post("/api/v1/webhooks", json={**body, "signature": {"type": "githb"}}), 422, "bad_request"
    )
    problem(await api.post("/api/v1/webhooks", json={**body, "methods": ["FETCH"]}), 422, "validation")
    problem(await api.post("/api/v1/webhooks", json={"workflow": "none"}), 404, "not_found")
    assert (await api.delete(f"/api/v1/webhooks/{made['id']}")).status_code == 204
    problem(await anonymous.post(made["path"], content=b"{}"), 404, "not_found")


async def test_an_owner_without_access_starts_nothing(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    store = platform.store
    ann = await store.users.create("ann", by=LOCAL)
    _, key = await store.keys.create("anns", owner=ann.id)
    hers = {"authorization": f"Bearer {key}"}
    await anonymous.post("/api/v1/workflows", json={"document": hook_flow({}), "publish": True}, headers=hers)
    hook = (await anonymous.get("/api/v1/webhooks", headers=hers)).json()["items"][0]
    assert (await anonymous.post(hook["path"], json={}, headers={"authorization": ""})).status_code == 202
    await store.users.disable(ann.id, by=LOCAL)
    problem(await anonymous.post(hook["path"], json={}), 503, "not_available")
    assert "owner is disabled" in str((await store.triggers.get(hook["id"])).error)
    assert (await api.get("/api/v1/webhooks")).json()["items"] == []
