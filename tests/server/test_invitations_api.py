"""Invitations into organisations, and API keys: who makes them, what they are good for, how they end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
OURS = {"origin": "http://localhost"}
NEW = {"name": "eve", "password": "correct horse battery"}


@dataclass
class People:
    """An organisation with an owner, an admin and a member, and somebody else."""

    call: Callable[..., Awaitable[httpx2.Response]]
    ids: dict[str, str]
    org: str

    async def invite(self, who: str = "ann", **body: Any) -> dict[str, Any]:
        answer = await self.call(who, "POST", "/api/v1/orgs/acme/invitations", json=body)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
async def people(anonymous: httpx2.AsyncClient, platform: Platform) -> People:
    store = platform.store
    made = {name: (await store.users.create(name, by=LOCAL)).id for name in ("ann", "adam", "ben", "cid")}
    org = await store.organisations.create("acme", by=LOCAL, owner=made["ann"])
    await store.organisations.add(org.id, made["adam"], "admin", by=LOCAL)
    await store.organisations.add(org.id, made["ben"], "member", by=LOCAL)
    keys = {name: (await store.keys.create(name, owner=user_id))[1] for name, user_id in made.items()}

    async def call(who: str | None, method: str, path: str, **more: Any) -> httpx2.Response:
        headers = {} if who is None else {"authorization": f"Bearer {keys[who]}"}
        return await anonymous.request(method, path, headers=headers, **more)

    return People(call, made, org.id)


async def test_somebody_new_joins_and_is_signed_in(
    people: People, anonymous: httpx2.AsyncClient, platform: Platform
) -> None:
    made = await people.invite(role="admin", email="eve@example.com")
    assert made["url"] == f"http://localhost/invitations/{made['token']}"
    assert made["mailed"] is False, "no mail is set up here"
    assert 6.9 * 86_400 < made["expires_at"] - time.time() <= 7 * 86_400
    place = f"/api/v1/invitations/{made['token']}"
    shown = (await anonymous.get(place)).json()
    assert (shown["org"], shown["role"], shown["invited_by"]) == ("acme", "admin", "ann")
    answer = await anonymous.post(f"{place}/accept", json=NEW, headers=OURS)
    assert answer.status_code == 201, answer.text
    user = (await anonymous.get("/api/v1/session")).json()["user"]
    assert (user["name"], user["email"], user["operator"]) == ("eve", "eve@example.com", False)
    assert [(org["name"], org["role"]) for org in user["orgs"]] == [("acme", "admin")]
    (listed,) = (await people.call("ann", "GET", "/api/v1/orgs/acme/invitations")).json()["items"]
    assert (listed["status"], listed["accepted_by"]) == ("accepted", user["id"])
    assert "token" not in listed
    lines = (await platform.store.audit.list(by=LOCAL, action="org")).items
    assert [line.action for line in lines][:2] == ["org.join", "org.invite"]


async def test_who_is_there_already_joins(people: People) -> None:
    made = await people.invite()
    answer = await people.call("cid", "POST", f"/api/v1/invitations/{made['token']}/accept", json={})
    assert answer.json() == {"org_id": people.org, "role": "member", "user_id": people.ids["cid"]}
    members = (await people.call("ann", "GET", "/api/v1/orgs/acme/members?role=member")).json()["items"]
    assert [member["name"] for member in members] == ["ben", "cid"]


async def test_a_key_for_less_joins_nothing(
    people: People, anonymous: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    made = await people.invite(role="admin")
    accept = f"/api/v1/invitations/{made['token']}/accept"
    _, plain = await platform.store.keys.create("reader", owner=people.ids["cid"], scopes=("runs:read",))
    refused = await anonymous.post(accept, json={}, headers={"authorization": f"Bearer {plain}"})
    assert problem(refused, 403, "missing_scope")["missing"] == ["admin"]
    await anonymous.post("/api/v1/session", json={"key": plain}, headers=OURS)
    problem(await anonymous.post(accept, json={}, headers=OURS), 403, "missing_scope")
    assert (await platform.store.users.principal(people.ids["cid"])).roles == {}
    _, plain = await platform.store.keys.create("admin", owner=people.ids["cid"], scopes=("admin",))
    anonymous.cookies.clear()
    accepted = await anonymous.post(accept, json={}, headers={"authorization": f"Bearer {plain}"})
    assert accepted.status_code == 200, accepted.text


@pytest.mark.parametrize(("who", "role", "becomes"), [("ben", "admin", "admin"), ("adam", "member", "admin"),
    ("adam", "owner", "owner"), ("ann", "member", "owner")])  # fmt: skip
async def test_an_invitation_takes_nothing_away(
    people: People, platform: Platform, who: str, role: str, becomes: str
) -> None:
    made = await people.invite(role=role)
    assert (
        await people.call(who, "POST", f"/api/v1/invitations/{made['token']}/accept", json={})
    ).status_code == 200
    assert (await platform.store.users.principal(people.ids[who])).roles == {people.org: becomes}


async def test_only_once(
    people: People, anonymous: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    place = f"/api/v1/invitations/{(await people.invite())['token']}"
    answers = await asyncio.gather(*(
        anonymous.post(f"{place}/accept", json={**NEW, "name": f"eve{number}"}, headers=OURS) for number in range(6)
    ))  # fmt: skip
    assert sorted(answer.status_code for answer in answers) == [201] + 5 * [404]
    anonymous.cookies.clear()
    problem(await anonymous.get(place), 404, "not_found")
    problem(await people.call("cid", "POST", f"{place}/accept", json={}), 404, "not_found")
    able = [
        user.name
        for user in await platform.store.users.list()
        if user.name.startswith("eve") and not user.disabled_at
    ]
    assert len(able) == 1


async def test_revoked_late_or_nonsense(
    people: People, platform: Platform, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await people.invite()
    one = f"/api/v1/orgs/acme/invitations/{made['id']}"
    problem(await people.call("ben", "DELETE", one), 403, "forbidden")
    problem(await people.call("cid", "DELETE", one), 404, "not_found")
    assert (await people.call("adam", "DELETE", one)).status_code == 204
    problem(await people.call("adam", "DELETE", one), 409, "conflict")
    problem(await people.call("adam", "DELETE", f"{one}x"), 404, "not_found")
    accept = "/api/v1/invitations/{}/accept"
    problem(await people.call("cid", "POST", accept.format(made["token"]), json={}), 404, "not_found")
    problem(await people.call("cid", "POST", accept.format("nonsense"), json={}), 404, "not_found")
    late = await people.invite(expires_in="1h")
    now = time.time()
    monkeypatch.setattr("interlace.store.invitations.time.time", lambda: now + 3601)
    problem(await people.call("cid", "POST", accept.format(late["token"]), json={}), 404, "not_found")
    listed = (await people.call("ann", "GET", "/api/v1/orgs/acme/invitations")).json()["items"]
    assert [item["status"] for item in listed] == ["expired", "revoked"]
    only = (await people.call("ann", "GET", "/api/v1/orgs/acme/invitations?status=revoked")).json()["items"]
    assert [item["id"] for item in only] == [made["id"]]
    del platform


async def test_it_counts_as_long_as_its_maker_may_invite(
    people: People, platform: Platform, problem: Problem
) -> None:
    made = await people.invite("adam")
    await platform.store.organisations.add(people.org, people.ids["adam"], "member", by=LOCAL)
    place = f"/api/v1/invitations/{made['token']}/accept"
    problem(await people.call("cid", "POST", place, json={}), 404, "not_found")
    await platform.store.organisations.add(people.org, people.ids["adam"], "admin", by=LOCAL)
    assert (await people.call("cid", "POST", place, json={})).status_code == 200


@pytest.mark.parametrize(("who", "role", "status"), [("ann", "owner", 201), ("adam", "admin", 201), ("adam", "owner", 403),
    ("ben", "member", 403), ("cid", "member", 404), (None, "member", 401)])  # fmt: skip
async def test_who_may_invite(people: People, who: str | None, role: str, status: int) -> None:
    answer = await people.call(who, "POST", "/api/v1/orgs/acme/invitations", json={"role": role})
    assert answer.status_code == status, answer.text
    if status != 404:
        return
    assert people.org not in answer.text


@pytest.mark.parametrize(
    "body", [{"role": "boss"}, {"expires_in": "90d"}, {"expires_in": 0}, {"email": "nobody"}, {"more": 1}]
)
async def test_what_is_no_invitation(people: People, problem: Problem, body: dict[str, Any]) -> None:
    problem(await people.call("ann", "POST", "/api/v1/orgs/acme/invitations", json=body), 422, "bad_request")


async def test_a_name_or_password_that_will_not_do_uses_nothing_up(
    people: People, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    made = await people.invite(email="ann@example.com")
    place = f"/api/v1/invitations/{made['token']}/accept"
    problem(await anonymous.post(place, json={}, headers=OURS), 401, "unauthorized")
    problem(
        await anonymous.post(place, json={"name": "eve", "password": "short"}, headers=OURS), 409, "conflict"
    )
    problem(await anonymous.post(place, json={**NEW, "name": "ben"}, headers=OURS), 409, "conflict")
    assert (
        await people.call("ann", "PATCH", "/api/v1/users/me", json={"email": "ann@example.com"})
    ).status_code == 200
    said = problem(await anonymous.post(place, json=NEW, headers=OURS), 409, "conflict")
    assert "sign in first" in said["detail"]
    assert (await people.call("ann", "POST", place, json={})).status_code == 200


async def test_a_page_elsewhere_accepts_nothing(
    people: People, anonymous: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    made = await people.invite()
    _, token = await platform.store.logins.create(people.ids["cid"], "password", lasts=60)
    place, cookie = f"/api/v1/invitations/{made['token']}/accept", {"cookie": f"interlace_None={token}"}
    problem(await anonymous.post(place, json={}, headers=cookie), 403, "cross_origin")
    assert (await anonymous.post(place, json={}, headers=cookie | OURS)).status_code == 200


async def test_organisations_are_renamed_by_owners(
    people: People, problem: Problem, platform: Platform
) -> None:
    await platform.store.organisations.create("lab", by=LOCAL)
    place = "/api/v1/orgs/acme"
    assert (await people.call("ben", "GET", place)).json()["name"] == "acme"
    problem(await people.call("adam", "PATCH", place, json={"name": "new"}), 403, "forbidden")
    problem(await people.call("ann", "PATCH", place, json={"name": "lab"}), 409, "conflict")
    problem(await people.call("ann", "PATCH", place, json={"name": " "}), 409, "conflict")
    assert (await people.call("ann", "PATCH", place, json={"name": "acme"})).status_code == 200
    assert (await people.call("ann", "PATCH", place, json={"name": "new"})).json()["name"] == "new"
    assert (await people.call("ben", "GET", "/api/v1/orgs/new")).json()["id"] == people.org


async def test_keys_of_ones_own(people: People, problem: Problem) -> None:
    made = (
        await people.call(
            "ben",
            "POST",
            "/api/v1/api-keys",
            json={"name": "ci", "scopes": ["runs:read", "admin"], "expires_in": "90d"},
        )
    ).json()
    assert made["key"].startswith("il_")
    assert made["expires_at"] - time.time() == pytest.approx(90 * 86_400, abs=60)
    one = f"/api/v1/api-keys/{made['id']}"
    found = (await people.call("ben", "GET", one)).json()
    assert "key" not in found
    assert found["scopes"] == ["runs:read", "admin"]
    for who in ("ann", "cid"):
        problem(await people.call(who, "GET", one), 404, "not_found")
        problem(await people.call(who, "DELETE", one), 404, "not_found")
    listed = (await people.call("ben", "GET", "/api/v1/api-keys")).json()["items"]
    assert [item["name"] for item in listed] == ["ci", "ben"]
    assert (await people.call("ben", "DELETE", one)).status_code == 204
    assert [
        i["name"] for i in (await people.call("ben", "GET", "/api/v1/api-keys?active=true")).json()["items"]
    ] == ["ben"]
    assert [
        i["name"] for i in (await people.call("ben", "GET", "/api/v1/api-keys?active=false")).json()["items"]
    ] == ["ci"]


async def test_a_key_makes_none_that_can_do_more(
    people: People, anonymous: httpx2.AsyncClient, problem: Problem
) -> None:
    soon = time.time() + 3600
    body = {"scopes": ["admin", "runs:read"], "expires_at": soon}
    limited = (await people.call("ben", "POST", "/api/v1/api-keys", json=body)).json()["key"]
    headers = {"authorization": f"Bearer {limited}"}
    for scopes in (["*"], ["runs:write"], ["runs:*"], ["admin", "files:read"]):
        said = await anonymous.post("/api/v1/api-keys", json={"scopes": scopes}, headers=headers)
        assert problem(said, 403, "missing_scope")["missing"]
    made = (await anonymous.post("/api/v1/api-keys", json={}, headers=headers)).json()
    assert (made["scopes"], made["expires_at"]) == (["admin", "runs:read"], soon)
    later = (await anonymous.post("/api/v1/api-keys", json={"expires_in": "90d"}, headers=headers)).json()
    assert later["expires_at"] == soon


@pytest.mark.parametrize(
    "body", [{"scopes": ["everything"]}, {"expires_at": 1}, {"expires_in": "soon"}, {"name": ""}, {"more": 1}]
)
async def test_what_is_no_key(people: People, body: dict[str, Any]) -> None:
    assert (await people.call("ben", "POST", "/api/v1/api-keys", json=body)).status_code in (400, 422)


async def test_lists_come_in_pages(people: People) -> None:
    for number in range(5):
        await people.invite(email=f"u{number}@example.com")
        await people.call("ann", "POST", "/api/v1/api-keys", json={"name": f"k{number}"})
    for place, name, count in (
        ("orgs/acme/invitations", "email", 5),
        ("api-keys", "name", 6),
        ("orgs/acme/members", "name", 3),
    ):
        found, cursor = [], None
        while True:
            params = {"limit": 2} | ({} if cursor is None else {"cursor": cursor})
            page = (await people.call("ann", "GET", f"/api/v1/{place}", params=params)).json()
            assert len(page["items"]) <= 2
            found += [item[name] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert len(found) == len(set(found)) == count, (place, found)
