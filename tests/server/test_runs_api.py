from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from interlace.flows.platform import Platform
from tests.flows.documents import GREETING, chain, http, template
from tests.loopback import Loopback

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]


async def _run(api: httpx2.AsyncClient, document: str, wait: str = "20s", **body: Any) -> httpx2.Response:
    return await api.post("/api/v1/runs", params={"wait": wait}, json={"document": document, **body})


async def test_start_without_waiting_then_read(api: httpx2.AsyncClient, platform: Platform) -> None:
    answer = await api.post(
        "/api/v1/runs", json={"document": json.loads(GREETING), "inputs": {"name": "Ada"}}
    )
    assert answer.status_code == 202
    started = answer.json()
    assert started == {"run_id": started["run_id"], "status": "running", "via": "direct"}
    await platform.runner.wait(started["run_id"], 20)
    report = (await api.get(f"/api/v1/runs/{started['run_id']}")).json()
    assert (report["status"], report["outputs"], report["error"]) == (
        "succeeded",
        {"text": "Hello Ada"},
        None,
    )
    assert set(report["nodes"]) == {"start", "greet", "done"}


async def test_waiting_gives_the_outputs(api: httpx2.AsyncClient) -> None:
    answer = await _run(api, GREETING, inputs={"name": "Ada"})
    assert answer.status_code == 200
    assert answer.json()["outputs"] == {"text": "Hello Ada"}


async def test_end_may_answer_itself(api: httpx2.AsyncClient) -> None:
    document = json.loads(chain(outputs={}))
    document["nodes"][-1]["config"] = {
        "response": {
            "status": 201, "headers": {"X-Made": "yes", "Content-Length": "3"}, "body": {"made": "{{ inputs.n }}"},
        }
    }  # fmt: skip
    document["inputs"] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    key = {"idempotency-key": "same"}
    for _ in range(2):
        answer = await api.post(
            "/api/v1/runs",
            params={"wait": "20"},
            headers=key,
            json={"document": document, "inputs": {"n": 7}},
        )
        assert (answer.status_code, answer.json(), answer.headers["x-made"]) == (201, {"made": 7}, "yes")
        assert answer.headers["content-security-policy"] == "sandbox"


async def test_bad_inputs_are_422_with_every_problem(api: httpx2.AsyncClient, problem: Problem) -> None:
    found = problem(await _run(api, GREETING), 422, "validation")
    assert [entry["field"] for entry in found["problems"]] == ["inputs.name"]
    found = problem(await _run(api, "nodes: ["), 422, "validation")
    assert found["problems"][0]["code"] == "syntax"
    problem(await api.post("/api/v1/runs", json={"inputs": {}}), 422, "bad_request")
    problem(await api.post("/api/v1/runs", content=b"{"), 422, "bad_request")
    problem(await _run(api, GREETING, wait="soon"), 422, "bad_request")
    problem(await _run(api, GREETING, wait="-1"), 422, "bad_request")


async def test_a_failed_run_is_500_with_its_id(
    api: httpx2.AsyncClient, problem: Problem, loopback: Loopback
) -> None:
    found = problem(await _run(api, chain(http("call", f"{loopback.url}/status/404"))), 500, "run_failed")
    assert found["error"]["path"] == "call"
    assert (await api.get(f"/api/v1/runs/{found['run_id']}")).json()["status"] == "failed"


async def test_waiting_in_vain_is_504_and_cancelling_ends_it(
    api: httpx2.AsyncClient, problem: Problem, loopback: Loopback
) -> None:
    found = problem(
        await _run(api, chain(http("call", f"{loopback.url}/hold")), wait="100ms"), 504, "still_running"
    )
    run_id = found["run_id"]
    answer = await api.post(f"/api/v1/runs/{run_id}/cancel")
    assert answer.json() == {"run_id": run_id, "status": "cancelled"}
    problem(await api.post(f"/api/v1/runs/{run_id}/cancel"), 409, "conflict")
    why = (await api.get(f"/api/v1/runs/{run_id}/why/done")).json()
    assert why["status"] == "not_reached"


