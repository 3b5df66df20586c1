"""What stands before every request: keys, names, origins, sizes; and errors of the framework itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from interlace.flows.platform import Platform
from interlace.server.app import create_app

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/runs"), ("POST", "/api/v1/runs"), ("GET", "/api/v1/workflows"), ("POST", "/api/v1/workflows"),
        ("GET", "/api/v1/nodes"), ("POST", "/api/v1/files"), ("GET", "/api/v1/files/sha256-1"),
        ("POST", "/api/v1/runs/x/cancel"), ("POST", "/api/v1/workflows/validate"), ("DELETE", "/api/v1/runs/x"),
    ],
)  # fmt: skip
async def test_without_a_key(anonymous: httpx2.AsyncClient, problem: Problem, method: str, path: str) -> None:
    body = {"document": "{}"} if method == "POST" else None
    for key in (None, "Bearer il_wrong_key", "Bearer ", "Basic eDp5", "Bearer junk"):
        headers = {} if key is None else {"authorization": key}
        answer = await anonymous.request(method, path, json=body, headers=headers)
        problem(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_revoked_key(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    (key,) = await platform.store.keys.list()
    await platform.store.keys.revoke(key.id)
    problem(await api.get("/api/v1/runs"), 401, "unauthorized")


async def test_a_key_in_a_cookie_is_none(api: httpx2.AsyncClient, problem: Problem) -> None:
    key = api.headers.pop("authorization").removeprefix("Bearer ")
    for name in ("interlace_key", "interlace_None", "interlace_80", "__Host-interlace"):
        api.cookies.set(name, key)
    problem(await api.get("/api/v1/runs"), 401, "unauthorized")


async def test_open_paths(anonymous: httpx2.AsyncClient) -> None:
    for path in ("/health/live", "/health/ready", "/openapi.json", "/login"):
        assert (await anonymous.get(path)).status_code == 200, path
    ready = (await anonymous.get("/health/ready")).json()
    assert ready["prefect"] == {"mode": "off"}
    assert ready["status"] == "ok"


async def test_other_names_are_refused_on_loopback(api: httpx2.AsyncClient, problem: Problem) -> None:
    for host in ("localhost", "localhost:8700", "127.0.0.1:1", "[::1]:8700", "LOCALHOST"):
        assert (await api.get("/health/live", headers={"host": host})).status_code == 200, host
    for host in ("evil.example", "127.0.0.1.evil.example:8700", "localhost.evil.example", "", "[::2]"):
        problem(await api.get("/health/live", headers={"host": host}), 421, "wrong_host")


@pytest.fixture
async def proxied(platform: Platform) -> AsyncIterator[httpx2.AsyncClient]:
    platform.settings = platform.settings.model_copy(update={"hosts": ["flows.example"]})
    transport = httpx2.ASGITransport(create_app(platform))
    async with httpx2.AsyncClient(transport=transport, base_url="http://flows.example") as client:
        yield client


async def test_the_operator_adds_names(proxied: httpx2.AsyncClient) -> None:
    assert (await proxied.get("/health/live")).status_code == 200


async def test_elsewhere_any_name_will_do(platform: Platform) -> None:
    platform.settings = platform.settings.model_copy(update={"host": "0.0.0.0"})
    transport = httpx2.ASGITransport(create_app(platform))
    async with httpx2.AsyncClient(transport=transport, base_url="http://any.example") as client:
        assert (await client.get("/health/live")).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:1", "https://localhost"]
)
async def test_writes_from_pages_of_others(api: httpx2.AsyncClient, problem: Problem, origin: str) -> None:
    headers = {"origin": origin}
    problem(await api.post("/api/v1/workflows", json={}, headers=headers), 403, "cross_origin")
    problem(await api.post("/login", data={"key": "x"}, headers=headers), 403, "cross_origin")
    answer = await api.get("/api/v1/runs", headers=headers)
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


async def test_writes_from_our_own_pages(api: httpx2.AsyncClient) -> None:
    headers = {"origin": "http://localhost"}
    answer = await api.post("/api/v1/workflows/validate", json={"document": "{}"}, headers=headers)
    assert answer.status_code == 200


async def test_bodies_that_are_too_large(api: httpx2.AsyncClient, problem: Problem) -> None:
    large = b'{"document": "' + b"x" * 100_000 + b'"}'
    problem(await api.post("/api/v1/runs", content=large), 413, "too_large")

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(large), 10_000):
            yield large[start : start + 10_000]

    problem(await api.post("/api/v1/runs", content=pieces()), 413, "too_large")


async def test_errors_of_the_framework(api: httpx2.AsyncClient, problem: Problem) -> None:
    problem(await api.get("/api/v1/nothing"), 404, "not_found")
    answer = await api.put("/api/v1/runs", json={})
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"]
    found = problem(await api.get("/api/v1/runs?limit=many"), 422, "bad_request")
    assert found["errors"][0]["field"] == "query.limit"
    problem(await api.get("/api/v1/nodes/HTP"), 404, "not_found")


async def test_unexpected_errors(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    platform.registry = None  # type: ignore[assignment]
    found = problem(await api.get("/api/v1/nodes"), 500, "internal")
    assert "NoneType" not in found["detail"]


async def test_a_lost_database_is_503(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    (platform.settings.home / "interlace.db").rename(platform.settings.home / "gone.db")
    await platform.store.database._engine.dispose()
    problem(await api.get("/health/ready"), 503, "store")


async def test_the_catalogue(api: httpx2.AsyncClient) -> None:
    items = (await api.get("/api/v1/nodes")).json()["items"]
    assert {"HTTP", "CODE", "END"} <= {item["type"] for item in items}
    found = (await api.get("/api/v1/nodes/http")).json()
    assert found["config"]["properties"]["url"]


async def test_a_server_that_is_leaving_is_not_ready(platform: Platform, problem: Problem) -> None:
    app = create_app(platform)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        found = (await client.get("/health/ready")).json()
        assert (found["database"]["kind"], found["hosts"]) == ("sqlite", 0)
        app.state.leaving.set()
        answer = await client.get("/health/ready")
        problem(answer, 503, "leaving")
        assert answer.headers["retry-after"] == "5"
        assert (await client.get("/health/live")).status_code == 200, "it answers all the same"


async def test_values_that_cannot_be_kept(
    api: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    platform.store.payloads.root.rmdir()
    problem(await api.get("/health/ready"), 503, "store")
