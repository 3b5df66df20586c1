from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

import interlace.nodes.end
import interlace.nodes.http
import interlace.nodes.start
from interlace.engine.document import NodeSpec
from interlace.engine.protocols import Files, FileValue, Services
from interlace.engine.registry import Registry
from interlace.engine.run import RunResult
from interlace.engine.testing import edges, run_document
from interlace.nodes.http import Http, HttpConfig
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.http.testing import Received, Reply, serve


class Shelf:
    """Files in memory. Implements `Files`."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}

    async def save(self, content: bytes, *, name: str, media_type: str) -> FileValue:
        digest = hashlib.sha256(content).hexdigest()
        self.content[digest] = content
        return FileValue(name=name, media_type=media_type, size=len(content), sha256=digest, ref=digest)

    async def load(self, ref: str) -> bytes:
        return self.content[ref]


class Bench:
    """Runs START → HTTP → END with a real client."""

    def __init__(self, client: HttpClient) -> None:
        self.client = client
        self.shelf = Shelf()
        self.registry = Registry()
        for module in (interlace.nodes.start, interlace.nodes.http, interlace.nodes.end):
            self.registry.add_module(module)

    async def run(
        self, config: Mapping[str, Any], inputs: Mapping[str, Any] | None = None, **node: Any
    ) -> RunResult:
        document = {
            "name": "t",
            "nodes": [
                {"id": "start", "type": "START"},
                {"id": "call", "type": "HTTP", "config": dict(config), **node},
                {"id": "end", "type": "END", "config": {"outputs": {"call": "{{ call }}"}}},
            ],
            "edges": edges("start -> call", "call -> end"),
        }
        services = Services({HttpClient: self.client, Files: self.shelf})
        return await run_document(document, inputs, registry=self.registry, services=services)

    async def outputs(
        self, config: Mapping[str, Any], inputs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        result = await self.run(config, inputs)
        assert result.status == "succeeded", result.error
        found: dict[str, Any] = result.outputs["call"]
        return found

    async def error(
        self, config: Mapping[str, Any], inputs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        result = await self.run(config, inputs)
        assert result.status == "failed"
        assert result.error is not None
        return dict(result.error)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    client = HttpClient(allow=AllowList.parse("127.0.0.0/8"), max_body=1_000_000)
    yield Bench(client)
    await client.close()


async def test_a_get_gives_the_json_body_and_all_about_the_answer(bench: Bench) -> None:
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
async def test_bodies(bench: Bench, body: Any, content_type: str | None, sent: bytes) -> None:
    async with serve(lambda request: Reply(204)) as server:
        outputs = await bench.outputs({"method": "post", "url": server.url, "body": body}, {"x": "ü", "n": 5})
    assert outputs["body"] is None
    assert server.requests[0].method == "POST"
    assert server.requests[0].body == sent
    assert server.requests[0].headers.get("content-type") == content_type


async def test_a_user_s_content_type_wins(bench: Bench) -> None:
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


async def test_files_are_sent_as_body_and_in_forms(bench: Bench) -> None:
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
    ("status", "ok", "fails"),
    [
        (200, [], False),
        (302, [], False),
        (404, [], True),
        (500, [], True),
        (404, [404], False),
        (404, 404, False),
        (404, ["4xx"], False),
        (404, "400-404", False),
        (405, ["400-404"], True),
        (200, [404], False),
        (200, ["2xx", 404], False),
        (404, ["2xx", 404], False),
        (304, ["2xx", 404], True),
        (202, [200, 201], True),
    ],
)
async def test_statuses(bench: Bench, status: int, ok: Any, fails: bool) -> None:
    async with serve(lambda request: Reply(status, b"" if status == 304 else b"because")) as server:
        result = await bench.run({"url": server.url, "ok_statuses": ok})
    assert result.status == ("failed" if fails else "succeeded")
    if fails:
        assert result.error is not None
        assert result.error["type"] == f"http_{status}"
        assert f"GET {server.url}/ answered {status}" in result.error["message"]
    else:
        assert result.outputs["call"]["status_code"] == status


async def test_an_error_tells_the_beginning_of_the_body_and_no_query(bench: Bench) -> None:
    async with serve(lambda request: Reply.of({"detail": "no such order " + "x" * 2000}, 404)) as server:
        error = await bench.error({"url": f"{server.url}/o?key=hidden"})
    assert '"detail": "no such order' in error["message"]
    assert "hidden" not in error["message"]
    assert len(error["message"]) < 620
    assert error["retryable"] is False


async def test_retry_waits_as_asked(bench: Bench) -> None:
    replies = [Reply(429, headers=[("Retry-After", "0.05")]), Reply(503), Reply.of([1])]
    async with serve(lambda request: replies[len(server.requests) - 1]) as server:
        result = await bench.run({"url": server.url}, retry={"max": 2, "delay": "1ms", "jitter": False})
    assert result.outputs["call"]["body"] == [1]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("how", "body", "content_type", "value"),
    [
        ("auto", b'{"a": 1}', "application/problem+json; charset=utf-8", {"a": 1}),
        ("auto", b"oops", "application/json", "oops"),
        ("auto", b"[1, 2]", "", [1, 2]),
        ("auto", b"[not json", "", "[not json"),
        ("auto", b"just text", "", "just text"),
        ("auto", "grüße".encode("latin-1"), "text/plain; charset=latin-1", "grüße"),
        ("auto", "日本".encode("shift_jis"), "text/csv; charset=shift_jis", "日本"),
        ("auto", b"<a/>", "application/atom+xml", "<a/>"),
        ("auto", b"", "application/json", None),
        ("json", b"5", "text/html", 5),
        ("text", b'{"a": 1}', "application/json", '{"a": 1}'),
        ("text", b"", "", ""),
    ],
)
async def test_answers_are_read_as_asked(
    bench: Bench, how: str, body: bytes, content_type: str, value: Any
) -> None:
    headers = [("Content-Type", content_type)] if content_type else []
    async with serve(lambda request: Reply(body=body, headers=headers)) as server:
        outputs = await bench.outputs({"url": server.url, "response_as": how})
    assert outputs["body"] == value


@pytest.mark.parametrize(
    ("how", "disposition", "path", "name"),
    [
        ("auto", "", "/img/logo.png", "logo.png"),
        ("auto", "", "/", "download.png"),
        ("auto", "", "/img", "img.png"),
        ("file", 'attachment; filename="../../etc/pass\\"wd"', "/x", "pass_wd.png"),
        ("file", "attachment; filename=plain.bin; x=y", "/x", "plain.bin"),
        (
            "file",
            "attachment; filename=old.txt; filename*=UTF-8''%E6%97%A5%20%E6%9C%AC.png",
            "/x",
            "日 本.png",
        ),
        ("file", "attachment; filename=..", "/x", "download.png"),
        ("file", "attachment; filename*=no-such''%41x", "/y.gif", "y.gif"),
    ],
)
async def test_binary_answers_become_files(
    bench: Bench, how: str, disposition: str, path: str, name: str
) -> None:
    content = b"\x89PNG\r\n\x1a\n\0\xff"
    headers = [("Content-Type", "image/png"), ("Content-Disposition", disposition)]
    async with serve(lambda request: Reply(body=content, headers=headers)) as server:
        outputs = await bench.outputs({"url": server.url + path, "response_as": how})
    digest = hashlib.sha256(content).hexdigest()
    assert outputs["body"] == {
        "name": name,
        "media_type": "image/png",
        "size": 10,
        "sha256": digest,
        "ref": digest,
    }
    assert bench.shelf.content[digest] == content


@pytest.mark.parametrize("reply", [Reply(body=b"<html>Login</html>"), Reply(body=b"")])
async def test_json_that_is_none_is_a_bad_response(bench: Bench, reply: Reply) -> None:
    async with serve(lambda request: reply) as server:
        error = await bench.error({"url": server.url, "response_as": "json"})
    assert error["type"] == "bad_response"
    assert reply.body.decode() in error["message"]


async def test_head_and_204_are_null_even_where_json_is_asked_for(bench: Bench) -> None:
    def answer(request: Received) -> Reply:
        return Reply(204) if request.method == "DELETE" else Reply.of({"a": 1})

    async with serve(answer) as server:
        for method in ("HEAD", "DELETE"):
            outputs = await bench.outputs({"method": method, "url": server.url, "response_as": "json"})
            assert outputs["body"] is None


async def test_the_schema_of_the_answer_is_enforced_by_path(bench: Bench) -> None:
    schema = {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}
        },
        "required": ["items"],
    }
    good = {"items": [{"id": 1}, {"id": 2}]}
    replies = [Reply.of(good), Reply.of({"items": [{"id": 1}, {"id": "two"}]}), Reply.of({})]
    async with serve(lambda request: replies[len(server.requests) - 1]) as server:
        config = {"url": server.url, "response_schema": schema}
        assert (await bench.outputs(config))["body"] == good
        wrong, absent = await bench.error(config), await bench.error(config)
    assert (wrong["type"], absent["type"]) == ("bad_response", "bad_response")
    assert "body.items[1].id: must be a whole number, got" in wrong["message"]
    assert "body.items: is required" in absent["message"]


@pytest.mark.parametrize(
    ("method", "sent"),
    [("GET", False), ("HEAD", False), ("OPTIONS", False), ("POST", True), ("DELETE", True)],
)
async def test_changing_methods_carry_a_stable_key(bench: Bench, method: str, sent: bool) -> None:
    replies = [Reply(503), Reply()]
    async with serve(lambda request: replies[len(server.requests) - 1]) as server:
        result = await bench.run({"method": method, "url": server.url}, retry={"max": 1, "delay": "1ms"})
    assert result.status == "succeeded"
    keys = [r.headers.get("idempotency-key") for r in server.requests]
    assert keys[0] == keys[1]
    assert (keys[0] is not None) is sent


async def test_a_user_s_own_key_is_kept(bench: Bench) -> None:
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
async def test_failures_have_stable_kinds(bench: Bench, config: dict[str, Any], kind: str) -> None:
    async with serve(lambda request: Reply()) as server:
        closed = server.port
    assert (await bench.error(config, {"closed": closed, "text": "not a url"}))["type"] == kind


async def test_too_large_and_the_node_s_own_limit(bench: Bench) -> None:
    async with serve(lambda request: Reply(body=b"x" * 600_000)) as server:
        assert (await bench.outputs({"url": server.url, "max_body_mb": 500}))["body"] == "x" * 600_000
        assert (await bench.error({"url": server.url, "max_body_mb": 0.5}))["type"] == "too_large"
    async with serve(lambda request: Reply(body=b"x" * 1_000_001)) as server:
        assert (await bench.error({"url": server.url, "max_body_mb": 500}))["type"] == "too_large"


async def test_the_node_s_time_out_covers_the_request(bench: Bench) -> None:
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
async def test_auth(bench: Bench, auth: Any, header: str, value: str | None) -> None:
    async with serve(lambda request: Reply()) as server:
        await bench.outputs({"url": server.url, "auth": auth}, {"t": "tok"})
    assert server.requests[0].headers.get(header) == value


async def test_auth_in_the_query_stays_out_of_the_outputs(bench: Bench) -> None:
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


async def test_all_pages_become_one_list_and_each_counts_on_its_own(bench: Bench) -> None:
    failed = [False]

    def answer(request: Received) -> Reply:
        page = int(request.query["page"][0])
        if page == 2 and not failed[0]:
            failed[0] = True
            return Reply(503, headers=[("Retry-After", "0")])
        return Reply.of({"data": [page * 10, page * 10 + 1] if page <= 3 else [], "page": page})

    async with serve(answer) as server:
        paginate = {"type": "page", "items": "data"}
        outputs = await bench.outputs({"url": server.url, "paginate": paginate})
        assert outputs["body"] == [10, 11, 20, 21, 30, 31]
        assert (outputs["pages"], outputs["has_more"], outputs["status_code"]) == (4, False, 200)
        assert [r.query["page"][0] for r in server.requests] == ["1", "2", "2", "3", "4"]
        limited = await bench.outputs({"url": server.url, "paginate": {**paginate, "max_items": 3}})
        assert (limited["body"], limited["has_more"]) == ([10, 11, 20], True)
        until = await bench.outputs(
            {"url": server.url, "paginate": {**paginate, "until": "item.body.page >= 2 and index == 1"}}
        )
        assert until["body"] == [10, 11, 20, 21]


async def test_a_page_that_fails_for_good_is_an_error_not_a_short_list(bench: Bench) -> None:
    def answer(request: Received) -> Reply:
        return Reply.of([1]) if request.query["offset"] == ["0"] else Reply(403, b"enough")

    async with serve(answer) as server:
        error = await bench.error({"url": server.url, "paginate": "offset"})
    assert error["type"] == "http_403"
    assert error["message"].startswith("page 1: GET ")


async def test_pages_of_a_post_have_keys_of_their_own(bench: Bench) -> None:
    def answer(request: Received) -> Reply:
        after = request.json().get("after")
        return Reply.of({"items": [after], "next": {None: "a", "a": "b"}.get(after)})

    paginate = {"type": "cursor", "cursor": "next", "parameter": "after", "place": "body", "items": "items"}
    async with serve(answer) as server:
        outputs = await bench.outputs(
            {"method": "POST", "url": server.url, "body": {"json": {}}, "paginate": paginate}
        )
    assert outputs["body"] == [None, "a", "b"]
    assert len({r.headers["idempotency-key"] for r in server.requests}) == 3


@pytest.mark.parametrize(
    ("method", "effect"),
    [
        ("GET", "none"),
        ("head", "none"),
        ("OPTIONS", "none"),
        ("PUT", "idempotent"),
        ("DELETE", "idempotent"),
        ("POST", "once"),
        ("PATCH", "once"),
    ],
)
def test_effects_follow_the_method(method: str, effect: str) -> None:
    assert Http(HttpConfig.model_validate({"url": "http://a.example", "method": method})).effect() == effect


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"url": "http://a.example", "methd": "GET"},
        {"url": "http://a.example", "method": "FETCH"},
        {"url": "http://a.example", "ok_statuses": [99]},
        {"url": "http://a.example", "ok_statuses": ["6xx"]},
        {"url": "http://a.example", "ok_statuses": ["404-400"]},
        {"url": "http://a.example", "body": {"json": 1, "raw": 2}},
        {"url": "http://a.example", "body": {"type": "json"}},
        {"url": "http://a.example", "auth": {"type": "bearer"}},
        {"url": "http://a.example", "auth": "bearer"},
        {"url": "http://a.example", "paginate": {"type": "cursor"}},
        {"url": "http://a.example", "paginate": {"type": "page", "items": "[[["}},
        {"url": "http://a.example", "max_body_mb": 0},
    ],
)
def test_a_config_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        HttpConfig.model_validate(wrong)


def findings(config: dict[str, Any]) -> list[tuple[str, str]]:
    node = Http(HttpConfig.model_validate(config))
    spec = NodeSpec.model_validate({"id": "call", "type": "HTTP", "config": config})
    return [(finding.code, finding.field) for finding in node.check(spec)]


def test_mistakes_are_found_before_a_run() -> None:
    assert findings({"url": "https://a.example/{{ inputs.x }}"}) == []
    assert findings({"url": "a.example"}) == [("bad_url", "config.url")]
    assert findings({"url": "http://0x7f.1/"}) == [("bad_url", "config.url")]
    schema = {"url": "http://a.example", "response_schema": {"type": "strange"}}
    assert [code for code, _ in findings(schema)] == ["response_schema"]
    remote = {"url": "http://a.example", "response_schema": {"$ref": "http://127.0.0.1:1/x.json"}}
    assert [code for code, _ in findings(remote)] == ["response_schema"]
    pages = {"url": "http://a.example", "paginate": "next_link", "response_as": "text"}
    assert findings(pages) == [("paginate_needs_json", "config.response_as")]


@pytest.mark.parametrize(
    ("extra", "body"),
    [
        ({}, {}),
        ({"response_as": "text"}, {"type": "string"}),
        ({"response_as": "json", "paginate": "next_link"}, {"type": "array", "items": {}}),
        ({"response_schema": {"type": "integer"}, "response_as": "json"}, {"type": "integer"}),
    ],
)
def test_the_output_schema_knows_the_body(extra: dict[str, Any], body: dict[str, Any]) -> None:
    node = Http(HttpConfig.model_validate({"url": "http://a.example", **extra}))
    schema = node.output_schema(None)  # type: ignore[arg-type]
    assert schema["properties"]["body"] == body
    assert {"status_code", "headers", "url", "elapsed_ms"} <= set(schema["properties"])


def test_every_setting_explains_itself() -> None:
    schema = HttpConfig.model_json_schema(by_alias=True)
    models = [schema, *schema["$defs"].values()]
    for model in models:
        for name, entry in model.get("properties", {}).items():
            assert {"title", "description", "examples"} <= set(entry), (model.get("title"), name)


def test_the_example_is_valid() -> None:
    assert findings(Http.example) == []
