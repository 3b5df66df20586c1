from __future__ import annotations

import hashlib
from typing import Any

import pytest

from interlace.resources.http.testing import Received, Reply, serve


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
async def test_statuses(bench: Any, status: int, ok: Any, fails: bool) -> None:
    async with serve(lambda request: Reply(status, b"" if status == 304 else b"because")) as server:
        result = await bench.run({"url": server.url, "ok_statuses": ok})
    assert result.status == ("failed" if fails else "succeeded")
    if fails:
        assert result.error is not None
        assert result.error["type"] == f"http_{status}"
        assert f"GET {server.url}/ answered {status}" in result.error["message"]
    else:
        assert result.outputs["call"]["status_code"] == status


async def test_an_error_tells_the_beginning_of_the_body_and_no_query(bench: Any) -> None:
    async with serve(lambda request: Reply.of({"detail": "no such order " + "x" * 2000}, 404)) as server:
        error = await bench.error({"url": f"{server.url}/o?key=hidden"})
    assert '"detail": "no such order' in error["message"]
    assert "hidden" not in error["message"]
    assert len(error["message"]) < 620
    assert error["retryable"] is False


async def test_retry_waits_as_asked(bench: Any) -> None:
    replies = [Reply(429, headers=[("Retry-After", "0.05")]), Reply(503), Reply.of([1])]
    async with serve(lambda request: replies[len(server.requests) - 1]) as server:
        result = await bench.run({"url": server.url}, retry={"max": 2, "delay": "1ms", "jitter": False})
    assert result.outputs["call"]["body"] == [1]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("how", "body", "content_type", "value"),
    [
        ("auto", b'{"a": 1}', "application/problem+json; charset=utf-8", {"a": 1}),
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
    bench: Any, how: str, body: bytes, content_type: str, value: Any
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
    bench: Any, how: str, disposition: str, path: str, name: str
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
async def test_json_that_is_none_is_a_bad_response(bench: Any, reply: Reply) -> None:
    async with serve(lambda request: reply) as server:
        error = await bench.error({"url": server.url, "response_as": "json"})
    assert error["type"] == "bad_response"
    assert reply.body.decode() in error["message"]


async def test_what_calls_itself_json_and_is_none_is_a_bad_response(bench: Any) -> None:
    reply = Reply(body=b'{"a":', headers=[("Content-Type", "application/json")])
    async with serve(lambda request: reply) as server:
        error = await bench.error({"url": server.url})
    assert error["type"] == "bad_response"
    assert "set response_as to text" in error["message"]


async def test_head_and_204_are_null_even_where_json_is_asked_for(bench: Any) -> None:
    def answer(request: Received) -> Reply:
        return Reply(204) if request.method == "DELETE" else Reply.of({"a": 1})

    async with serve(answer) as server:
        for method in ("HEAD", "DELETE"):
            outputs = await bench.outputs({"method": method, "url": server.url, "response_as": "json"})
            assert outputs["body"] is None


async def test_the_schema_of_the_answer_is_enforced_by_path(bench: Any) -> None:
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


async def test_too_large_and_the_node_s_own_limit(bench: Any) -> None:
    async with serve(lambda request: Reply(body=b"x" * 600_000)) as server:
        assert (await bench.outputs({"url": server.url, "max_body_mb": 500}))["body"] == "x" * 600_000
        assert (await bench.error({"url": server.url, "max_body_mb": 0.5}))["type"] == "too_large"
    async with serve(lambda request: Reply(body=b"x" * 1_000_001)) as server:
        assert (await bench.error({"url": server.url, "max_body_mb": 500}))["type"] == "too_large"
