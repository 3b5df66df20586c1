"""Browsers that sign in: the ways in, the cookie, what it may do, and how it ends."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.server.app import create_app
from interlace.server.attempts import PER_ACCOUNT, PER_ADDRESS, PER_PAIR, network
from interlace.server.passwords import hash_password
from interlace.server.signing import new_link
from interlace.store.logins import IDLE_SECONDS
from interlace.store.tokens import hash_token

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PASSWORD = "correct horse battery"
OURS = {"origin": "http://localhost"}
SESSION = "/api/v1/session"


@pytest.fixture
async def ann(platform: Platform) -> str:
    """A user with a password; gives the id."""
    made = await platform.store.users.create(
        "ann", by=LOCAL, email="Ann@Example.com", password_hash=await hash_password(PASSWORD)
    )
    return made.id


@pytest.fixture
async def browser(platform: Platform) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(platform), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def sign_in(client: httpx2.AsyncClient, **body: str) -> httpx2.Response:
    return await client.post(SESSION, json=body or {"email": "ann", "password": PASSWORD}, headers=OURS)


async def test_nobody_yet(browser: httpx2.AsyncClient) -> None:
    found = (await browser.get(SESSION)).json()
    assert (found["authenticated"], found["user"], found["session"]) == (False, None, None)
    assert found["ways"] == {"password": True, "key": True, "link": True, "oidc": []}
    assert found["first_start"] is True


@pytest.mark.parametrize("name", ["ann", "ann@example.com", "ANN@EXAMPLE.COM", " ann "])
async def test_by_password(browser: httpx2.AsyncClient, ann: str, name: str) -> None:
    answer = await sign_in(browser, email=name, password=PASSWORD)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["user"]["id"], found["user"]["operator"], found["session"]["method"]) == (
        ann,
        False,
        "password",
    )
    assert found["first_start"] is False
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    assert "secure" not in cookie, "this is plain HTTP, over which a browser would not send it back"
    assert (await browser.get(SESSION)).json() == found
    assert (await browser.get("/api/v1/runs")).status_code == 200


async def test_over_tls_the_cookie_is_bound_to_the_host(platform: Platform, ann: str) -> None:
    transport = httpx2.ASGITransport(create_app(platform))
    async with httpx2.AsyncClient(transport=transport, base_url="https://localhost") as client:
        body = {"email": "ann", "password": PASSWORD}
        answer = await client.post(SESSION, json=body, headers={"origin": "https://localhost"})
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-interlace=")
        assert "Secure" in cookie
        assert "Domain" not in cookie
        assert (await client.get(SESSION)).json()["authenticated"] is True


async def test_behind_a_proxy_that_ends_tls(platform: Platform, ann: str) -> None:
    platform.settings = platform.settings.model_copy(update={"public_url": "https://flows.example"})
    transport = httpx2.ASGITransport(create_app(platform))
    async with httpx2.AsyncClient(transport=transport, base_url="http://flows.example") as client:
        body, page = {"email": "ann", "password": PASSWORD}, {"origin": "https://flows.example"}
        answer = await client.post(SESSION, json=body, headers=page)
        assert answer.status_code == 200, answer.text
        assert answer.headers["set-cookie"].startswith("__Host-interlace=")
        assert "Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "body",
    [
        {"email": "ann", "password": "wrong horse battery"}, {"email": "nobody", "password": PASSWORD},
        {"email": "", "password": ""}, {"email": "owner", "password": ""}, {"key": "il_no_no"}, {"token": "x"},
        {"email": "ann", "password": "x" * 500}, {"email": "ann\x00", "password": PASSWORD},
    ],
)  # fmt: skip
async def test_what_signs_nobody_in(browser: httpx2.AsyncClient, ann: str, body: dict[str, str]) -> None:
    answer = await sign_in(browser, **body)
    assert answer.status_code == 401, answer.text
    assert "set-cookie" not in answer.headers
    assert (await browser.get(SESSION)).json()["authenticated"] is False


@pytest.mark.parametrize(
    "body", [{}, {"email": "ann"}, {"password": "x"}, {"email": 1, "password": []}, {"more": 1}, []]
)
async def test_what_is_no_way_in(browser: httpx2.AsyncClient, problem: Problem, body: Any) -> None:
    problem(await browser.post(SESSION, json=body, headers=OURS), 422, "bad_request")


async def test_a_wrong_name_says_no_more_than_a_wrong_password(browser: httpx2.AsyncClient, ann: str) -> None:
    wrong = await sign_in(browser, email="ann", password="wrong horse battery")
    nobody = await sign_in(browser, email="nobody", password=PASSWORD)
    assert wrong.json() == nobody.json()


async def test_changes_need_our_own_page(browser: httpx2.AsyncClient, ann: str, problem: Problem) -> None:
    await sign_in(browser)
    document = {"document": "{}"}
    target = "/api/v1/workflows/validate"
    problem(await browser.post(target, json=document), 403, "cross_origin")
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
                    {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "none"}):  # fmt: skip
        problem(await browser.post(target, json=document, headers=headers), 403, "cross_origin")
    for headers in (OURS, {"sec-fetch-site": "same-origin"}):
        assert (await browser.post(target, json=document, headers=headers)).status_code == 200
    problem(await browser.delete(SESSION, headers={"origin": "https://evil.example"}), 403, "cross_origin")
    assert (await browser.get(SESSION)).json()["authenticated"] is True


async def test_signing_in_again_ends_the_session_before(
    browser: httpx2.AsyncClient, platform: Platform, ann: str
) -> None:
    await sign_in(browser)
    (name, first), = browser.cookies.items()  # fmt: skip
    await sign_in(browser)
    ((_, second),) = browser.cookies.items()
    assert first != second
    assert len(await platform.store.logins.list(ann)) == 1
    browser.cookies.set(name, first)
    browser.cookies.delete(name, domain="localhost.local")
    assert (await browser.get(SESSION, headers={"cookie": f"{name}={first}"})).json()[
        "authenticated"
    ] is False


async def test_signing_out(browser: httpx2.AsyncClient, platform: Platform, ann: str) -> None:
    await sign_in(browser)
    ((name, token),) = browser.cookies.items()
    answer = await browser.delete(SESSION, headers=OURS)
    assert answer.status_code == 204
    assert "max-age=0" in answer.headers["set-cookie"].lower()
    assert not dict(browser.cookies)
    assert (await browser.get("/api/v1/runs", headers={"cookie": f"{name}={token}"})).status_code == 401
    assert not await platform.store.logins.list(ann)
    assert (await browser.delete(SESSION, headers=OURS)).status_code == 204, "nobody is signed out twice"


async def test_only_a_hash_is_kept(browser: httpx2.AsyncClient, platform: Platform, ann: str) -> None:
    await sign_in(browser)
    ((_, token),) = browser.cookies.items()
    content = (platform.settings.home / "interlace.db").read_bytes()
    content += (platform.settings.home / "interlace.db-wal").read_bytes()
    assert hash_token(token).encode() in content
    assert token.encode() not in content


async def test_a_session_ends_by_itself(
    browser: httpx2.AsyncClient, platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sign_in(browser)
    now = time.time()
    monkeypatch.setattr("interlace.store.logins.time.time", lambda: now + IDLE_SECONDS - 5)
    assert (await browser.get(SESSION)).json()["authenticated"] is True, "and that was a use"
    monkeypatch.setattr("interlace.store.logins.time.time", lambda: now + 2 * IDLE_SECONDS - 15)
    assert (await browser.get(SESSION)).json()["authenticated"] is True
    monkeypatch.setattr("interlace.store.logins.time.time", lambda: now + 4 * IDLE_SECONDS)
    assert (await browser.get(SESSION)).json()["authenticated"] is False, "not used for twelve hours"
    login, token = await platform.store.logins.create(ann, "password", lasts=60)
    at = login.expires_at
    monkeypatch.setattr("interlace.store.logins.time.time", lambda: at - 1)
    assert await platform.store.logins.verify(token) is not None
    monkeypatch.setattr("interlace.store.logins.time.time", lambda: at)
    assert await platform.store.logins.verify(token) is None


async def test_what_has_ended_is_removed(platform: Platform, ann: str) -> None:
    store = platform.store
    await store.logins.create(ann, "password", lasts=-1)
    await store.tickets.issue("link", lasts=-1, user_id=ann)
    await store.counters.add("x", seconds=-1)
    kept, _ = await store.logins.create(ann, "password", lasts=60)
    await store.expired.remove()
    assert [login.id for login in await store.logins.list(ann)] == [kept.id]
    assert (await store.counters.add("x", seconds=60)).count == 1


async def test_a_disabled_user_is_signed_out(
    browser: httpx2.AsyncClient, api: httpx2.AsyncClient, ann: str, platform: Platform
) -> None:
    await sign_in(browser)
    assert (await api.delete("/api/v1/users/ann")).status_code == 204
    assert (await browser.get(SESSION)).json()["authenticated"] is False
    assert (await sign_in(browser)).status_code == 401
    assert (await api.patch("/api/v1/users/ann", json={"active": True})).json()["disabled_at"] is None
    assert (await sign_in(browser)).status_code == 200
    del platform


async def test_by_key(browser: httpx2.AsyncClient, platform: Platform, ann: str, problem: Problem) -> None:
    key, plain = await platform.store.keys.create("reader", owner=ann, scopes=["runs:read"])
    found = (await sign_in(browser, key=plain)).json()
    assert (found["scopes"], found["session"]["method"]) == (["runs:read"], "key")
    assert (await browser.get("/api/v1/runs")).status_code == 200
    problem(await browser.get("/api/v1/users"), 403, "missing_scope")
    await platform.store.keys.revoke(key.id, owner=ann)
    assert (await browser.get(SESSION)).json()["authenticated"] is False


async def test_by_a_link_once(browser: httpx2.AsyncClient, platform: Platform, ann: str) -> None:
    link = await new_link(platform, ann, "http://localhost/")
    answer = await browser.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert (await browser.get(SESSION)).json()["session"]["method"] == "link"
    await browser.delete(SESSION, headers=OURS)
    again = await browser.get(link)
    assert again.headers["location"] == "/login?error=bad_link"
    assert "used up" in (await browser.get(again.headers["location"])).text
    assert (await browser.get(SESSION)).json()["authenticated"] is False
    token = (await new_link(platform, ann, "")).rpartition("=")[2]
    answers = await asyncio.gather(*(sign_in(browser, token=token) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + 7 * [401]


async def test_a_link_for_somebody_who_forgot(
    api: httpx2.AsyncClient, browser: httpx2.AsyncClient, ann: str, problem: Problem
) -> None:
    link = (await api.post("/api/v1/users/ann/link")).json()["url"]
    assert link.startswith("http://localhost/login/link?token=")
    await browser.get(link)
    new = {"password": "another horse battery"}
    assert (await browser.put("/api/v1/users/me/password", json=new, headers=OURS)).status_code == 204
    problem(await browser.post("/api/v1/users/me/link", headers=OURS), 403, "forbidden")
    await browser.delete(SESSION, headers=OURS)
    assert (await sign_in(browser, email="ann", **new)).status_code == 200
    assert (await sign_in(browser)).status_code == 401


async def test_ones_own_password(
    browser: httpx2.AsyncClient, platform: Platform, ann: str, problem: Problem
) -> None:
    elsewhere, _ = await platform.store.logins.create(ann, "password", lasts=60)
    await sign_in(browser)
    place, new = "/api/v1/users/me/password", "another horse battery"
    problem(await browser.put(place, json={"password": new}, headers=OURS), 422, "bad_request")
    wrong = {"password": new, "current": "no"}
    problem(await browser.put(place, json=wrong, headers=OURS), 403, "wrong_credentials")
    short = {"password": "short", "current": PASSWORD}
    problem(await browser.put(place, json=short, headers=OURS), 409, "conflict")
    assert len(await platform.store.logins.list(ann)) == 2
    right = {"password": new, "current": PASSWORD}
    assert (await browser.put(place, json=right, headers=OURS)).status_code == 204
    assert elsewhere.id not in [login.id for login in await platform.store.logins.list(ann)]
    assert (await browser.get(SESSION)).json()["authenticated"] is True
    problem(await browser.put("/api/v1/users/owner/password", json=right, headers=OURS), 404, "not_found")


async def test_where_one_is_signed_in(
    browser: httpx2.AsyncClient, platform: Platform, ann: str, problem: Problem
) -> None:
    elsewhere, token = await platform.store.logins.create(ann, "oidc", lasts=60, agent="another browser" * 50)
    await sign_in(browser)
    found = (await browser.get("/api/v1/users/me/logins")).json()["items"]
    assert [(item["method"], item["current"]) for item in found] == [("password", True), ("oidc", False)]
    assert len(found[1]["agent"]) == 200
    assert (await browser.delete(f"/api/v1/users/me/logins/{elsewhere.id}", headers=OURS)).status_code == 204
    assert await platform.store.logins.verify(token) is None
    problem(await browser.delete(f"/api/v1/users/me/logins/{elsewhere.id}", headers=OURS), 404, "not_found")
    await platform.store.logins.create(ann, "oidc", lasts=60)
    assert (await browser.delete("/api/v1/users/me/logins", headers=OURS)).status_code == 204
    assert len(await platform.store.logins.list(ann)) == 1
    lines = (await browser.get("/api/v1/audit?action=login")).json()["items"]
    assert [line["action"] for line in lines] == ["login.end", "login.end", "login.begin"]


async def test_too_many_attempts_at_one_account(
    browser: httpx2.AsyncClient, ann: str, problem: Problem
) -> None:
    for _ in range(PER_PAIR - 1):
        assert (await sign_in(browser, email="ann", password="wrong")).status_code == 401
    assert (await sign_in(browser)).status_code == 200, "whoever knows it begins anew"
    for _ in range(PER_PAIR):
        assert (await sign_in(browser, email="ann", password="wrong")).status_code == 401
    answer = await sign_in(browser)
    problem(answer, 429, "too_many_attempts")
    assert 0 < int(answer.headers["retry-after"]) <= 900


async def test_attempts_at_once_are_no_more(browser: httpx2.AsyncClient, ann: str) -> None:
    answers = await asyncio.gather(
        *(sign_in(browser, email="ann", password="wrong") for _ in range(3 * PER_PAIR))
    )
    seen = Counter(answer.status_code for answer in answers)
    assert set(seen) <= {401, 429}
    assert seen[401] <= PER_PAIR, seen


def test_passwords_are_hashed_in_any_loop() -> None:
    """Also when several wait for their turn."""

    async def hashed() -> list[str]:
        return await asyncio.gather(*(hash_password("correct horse") for _ in range(4)))

    for _ in range(2):
        assert len(set(asyncio.run(hashed()))) == 4


async def test_many_accounts_from_one_address(browser: httpx2.AsyncClient, problem: Problem) -> None:
    for number in range(PER_ADDRESS):
        assert (await sign_in(browser, email=f"u{number}", password="x")).status_code == 401
    problem(await sign_in(browser, email="one-more", password="x"), 429, "too_many_attempts")


async def test_one_account_from_many_addresses(platform: Platform, ann: str) -> None:
    app, found = create_app(platform), []
    for number in range(PER_ACCOUNT + 1):
        transport = httpx2.ASGITransport(app, client=(f"192.0.2.{number}", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            found.append((await sign_in(client, email="ann", password="x")).status_code)
    assert found == PER_ACCOUNT * [401] + [429]


async def test_two_servers_count_together(platform: Platform, ann: str) -> None:
    other = await Platform.open(platform.settings)
    try:
        found = []
        for number in range(PER_PAIR + 2):
            transport = httpx2.ASGITransport(create_app((platform, other)[number % 2]))
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
                found.append((await sign_in(client, email="ann", password="x")).status_code)
        assert found == PER_PAIR * [401] + [429, 429]
    finally:
        await other.close()


def test_what_counts_as_one_address() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff:1") != network("2001:db8:0:1::1")
    assert network("::ffff:192.0.2.1") == network("192.0.2.1") != network("192.0.2.2")
    assert network("unix") == "unix"


async def test_passwords_may_be_switched_off(
    browser: httpx2.AsyncClient, platform: Platform, ann: str, problem: Problem
) -> None:
    platform.settings = platform.settings.model_copy(update={"password_login": False})
    problem(await sign_in(browser), 403, "password_login_off")
    assert (await browser.get(SESSION)).json()["ways"]["password"] is False
    assert "password" not in re.sub("type='password'", "", (await browser.get("/login")).text)


async def test_the_page_signs_in(browser: httpx2.AsyncClient, ann: str) -> None:
    form = {"email": "ann", "password": PASSWORD}
    assert (await browser.post("/login", data={**form, "password": "no"}, headers=OURS)).status_code == 401
    assert (await browser.post("/login", data=form, headers=OURS)).status_code == 303
    assert (await browser.get("/")).status_code == 200


async def test_what_signs_in_is_made_by_nothing_less(
    browser: httpx2.AsyncClient, ann: str, platform: Platform, problem: Problem
) -> None:
    keys, soon = platform.store.keys, time.time() + 3600
    made = [
        await keys.create("ci", owner="local", scopes=("admin",)), await keys.create("hour", owner="local", expires_at=soon),
    ]  # fmt: skip
    for place, send, body in (
        ("me/link", browser.post, None), (f"{ann}/password", browser.put, {"password": "another horse battery"}),
    ):  # fmt: skip
        for _, plain in made:
            headers = {"authorization": f"Bearer {plain}"}
            problem(await send(f"/api/v1/users/{place}", json=body, headers=headers), 403, "missing_scope")
        assert (await sign_in(browser, key=made[1][1])).status_code == 200
        problem(await send(f"/api/v1/users/{place}", json=body, headers=OURS), 403, "missing_scope")
        browser.cookies.clear()
        _, plain = await keys.create("whole", owner="local")
        done = await send(f"/api/v1/users/{place}", json=body, headers={"authorization": f"Bearer {plain}"})
        assert done.status_code in (201, 204)
