"""Replays, differences and pins over HTTP."""

from __future__ import annotations

from typing import Any

import httpx2

from interlace.flows.platform import Platform
from tests.flows.documents import chain, http
from tests.flows.test_pins import ANSWER
from tests.loopback import Loopback


def calls(loopback: Loopback) -> str:
    return chain(
        http("first", f"{loopback.url}/first"), http("second", f"{loopback.url}/second", method="POST"),
        outputs={"first": "{{ first.body.number }}", "second": "{{ second.body.number }}"},
    )  # fmt: skip


async def run(api: httpx2.AsyncClient, document: str, **body: Any) -> str:
    answer = await api.post("/api/v1/runs", params={"wait": "20s"}, json={"document": document, **body})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["run_id"])


async def test_replay_and_diff(api: httpx2.AsyncClient, platform: Platform, loopback: Loopback) -> None:
    run_id = await run(api, calls(loopback))
    plan = await api.post(f"/api/v1/runs/{run_id}/replay", json={"from": "second", "dry_run": True})
    assert plan.status_code == 200
    assert plan.json()["reused"] == ["start", "first"]
    assert plan.json()["once"] == ["second"]
    headers = {"idempotency-key": "one"}
    body = {"from": "second", "set": {"first.body.number": 5}}
    started = await api.post(f"/api/v1/runs/{run_id}/replay", json=body, headers=headers)
    assert started.status_code == 202, started.text
    new = started.json()["run_id"]
    await platform.runner.wait(new, 20)
    again = await api.post(f"/api/v1/runs/{run_id}/replay", json=body, headers=headers)
    assert again.json()["run_id"] == new
    report = (await api.get(f"/api/v1/runs/{new}")).json()
    assert (report["outputs"], report["replayed_from"]) == ({"first": 5, "second": 2}, run_id)
    found = (await api.get(f"/api/v1/runs/{run_id}/diff/{new}")).json()
    assert found["equal"] is False
    assert found["nodes"]["first"]["outputs"] == [{"path": "body.number", "before": 1, "after": 5}]
    assert loopback.seen == {"/first": 1, "/second": 2}


async def test_offline(api: httpx2.AsyncClient, platform: Platform, loopback: Loopback) -> None:
    run_id = await run(api, calls(loopback), record=True)
    started = await api.post(f"/api/v1/runs/{run_id}/replay", json={"offline": True})
    new = started.json()["run_id"]
    await platform.runner.wait(new, 20)
    assert (await api.get(f"/api/v1/runs/{run_id}/diff/{new}")).json()["equal"] is True
    assert loopback.seen == {"/first": 1, "/second": 1}
    refused = await api.post(f"/api/v1/runs/{run_id}/replay", json={"offline": True, "from": "second"})
    assert refused.status_code == 409


async def test_what_is_refused(api: httpx2.AsyncClient, platform: Platform, loopback: Loopback) -> None:
    run_id = await run(api, calls(loopback))
    for body, status in [({"from": "nobody"}, 422), ({"offline": True}, 409), ({"version": "latest"}, 409)]:
        answer = await api.post(f"/api/v1/runs/{run_id}/replay", json=body)
        assert answer.status_code == status, answer.text
    _, key = await platform.store.keys.create("bob", owner="bob")
    bob = {"authorization": f"Bearer {key}"}
    for method, path in [
        ("POST", f"runs/{run_id}/replay"), ("GET", f"runs/{run_id}/diff/{run_id}"),
        ("GET", "workflows/test/pins"), ("DELETE", "workflows/test/pins/first"),
    ]:  # fmt: skip
        body = {"json": {}} if method == "POST" else {}
        assert (await api.request(method, f"/api/v1/{path}", headers=bob, **body)).status_code == 404


async def test_pins(api: httpx2.AsyncClient, loopback: Loopback) -> None:
    pushed = await api.post("/api/v1/workflows", json={"document": calls(loopback), "publish": True})
    workflow = pushed.json()["id"]
    pins = f"/api/v1/workflows/{workflow}/pins"
    assert (await api.put(f"{pins}/first", json={"outputs": {"body": 1}})).status_code == 422
    assert (await api.put(f"{pins}/first", json={"outputs": ANSWER})).json() == {"pins": {"first": ANSWER}}
    wait = {"wait": "20s"}
    url = f"/api/v1/workflows/{workflow}/run"
    usual = (await api.post(url, params=wait, json={})).json()
    assert usual["outputs"] == {"first": 1, "second": 1}
    test = (await api.post(url, params=wait, json={"test": True})).json()
    assert test["outputs"] == {"first": 7, "second": 2}
    given = {"first": {**ANSWER, "body": {"number": 9}}}
    test = (await api.post(url, params=wait, json={"test": True, "pins": given})).json()
    assert test["outputs"] == {"first": 9, "second": 3}
    assert (await api.post(url, params=wait, json={"pins": given})).status_code == 422
    assert (await api.delete(f"{pins}/first")).status_code == 204
    assert (await api.get(pins)).json() == {"pins": {}}
