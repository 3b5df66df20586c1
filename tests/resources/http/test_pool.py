from __future__ import annotations

import asyncio

import pytest

from interlace.resources.http import AllowList
from interlace.resources.http.connection import Connection
from interlace.resources.http.dialer import Dialer, Route
from interlace.resources.http.guard import Guard
from interlace.resources.http.pool import PER_ROUTE, Pool
from interlace.resources.http.testing import Reply, Server, serve
from interlace.resources.http.url import parse_url
from interlace.resources.http.wire import ConnectError


def pool(idle_seconds: float = 30.0) -> Pool:
    return Pool(Dialer(Guard(AllowList.parse("127.0.0.1"))), idle_seconds=idle_seconds)


def route(server: Server) -> Route:
    return Route("http", parse_url(server.url).authority)


async def use(connection: Connection) -> None:
    await connection.exchange("GET", b"/", [("Host", "x")], None)
    while await connection.piece():
        pass


async def test_idle_connections_are_closed_after_their_time() -> None:
    kept = pool(idle_seconds=0.02)
    async with serve(lambda request: Reply()) as server:
        connection = await kept.acquire(route(server))
        await use(connection)
        kept.release(route(server), connection)
        await asyncio.wait_for(server.left.wait(), 5)
        assert not kept._places
        await kept.close()


async def test_a_connection_whose_answer_was_not_read_is_not_kept() -> None:
    kept = pool()
    async with serve(lambda request: Reply(body=b"x" * 100_000)) as server:
        connection = await kept.acquire(route(server))
        await connection.exchange("GET", b"/", [("Host", "x")], None)
        kept.release(route(server), connection)
        await asyncio.wait_for(server.left.wait(), 5)
        assert not kept._places


async def test_more_callers_than_connections_wait_their_turn() -> None:
    kept = pool()
    async with serve(lambda request: Reply()) as server:
        taken = [await kept.acquire(route(server)) for _ in range(PER_ROUTE)]
        waiting = asyncio.create_task(kept.acquire(route(server)))
        given_up = asyncio.create_task(kept.acquire(route(server)))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert not waiting.done()
        first = taken.pop()
        await use(first)
        kept.release(route(server), first)
        assert await waiting is first
        for connection in [*taken, first]:
            connection.close()
            kept.release(route(server), connection)
        assert not kept._places
        assert not kept._taken


async def test_a_failed_connection_leaves_nothing_behind() -> None:
    kept = pool()
    async with serve(lambda request: Reply()) as server:
        gone = route(server)
    for _ in range(3):
        with pytest.raises(ConnectError):
            await kept.acquire(gone)
    assert not kept._places
