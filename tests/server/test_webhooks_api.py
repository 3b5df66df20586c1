"""Webhooks from outside: what is taken, what is answered, and what becomes of it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
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


async def deliveries(api: httpx2.AsyncClient, hook: dict[str, Any], **query: str) -> list[dict[str, Any]]:
    answer = await api.get(f"/api/v1/webhooks/{hook['id']}/deliveries", params=query)
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def test_a_json_object_becomes_the_inputs(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, platform: Platform
) -> None:
    hook = await published(api, hook_flow({"id": "orders"}))
    assert (hook["name"], hook["source"], len(hook["path"])) == ("orders", "document", len("/hooks/") + 43)
    body = b'{"order": 5,  "big": 123456789012345678901234567890}'
    answer = await anonymous.post(
        f"{hook['path']}?a=1&a=2&b=",
        content=body,
        headers={"Content-Type": "application/json", "X-Api-Token": "t0k", "X-Kind": "new"},
    )
    accepted = answer.json()
    assert (answer.status_code, accepted["status"]) == (202, "accepted")
    found = await report(api, accepted["run_id"])
    outputs = found["outputs"]
    assert outputs["inputs"] == {"order": 5, "big": 123456789012345678901234567890}
    trigger = outputs["trigger"]
    assert {name: trigger[name] for name in ("kind", "webhook", "name", "delivery", "method", "query", "content_type", "body")} == {
        "kind": "webhook", "webhook": hook["id"], "name": "orders", "delivery": accepted["delivery"], "method": "POST",
        "query": {"a": ["1", "2"], "b": ""}, "content_type": "application/json",
        "body": {"order": 5, "big": 123456789012345678901234567890},
    }  # fmt: skip
    assert (trigger["headers"]["x-kind"], trigger["headers"]["x-api-token"]) == ("new", "***")
    raw = trigger["raw"]
    assert (raw["size"], raw["sha256"], raw["media_type"]) == (
        len(body),
        hashlib.sha256(body).hexdigest(),
        "application/json",
    )
    assert (await api.get(f"/api/v1/files/{raw['ref']}")).content == body
    [kept] = await deliveries(api, hook)
    assert (kept["id"], kept["status"], kept["run_id"], kept["size"]) == (
        accepted["delivery"],
        "started",
        accepted["run_id"],
        len(body),
    )
    assert platform.runner.active == {}


@pytest.mark.parametrize(
    ("body", "kind", "parsed"),
    [
        (b"[1, 2]", "application/json", [1, 2]), (b"null", "application/json", None), (b"{broken", "application/json", "{broken"),
        (b"a=1&b=2&a=3", "application/x-www-form-urlencoded", {"a": ["1", "3"], "b": "2"}), (b"", "", None),
        ("grüße".encode(), "text/plain", "grüße"), (b"<a/>", "application/xml", "<a/>"), (b"\xff\x00", "image/png", None),
        (b'"\\ud800"', "text/csv", '"\\ud800"'), (b"[" * 100_000, "text/plain", "[" * 100_000), (b"NaN", "application/json", "NaN"),
    ],
)  # fmt: skip
async def test_anything_else_stands_under_trigger(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, body: bytes, kind: str, parsed: Any
) -> None:
    hook = await published(api, hook_flow({}))
    answer = await anonymous.post(hook["path"], content=body, headers={"content-type": kind} if kind else {})
    assert answer.status_code == 202, answer.text
    outputs = (await report(api, answer.json()["run_id"]))["outputs"]
    if isinstance(outputs["trigger"].get("$payload"), str):
        return  # kept apart because it is long
    assert outputs["inputs"] == {}
    assert outputs["trigger"]["body"] == parsed
    assert outputs["trigger"]["raw"]["size"] == len(body)


async def test_a_mapping_overrides_the_body(api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient) -> None:
    mapping = {"n": "{{ trigger.body.order.n }}", "who": "{{ trigger.headers['x-who'] | default('nobody') }}"}
    hook = await published(api, hook_flow({"inputs": mapping}))
    answer = await anonymous.post(
        hook["path"], json={"order": {"n": 7}, "other": 1}, headers={"X-Who": "ada"}
    )
    assert (await report(api, answer.json()["run_id"]))["outputs"]["inputs"] == {"n": 7, "who": "ada"}


async def test_beside_a_mapping_the_body_gives_what_is_declared(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient
) -> None:
    schema = {
        "type": "object",
        "required": ["action", "repository"],
        "properties": {"action": {}, "repository": {"type": "string"}},
    }
    hook = await published(
        api, hook_flow({"inputs": {"repository": "{{ trigger.body.repository.name }}"}}, inputs=schema)
    )
    answer = await anonymous.post(
        hook["path"], json={"action": "opened", "repository": {"name": "a"}, "sender": {}}
    )
    assert (await report(api, answer.json()["run_id"]))["outputs"]["inputs"] == {
        "action": "opened",
        "repository": "a",
    }


async def test_a_closed_schema_takes_what_it_declares(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient
) -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"n": {"type": "integer"}, "d": {"default": 1}},
    }
    hook = await published(api, hook_flow({}, inputs=schema))
    answer = await anonymous.post(hook["path"], json={"n": 7, "other": 1})
    assert (await report(api, answer.json()["run_id"]))["outputs"]["inputs"] == {"n": 7, "d": 1}


async def test_inputs_that_do_not_fit_are_a_dead_letter(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    hook = await published(
        api, hook_flow({"response": {"mode": "wait"}, "idempotency": {"header": "X-Id"}}, inputs=schema)
    )
    refused = problem(
        await anonymous.post(hook["path"], json={"n": "x"}, headers={"X-Id": "1"}), 422, "validation"
    )
    assert refused["problems"] == [{"field": "inputs.n", "message": "must be a whole number, got text 'x'."}]
    assert "webhook" not in str(refused)
    [dead] = await deliveries(api, hook, status="dead")
    assert (dead["run_id"], "must be a whole number" in dead["error"]) == (None, True)
    # What is refused is not remembered as done, and goes through once the workflow takes it.
    assert (await anonymous.post(hook["path"], json={"n": 1}, headers={"X-Id": "1"})).status_code == 200
    looser = hook_flow({"response": {"mode": "wait"}, "idempotency": {"header": "X-Id"}})
    assert (await published(api, looser))["path"] == hook["path"]
    again = await api.post(f"/api/v1/webhooks/{hook['id']}/redeliver", json={"delivery": dead["id"]})
    assert again.status_code == 202, again.text
    assert (await report(api, again.json()["run_id"]))["outputs"]["inputs"] == {"n": "x"}
    newest = (await deliveries(api, hook))[0]
    assert (newest["redelivers"], newest["status"]) == (dead["id"], "started")


async def test_nothing_is_said_of_what_is_not_there(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    hook = await published(api, hook_flow({"signature": {"type": "github"}}))
    unknown = problem(await anonymous.post("/hooks/" + "x" * 43, content=b"{}"), 404, "not_found")
    assert unknown["detail"] == "there is nothing here"
    unsigned = problem(await anonymous.post(hook["path"], content=b"{}"), 401, "refused")
    assert set(unsigned) == {"type", "title", "status", "detail", "code"}
    assert unsigned["detail"] == "this request is not accepted"
    assert await deliveries(api, hook) == []
    assert "no secret is set" in (await api.get(f"/api/v1/webhooks/{hook['id']}")).json()["error"]


async def test_secrets_of_ones_own_are_changed_without_a_gap(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient
) -> None:
    hook = await published(api, hook_flow({"signature": {"type": "github"}}))
    rotate = f"/api/v1/webhooks/{hook['id']}/rotate-secret"

    async def call(secret: str) -> int:
        return (await anonymous.post(hook["path"], content=b"{}", headers=github(secret, b"{}"))).status_code

    first = (await api.post(rotate, json={"secret": SECRET})).json()["secret"]
    assert [await call(first), await call("other"), await call("")] == [202, 401, 401]
    second = (await api.post(rotate, json={"keep_previous": "1h"})).json()["secret"]
    assert [await call(first), await call(second)] == [202, 202]
    third = (await api.post(rotate, json={"secret": "third-secret", "keep_previous": 0})).json()["secret"]
    assert [await call(first), await call(second), await call(third)] == [401, 401, 202]
    shown = await api.get(f"/api/v1/webhooks/{hook['id']}")
    assert shown.json()["secret_set"] is True
    assert third not in shown.text
    assert (await api.post(rotate, json={"secret": "short"})).status_code == 409


async def test_stored_secrets_are_named(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, platform: Platform
) -> None:
    rule = {"type": "github", "secret": "NEW", "previous_secret": "OLD"}
    hook = await published(api, hook_flow({"signature": rule}))
    await platform.secrets.put("OLD", SECRET, by=LOCAL)
    answers = [await anonymous.post(hook["path"], content=b"{}", headers=github(SECRET, b"{}"))]
    await platform.secrets.put("NEW", "a-new-secret", by=LOCAL)
    answers.append(await anonymous.post(hook["path"], content=b"{}", headers=github("a-new-secret", b"{}")))
    assert [answer.status_code for answer in answers] == [202, 202]
    found = await report(api, answers[0].json()["run_id"])
    assert found["outputs"]["trigger"]["headers"]["x-hub-signature-256"] == "***"


async def test_slack_is_answered_only_when_it_proves_itself(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient
) -> None:
    hook = await published(api, hook_flow({"signature": {"type": "slack"}}))
    await api.post(f"/api/v1/webhooks/{hook['id']}/rotate-secret", json={"secret": SECRET})
    body = b'{"type": "url_verification", "challenge": "3eZbrw1aB", "token": "x"}'
    at = str(int(time.time()))
    digest = hmac.new(SECRET.encode(), f"v0:{at}:".encode() + body, hashlib.sha256).hexdigest()
    headers = {
        "x-slack-request-timestamp": at,
        "x-slack-signature": f"v0={digest}",
        "content-type": "application/json",
    }
    refused = await anonymous.post(
        hook["path"], content=body, headers={**headers, "x-slack-signature": "v0=00"}
    )
    assert (refused.status_code, "3eZbrw1aB" in refused.text) == (401, False)
    answer = await anonymous.post(hook["path"], content=body, headers=headers)
    assert (answer.status_code, answer.text) == (200, "3eZbrw1aB")
    assert await deliveries(api, hook) == []


async def test_fifty_deliveries_of_one_key_are_one_run(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient
) -> None:
    hook = await published(api, hook_flow({"idempotency": {"header": "X-GitHub-Delivery"}}))

    async def call() -> httpx2.Response:
        return await anonymous.post(hook["path"], json={}, headers={"x-github-delivery": "d-1"})

    answers = await asyncio.gather(*(call() for _ in range(50)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["run_id"] for answer in answers}) == 1
    assert sum("repeated" not in answer.json() for answer in answers) == 1
    assert len(await deliveries(api, hook)) == 1
    # Without a key every request counts, the same bytes or not.
    for _ in range(3):
        await anonymous.post(hook["path"], json={})
    assert len(await deliveries(api, hook)) == 4


async def test_a_key_is_computed(api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient) -> None:
    hook = await published(api, hook_flow({"idempotency": {"key": "{{ trigger.body.id }}"}}))
    for number in (1, 1, 2, None):
        await anonymous.post(hook["path"], json={"id": number} if number else {"no": 1})
    assert [one["key"] for one in await deliveries(api, hook)] == [None, "2", "1"]


async def test_long_keys_that_differ_at_their_end(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient
) -> None:
    hook = await published(api, hook_flow({"idempotency": {"header": "X-Id"}}))
    for end in ("a", "b", "a"):
        await anonymous.post(hook["path"], json={}, headers={"x-id": "k" * 600 + end})
    keys = [one["key"] for one in await deliveries(api, hook)]
    assert len(set(keys)) == len(keys) == 2, "a delivery was taken for another one"


async def test_sizes_methods_and_types(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    trigger = {
        "max_size": 10, "methods": ["POST", "GET"], "content_types": ["application/json"],
        "signature": {"type": "github"},
    }  # fmt: skip
    hook = await published(api, hook_flow(trigger))
    await api.post(f"/api/v1/webhooks/{hook['id']}/rotate-secret", json={"secret": SECRET})
    problem(await anonymous.post(hook["path"], content=b"x" * 11), 413, "too_large")

    async def pieces() -> Any:
        for _ in range(4):
            yield b"xxxx"

    problem(await anonymous.post(hook["path"], content=pieces()), 413, "too_large")
    problem(await anonymous.put(hook["path"], content=b"{}"), 405, "method_not_allowed")
    problem(
        await anonymous.post(hook["path"], content=b"{}", headers={"content-type": "text/plain"}),
        415,
        "unsupported_media_type",
    )
    asked = await anonymous.request("GET", hook["path"], headers=github(SECRET, b""))
    assert asked.status_code == 202
    assert await anonymous.post(hook["path"], content=b"{}", headers=github(SECRET, b"{}"))


async def test_what_waits_in_the_inbox_is_started_once(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, platform: Platform
) -> None:
    hook = await published(api, hook_flow({}))
    platform.runner.closing = True
    answer = await anonymous.post(hook["path"], json={"n": 1})
    assert (answer.status_code, answer.json()["run_id"]) == (202, None)
    platform.runner.closing = False
    [waiting] = await deliveries(api, hook)
    assert (waiting["status"], waiting["run_id"]) == ("received", None)
    await asyncio.gather(platform.triggers.webhooks.look(), platform.triggers.webhooks.look())
    [started] = await deliveries(api, hook)
    assert started["status"] == "started"
    assert (await report(api, started["run_id"]))["outputs"]["inputs"] == {"n": 1}
    assert len((await api.get("/api/v1/runs")).json()["items"]) == 1


async def test_a_run_reads_the_raw_body_as_a_file(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, platform: Platform
) -> None:
    node = {"type": "DOCUMENT_EXTRACTOR", "config": {"file": "{{ trigger.raw }}"}}
    hook = await published(api, hook_flow({}, node=node, end={"outputs": {"text": "{{ step.text }}"}}))
    for closing in (False, True):
        platform.runner.closing = closing
        answer = await anonymous.post(
            hook["path"], content=b"plain words", headers={"content-type": "text/plain"}
        )
        platform.runner.closing = False
        await platform.triggers.webhooks.look()
        newest = (await deliveries(api, hook))[0]
        assert newest["id"] == answer.json()["delivery"]
        assert (await report(api, newest["run_id"]))["outputs"]["text"].strip() == "plain words"
    # Also after the delivery is forgotten, a run that is done again has it.
    await platform.store.deliveries.prune(platform.runner.clock.now() + 10, 0)
    again = (await api.post(f"/api/v1/runs/{newest['run_id']}/replay", json={})).json()
    assert (await report(api, again["run_id"]))["outputs"]["text"].strip() == "plain words"


async def test_old_deliveries_are_forgotten_with_their_bodies(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, platform: Platform
) -> None:
    hook = await published(api, hook_flow({}))
    answer = await anonymous.post(hook["path"], content=b"once", headers={"content-type": "text/plain"})
    run_id = answer.json()["run_id"]
    ref = (await report(api, run_id))["outputs"]["trigger"]["raw"]["ref"]
    store = platform.store
    now = platform.runner.clock.now()
    assert await store.deliveries.prune(now - 10, now - 10) == 0
    assert await store.deliveries.prune(now + 10, now + 10) == 1
    assert await store.payloads.get(ref) == b"once"  # the run has it still
    await store.runs.delete(run_id)
    assert not [one for one in store.payloads.refs(0) if one == ref]
