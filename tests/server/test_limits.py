"""Limits of requests: of users and addresses, in one process, in a database, and in Redis."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from interlace.engine.errors import StoreError
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.app import create_app
from interlace.server.limits import ProcessCounters, RedisCounters

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no redis-server here")
    place = tmp_path_factory.mktemp("redis") / "socket"
    process = subprocess.Popen(
        [program, "--port", "0", "--unixsocket", str(place), "--save", "", "--dir", str(place.parent)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if "ready to accept" in line.lower():
            break
    yield f"unix://{place}"
    process.terminate()
    process.wait()
    process.stdout.close()


@pytest.fixture(params=["process", "database", "redis"])
def store(request: pytest.FixtureRequest) -> str | None:
    if request.param == "process":
        return None
    return "database" if request.param == "database" else request.getfixturevalue("redis")


@pytest.fixture
def settings(settings: Settings, store: str | None) -> Settings:
    return Settings(home=settings.home, prefect="off", rate_limit=5, rate_limit_anonymous=3, rate_store=store)


@pytest.fixture
async def api(platform: Platform) -> AsyncIterator[httpx2.AsyncClient]:
    """Each test is another address, and another user."""
    app = create_app(platform)
    owner = f"user-{time.time_ns()}"
    _, key = await platform.store.keys.create("test", owner=owner)
    transport = httpx2.ASGITransport(app, client=(owner, 1))
    headers = {"authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", headers=headers
    ) as client:
        yield client
    await app.state.counters.close()


async def test_of_a_user(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    for left in (4, 3, 2, 1, 0):
        answer = await api.get("/api/v1/nodes?limit=1")
        assert answer.status_code == 200
        assert answer.headers["ratelimit-policy"] == '"user";q=5;w=60'
        assert answer.headers["ratelimit"].startswith(f'"user";r={left};t=')
    refused = await api.get("/api/v1/nodes?limit=1")
    problem(refused, 429, "rate_limited")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert refused.headers["ratelimit"].startswith('"user";r=0;t=')
    assert (await api.get("/health/live")).status_code == 200, "what watches the server is not counted"
    _, second = await platform.store.keys.create("more", owner=str(api._transport.client[0]))
    again = await api.get("/api/v1/nodes", headers={"authorization": f"Bearer {second}"})
    assert again.status_code == 429, "more keys are no more requests"
    _, other = await platform.store.keys.create("other", owner=f"other-{time.time_ns()}")
    assert (await api.get("/api/v1/nodes", headers={"authorization": f"Bearer {other}"})).status_code == 200


async def test_of_an_address(api: httpx2.AsyncClient, problem: Problem) -> None:
    nobody = {"authorization": "Bearer il_wrong_key"}
    for path in ("/api/v1/runs", "/login", "/api/v1/session"):
        answer = await api.get(path, headers=nobody)
        assert answer.headers["ratelimit-policy"] == '"address";q=3;w=60', path
    problem(await api.get("/api/v1/runs", headers=nobody), 429, "rate_limited")
    assert (await api.get("/api/v1/nodes")).status_code == 200, "whoever has a key is counted by it"


async def test_two_servers(api: httpx2.AsyncClient, platform: Platform, store: str | None) -> None:
    second = create_app(platform)
    transport = httpx2.ASGITransport(second)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", headers=api.headers
    ) as other:
        found = [(await client.get("/api/v1/nodes?limit=1")).status_code for client in (api, other) * 5]
    await second.state.counters.close()
    together = found.count(200)
    assert together == (10 if store is None else 5)


async def test_a_window_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    counters, now = ProcessCounters(), time.time()
    assert [(await counters.add("k", seconds=60)).count for _ in range(3)] == [1, 2, 3]
    monkeypatch.setattr("interlace.server.limits.time.time", lambda: now + 61)
    assert (await counters.add("k", seconds=60)).count == 1


async def test_keys_of_strangers_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    counters, now = ProcessCounters(), time.time()
    for number in range(10_000):
        await counters.add(f"k{number}", seconds=60)
    monkeypatch.setattr("interlace.server.limits.time.time", lambda: now + 61)
    await counters.add("one more", seconds=60)
    assert len(counters._counts) == 1


async def test_redis_keys_end_by_themselves(redis: str) -> None:
    counters = RedisCounters(redis)
    found = await counters.add("once", seconds=60)
    assert found.count == 1
    assert found.until - time.time() == pytest.approx(60, abs=5)
    assert 0 < await counters._redis.pttl("interlace:once") <= 60_000
    await counters.close()


async def test_without_redis_requests_pass(settings: Settings, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{taken.getsockname()[1]}/0"
        platform = await Platform.open(Settings(home=tmp_path / "other", prefect="off", rate_store=url))
        app = create_app(platform)
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://localhost"
        ) as client:
            answer = await client.get("/api/v1/session")
            assert answer.status_code == 200
            assert "ratelimit" not in answer.headers
        await app.state.counters.close()
        await platform.close()
    del settings


def test_what_is_no_store() -> None:
    with pytest.raises(ValueError, match="redis://host"):
        Settings(rate_store="memcached://x")
    assert "hush" not in str(Settings(rate_store="redis://:hush@host/0").masked())


async def test_no_limit(tmp_path: Path) -> None:
    platform = await Platform.open(
        Settings(home=tmp_path / "free", prefect="off", rate_limit=0, rate_limit_anonymous=0)
    )
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(create_app(platform)), base_url="http://localhost"
    ) as client:
        for _ in range(20):
            assert "ratelimit" not in (await client.get("/api/v1/session")).headers
    await platform.close()


async def test_a_redis_that_is_away_is_left_alone_for_a_while() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens: every connection is refused
        counters = RedisCounters(f"redis://127.0.0.1:{closed.getsockname()[1]}/0")
        began = time.monotonic()
        with pytest.raises(StoreError, match="does not answer"):
            await counters.add("x", seconds=60)
        with pytest.raises(StoreError, match="a moment ago"):
            await counters.add("x", seconds=60)
        assert time.monotonic() - began < 1, "a refused connection is not tried again"
        await counters.close()


@pytest.mark.parametrize("store", [None])
async def test_public_forms_are_counted(api: httpx2.AsyncClient) -> None:
    answer = await api.get("/forms/none")
    assert answer.headers["ratelimit-policy"] == '"user";q=5;w=60'
