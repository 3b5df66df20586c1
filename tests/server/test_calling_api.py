"""A published workflow as an operation with types of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
from openapi_core import OpenAPI

from interlace.flows.platform import Platform
from tests.server.test_forms import ASKING, publish
from tests.server.test_sessions_api import events_of

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
ADD = """
name: Add
description: Adds.
inputs:
  type: object
  required: [a]
  properties: {a: {$ref: "#/$defs/number"}, b: {type: integer, default: 1}}
  $defs: {number: {type: integer, minimum: 0}}
nodes:
  - {id: start, type: START}
  - {id: end, type: END, config: {outputs: {sum: "{{ inputs.a + inputs.b }}"}}}
edges: [start -> end]
"""
FAILS = """
name: Fails
variables: {n: {type: integer, default: 0}}
nodes:
  - {id: start, type: START}
  - {id: bad, type: VARIABLE_ASSIGN, config: {assignments: [{variable: n, op: set, value: "{{ run.id | int }}"}]}}
  - {id: end, type: END, config: {outputs: {n: "{{ vars.n }}"}}}
edges: [start -> bad, bad -> end]
"""


async def test_inputs_in_outputs_out(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    workflow = await publish(platform, ADD)
    called = await api.post("/api/v1/workflows/Add/call", json={"a": 2})
    assert (called.status_code, called.json()) == (200, {"sum": 3})
    run_id = called.headers["x-interlace-run"]
    assert (await api.get(f"/api/v1/runs/{run_id}")).json()["workflow_id"] == workflow
    problem(await api.post("/api/v1/workflows/Add/call", json={"a": -1}), 422, "validation")
    problem(await api.post("/api/v1/workflows/None/call", json={}), 404, "not_found")
    key = {"idempotency-key": "once"}
    both = [await api.post("/api/v1/workflows/Add/call", json={"a": 5}, headers=key) for _ in range(2)]
    assert both[0].headers["x-interlace-run"] == both[1].headers["x-interlace-run"]
    problem(
        await api.post("/api/v1/workflows/Add/call", json={"a": 6}, headers=key), 422, "idempotency_mismatch"
    )
    await platform.store.workflows.unpublish(workflow)
    problem(await api.post("/api/v1/workflows/Add/call", json={"a": 2}), 409, "conflict")


async def test_later_and_as_events(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    await publish(platform, ADD)
    await publish(platform, FAILS)
    await publish(platform, ASKING)
    later = await api.post("/api/v1/workflows/Add/call", json={"a": 2}, headers={"prefer": "respond-async"})
    assert later.status_code == 202
    assert later.headers["location"] == f"/api/v1/runs/{later.json()['run_id']}"
    stream = {"accept": "text/event-stream"}
    events = events_of((await api.post("/api/v1/workflows/Add/call", json={"a": 3}, headers=stream)).text)
    assert [event["event"] for event in events][-2:] == ["run.succeeded", "result"]
    assert events[-1]["data"] == {"sum": 4}
    failed = problem(await api.post("/api/v1/workflows/Fails/call", json={}), 500, "run_failed")
    assert failed["error"]["node"] == "bad"
    events = events_of((await api.post("/api/v1/workflows/Fails/call", json={}, headers=stream)).text)
    assert (events[-1]["event"], events[-1]["data"]["error"]["node"]) == ("problem", "bad")
    waits = await api.post("/api/v1/workflows/Leave/call", json={"days": 1})
    assert (waits.status_code, waits.json()["status"]) == (202, "suspended")


async def test_its_own_openapi(api: httpx2.AsyncClient, platform: Platform) -> None:
    workflow = await publish(platform, ADD)
    found = (await api.get("/api/v1/workflows/Add/openapi.json")).json()
    OpenAPI.from_dict(found)  # it is one
    path = f"/api/v1/workflows/{workflow}/call"
    assert list(found["paths"]) == [path]
    schemas = found["components"]["schemas"]
    assert schemas["Inputs"]["properties"]["a"] == {"$ref": "#/components/schemas/Inputs/$defs/number"}
    assert schemas["Outputs"]["required"] == ["sum"]
    answer = await api.post(path, json={"a": 4})
    assert answer.json() == {"sum": 5}
