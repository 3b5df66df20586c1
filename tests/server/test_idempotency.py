"""The same request twice: one thing made, one answer; another request with its key is told so."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from interlace.flows.platform import Platform
from interlace.server import idempotency
from interlace.server.app import create_app
from interlace.server.scopes import routes_of
from interlace.store.answers import CLAIM_SECONDS

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
USERS = "/api/v1/users"


def key(text: str) -> dict[str, str]:
    return {"idempotency-key": text}


async def names(api: httpx2.AsyncClient) -> list[str]:
    return [user["name"] for user in (await api.get(USERS)).json()["items"]]


async def test_once(api: httpx2.AsyncClient) -> None:
    first = await api.post(USERS, json={"name": "ann"}, headers=key("k1"))
    again = await api.post(USERS, json={"name": "ann"}, headers=key("k1"))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["content-type"] == "application/json"
    assert await names(api) == ["ann", "owner"]
    other = await api.post(USERS, json={"name": "ben"}, headers=key("k2"))
    assert other.json()["name"] == "ben"


@pytest.mark.parametrize(("path", "body"), [(USERS, {"name": "ben"}), (USERS, {"name": "ann", "email": "a@b.c"}),
    (f"{USERS}?x=1", {"name": "ann"}), ("/api/v1/orgs", {"name": "ann"})])  # fmt: skip
async def test_another_request_with_the_key(
    api: httpx2.AsyncClient, problem: Problem, path: str, body: Any
) -> None:
    await api.post(USERS, json={"name": "ann"}, headers=key("k"))
    problem(await api.post(path, json=body, headers=key("k")), 422, "idempotency_mismatch")
    assert await names(api) == ["ann", "owner"]


async def test_many_at_once(api: httpx2.AsyncClient, problem: Problem) -> None:
    body = {"name": "ann", "password": "correct horse battery"}
    answers = await asyncio.gather(*(api.post(USERS, json=body, headers=key("k")) for _ in range(8)))
    made = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.text for answer in made}) == 1
    for answer in answers:
        if answer not in made:
            problem(answer, 409, "idempotency_at_work")
            assert answer.headers["retry-after"] == "1"
    assert await names(api) == ["ann", "owner"]


async def test_what_was_refused_may_be_mended(api: httpx2.AsyncClient, problem: Problem) -> None:
    problem(await api.post(USERS, json={"name": " "}, headers=key("k")), 409, "conflict")
    problem(await api.post(USERS, json={"nam": "x"}, headers=key("k")), 422, "bad_request")
    assert (await api.post(USERS, json={"name": "ann"}, headers=key("k"))).status_code == 201


async def test_a_key_belongs_to_its_caller(api: httpx2.AsyncClient, platform: Platform) -> None:
    body = {"name": "mine"}
    mine = (await api.post("/api/v1/sessions", json={"title": "mine"}, headers=key("k"))).json()
    _, other = await platform.store.keys.create("other", owner="another")
    headers = {"authorization": f"Bearer {other}"}
    theirs = await api.post("/api/v1/sessions", json={"title": "mine"}, headers=key("k") | headers)
    assert theirs.json()["id"] != mine["id"]
    nobody = await api.post(USERS, json=body, headers=key("k") | {"authorization": "Bearer il_no_no"})
    assert nobody.status_code == 401


async def test_secrets_in_answers_are_not_kept_readably(api: httpx2.AsyncClient, platform: Platform) -> None:
    made = (await api.post("/api/v1/api-keys", json={"name": "ci"}, headers=key("k"))).json()["key"]
    assert (await api.post("/api/v1/api-keys", json={"name": "ci"}, headers=key("k"))).json()["key"] == made
    home = platform.settings.home
    content = b"".join(path.read_bytes() for path in home.glob("interlace.db*"))
    assert made.encode() not in content
    assert made.rpartition("_")[2].encode() not in content


@pytest.mark.parametrize("text", ["x" * 256, "\x7f", ""])
async def test_what_is_no_key(api: httpx2.AsyncClient, problem: Problem, text: str) -> None:
    problem(await api.post(USERS, json={"name": "ann"}, headers=key(text)), 422, "bad_request")
    assert await names(api) == ["owner"]


async def test_forms_have_another_boundary_each_time(api: httpx2.AsyncClient, problem: Problem) -> None:
    def form(content: bytes) -> dict[str, Any]:
        return {"files": {"file": ("a.txt", content, "text/plain")}, "headers": key("k")}

    first = await api.post("/api/v1/files", **form(b"a" * 200_000))
    again = await api.post("/api/v1/files", **form(b"a" * 200_000))
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    problem(await api.post("/api/v1/files", **form(b"b" * 200_000)), 422, "idempotency_mismatch")


async def test_a_body_that_is_too_large(api: httpx2.AsyncClient, problem: Problem) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(12):
            yield b"x" * 10_000

    problem(await api.post(USERS, content=pieces(), headers=key("k")), 413, "too_large")


async def test_a_day_later_it_is_another(
    api: httpx2.AsyncClient, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (await api.post("/api/v1/sessions", json={}, headers=key("k"))).json()["id"]
    now = time.time()
    monkeypatch.setattr("interlace.store.answers.time.time", lambda: now + 86_399)
    assert (await api.post("/api/v1/sessions", json={}, headers=key("k"))).json()["id"] == first
    monkeypatch.setattr("interlace.store.answers.time.time", lambda: now + 86_402)
    assert (await api.post("/api/v1/sessions", json={}, headers=key("k"))).json()["id"] != first
    del platform


async def test_a_request_whose_server_died_is_done_anew(
    api: httpx2.AsyncClient, platform: Platform, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim of a process that is gone ends; the one of a process at work is renewed."""
    began, held = asyncio.Event(), asyncio.Event()
    made = platform.store.users.create

    async def slowly(*arguments: Any, **named: Any) -> Any:
        began.set()
        await held.wait()
        return await made(*arguments, **named)

    monkeypatch.setattr(platform.store.users, "create", slowly)
    slow = asyncio.create_task(api.post(USERS, json={"name": "ann"}, headers=key("k")))
    await began.wait()
    problem(await api.post(USERS, json={"name": "ann"}, headers=key("k")), 409, "idempotency_at_work")
    slow.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await slow
    monkeypatch.undo()
    assert (await api.post(USERS, json={"name": "ann"}, headers=key("k"))).status_code == 201
    answers, now = platform.store.answers, time.time()
    assert await answers.claim("dead", "f") is None
    assert (await answers.claim("dead", "f")) is not None
    monkeypatch.setattr("interlace.store.answers.time.time", lambda: now + CLAIM_SECONDS - 1)
    await answers.renew("dead")
    monkeypatch.setattr("interlace.store.answers.time.time", lambda: now + CLAIM_SECONDS + 30)
    assert (await answers.claim("dead", "f")) is not None, "it was renewed"
    monkeypatch.setattr("interlace.store.answers.time.time", lambda: now + 2 * CLAIM_SECONDS)
    assert await answers.claim("dead", "other") is None, "its process has died"


async def test_runs_keep_the_key_with_the_run(api: httpx2.AsyncClient, problem: Problem) -> None:
    document = {
        "name": "one",
        "nodes": [{"id": "start", "type": "START"}, {"id": "end", "type": "END"}],
        "edges": ["start -> end"],
    }
    first = await api.post("/api/v1/runs", json={"document": document}, headers=key("k"))
    again = await api.post("/api/v1/runs", json={"document": document}, headers=key("k"))
    assert first.json()["run_id"] == again.json()["run_id"]
    changed = {**document, "name": "two"}
    problem(
        await api.post("/api/v1/runs", json={"document": changed}, headers=key("k")),
        422,
        "idempotency_mismatch",
    )


def test_every_route_that_makes_something_takes_a_key(platform: Platform) -> None:
    own = {
        "/api/v1/runs", "/api/v1/workflows/{workflow}/run", "/api/v1/runs/{run_id}/replay",
        "/api/v1/sessions/{session}/messages", "/api/v1/session", "/api/v1/invitations/{token}/accept",
    }  # fmt: skip
    paths = {str(route.path) for route in routes_of(create_app(platform)) if "POST" in (route.methods or ())}
    assert own == {path for path in paths if idempotency._OWN.fullmatch(path)}
