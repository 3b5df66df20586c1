"""Every route against every kind of caller: what belongs to another tenant does not exist.

The list of operations comes from the application. A route that has no entry in `CASES` of `tenant_cases.py` fails the test: add one that
calls it with an object of Ann's as somebody else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.resources.connectors.connectors import CALLBACK_PATH
from interlace.resources.documents.source import Source
from interlace.server.app import create_app
from interlace.server.scopes import declared, routes_of
from interlace.store.places import Place
from interlace.store.sessions import Message
from tests.flows.waiting import ASK
from tests.server.tenant_cases import CASES, FLOW, PUBLIC, Case

SECRET = "anns-secret-value"
OPEN = {
    CALLBACK_PATH, "/api/v1/session", "/api/v1/invitations/{token}", "/api/v1/invitations/{token}/accept",
}  # fmt: skip


@dataclass(frozen=True)
class Tenants:
    """Ann's objects by the names of path parameters, and a client for each caller."""

    ids: dict[str, str]
    secret_texts: tuple[str, ...]
    call: Callable[..., Awaitable[httpx2.Response]]


async def triggers_of(call: Callable[..., Awaitable[httpx2.Response]], workflow: str) -> dict[str, str]:
    """A schedule, a webhook with a delivery, and a subscription of Ann's."""
    trigger = {"workflow": workflow, "name": "anns-trigger"}
    schedule = await call("ann", "POST", "/api/v1/schedules", json={**trigger, "cron": "@daily"})
    secret = {"name": "anns-hook", "secret": SECRET}
    hook = (await call("ann", "POST", "/api/v1/webhooks", json={**trigger, **secret})).json()
    delivered = await call(None, "POST", hook["path"], json={"n": "anns"})
    wanted = {"url": "https://anns.example", "events": ["run.failed"]}
    subscription = await call("ann", "POST", "/api/v1/event-subscriptions", json=wanted)
    return {
        "schedule": schedule.json()["id"], "webhook": hook["id"], "hook": hook["path"],
        "delivery": delivered.json()["delivery"], "subscription": subscription.json()["id"],
    }  # fmt: skip


