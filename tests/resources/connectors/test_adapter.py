"""Calls against a real server under the test's control: arguments, retries, limits, breaker, pages, credentials, audit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from interlace.engine.errors import NodeError
from interlace.engine.run.secrets import Secrets
from interlace.resources.connectors.adapter import Access, Options
from interlace.resources.connectors.credentials import InCookie
from interlace.resources.connectors.definition import Connector, RateLimit
from interlace.resources.connectors.limiter import Limiter
from interlace.resources.connectors.loaded import Loaded
from interlace.resources.http.auth import InHeader, InQuery
from interlace.resources.http.testing import Received, Reply, Server, serve
from tests.resources.connectors.conftest import Bench

ACTIONS: list[dict[str, Any]] = [
    {
        "name": "find", "path": "/find/{id}",
        "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
            {"name": "limit", "in": "query", "schema": {"type": "integer"}},
            {"name": "colour", "in": "query", "schema": {"enum": ["red", "blue"]}},
        ],
    },
    {"name": "list", "path": "/list"},
    {"name": "make", "method": "POST", "path": "/make", "bodies": [{"schema": {"type": "object"}}], "requires_confirmation": True},
    {"name": "replace", "method": "PUT", "path": "/make", "bodies": [{"schema": {"type": "object"}}]},
    {"name": "open", "path": "/open", "authenticate": False},
    {"name": "part", "path": "/part", "extract": "data[].id"},
    {
        "name": "note", "method": "POST", "path": "/note", "body_template": {"text": "{{ text }}", "meta": {"by": "us", "tags": "{{ tags }}"}},
        "parameters": [{"name": "text", "in": "body", "required": True, "schema": {"type": "string"}}, {"name": "tags", "in": "body", "schema": {"type": "array"}}],
    },
    {"name": "send", "method": "POST", "path": "/send", "bodies": [{"media_type": "multipart/form-data", "schema": {"type": "object"}}, {"media_type": "application/octet-stream"}]},
]  # fmt: skip


@asynccontextmanager
async def api(
    handler: Callable[[Received], Reply], **settings: Any
) -> AsyncIterator[tuple[Connector, Server]]:
    async with serve(handler) as server:
        made = {
            "name": "shop",
            "base_url": f"{server.url}/v1",
            "actions": ACTIONS,
            "retry": {"max": 2, "delay": 0.5},
            **settings,
        }
        yield Connector.model_validate(made), server


def replies(*wanted: Reply) -> Callable[[Received], Reply]:
    left = list(wanted)
    return lambda _request: left.pop(0) if len(left) > 1 else left[0]


async def failure(work: Any) -> NodeError:
    with pytest.raises(NodeError) as caught:
        await work
    return caught.value


async def test_wrong_arguments_are_named_before_anything_is_sent(bench: Bench) -> None:
    async with api(lambda _: Reply.of({})) as (shop, server):
        error = await failure(bench.call(shop, "find", id="1", limt=3, colour="green"))
        assert error.kind == "bad_parameter"
        assert "Did you mean 'limit'?" in error.message
        assert "'red', 'blue'" in error.message
        error = await failure(bench.call(shop, "find"))
        assert "parameters.id is required" in error.message
        error = await failure(bench.call(shop, "fund", id="1"))
        assert (error.kind, "did you mean 'find'?" in error.message) == ("unknown_action", True)
        for value in ("", ".", ".."):
            assert (await failure(bench.call(shop, "find", id=value))).kind == "bad_parameter"
        assert server.requests == []


async def test_a_path_stays_the_path_of_the_action(bench: Bench) -> None:
    async with api(lambda _: Reply.of({})) as (shop, server):
        await bench.call(shop, "find", id="../admin?x=1#y", limit=2)
        assert server.requests[0].target == "/v1/find/..%2Fadmin%3Fx%3D1%23y?limit=2"


async def test_templates_forms_and_files(bench: Bench) -> None:
    async with api(lambda _: Reply.of({"ok": True})) as (shop, server):
        await bench.call(shop, "note", text='{{ secrets.x }} "', tags=["a", 1])
        assert server.requests[-1].json() == {
            "text": '{{ secrets.x }} "',
            "meta": {"by": "us", "tags": ["a", 1]},
        }
        await bench.call(shop, "note", text="t")
        assert server.requests[-1].json()["meta"]["tags"] is None
        file = await bench.shelf.save(b"\x00\x01", name="a.bin", media_type="image/png")
        value = {
            "name": file.name,
            "media_type": file.media_type,
            "size": 2,
            "sha256": file.sha256,
            "ref": file.ref,
        }
        await bench.call(shop, "send", body={"title": "x", "file": value, "meta": {"a": 1}})
        sent = server.requests[-1]
        assert sent.headers["content-type"].startswith("multipart/form-data; boundary=")
        assert b'name="file"; filename="a.bin"\r\nContent-Type: image/png\r\n\r\n\x00\x01\r\n' in sent.body
        assert b'name="meta"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n' in sent.body
        await bench.call(shop, "send", body=value, body_type="application/octet-stream")
        assert (server.requests[-1].headers["content-type"], server.requests[-1].body) == (
            "application/octet-stream",
            b"\x00\x01",
        )


async def test_an_extraction_gives_a_part(bench: Bench) -> None:
    async with api(lambda _: Reply.of({"data": [{"id": 1}, {"id": 2}]})) as (shop, _):
        assert (await bench.call(shop, "part")).body == [1, 2]


@pytest.mark.parametrize("action", ["list", "replace"])
async def test_passing_failures_are_tried_again_where_that_does_no_harm(bench: Bench, action: str) -> None:
    given = {"body": {}} if action == "replace" else {}
    async with api(replies(Reply(503, headers=[("Retry-After", "7")]), Reply(500), Reply.of(1))) as (
        shop,
        server,
    ):
        assert (await bench.call(shop, action, **given)).body == 1
        assert len(server.requests) == 3
        assert bench.slept[0] == 7
        assert 0.75 <= bench.slept[1] <= 1.0
        assert (bench.records[-1].attempts, bench.records[-1].status, bench.records[-1].error) == (
            3,
            200,
            None,
        )


async def test_what_may_have_worked_is_not_sent_twice(bench: Bench) -> None:
    async with api(lambda _: Reply(503)) as (shop, server):
        error = await failure(bench.call(shop, "make", options=Options(key="k1"), body={}))
        assert (error.kind, len(server.requests)) == ("http_503", 1)
        assert server.requests[0].headers["idempotency-key"] == "k1"
        keyed = shop.model_copy(update={"headers": {"Idempotency-Key": "mine"}})
        await failure(bench.call(keyed, "make", options=Options(key="k1"), body={}))
        assert len(server.requests) == 4
        assert server.requests[-1].headers["idempotency-key"] == "mine"
    async with api(replies(Reply(429, headers=[("Retry-After", "1")]), Reply.of(1))) as (shop, server):
        assert (
            await bench.call(Loaded(shop, "c2"), "make", body={})
        ).body == 1  # refused, so surely not done


async def test_a_long_wait_is_left_to_the_caller(bench: Bench) -> None:
    async with api(lambda _: Reply(429, headers=[("Retry-After", "3600")])) as (shop, server):
        error = await failure(bench.call(shop, "list"))
        assert (error.kind, error.retry_after, len(server.requests), bench.slept) == ("http_429", 3600, 1, [])


async def test_the_breaker_opens_probes_and_closes(bench: Bench) -> None:
    answers = {"status": 500}
    async with api(
        lambda _: Reply(answers["status"]), retry={"max": 0}, breaker={"failures": 3, "pause": 30}
    ) as (shop, server):
        for _ in range(3):
            assert (await failure(bench.call(shop, "list"))).kind == "http_500"
        error = await failure(bench.call(shop, "list"))
        assert (error.kind, error.retry_after, len(server.requests)) == ("circuit_open", 30, 3)
        bench.now += 31
        assert (await failure(bench.call(shop, "list"))).kind == "http_500"  # the probe
        assert (await failure(bench.call(shop, "list"))).kind == "circuit_open"
        bench.now += 31
        answers["status"] = 404
        assert (await failure(bench.call(shop, "list"))).kind == "http_404"  # answered: the API is up
        answers["status"] = 204
        assert (await bench.call(shop, "list")).status_code == 204
        assert len(server.requests) == 6


async def test_successes_between_failures_keep_it_closed(bench: Bench) -> None:
    async with api(
        replies(Reply(500), Reply(500), Reply(204), Reply(500), Reply(500), Reply(204)),
        retry={"max": 0},
        breaker={"failures": 3},
    ) as (shop, _):
        for wanted in ("http_500", "http_500", None, "http_500", "http_500", None):
            if wanted is None:
                await bench.call(shop, "list")
            else:
                assert (await failure(bench.call(shop, "list"))).kind == wanted


async def test_a_dead_server_opens_it_too(bench: Bench) -> None:
    async with api(lambda _: Reply(204)) as (shop, _):
        pass
    shop = shop.model_copy(
        update={
            "breaker": shop.breaker.model_copy(update={"failures": 2}),
            "retry": shop.retry.model_copy(update={"max": 0}),
        }
    )
    for wanted in ("connection", "connection", "circuit_open"):
        assert (await failure(bench.call(shop, "list"))).kind == wanted


async def test_the_rate_limit_spreads_calls(bench: Bench) -> None:
    slept: list[float] = []
    now = [0.0]

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 6))

    limiter, limit = Limiter(lambda: now[0], sleep), RateLimit(requests=2, per=10)
    for _ in range(4):
        await limiter.take("a", limit, 60)
    await limiter.take("b", limit, 60)
    assert slept == [5, 10]
    with pytest.raises(NodeError, match="2 requests in 10 s") as caught:
        await limiter.take("a", limit, 12)
    assert caught.value.kind == "rate_limit"
    now[0] = 100
    await limiter.take("a", limit, 0)


async def test_pages_are_followed_and_each_is_retried(bench: Bench) -> None:
    failed: list[str] = []

    def page(request: Received) -> Reply:
        at = request.query.get("page", ["1"])[0]
        if at == "2" and not failed:
            failed.append(at)
            return Reply(503)
        return Reply.of([] if at == "4" else [int(at), int(at) * 10])

    async with api(page, pagination={"type": "page"}) as (shop, server):
        result = await bench.call(shop, "list", options=Options(paginate=True))
        assert (result.body, result.pages, result.has_more) == ([1, 10, 2, 20, 3, 30], 4, False)
        assert len(server.requests) == 5
        assert (await bench.call(shop, "list")).body == [1, 10]
    async with api(page, pagination={"type": "page", "until": "item.items[0] == 2"}) as (shop, server):
        assert (await bench.call(shop, "list", options=Options(paginate=True))).body == [1, 10, 2, 20]
    async with api(page) as (shop, server):
        assert (await failure(bench.call(shop, "list", options=Options(paginate=True)))).kind == "pagination"


async def test_a_long_answer_is_cut_for_agents_and_kept_whole(bench: Bench) -> None:
    whole = {"items": ["日本" * 50] * 100}
    async with api(lambda _: Reply.of(whole)) as (shop, _):
        result = await bench.call(shop, "list", options=Options(most_characters=200, files=bench.shelf))
        assert result.truncated
        assert len(result.body) < 300
        assert result.ref is not None
        assert json.loads(bench.shelf.content[result.ref]) == whole
        result = await bench.call(shop, "list", options=Options(most_characters=1_000_000, files=bench.shelf))
        assert (result.truncated, result.ref, result.body) == (False, None, whole)


def known(*values: str) -> Secrets:
    secrets = Secrets()
    for number, value in enumerate(values):
        secrets.hide(f"s{number}", value)
    return secrets


async def test_a_cut_answer_that_echoes_a_credential_keeps_it_nowhere(bench: Bench) -> None:
    access = Access(secrets=known("s3cr3t-token"))
    for whole in ({"pad": "x" * 190, "echo": "Bearer s3cr3t-token"}, "y" * 195 + "s3cr3t-token" + "z" * 90):
        async with api(lambda _, whole=whole: Reply.of(whole)) as (shop, _):
            options = Options(most_characters=200, files=bench.shelf)
            result = await bench.call(shop, "list", access, options=options)
            assert result.truncated
            assert "s3cr" not in result.body
            assert "s3cr3t" not in bench.shelf.content[str(result.ref)].decode()
            assert "[secrets.s0]" in bench.shelf.content[str(result.ref)].decode()


async def test_credentials_are_sent_where_they_belong_and_told_to_nobody(bench: Bench) -> None:
    def echo(request: Received) -> Reply:
        return Reply(
            400, f"bad token {request.headers.get('authorization')} {request.headers.get('x-more')}".encode()
        )

    access = Access(
        auth=InHeader("Authorization", "Bearer s3cr3t-token"),
        headers=[("X-More", "other-s3cr3t")],
        secrets=known("s3cr3t-token", "other-s3cr3t"),
    )
    async with api(echo) as (shop, server):
        error = await failure(bench.call(shop, "list", access))
        assert server.requests[-1].headers["x-more"] == "other-s3cr3t"
        assert "s3cr3t" not in error.message + str(error) + repr(bench.records) + repr(access)
        await failure(bench.call(shop, "open", access))
        assert not {"authorization", "x-more"} & set(server.requests[-1].headers)
        await failure(bench.call(shop, "find", Access(auth=InQuery("key", "s3cr3t-token")), id="1"))
        assert server.requests[-1].query == {"key": ["s3cr3t-token"]}
        assert "s3cr3t" not in repr(bench.records)
        await failure(bench.call(shop, "list", Access(auth=InCookie("sid", "abc"))))
        assert server.requests[-1].headers["cookie"] == "sid=abc"


async def test_every_call_is_audited_with_how_it_ended(bench: Bench) -> None:
    async with api(replies(Reply.of(1), Reply(404))) as (shop, server):
        await bench.call(shop, "find", id="7", limit=1)
        await failure(bench.call(shop, "make", body={"card": "4111"}))
    first, second = bench.records
    assert (first.action, first.method, first.url, first.status, first.error) == (
        "find",
        "GET",
        f"{server.url}/v1/find/7",
        200,
        None,
    )
    assert (second.status, second.error, second.attempts) == (404, "http_404", 1)
    assert first.elapsed_ms > 0
    assert "4111" not in repr(bench.records)


async def test_a_cancelled_call_is_audited_too(bench: Bench) -> None:
    arrived = asyncio.Event()

    async def never(_request: Received) -> Reply:
        arrived.set()
        await asyncio.Event().wait()
        return Reply()

    async with api(never) as (shop, _):  # type: ignore[arg-type]
        task = asyncio.create_task(bench.call(shop, "list"))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [record.error for record in bench.records] == ["cancelled"]


def test_who_has_to_be_asked() -> None:
    shop = Connector.model_validate({"name": "s", "actions": ACTIONS})
    make, listed = shop.find("make"), shop.find("list")
    assert make is not None
    assert listed is not None
    for confirmation, model, node in (
        ("model", True, False),
        ("always", True, True),
        ("never", False, False),
    ):
        one = shop.model_copy(update={"confirmation": confirmation})
        assert one.needs_confirmation(make, chosen_by_model=True) is model
        assert one.needs_confirmation(make, chosen_by_model=False) is node
        assert not one.needs_confirmation(listed, chosen_by_model=True)
