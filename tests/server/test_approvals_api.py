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


async def test_pages_of_ones_own_requests_are_full(api: httpx2.AsyncClient, platform: Platform) -> None:
    """What is asked of others lies between, and neither shortens a page nor ends the list."""
    mine = []
    for number in range(9):
        name = "test" if number % 3 == 0 else "bob"
        text = ASK.replace("      form:", f"      assignees: [{name}]\n      form:")
        started = (await api.post("/api/v1/runs?wait=20", json={"document": text})).json()
        mine += [started["waiting"][0]["id"]] if name == "test" else []
    first = (await api.get("/api/v1/approvals?mine=true&limit=2")).json()
    assert [item["id"] for item in first["items"]] == mine[::-1][:2]
    rest = (await api.get(f"/api/v1/approvals?mine=true&limit=2&cursor={first['next_cursor']}")).json()
    assert ([item["id"] for item in rest["items"]], rest["next_cursor"]) == (mine[:1], None)


async def test_a_request_is_handed_to_somebody_else(
    api: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    run_id, request_id = await _suspended(api)
    url = f"/api/v1/approvals/{request_id}"
    handed = await api.post(f"{url}/assign", json={"to": "bob", "comment": "away"})
    assert (handed.status_code, handed.json()["assignees"]) == (200, ["bob"])
    assert [(e["by"], e["to"], e["comment"]) for e in handed.json()["history"]] == [("test", ["bob"], "away")]
    problem(await api.post(f"{url}/answer", json={"action": "approve"}), 403, "forbidden")
    problem(await api.post(f"{url}/assign", json={"to": "eve"}), 403, "forbidden")
    _, key = await platform.store.keys.create("bob")
    bob = {"authorization": f"Bearer {key}"}
    assert (await api.post(f"{url}/answer", json={"action": "approve"}, headers=bob)).status_code == 200
    problem(await api.post(f"{url}/assign", json={"to": "eve"}, headers=bob), 409, "already_answered")
    assert (await platform.runner.wait(run_id, 20)).outputs["by"] == "bob"  # type: ignore[union-attr,index]
    lines = (await api.get("/api/v1/audit?action=approval")).json()["items"]
    assert {line["action"] for line in lines} == {"approval.assign", "approval.answer"}


async def test_many_answers_reach_no_request_of_anothers(api: httpx2.AsyncClient, stranger: Any) -> None:
    _, request_id = await _suspended(api)
    body = {"answers": [{"id": request_id, "action": "approve"}]}
    found = (await api.post("/api/v1/approvals/answer", json=body, headers=stranger())).json()
    assert (found["answered"], found["items"][0]["error"]["code"]) == (0, "not_found")
    assert (await api.get(f"/api/v1/approvals/{request_id}")).json()["status"] == "pending"


async def test_many_are_answered_each_on_its_own(api: httpx2.AsyncClient, platform: Platform) -> None:
    made = [await _suspended(api) for _ in range(4)]
    ids = [request_id for _, request_id in made]
    await api.post(f"/api/v1/approvals/{ids[1]}/answer", json={"action": "reject"})
    answers = [
        {"id": ids[0], "action": "approve", "form": {"note": "a"}},
        {"id": ids[1], "action": "approve"},
        {"id": "none", "action": "approve"},
        {"id": ids[2], "action": "maybe"},
        {"id": ids[3], "action": "reject"},
        {"id": ids[0], "action": "approve"},
    ]
    answer = await api.post("/api/v1/approvals/answer", json={"answers": answers})
    found = answer.json()
    assert (answer.status_code, found["answered"], found["failed"]) == (200, 2, 4)
    assert [item["id"] for item in found["items"]] == [each["id"] for each in answers]
    codes = [item.get("error", {}).get("code") for item in found["items"]]
    assert codes == [None, "already_answered", "not_found", "validation", None, "already_answered"]
    assert found["items"][1]["error"]["by"] == "test"
    assert found["items"][3]["error"]["problems"][0]["field"] == "action"
    for index, action in ((0, "approve"), (3, "reject")):
        result = await platform.runner.wait(made[index][0], 20)
        assert result is not None
        assert result.outputs is not None
        assert result.outputs["action"] == action
    assert (await api.get(f"/api/v1/approvals/{ids[2]}")).json()["status"] == "pending"
    assert (await api.post("/api/v1/approvals/answer", json={"answers": []})).status_code == 422
