"""Requests to people over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2

from interlace.flows.platform import Platform
from tests.flows.waiting import ASK

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]


async def _suspended(api: httpx2.AsyncClient) -> tuple[str, str]:
    answer = await api.post("/api/v1/runs?wait=20", json={"document": ASK})
    assert answer.status_code == 202, answer.text
    body = answer.json()
    assert (body["status"], body["waiting"][0]["title"], body["waiting"][0]["kind"]) == (
        "suspended",
        "Pay 5?",
        "human",
    )
    return body["run_id"], body["waiting"][0]["id"]


async def test_a_request_is_listed_shown_and_answered(api: httpx2.AsyncClient, platform: Platform) -> None:
    run_id, request_id = await _suspended(api)
    [item] = (await api.get("/api/v1/approvals")).json()["items"]
    assert (item["id"], item["run_id"], item["actions"]) == (request_id, run_id, ["approve", "reject"])
    shown = (await api.get(f"/api/v1/approvals/{request_id}")).json()
    assert shown == item
    body = {"action": "approve", "form": {"note": "fine"}, "comment": "go", "shown_hash": shown["hash"]}
    answered = await api.post(f"/api/v1/approvals/{request_id}/answer", json=body)
    assert answered.status_code == 200, answered.text
    assert (answered.json()["answered_by"], answered.json()["filled"]) == ("test", {"note": "fine"})
    result = await platform.runner.wait(run_id, 20)
    assert result is not None
    assert result.outputs == {"action": "approve", "note": "fine", "by": "test"}
    assert (await api.get("/api/v1/approvals")).json()["items"] == []
    assert len((await api.get("/api/v1/approvals?status=all")).json()["items"]) == 1


async def test_two_answers_race_and_one_wins(api: httpx2.AsyncClient, problem: Problem) -> None:
    _, request_id = await _suspended(api)
    url = f"/api/v1/approvals/{request_id}/answer"
    answers = await asyncio.gather(
        *(api.post(url, json={"action": action}) for action in ("approve", "reject"))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    lost = next(answer for answer in answers if answer.status_code == 409)
    found = problem(lost, 409, "already_answered")
    assert (found["by"], found["ended"]) == ("test", "answered")


async def test_bad_answers_are_refused(api: httpx2.AsyncClient, problem: Problem, stranger: Any) -> None:
    _, request_id = await _suspended(api)
    url = f"/api/v1/approvals/{request_id}"
    found = problem(
        await api.post(f"{url}/answer", json={"action": "approve", "form": {"note": 1}}), 422, "validation"
    )
    assert found["problems"][0]["field"] == "form.note"
    problem(await api.post(f"{url}/answer", json={"action": "maybe"}), 422, "validation")
    problem(await api.post(f"{url}/answer", json={"action": "approve", "shown_hash": "x"}), 409, "conflict")
    problem(await api.post("/api/v1/approvals/none/answer", json={"action": "approve"}), 404, "not_found")
    for path, method in ((url, "GET"), (f"{url}/answer", "POST")):
        other = await api.request(method, path, json={"action": "approve"}, headers=stranger())
        problem(other, 404, "not_found")
    assert (await api.get("/api/v1/approvals", headers=stranger())).json()["items"] == []


async def test_what_a_run_waits_for_is_told(api: httpx2.AsyncClient) -> None:
    run_id, request_id = await _suspended(api)
    run = (await api.get(f"/api/v1/runs/{run_id}")).json()
    assert run["nodes"]["ask"]["status"] == "suspended"
    assert request_id in (await api.get(f"/api/v1/runs/{run_id}/why/ask")).json()["why"]
    cancelled = await api.post(f"/api/v1/runs/{run_id}/cancel")
    assert cancelled.json()["status"] == "cancelled"
    assert (await api.get(f"/api/v1/approvals/{request_id}")).json()["status"] == "cancelled"
