from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import AllowList
from interlace.resources.http.guard import Guard
from interlace.resources.http.url import parse_url


async def test_every_connection_resolves_anew_and_only_once() -> None:
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["93.184.216.34"] if len(asked) == 1 else ["127.0.0.1"]

    guard = Guard(AllowList(), resolver=rebinding)
    authority = parse_url("http://rebind.example/").authority
    assert [str(a) for a in await guard.addresses(authority)] == ["93.184.216.34"]
    assert asked == ["rebind.example"]
    with pytest.raises(NodeError) as caught:
        await guard.addresses(authority)
    assert caught.value.kind == "blocked_address"


async def test_connections_opened_together_share_one_question() -> None:
    asked: list[str] = []
    answer = asyncio.Event()

    async def slow(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        await answer.wait()
        return ["93.184.216.34"]

    guard = Guard(AllowList(), resolver=slow)
    authority = parse_url("http://shared.example/").authority
    waiting = [asyncio.create_task(guard.addresses(authority)) for _ in range(5)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    answer.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert len(asked) == 1
    assert all(not isinstance(result, BaseException) for result in results[1:])


async def test_loopback_names_never_reach_a_name_server() -> None:
    async def refuse(host: str, port: int) -> Sequence[str]:
        raise AssertionError(host)

    guard = Guard(AllowList.parse("localhost *.localhost"), resolver=refuse)
    for host in ("localhost", "app.localhost"):
        found = await guard.addresses(parse_url(f"http://{host}:1/").authority)
        assert {str(a) for a in found} == {"127.0.0.1", "::1"}