async def test_idempotency_keys(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    headers = {"idempotency-key": "k1"}
    body: dict[str, Any] = {"document": GREETING, "inputs": {"name": "Ada"}}
    first = (await api.post("/api/v1/runs", headers=headers, json=body)).json()
    await platform.runner.wait(first["run_id"], 20)
    again = (await api.post("/api/v1/runs", headers=headers, json=body)).json()
    assert again == first | {"status": "succeeded"}
    body["inputs"] = {"name": "Bo"}
    problem(await api.post("/api/v1/runs", headers=headers, json=body), 422, "idempotency_mismatch")


async def test_idempotency_keys_compare_inputs_with_their_defaults(
    api: httpx2.AsyncClient, problem: Problem
) -> None:
    size = {"type": "object", "properties": {"unit": {"type": "string", "default": "mm"}}}
    schema = {"type": "object", "properties": {"size": size, "name": {"type": "string", "default": "Ada"}}}
    document = chain(name="sized", inputs=schema)

    async def start(key: str, **inputs: Any) -> httpx2.Response:
        body = {"document": document, "inputs": inputs}
        return await api.post("/api/v1/runs", headers={"idempotency-key": key}, json=body)

    first = await start("nested", size={})
    assert first.status_code == 202, first.text
    same = await start("nested", size={"unit": "mm"}, name="Ada")
    assert same.json()["run_id"] == first.json()["run_id"]
    assert (await start("named", name="Bo")).status_code == 202
    problem(await start("named"), 422, "idempotency_mismatch")


async def test_listing_pages_and_filters(api: httpx2.AsyncClient, problem: Problem) -> None:
    ids = [(await _run(api, GREETING, inputs={"name": str(n)})).json()["run_id"] for n in range(5)]
    found: list[str] = []
    cursor: str | None = None
    while True:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await api.get("/api/v1/runs", params=query)).json()
        found += [run["id"] for run in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == ids[::-1]
    assert (await api.get("/api/v1/runs?status=failed&status=cancelled")).json()["items"] == []
    assert len((await api.get("/api/v1/runs?status=succeeded")).json()["items"]) == 5
    problem(await api.get("/api/v1/runs?status=bogus"), 422, "bad_request")
    problem(await api.get("/api/v1/runs?limit=0"), 422, "bad_request")


async def test_events_go_on_after_the_last_one_seen(api: httpx2.AsyncClient) -> None:
    run_id = (await _run(api, GREETING, inputs={"name": "Ada"})).json()["run_id"]
    url = f"/api/v1/runs/{run_id}/events"
    whole = _stream((await api.get(url)).text)
    assert [event["type"] for event in whole][:2] == ["run.queued", "run.started"]
    assert whole[-1]["type"] == "run.succeeded"
    assert [event["seq"] for event in whole] == list(range(1, len(whole) + 1))
    assert _stream((await api.get(url, headers={"last-event-id": "3"})).text) == whole[3:]
    assert _stream((await api.get(url, params={"after": 3})).text) == whole[3:]
    as_json = (await api.get(url, headers={"accept": "application/json"})).json()
    assert as_json["items"] == whole


def _stream(text: str) -> list[dict[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        data = json.loads(fields["data"])
        assert (int(fields["id"]), fields["event"]) == (data["seq"], data["type"])
        found.append(data)
    return found


async def test_closing_a_stream_does_not_touch_the_run(
    api: httpx2.AsyncClient, platform: Platform, loopback: Loopback
) -> None:
    document = chain(http("call", f"{loopback.url}/hold"))
    run_id = (await api.post("/api/v1/runs", json={"document": document})).json()["run_id"]
    await asyncio.to_thread(loopback.wait_for, "/hold")
    reading = asyncio.create_task(api.get(f"/api/v1/runs/{run_id}/events"))
    await asyncio.sleep(0)
    reading.cancel()
    loopback.release.set()
    result = await platform.runner.wait(run_id, 20)
    assert result is not None
    assert result.status == "succeeded"


async def test_large_values_are_payloads(api: httpx2.AsyncClient, problem: Problem) -> None:
    document = chain(template("t", "{{ 'x' * 20000 }}"), outputs={"text": "{{ t.text }}"})
    answer = (await _run(api, document)).json()
    assert answer["outputs"] == {"text": "x" * 20000}
    run_id = answer["run_id"]
    events = (await api.get(f"/api/v1/runs/{run_id}/events", headers={"accept": "application/json"})).json()
    (node,) = [e for e in events["items"] if e["type"] == "node.succeeded" and e["path"] == "t"]
    ref = node["data"]["outputs"]["text"]["$payload"]
    assert (await api.get(f"/api/v1/runs/{run_id}/payloads/{ref}")).json() == "x" * 20000
    problem(await api.get(f"/api/v1/runs/{run_id}/payloads/sha256-00"), 404, "not_found")
    assert (await api.delete(f"/api/v1/runs/{run_id}")).status_code == 204
    problem(await api.get(f"/api/v1/runs/{run_id}"), 404, "not_found")


async def test_the_pool_without_prefect_starts_directly_and_says_so(api: httpx2.AsyncClient) -> None:
    body = {"document": GREETING, "inputs": {"name": "Ada"}, "via": "pool"}
    started = (await api.post("/api/v1/runs", json=body)).json()
    assert (started["via"], started["status"]) == ("direct", "running")
    assert "INTERLACE_PREFECT=off" in started["reason"]
    assert (await api.post("/api/v1/runs", params={"wait": "20s"}, json=body)).json()["outputs"]


async def test_a_folder_is_for_callers_on_this_machine(
    api: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    from interlace.server.app import create_app

    body = {"document": GREETING, "inputs": {"name": "Ada"}, "folder": "/tmp"}
    assert (await api.post("/api/v1/runs", json=body)).status_code == 202
    problem(
        await api.post("/api/v1/runs", json=body, headers={"x-forwarded-for": "1.2.3.4"}), 403, "forbidden"
    )
    transport = httpx2.ASGITransport(create_app(platform), client=("192.0.2.7", 1234))
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", headers=api.headers
    ) as remote:
        problem(await remote.post("/api/v1/runs", json=body), 403, "forbidden")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""), ("GET", "/events"), ("GET", "/why/greet"), ("GET", "/payloads/sha256-1"), ("POST", "/cancel"),
        ("DELETE", ""),
    ],
)  # fmt: skip
async def test_runs_of_others_and_of_nobody_are_not_found(
    api: httpx2.AsyncClient, problem: Problem, stranger: Any, method: str, path: str
) -> None:
    run_id = (await _run(api, GREETING, inputs={"name": "Ada"})).json()["run_id"]
    answer = await api.request(method, f"/api/v1/runs/{run_id}{path}", headers=stranger())
    problem(answer, 404, "not_found")
    problem(await api.request(method, f"/api/v1/runs/nothing{path}"), 404, "not_found")
    assert (await api.get("/api/v1/runs", headers=stranger())).json()["items"] == []


