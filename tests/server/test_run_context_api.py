"""What stands around a run, and the filters of lists, over the application."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from tests.flows.documents import GREETING

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
CALLER = {
    "name": "Caller", "inputs": {"type": "object", "properties": {"who": {"type": "string"}}},
    "nodes": [
        {"id": "start", "type": "START"},
        {"id": "sub", "type": "SUB_WORKFLOW", "config": {"workflow": "Greeting", "inputs": {"name": "{{ inputs.who }}"}}},
        {"id": "done", "type": "END", "config": {"outputs": {"text": "{{ sub.text }}"}}},
    ],
    "edges": ["start -> sub", "sub -> done"],
}  # fmt: skip


async def _called(api: httpx2.AsyncClient) -> str:
    """A run of a workflow that calls another one."""
    document = {**json.loads(GREETING), "name": "Greeting"}
    pushed = await api.post("/api/v1/workflows", json={"document": document, "publish": True})
    assert pushed.status_code == 201, pushed.text
    answer = await api.post("/api/v1/runs?wait=20s", json={"document": CALLER, "inputs": {"who": "Ada"}})
    assert answer.json()["outputs"] == {"text": "Hello Ada"}, answer.text
    run_id: str = answer.json()["run_id"]
    return run_id


async def test_the_context_tells_inputs_children_and_replays(
    api: httpx2.AsyncClient, platform: Platform
) -> None:
    run_id = await _called(api)
    replay = (await api.post(f"/api/v1/runs/{run_id}/replay", json={"from": "done"})).json()["run_id"]
    await platform.runner.wait(replay, 20)
    found = (await api.get(f"/api/v1/runs/{run_id}/context")).json()
    assert found["inputs"] == {"who": "Ada"}
    assert [(child["workflow"], child["parent_path"]) for child in found["children"]] == [("Greeting", "sub")]
    assert [one["id"] for one in found["replays"]] == [replay]
    assert found["prefect_url"] is None
    child = found["children"][0]["id"]
    listed = (await api.get("/api/v1/runs", params={"parent_run_id": run_id})).json()["items"]
    assert [one["id"] for one in listed] == [child]
    assert (await api.get(f"/api/v1/runs/{child}")).json()["parent_run_id"] == run_id


async def test_the_export_holds_document_inputs_report_and_events(api: httpx2.AsyncClient) -> None:
    run_id = await _called(api)
    answer = await api.get(f"/api/v1/runs/{run_id}/export")
    assert answer.headers["content-disposition"] == f'attachment; filename="run-{run_id}.json"'
    found = answer.json()
    assert (found["interlace_run"], found["inputs"], found["document"]["name"]) == (
        1,
        {"who": "Ada"},
        "Caller",
    )
    assert found["report"]["status"] == "succeeded"
    assert [event["type"] for event in found["events"]][-1] == "run.succeeded"


async def test_runs_are_filtered_by_trigger_and_time(api: httpx2.AsyncClient) -> None:
    run_id = await _called(api)

    async def ids(**wanted: Any) -> list[str]:
        return [run["id"] for run in (await api.get("/api/v1/runs", params=wanted)).json()["items"]]

    child = (await ids(parent_run_id=run_id))[0]
    assert await ids(trigger="api") == [run_id]
    assert await ids(trigger="sub_workflow") == [child]
    assert await ids(trigger="cron") == []
    assert await ids(trigger='api","x":"') == []
    made = (await api.get(f"/api/v1/runs/{run_id}")).json()["created_at"]
    assert await ids(until=made - 1) == []
    assert await ids(since=made - 1, until=made) == [run_id]


async def test_the_doctor_is_for_operators(
    api: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    found = (await api.get("/api/v1/doctor")).json()
    assert found["ok"] is all(check["state"] != "failed" for check in found["checks"])
    assert {"python", "home", "database", "code sandbox", "allow-lists"} <= {
        check["name"] for check in found["checks"]
    }
    assert found["settings"]["prefect"] == "off"
    ann = await platform.store.users.create("ann", by=LOCAL)
    _, key = await platform.store.keys.create("anns", owner=ann.id)
    problem(await api.get("/api/v1/doctor", headers={"authorization": f"Bearer {key}"}), 403, "forbidden")


async def test_the_audit_is_filtered(api: httpx2.AsyncClient, platform: Platform) -> None:
    ann = await platform.store.users.create("ann", by=LOCAL)
    _, key = await platform.store.keys.create("anns", owner=ann.id)
    mine = {"authorization": f"Bearer {key}"}
    await api.put("/api/v1/secrets/TOKEN", json={"value": "x"}, headers=mine)
    lines = (await api.get("/api/v1/audit", params={"user": "ann"})).json()["items"]
    assert [(line["action"], line["user_name"]) for line in lines] == [("secret.set", "ann")]
    made = lines[0]["at"]
    both = {"user": ann.id, "action": "secret"}
    assert (
        len((await api.get("/api/v1/audit", params={**both, "since": made, "until": made})).json()["items"])
        == 1
    )
    assert (await api.get("/api/v1/audit", params={**both, "since": made + 1})).json()["items"] == []
    assert (await api.get("/api/v1/audit", params={**both, "until": made - 1})).json()["items"] == []
    assert (await api.get("/api/v1/audit", params={"user": "nobody"})).json()["items"] == []
    of_object = (await api.get("/api/v1/audit", params={"object": lines[0]["object_id"]})).json()["items"]
    assert lines[0]["id"] in [line["id"] for line in of_object]


async def test_a_delivery_gives_its_raw_body(api: httpx2.AsyncClient, problem: Problem) -> None:
    await _called(api)
    hook = (await api.post("/api/v1/webhooks", json={"workflow": "Greeting"})).json()
    raw = b'{"name":  "Ada"}'
    headers = {"content-type": "application/json"}
    came = (await api.post(hook["path"], content=raw, headers=headers)).json()
    place = f"/api/v1/webhooks/{hook['id']}/deliveries"
    answer = await api.get(f"{place}/{came['delivery']}/body")
    assert (answer.content, answer.headers["x-content-type-options"]) == (raw, "nosniff")
    assert answer.headers["content-disposition"].startswith("attachment")
    problem(await api.get(f"{place}/none/body"), 404, "not_found")