@pytest.fixture
async def tenants(anonymous: httpx2.AsyncClient, platform: Platform) -> Tenants:
    store = platform.store
    made = {name: await store.users.create(name, by=LOCAL) for name in ("ann", "ben", "cid", "gone")}
    acme = await store.organisations.create("acme", by=LOCAL, owner=made["ann"].id)
    other = await store.organisations.create("other", by=LOCAL, owner=made["cid"].id)
    await store.organisations.add(acme.id, made["ben"].id, by=LOCAL)
    keys = {name: await store.keys.create(f"{name}s-key", owner=user.id) for name, user in made.items()}
    await store.keys.revoke(keys["gone"][0].id, owner=made["gone"].id)

    async def call(who: str | None, method: str, path: str, **kwargs: Any) -> httpx2.Response:
        headers = {} if who is None else {"authorization": f"Bearer {keys[who][1]}"}
        return await anonymous.request(method, path, headers=headers, **kwargs)

    workflow = (
        await call("ann", "POST", "/api/v1/workflows", json={"document": FLOW, "publish": True})
    ).json()
    big = {"inputs": {"n": "x" * 20_000}, "document": FLOW}
    ended = (await call("ann", "POST", "/api/v1/runs?wait=20", json=big)).json()
    events = await store.events.read(ended["run_id"])
    ref = next(e.data["inputs"]["n"]["$payload"] for e in events if e.type == "run.started")
    ann = await store.users.principal(made["ann"].id)
    invitation, _ = await store.invitations.create(
        acme.id, "member", by=ann, lasts=60, email="anns@example.com"
    )
    login, _ = await store.logins.create(made["ann"].id, "password", lasts=60)
    asks = (await call("ann", "POST", "/api/v1/runs?wait=20", json={"document": ASK})).json()
    file = (
        await call("ann", "POST", "/api/v1/files", files={"file": ("a.txt", b"anns", "text/plain")})
    ).json()
    await platform.secrets.put("TOKEN", SECRET, by=ann)
    made_skill = {"definition": {"name": "anns-skill", "description": "Anns"}, "org": "acme"}
    skill = (await call("ann", "POST", "/api/v1/skills", json=made_skill)).json()["id"]
    persona = {"name": "anns-agent", "instructions": "anns-instructions"}
    agent = (await call("ann", "POST", "/api/v1/agents", json={"definition": persona})).json()["id"]
    database = await store.resources.add("database", "anns-data", {}, by=ann)
    server = await platform.mcp.add("anns-server", {"url": "https://mcp.example.com/mcp"}, by=ann)
    definition = {"name": "anns-provider"}
    provider = await store.resources.add("model", "anns-provider", definition, by=ann, org_id=acme.id)
    base = await platform.knowledge.add("anns-base", {}, by=ann)
    document, _ = await platform.knowledge.put(
        "anns-base", Source(content=b"anns", name="anns-paper.txt"), by=ann
    )
    budget = await store.usage.set_budget(f"org:{acme.id}", "day", "tokens", 1)
    api = {
        "name": "anns-api", "base_url": "https://api.example.com", "actions": [{"name": "look"}],
        "auth": {"type": "bearer", "token": SECRET},
    }  # fmt: skip
    connector = (await call("ann", "POST", "/api/v1/connectors", json={"definition": api})).json()["id"]
    session = await platform.chat.create(by=ann, agent="anns-agent", title="anns-talk")
    question = Message(id="anns-message", session_id=session.id, parent_id=None, role="user", content="anns")
    await store.sessions.add(session, [question])
    place = Place(key="response:resp_anns", session_id=session.id, message_id=question.id)
    await store.places.put(made["ann"].id, place)
    ids = {
        **await triggers_of(call, workflow["id"]), "response": "resp_anns",
        "session": session.id, "message": question.id,
        "skill": skill, "agent": agent, "base": base.id, "document": document.id,
        "database": database.id, "server": server.id, "provider": provider.id, "budget_id": budget,
        "connector": connector, "action": "look", "workflow": workflow["id"], "run_id": ended["run_id"], "ref": ref, "request_id": asks["waiting"][0]["id"],
        "login": login.id, "invitation": invitation.id, "file": file["ref"], "user": made["ann"].id, "org": acme.id, "key": keys["ann"][0].id, "name": "TOKEN",
        "object_id": skill, "waiting": asks["run_id"], "others": other.id,
    }  # fmt: skip
    hidden = (
        "server",
        "workflow",
        "run_id",
        "ref",
        "request_id",
        "file",
        "user",
        "key",
        "object_id",
        "waiting",
        "org",
        "database",
        "provider",
        "connector",
        "base",
        "document",
        "skill",
        "agent",
        "session",
        "message",
        "schedule",
        "webhook",
        "delivery",
        "subscription",
        "hook",
        "login",
        "invitation",
    )
    return Tenants(
        ids,
        (
            SECRET,
            "anns-skill",
            "anns-api",
            "anns-agent",
            "anns-instructions",
            "anns-talk",
            *(ids[name] for name in hidden),
        ),
        call,
    )


def _operations(platform: Platform) -> list[tuple[str, str]]:
    return sorted(
        (method, str(route.path))
        for route in routes_of(create_app(platform))
        for method in route.methods or ()
        if method != "HEAD"
    )


def _path(case: Case, path: str, ids: Mapping[str, str]) -> str:
    ids = {**ids, "ref": ids["file"]} if path.startswith("/api/v1/files") else ids
    return (case.path or path).format_map(ids)


def test_every_route_has_a_case(platform: Platform) -> None:
    operations = _operations(platform)
    assert len(operations) > 50
    assert not [operation for operation in operations if operation not in CASES]
    assert not [operation for operation in CASES if operation not in operations]


