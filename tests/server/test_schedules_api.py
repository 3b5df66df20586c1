"""Schedules over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2

from interlace.flows.platform import Platform
from tests.flows.triggers.schedules import SetClock, at

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
FLOW = {
    "name": "Report", "inputs": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}},
    "triggers": [{"type": "cron", "id": "daily", "cron": "30 2 * * *", "timezone": "America/New_York", "jitter": "1m"}],
    "nodes": [{"id": "start", "type": "START"}, {"id": "done", "type": "END", "config": {"outputs": {"n": "{{ inputs.n }}"}}}],
    "edges": ["start -> done"],
}  # fmt: skip


async def publish(api: httpx2.AsyncClient) -> dict[str, Any]:
    """Publish the workflow; gives the document's schedule."""
    await api.post("/api/v1/workflows", json={"document": FLOW, "publish": True})
    [found] = (await api.get("/api/v1/schedules", params={"workflow": "Report"})).json()["items"]
    return dict(found)


def stand(platform: Platform, text: str) -> None:
    """Let the platform's clock stand."""
    platform.runner.clock = SetClock(text)


async def test_the_next_times_say_what_clock_changes_do(api: httpx2.AsyncClient, platform: Platform) -> None:
    stand(platform, "2026-03-06T12:00:00Z")
    schedule = await publish(api)
    assert (schedule["name"], schedule["source"], schedule["next"]) == (
        "daily",
        "document",
        "2026-03-07T02:30:00-05:00",
    )
    found = (await api.get(f"/api/v1/schedules/{schedule['id']}/preview")).json()["items"]
    assert len(found) == 20
    assert found[1] == {
        "at": int(at("2026-03-08T07:00:00Z")), "local": "2026-03-08T03:00:00-04:00", "change": "moved",
        "note": "02:30 does not exist on this day: it runs once, right after the gap",
    }  # fmt: skip
    assert [one["change"] for one in found].count("moved") == 1
    asked = {
        "cron": "0 * * * *",
        "timezone": "Europe/London",
        "after": at("2026-10-24T23:30:00Z"),
        "count": 3,
    }
    hourly = (await api.post("/api/v1/schedules/preview", json=asked)).json()["items"]
    assert [one["change"] for one in hourly] == ["first_of_two", "second_of_two", None]


async def test_what_cannot_be_a_schedule(api: httpx2.AsyncClient, problem: Problem) -> None:
    await publish(api)
    bad = problem(await api.post("/api/v1/schedules/preview", json={"cron": "99 * * * *"}), 422, "bad_cron")
    assert "99 * * * *" in bad["detail"]
    for body in (
        {"cron": "99 * * * *"},
        {"cron": "@daily", "timezone": "Mars"},
        {"cron": "@daily", "inputs": {"n": "x"}},
    ):
        problem(await api.post("/api/v1/schedules", json={"workflow": "Report", **body}), 422, "validation")
    problem(
        await api.post("/api/v1/schedules", json={"workflow": "none", "cron": "@daily"}), 404, "not_found"
    )
    pushed = {"document": {**FLOW, "name": "draft"}}
    await api.post("/api/v1/workflows", json=pushed)
    problem(
        await api.post("/api/v1/schedules", json={"workflow": "draft", "cron": "@daily"}), 409, "conflict"
    )


