from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from interlace.resources.http.testing import Reply, serve


async def test_a_get_gives_the_json_body_and_all_about_the_answer(bench: Any) -> None:
    headers = [("X-A", "1"), ("x-a", "2"), ("Set-Cookie", "s=1")]
    async with serve(lambda request: Reply.of({"items": [{"id": 1}]}, headers=headers)) as server:
        outputs = await bench.outputs(
            {
                "url": server.url + "/o/{{ inputs.id }}",
                "query": {"q": "{{ inputs.q }}", "n": 1, "none": None},
                "headers": {"X-Q": "{{ inputs.q }}", "X-N": 5, "X-B": True, "X-None": None},
            },
            {"id": "a b", "q": "x&y"},
        )
    assert outputs["body"] == {"items": [{"id": 1}]}
    assert outputs["status_code"] == 200
    assert (outputs["headers"]["x-a"], outputs["headers"]["set-cookie"]) == ("1, 2", ["s=1"])
    assert outputs["url"] == f"{server.url}/o/a%20b?q=x%26y&n=1"
    assert outputs["elapsed_ms"] > 0
    sent = server.requests[0].headers
    assert (sent["x-q"], sent["x-n"], sent["x-b"]) == ("x&y", "5", "true")
    assert not {"x-none", "idempotency-key", "content-type"} & set(sent)


@pytest.mark.parametrize(
    ("body", "content_type", "sent"),
    [
        ({"type": "json", "content": {"a": "{{ inputs.x }}", "b": [1]}}, "application/json", b'{"a":"\xc3\xbc","b":[1]}'),
        ({"json": {"a": "{{ inputs.x }}"}}, "application/json", b'{"a":"\xc3\xbc"}'),
        ({"type": "json", "json": "{{ inputs.n }}"}, "application/json", b"5"),
        ({"type": "json", "value": None}, "application/json", b"null"),
        ({"type": "form", "fields": {"a": "{{ inputs.x }}", "l": [1, 2]}}, "application/x-www-form-urlencoded", b"a=%C3%BC&l=1&l=2"),
        ({"type": "raw", "content": "<x>{{ inputs.x }}</x>", "media_type": "text/xml"}, "text/xml", b"<x>\xc3\xbc</x>"),
        ({"raw": "plain"}, "text/plain; charset=utf-8", b"plain"),
        ("none", None, b""),
        ({"type": "none"}, None, b""),
    ],
)  # fmt: skip
async def test_bodies(bench: Any, body: Any, content_type: str | None, sent: bytes) -> None:
    async with serve(lambda request: Reply(204)) as server:
        outputs = await bench.outputs({"method": "post", "url": server.url, "body": body}, {"x": "ü", "n": 5})
    assert outputs["body"] is None
    assert server.requests[0].method == "POST"
    assert server.requests[0].body == sent
    assert server.requests[0].headers.get("content-type") == content_type


async def test_a_user_s_content_type_wins(bench: Any) -> None:
    async with serve(lambda request: Reply()) as server:
        await bench.outputs(
            {
                "method": "POST",
                "url": server.url,
                "body": {"json": {}},
                "headers": {"content-type": "application/ld+json"},
            }
        )
    assert server.requests[0].headers["content-type"] == "application/ld+json"


async def test_files_are_sent_as_body_and_in_forms(bench: Any) -> None:
    file = await bench.shelf.save(b"%PDF\0\xff", name="Rechnung ü.pdf", media_type="application/pdf")
    value = {
        "name": file.name,
        "media_type": file.media_type,
        "size": 6,
        "sha256": file.sha256,
        "ref": file.ref,
    }
    async with serve(lambda request: Reply()) as server:
        await bench.outputs(
            {"method": "PUT", "url": server.url, "body": {"file": "{{ inputs.f }}"}}, {"f": value}
        )
        form = {
            "type": "multipart",
            "fields": {"title": "T", "files": ["{{ inputs.f }}", "{{ inputs.f }}"], "o": {"a": 1}},
        }
        await bench.outputs({"method": "POST", "url": server.url, "body": form}, {"f": value})
        wrong = await bench.error(
            {"method": "PUT", "url": server.url, "body": {"file": "{{ inputs.f }}"}}, {"f": "x"}
        )
    assert (server.requests[0].body, server.requests[0].headers["content-type"]) == (
        b"%PDF\0\xff",
        "application/pdf",
    )
    body = server.requests[1].body
    assert (
        body.count(
            'name="files"; filename="Rechnung ü.pdf"\r\nContent-Type: application/pdf\r\n\r\n%PDF\0'.encode()
        )
        == 2
    )
    assert b'name="title"\r\n\r\nT\r\n' in body
    assert b'name="o"\r\n\r\n{"a":1}\r\n' in body
    assert wrong["type"] == "bad_body"


