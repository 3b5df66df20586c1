from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient, HttpRequest, HttpResponse, retry_after
from interlace.resources.http.auth import bearer
from interlace.resources.http.pagination import (
    Collected,
    Cursor,
    Limits,
    NextLink,
    Numbered,
    Rule,
    collect,
    with_parameter,
)
from interlace.resources.http.testing import Received, Reply, serve

PAGE = Numbered(parameter="page", start=1, by_items=False, size_parameter="per_page", size=2)
OFFSET = Numbered(parameter="offset", start=0, by_items=True, size_parameter="limit", size=2)


class Run:
    """Collects with a real client; remembers the pauses instead of making them."""

    def __init__(self, client: HttpClient) -> None:
        self.client = client
        self.pauses: list[float] = []

    async def __call__(self, request: HttpRequest, rule: Rule, **options: Any) -> Collected:
        return await collect(request, rule, self.fetch, sleep=self.sleep, **options)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def fetch(self, request: HttpRequest, index: int) -> tuple[HttpResponse, Any]:
        response = await self.client.send(request)
        if not response.ok:
            wait = retry_after(response.header("retry-after"))
            raise NodeError(f"status {response.status}", kind=f"http_{response.status}", retry_after=wait)
        return response, response.json()


@pytest.fixture
def run(client: HttpClient) -> Run:
    return Run(client)


def numbers(count: int) -> Callable[[Received], Reply]:
    """A list of `count` numbers behind all four ways of paging."""

    def answer(request: Received) -> Reply:
        query = {name: values[-1] for name, values in request.query.items()}
        size = int(query.get("per_page", query.get("limit", "2")))
        if "offset" in query:
            start = int(query["offset"])
        elif "cursor" in query:
            start = int(query["cursor"].removeprefix("c="))
        else:
            start = (int(query.get("page", "1")) - 1) * size
        items = list(range(start, min(start + size, count)))
        after = start + size if start + size < count else None
        page = start // size + 2
        headers = (
            []
            if after is None
            else [("Link", f'</first?page=1>; rel="first", </n?page={page}>; rel="next"; title="a, b"')]
        )
        body = {
            "data": {"items": items}, "cursor": None if after is None else f"c={after}",
            "links": {"next": f"?page={page}" if after else None},
        }  # fmt: skip
        return Reply.of(body, headers=headers)

    return answer


@pytest.mark.parametrize("count", [0, 1, 2, 5, 6])
@pytest.mark.parametrize(
    "rule",
    [PAGE, OFFSET, NextLink(), NextLink(path="links.next"), Cursor(path="cursor", parameter="cursor")],
    ids=["page", "offset", "link header", "link in body", "cursor"],
)
async def test_all_ways_of_paging_collect_all_items_in_order(run: Run, rule: Rule, count: int) -> None:
    async with serve(numbers(count)) as server:
        found = await run(HttpRequest(url=f"{server.url}/n"), rule, items_path="data.items")
    assert found.items == list(range(count))
    assert found.has_more is False
    assert found.pages == len(server.requests)
    assert found.last is not None
    assert found.last.status == 200


async def test_an_offset_advances_by_what_came_not_by_what_was_asked(run: Run) -> None:
    def stingy(request: Received) -> Reply:
        start = int(request.query["offset"][0])
        return Reply.of(list(range(start, min(start + 3, 7))))  # never more than 3, whatever the limit

    rule = Numbered(parameter="offset", start=0, by_items=True, size_parameter="limit", size=100)
    async with serve(stingy) as server:
        found = await run(HttpRequest(url=server.url), rule)
    assert found.items == list(range(7))


@pytest.mark.parametrize(
    ("limits", "items", "pages", "has_more"),
    [
        (Limits(max_pages=2), [0, 1, 2, 3], 2, True),
        (Limits(max_pages=3), [0, 1, 2, 3, 4], 3, False),
        (Limits(max_items=3), [0, 1, 2], 2, True),
        (Limits(max_items=4), [0, 1, 2, 3], 2, True),
        (Limits(max_items=5), [0, 1, 2, 3, 4], 3, False),
        (Limits(max_items=99), [0, 1, 2, 3, 4], 3, False),
    ],
)
async def test_limits_stop_and_say_that_there_was_more(
    run: Run, limits: Limits, items: list[int], pages: int, has_more: bool
) -> None:
    async with serve(numbers(5)) as server:
        found = await run(HttpRequest(url=server.url), NextLink(), items_path="data.items", limits=limits)
    assert (found.items, found.pages, found.has_more) == (items, pages, has_more)