async def test_a_schedule_of_ones_own_fires(
    api: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    stand(platform, "2026-01-01T00:00:00Z")
    document = await publish(api)
    body = {
        "workflow": "Report",
        "name": "often",
        "cron": "*/10 * * * *",
        "inputs": {"n": 7},
        "overlap": "skip",
        "grace": "30s",
    }
    made = (await api.post("/api/v1/schedules", json=body)).json()
    assert (made["name"], made["source"], made["overlap"], made["grace"]) == ("often", "own", "skip", 30)
    stand(platform, "2026-01-01T00:10:00Z")
    await platform.triggers.look()
    await platform.runner.idle()
    [fired] = (await api.get(f"/api/v1/schedules/{made['id']}/firings")).json()["items"]
    assert (fired["status"], fired["local"]) == ("started", "2026-01-01T00:10:00+00:00")
    run = (await api.get(f"/api/v1/runs/{fired['run_id']}")).json()
    assert (run["outputs"], run["trigger"]["kind"], run["trigger"]["name"]) == ({"n": 7}, "cron", "often")
    changed = (await api.patch(f"/api/v1/schedules/{made['id']}", json={"cron": "@hourly"})).json()
    assert (changed["next"], changed["inputs"]) == ("2026-01-01T01:00:00+00:00", {"n": 7})
    paused = (await api.post(f"/api/v1/schedules/{made['id']}/pause")).json()
    assert (paused["paused"], paused["next"]) == (True, None)
    assert (await api.post(f"/api/v1/schedules/{made['id']}/resume")).json()[
        "next"
    ] == "2026-01-01T01:00:00+00:00"
    started = await api.post(f"/api/v1/schedules/{made['id']}/run")
    await platform.runner.idle()
    assert (await api.get(f"/api/v1/runs/{started.json()['run_id']}")).json()["trigger"]["by"] == "test"
    problem(await api.delete(f"/api/v1/schedules/{document['id']}"), 409, "conflict")
    problem(await api.patch(f"/api/v1/schedules/{document['id']}", json={"cron": "@hourly"}), 409, "conflict")
    assert (await api.delete(f"/api/v1/schedules/{made['id']}")).status_code == 204
    problem(await api.get(f"/api/v1/schedules/{made['id']}"), 404, "not_found")


async def test_unpublishing_over_http_ends_them(api: httpx2.AsyncClient, problem: Problem) -> None:
    schedule = await publish(api)
    assert (await api.post("/api/v1/workflows/Report/unpublish")).json() == {"published_version": None}
    problem(await api.get(f"/api/v1/schedules/{schedule['id']}"), 404, "not_found")
    problem(await api.post("/api/v1/workflows/Report/run", json={}), 409, "conflict")
    await api.post("/api/v1/workflows/Report/publish", json={})
    assert (await api.get(f"/api/v1/schedules/{schedule['id']}")).json()["name"] == "daily"
    await api.delete("/api/v1/workflows/Report")
    assert (await api.get("/api/v1/schedules")).json()["items"] == []


async def test_subscriptions_over_http(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    base = "/api/v1/event-subscriptions"
    made = (await api.post(base, json={"url": "http://10.0.0.1/x", "events": ["run.succeeded"]})).json()
    assert made["secret"].startswith("whsec_")
    shown = (await api.get(f"{base}/{made['id']}")).json()
    assert "secret" not in shown
    await api.post("/api/v1/runs?wait=20", json={"document": FLOW})
    stand(platform, "2099-01-01T00:00:00Z")
    await platform.triggers.look()
    [message] = (await api.get(f"{base}/{made['id']}/deliveries")).json()["items"]
    assert (message["status"], message["body"]["type"], message["attempts"]) == (
        "pending",
        "run.succeeded",
        1,
    )
    assert message["error"].startswith("blocked_address")
    again = await api.post(f"{base}/{made['id']}/redeliver", json={"delivery": message["id"]})
    assert (again.status_code, again.json()["status"]) == (202, "pending")
    problem(await api.post(f"{base}/{made['id']}/redeliver", json={"delivery": "msg_none"}), 404, "not_found")
    assert (await api.post(f"{base}/{made['id']}/rotate-secret", json={})).json()["secret"] != made["secret"]
    changed = (
        await api.patch(f"{base}/{made['id']}", json={"events": ["run.failed"], "active": False})
    ).json()
    assert (changed["events"], changed["active"]) == (["run.failed"], False)
    problem(
        await api.post(base, json={"url": "http://x.example", "events": ["run.exploded"]}), 409, "conflict"
    )
    assert (await api.delete(f"{base}/{made['id']}")).status_code == 204
    assert (await api.get(base)).json()["items"] == []
