from __future__ import annotations

from typing import Any

from interlace.resources.http.testing import Received, Reply, serve


async def test_all_pages_become_one_list_and_each_counts_on_its_own(bench: Any) -> None:
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


async def test_a_page_that_fails_for_good_is_an_error_not_a_short_list(bench: Any) -> None:
    def answer(request: Received) -> Reply:
        return Reply.of([1]) if request.query["offset"] == ["0"] else Reply(403, b"enough")

    async with serve(answer) as server:
        error = await bench.error({"url": server.url, "paginate": "offset"})
    assert error["type"] == "http_403"
    assert error["message"].startswith("page 1: GET ")


async def test_pages_of_a_post_have_keys_of_their_own(bench: Any) -> None:
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