async def test_a_stranger_finds_nothing_of_anothers(platform: Platform, tenants: Tenants) -> None:
    for method, path in _operations(platform):
        case = CASES[method, path]
        if case is PUBLIC:
            continue
        for place in {_path(case, path, tenants.ids), _path(case, path, {**tenants.ids, "workflow": "Anns"})}:
            answer = await tenants.call("cid", method, place, json=case.body, files=case.files)
            assert answer.status_code == case.status, (method, place, answer.text)
            said = answer.text if case.status != 404 else ""
            leaked = [text for text in tenants.secret_texts if text in said]
            assert not leaked, (method, place, leaked)
    # And what is Ann's is still there, as it was.
    for place in ("workflows/{workflow}", "runs/{run_id}", "approvals/{request_id}", "files/{file}"):
        answer = await tenants.call("ann", "GET", f"/api/v1/{place.format_map(tenants.ids)}")
        assert answer.status_code == 200, answer.text
    assert (await tenants.call("ann", "GET", "/api/v1/approvals")).json()["items"][0]["status"] == "pending"
    assert (await tenants.call("ann", "GET", "/api/v1/workflows")).json()["items"][0][
        "published_version"
    ] == 1


@pytest.mark.parametrize("who", [None, "gone"])
async def test_without_a_valid_key_there_is_nothing(
    platform: Platform, tenants: Tenants, who: str | None
) -> None:
    for method, path in _operations(platform):
        case = CASES[method, path]
        if case is PUBLIC:
            continue
        answer = await tenants.call(
            who, method, _path(case, path, tenants.ids), json=case.body, files=case.files
        )
        page = path in ("/", "/runs/{run_id}") or (method == "GET" and path.startswith("/forms/"))
        assert answer.status_code == (303 if page else 401), (method, path, answer.text)


def test_only_routes_that_say_so_are_public(platform: Platform) -> None:
    for route in routes_of(create_app(platform)):
        for method in set(route.methods or ()) - {"HEAD"}:
            if CASES[method, str(route.path)] is PUBLIC:
                assert declared(route) == ()
                assert not str(route.path).startswith("/api/") or route.path in OPEN


async def test_ones_own_run_does_not_open_anothers_payload(tenants: Tenants) -> None:
    mine = (
        await tenants.call("cid", "POST", "/api/v1/runs?wait=20", json={"document": FLOW, "inputs": {"n": 1}})
    ).json()
    answer = await tenants.call("cid", "GET", f"/api/v1/runs/{mine['run_id']}/payloads/{tenants.ids['ref']}")
    assert answer.status_code == 404


