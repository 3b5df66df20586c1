from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import httpx2
import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient
from interlace.resources.http.testing import Received, Reply, serve
from interlace.resources.http.transport import sdk_client


@pytest.fixture
async def sdk(client: HttpClient) -> AsyncIterator[httpx2.AsyncClient]:
    async with sdk_client(client) as sdk:
        yield sdk


async def test_an_sdk_posts_and_reads_through_the_client(sdk: httpx2.AsyncClient) -> None:
    packed = gzip.compress(b'{"ok": true}')
    async with serve(lambda request: Reply(body=packed, headers=[("Content-Encoding", "gzip")])) as server:
        response = await sdk.post(
            f"{server.url}/v1?x=1", json={"a": "ü"}, headers={"Authorization": "Bearer k"}
        )
        assert response.json() == {"ok": True}
        await sdk.get(server.url)
        assert server.connections == 1
    sent = server.requests[0]
    assert (sent.method, sent.target, sent.json()) == ("POST", "/v1?x=1", {"a": "ü"})
    assert (sent.headers["authorization"], sent.headers["content-type"]) == ("Bearer k", "application/json")
    assert sent.headers["host"] == f"127.0.0.1:{server.port}"


async def test_events_arrive_while_the_answer_goes_on(sdk: httpx2.AsyncClient) -> None:
    seen = asyncio.Event()

    async def events() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n"
        await seen.wait()
        yield b"data: 2\n\n"

    async with serve(lambda request: Reply(pieces=events(), close=True)) as server:
        lines = []
        async with sdk.stream("GET", server.url) as response:
            async for line in response.aiter_lines():
                if line:
                    lines.append(line)
                    seen.set()
    assert lines == ["data: 1", "data: 2"]


async def test_an_upload_is_streamed(sdk: httpx2.AsyncClient) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    async with serve(lambda request: Reply()) as server:
        await sdk.post(server.url, content=pieces())
    assert server.requests[0].body == b"ab"


async def test_redirects_follow_our_rules_not_the_sdk_s(sdk: httpx2.AsyncClient) -> None:
    async with (
        serve(lambda request: Reply(body=b"x")) as other,
        serve(lambda request: Reply(302, headers=[("Location", other.url)])) as first,
    ):
        assert (await sdk.get(first.url, headers={"X-Api-Key": "k"})).text == "x"
    assert "x-api-key" not in other.requests[0].headers


async def test_blocked_targets_are_no_connection_errors_that_an_sdk_would_try_again(
    sdk: httpx2.AsyncClient,
) -> None:
    with pytest.raises(NodeError) as caught:
        await sdk.get("http://169.254.169.254/")
    assert caught.value.kind == "blocked_address"


async def test_failures_are_what_sdks_expect(sdk: httpx2.AsyncClient) -> None:
    async def silent(request: Received) -> Reply:
        if request.path == "/cut":
            return Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", close=True)
        await asyncio.Event().wait()
        return Reply()

    async with serve(silent) as server:
        with pytest.raises(httpx2.ReadTimeout):
            await sdk.get(server.url, timeout=0.05)
        with pytest.raises(httpx2.ConnectError, match="broke off"):
            await sdk.get(f"{server.url}/cut")
    with pytest.raises(httpx2.ConnectError):
        await sdk.get(server.url)


async def test_the_openai_sdk_runs_on_it(client: HttpClient) -> None:
    openai = pytest.importorskip("openai")
    answer = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
    }  # fmt: skip
    async with serve(lambda request: Reply.of(answer)) as server:
        http = sdk_client(client)
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1", http_client=http) as model:
            done = await model.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hello"}]
            )
    assert done.choices[0].message.content == "hi"
    assert json.loads(server.requests[0].body)["messages"][0]["content"] == "hello"