async def test_all_pages_together_have_a_limit(run: Run) -> None:
    async with serve(numbers(50)) as server:
        with pytest.raises(NodeError, match="pages together have more than 500 bytes") as caught:
            await run(
                HttpRequest(url=server.url), PAGE, items_path="data.items", limits=Limits(max_bytes=500)
            )
    assert caught.value.kind == "too_large"
    assert len(server.requests) < 10


async def test_until_stops_after_its_page(run: Run) -> None:
    async with serve(numbers(9)) as server:
        found = await run(
            HttpRequest(url=server.url), PAGE, items_path="data.items", until=lambda page: 3 in page.items
        )
    assert found.items == [0, 1, 2, 3]


def failing(once: Reply, times: int = 1) -> Callable[[Received], Reply]:
    """The third page fails `times` times before it comes."""
    left = [times]
    good = numbers(5)

    def answer(request: Received) -> Reply:
        if request.query.get("page") == ["3"] and left[0]:
            left[0] -= 1
            return once
        return good(request)

    return answer


async def test_a_page_that_fails_in_passing_is_tried_again_alone(run: Run) -> None:
    async with serve(failing(Reply(503, headers=[("Retry-After", "7")]))) as server:
        found = await run(HttpRequest(url=server.url), PAGE, items_path="data.items")
    assert found.items == [0, 1, 2, 3, 4]
    assert [r.query["page"] for r in server.requests] == [["1"], ["2"], ["3"], ["3"], ["4"]]
    assert run.pauses == [7.0]


async def test_pauses_grow_without_retry_after(run: Run) -> None:
    async with serve(failing(Reply(502), times=3)) as server:
        await run(HttpRequest(url=server.url), PAGE, items_path="data.items", limits=Limits(delay=0.5))
    assert run.pauses == [0.5, 0.5, 1.0, 2.0, 4.0, 0.5]


@pytest.mark.parametrize(
    ("reply", "times", "requests"),
    [(Reply(404), 1, 3), (Reply(503), 9, 6), (Reply(429, headers=[("Retry-After", "3600")]), 1, 3)],
)
async def test_a_page_that_fails_for_good_fails_all(
    run: Run, reply: Reply, times: int, requests: int
) -> None:
    async with serve(failing(reply, times)) as server:
        with pytest.raises(NodeError, match=r"^page 2: ") as caught:
            await run(HttpRequest(url=server.url), PAGE, items_path="data.items")
    assert caught.value.kind == f"http_{reply.status}"
    assert len(server.requests) == requests
    if reply.status == 429:
        assert caught.value.retry_after == 3600


@pytest.mark.parametrize(
    ("rule", "body", "message"),
    [
        (PAGE, [1, 2], "ignores 'page'"),
        (OFFSET, [1, 2], "ignores 'offset'"),
        (NextLink(path="next"), {"items": [1], "next": "/same"}, "do not advance"),
        (Cursor(path="next", parameter="c"), {"items": [1], "next": "same"}, "do not advance"),
        (NextLink(path="next"), {"items": [1], "next": 5}, "not a URL"),
        (Cursor(path="next", parameter="c"), {"items": [1], "next": {"a": 1}}, "not a text or number"),
    ],
)
async def test_pages_that_do_not_advance_are_an_error(run: Run, rule: Rule, body: Any, message: str) -> None:
    async with serve(lambda request: Reply.of(body)) as server:
        path = "items" if isinstance(body, dict) else None
        with pytest.raises(NodeError, match=message) as caught:
            await run(HttpRequest(url=server.url), rule, items_path=path)
    assert (caught.value.kind, caught.value.retryable) == ("pagination", False)
    assert len(server.requests) <= 3


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        (
            {"data": [1], "next": None},
            None,
            "set 'items' to the path of the list; the body has 'data', 'next'",
        ),
        ({"data": {"a": 1}}, "data", "'data' finds a dict"),
        ("text", "data", "finds a NoneType"),
        ("text", None, "the body is a str"),
        (5, None, "the body is a int"),
    ],
)
async def test_items_must_be_a_list(run: Run, body: Any, path: str | None, message: str) -> None:
    async with serve(lambda request: Reply.of(body)) as server:
        with pytest.raises(NodeError, match=message):
            await run(HttpRequest(url=server.url), PAGE, items_path=path)