async def test_what_is_shared_is_used_and_not_changed_by_members(tenants: Tenants) -> None:
    ids, call = tenants.ids, tenants.call
    assert (await call("ben", "GET", f"/api/v1/workflows/{ids['workflow']}")).status_code == 404
    share = {"where": "org", "org": "acme"}
    shared = await call("ann", "POST", f"/api/v1/market/{ids['workflow']}/publish", json=share)
    assert shared.json()["publish_status"] == "approved"
    assert (await call("ben", "GET", "/api/v1/workflows/Anns")).status_code == 200
    assert [w["id"] for w in (await call("ben", "GET", "/api/v1/workflows")).json()["items"]] == [
        ids["workflow"]
    ]
    ran = await call("ben", "POST", "/api/v1/workflows/Anns/run?wait=20", json={"inputs": {"n": 3}})
    assert ran.json()["outputs"] == {"n": 3}
    for who, found in (("ben", 200), ("ann", 404), ("cid", 404)):
        assert (await call(who, "GET", f"/api/v1/runs/{ran.json()['run_id']}")).status_code == found
    for method, tail, body in (("DELETE", "", None), ("POST", "/publish", {})):
        answer = await call("ben", method, f"/api/v1/workflows/{ids['workflow']}{tail}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert (await call("cid", "DELETE", f"/api/v1/workflows/{ids['workflow']}")).status_code == 404
    await call("ann", "POST", f"/api/v1/market/{ids['workflow']}/unpublish")
    assert (await call("ben", "GET", "/api/v1/workflows/Anns")).status_code == 404


async def test_requests_of_a_shared_workflow_go_to_the_organisation(tenants: Tenants) -> None:
    call = tenants.call
    pushed = (await call("ann", "POST", "/api/v1/workflows", json={"document": ASK, "publish": True})).json()
    await call("ann", "POST", f"/api/v1/market/{pushed['id']}/publish", json={"where": "org", "org": "acme"})
    started = (await call("ann", "POST", f"/api/v1/workflows/{pushed['id']}/run?wait=20", json={})).json()
    (request,) = started["waiting"]
    seen = (await call("ben", "GET", "/api/v1/approvals")).json()["items"]
    assert [item["id"] for item in seen] == [request["id"]]
    assert (await call("cid", "GET", "/api/v1/approvals")).json()["items"] == []
    action = seen[0]["actions"][0]
    answered = await call("ben", "POST", f"/api/v1/approvals/{request['id']}/answer", json={"action": action})
    assert (answered.status_code, answered.json()["answered_by"]) == (200, "ben")
    lines = (await call("ann", "GET", "/api/v1/audit?action=approval")).json()["items"]
    assert [(line["action"], line["detail"]["action"]) for line in lines] == [("approval.answer", action)]
    assert lines[0]["source"].startswith("http")


async def test_the_market_is_reviewed_and_ends_at_once(
    platform: Platform, anonymous: httpx2.AsyncClient, tenants: Tenants
) -> None:
    ids, call = tenants.ids, tenants.call
    offered = await call("ann", "POST", f"/api/v1/market/{ids['workflow']}/publish", json={"where": "market"})
    assert offered.json()["publish_status"] == "pending"
    place = f"/api/v1/market/{ids['workflow']}"
    assert (await call("cid", "PUT", f"{place}/subscription")).status_code == 404
    _, plain = await platform.store.keys.create("operator")
    operator = {"authorization": f"Bearer {plain}"}
    waiting = (await anonymous.get("/api/v1/market/reviews", headers=operator)).json()["items"]
    assert [item["id"] for item in waiting] == [ids["workflow"]]
    await anonymous.post(f"{place}/review", headers=operator, json={"approve": True})
    assert (await call("cid", "GET", "/api/v1/workflows/Anns")).status_code == 404, "not subscribed"
    assert (await call("cid", "PUT", f"{place}/subscription")).status_code == 200
    assert (await call("cid", "GET", "/api/v1/workflows/Anns")).status_code == 200
    assert (await call("cid", "DELETE", "/api/v1/workflows/Anns")).status_code == 403
    await anonymous.post(f"{place}/review", headers=operator, json={"approve": False})
    assert (await call("cid", "GET", "/api/v1/workflows/Anns")).status_code == 404
    assert (await call("cid", "GET", "/api/v1/market")).json()["items"] == []


async def test_a_disabled_users_key_counts_no_more(platform: Platform, tenants: Tenants) -> None:
    assert (await tenants.call("ben", "GET", "/api/v1/runs")).status_code == 200
    ben = await platform.store.users.get("ben")
    await platform.store.users.disable(ben.id, by=LOCAL)
    assert (await tenants.call("ben", "GET", "/api/v1/runs")).status_code == 401


async def test_secrets_go_in_and_never_come_out(tenants: Tenants) -> None:
    call = tenants.call
    assert (await call("cid", "PUT", "/api/v1/secrets/KEY", json={"value": "canary-1"})).status_code == 204
    listed = await call("cid", "GET", "/api/v1/secrets")
    assert [item["name"] for item in listed.json()["items"]] == ["KEY"]
    assert "canary-1" not in listed.text + (await call("cid", "GET", "/api/v1/audit")).text
    assert (await call("ben", "PUT", "/api/v1/secrets/K?org=acme", json={"value": "x"})).status_code == 403
    assert (await call("ann", "PUT", "/api/v1/secrets/K?org=acme", json={"value": "x"})).status_code == 204
    assert [item["name"] for item in (await call("ben", "GET", "/api/v1/secrets")).json()["items"]] == ["K"]