@pytest.mark.parametrize(
    ("method", "sent"),
    [("GET", False), ("HEAD", False), ("OPTIONS", False), ("POST", True), ("DELETE", True)],
)
async def test_changing_methods_carry_a_stable_key(bench: Any, method: str, sent: bool) -> None:
    replies = [Reply(503), Reply()]
    async with serve(lambda request: replies[len(server.requests) - 1]) as server:
        result = await bench.run({"method": method, "url": server.url}, retry={"max": 1, "delay": "1ms"})
    assert result.status == "succeeded"
    keys = [r.headers.get("idempotency-key") for r in server.requests]
    assert keys[0] == keys[1]
    assert (keys[0] is not None) is sent


async def test_a_user_s_own_key_is_kept(bench: Any) -> None:
    async with serve(lambda request: Reply()) as server:
        await bench.outputs({"method": "POST", "url": server.url, "headers": {"idempotency-key": "mine"}})
    assert server.requests[0].headers["idempotency-key"] == "mine"


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"url": "http://10.0.0.1/"}, "blocked_address"),
        ({"url": "http://169.254.169.254/latest/meta-data"}, "blocked_address"),
        ({"url": "http://127.0.0.1:{{ inputs.closed }}/"}, "connection"),
        ({"url": "{{ inputs.text }}"}, "bad_url"),
        ({"url": "http://127.0.0.1/", "headers": {"Host": "x"}}, "bad_header"),
        ({"url": "http://127.0.0.1/", "headers": {"X": {"a": 1}}}, "bad_header"),
        ({"url": "http://127.0.0.1/", "query": {"x": {"a": 1}}}, "bad_url"),
        ({"url": "http://127.0.0.1/", "proxy": {"url": "http://10.0.0.1:3128"}}, "blocked_address"),
        ({"url": "http://127.0.0.1/", "auth": {"type": "basic", "username": "a:b"}}, "bad_auth"),
    ],
)
async def test_failures_have_stable_kinds(bench: Any, config: dict[str, Any], kind: str) -> None:
    async with serve(lambda request: Reply()) as server:
        closed = server.port
    assert (await bench.error(config, {"closed": closed, "text": "not a url"}))["type"] == kind


async def test_the_node_s_time_out_covers_the_request(bench: Any) -> None:
    async def trickle() -> AsyncIterator[bytes]:
        import asyncio

        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
        while True:
            yield b"x"
            await asyncio.sleep(0.02)

    async with serve(lambda request: Reply(pieces=trickle())) as server:
        result = await bench.run({"url": server.url}, timeout="100ms")
    assert result.error is not None
    assert result.error["type"] == "timeout"


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ({"type": "bearer", "token": "{{ inputs.t }}"}, "authorization", "Bearer tok"),
        ({"type": "basic", "username": "u", "password": "{{ inputs.t }}"}, "authorization", "Basic dTp0b2s="),
        ({"type": "header", "name": "X-Key", "value": "{{ inputs.t }}"}, "x-key", "tok"),
        ("none", "authorization", None),
    ],
)
async def test_auth(bench: Any, auth: Any, header: str, value: str | None) -> None:
    async with serve(lambda request: Reply()) as server:
        await bench.outputs({"url": server.url, "auth": auth}, {"t": "tok"})
    assert server.requests[0].headers.get(header) == value


async def test_auth_in_the_query_stays_out_of_the_outputs(bench: Any) -> None:
    async with serve(
        lambda request: Reply.of({"access_token": "t1"} if request.path == "/token" else {})
    ) as server:
        outputs = await bench.outputs(
            {"url": server.url, "auth": {"type": "query", "name": "key", "value": "hidden"}}
        )
        oauth = {
            "type": "oauth2",
            "token_url": f"{server.url}/token",
            "client_id": "me",
            "client_secret": "hush",
        }
        await bench.outputs({"url": server.url, "auth": oauth})
        signed = {"type": "hmac", "secret": "k", "prefix": "v1=", "timestamp_header": "X-Time"}
        await bench.outputs({"method": "POST", "url": server.url, "auth": signed, "body": {"json": 1}})
    assert server.requests[0].query == {"key": ["hidden"]}
    assert "hidden" not in json.dumps(outputs)
    assert server.requests[2].headers["authorization"] == "Bearer t1"
    assert server.requests[3].headers["x-signature"].startswith("v1=")