async def test_a_strangers_run_is_the_strangers(
    api: httpx2.AsyncClient, stranger: Any, problem: Problem
) -> None:
    body = {"document": GREETING, "inputs": {"name": "Ada"}}
    started = (await api.post("/api/v1/runs", json=body, headers=stranger())).json()
    assert (await api.get(f"/api/v1/runs/{started['run_id']}", headers=stranger())).status_code == 200
    problem(await api.get(f"/api/v1/runs/{started['run_id']}"), 404, "not_found")


async def test_numbers_and_texts_that_nothing_can_hold(api: httpx2.AsyncClient, problem: Problem) -> None:
    """A number that no database holds is a fault of the request, wherever it stands."""
    most, half = 10**30, json.dumps({"value": "half \ud800"})
    pushed = await api.post("/api/v1/workflows", json={"document": json.loads(GREETING), "publish": True})
    place = f"/api/v1/workflows/{pushed.json()['id']}"
    problem(await api.get(place, params={"version": most}), 422, "unfit_value")
    problem(await api.post(f"{place}/publish", json={"version": most}), 422, "unfit_value")
    problem(
        await api.post(f"{place}/run", json={"version": most, "inputs": {"name": "x"}}), 422, "unfit_value"
    )
    json_type = {"content-type": "application/json"}
    problem(await api.put("/api/v1/secrets/x", content=half, headers=json_type), 422, "unfit_value")
    run_id = (await _run(api, GREETING, inputs={"name": "Ada"})).json()["run_id"]
    for headers, query in (({"last-event-id": str(most)}, ""), ({}, f"?after={most}")):
        answer = await api.get(f"/api/v1/runs/{run_id}/events{query}", headers=headers)
        assert (answer.status_code, answer.text) == (200, "")