@pytest.mark.parametrize(
    ("body", "path"), [(None, None), (None, "data"), ({}, "data"), ({"data": None}, "data"), ([], None)]
)
async def test_an_empty_list_may_be_left_out(run: Run, body: Any, path: str | None) -> None:
    async with serve(lambda request: Reply.of(body)) as server:
        found = await run(HttpRequest(url=server.url), PAGE, items_path=path)
    assert (found.items, found.pages) == ([], 1)


async def test_a_next_link_to_another_origin_gets_no_credentials(run: Run) -> None:
    async with serve(lambda request: Reply.of([2])) as other:
        link = [("Link", f"<{other.url}/steal>; rel=next")]
        async with serve(lambda request: Reply.of([1], headers=link)) as server:
            request = HttpRequest(
                url=server.url, headers={"X-Api-Key": "k", "Accept": "x/y"}, auth=bearer("t")
            )
            found = await run(request, NextLink())
    assert found.items == [1, 2]
    assert server.requests[0].headers["authorization"] == "Bearer t"
    assert other.requests[0].headers["accept"] == "x/y"
    assert not {"x-api-key", "authorization"} & set(other.requests[0].headers)


async def test_a_next_link_to_the_inside_is_refused(run: Run) -> None:
    link = [("Link", "<http://169.254.169.254/>; rel=next")]
    async with serve(lambda request: Reply.of([1], headers=link)) as server:
        with pytest.raises(NodeError) as caught:
            await run(HttpRequest(url=server.url), NextLink())
    assert caught.value.kind == "blocked_address"


async def test_cursors_in_a_json_body_and_in_a_header(run: Run) -> None:
    def answer(request: Received) -> Reply:
        at = (
            request.json()["page"].get("after", 0)
            if request.method == "POST"
            else int(request.headers.get("x-after", "0"))
        )
        return Reply.of({"items": [at], "end": at + 1 if at < 2 else None})

    async with serve(answer) as server:
        post = HttpRequest(
            method="POST", url=server.url, body=json.dumps({"q": "ü", "page": {"size": 1}}).encode()
        )
        rule = Cursor(path="end", parameter="page.after", place="body")
        assert (await run(post, rule, items_path="items")).items == [0, 1, 2]
        assert server.requests[-1].json() == {"q": "ü", "page": {"size": 1, "after": 2}}
        rule = Cursor(path="end", parameter="X-After", place="header")
        assert (await run(HttpRequest(url=server.url), rule, items_path="items")).items == [0, 1, 2]


@pytest.mark.parametrize("body", [None, b"[]", b"no json", b'{"page": 3}'])
async def test_a_cursor_needs_a_body_to_stand_in(run: Run, body: bytes | None) -> None:
    async with serve(lambda request: Reply.of({"items": [1], "end": 2})) as server:
        rule = Cursor(path="end", parameter="page.after", place="body")
        with pytest.raises(NodeError, match=r"'page\.after'"):
            await run(HttpRequest(method="POST", url=server.url, body=body), rule, items_path="items")


def test_a_parameter_replaces_the_one_in_the_url() -> None:
    request = HttpRequest(url="http://a.example/p?page=7&x=1&%70age=8", query={"page": 9, "y": "z"})
    changed = with_parameter(request, "page", 2, "query")
    assert (changed.url, changed.query) == ("http://a.example/p?x=1", [("y", "z"), ("page", 2)])


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("99999999999", 7 * 86400.0),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 59.0),
        ("Fri, 31 Dec 1999 23:00:00 GMT", 0.0),
        ("Friday, 31-Dec-99 23:59:59 GMT", 59.0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("٣", None),
        (None, None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, now=946684740.0) == seconds
