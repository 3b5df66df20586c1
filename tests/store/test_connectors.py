"""Breakers, locks and authorizations that several workers share."""

from __future__ import annotations

import asyncio

from interlace.store import Store
from interlace.store.connectors import BreakerRow


async def test_failures_are_counted_by_all_and_one_may_probe(store: Store) -> None:
    repository = store.connectors
    assert await repository.breaker("c") == BreakerRow()
    found = await asyncio.gather(*(repository.fail("c", limit=3, pause=5, now=100) for _ in range(3)))
    assert sorted(row.failures for row in found) == [1, 2, 3]
    assert {row.failures: row.open_until for row in found} == {1: None, 2: None, 3: 105}
    assert await repository.breaker("c") == BreakerRow(3, 105)
    assert sorted(await asyncio.gather(*(repository.probe("c", now=106, seconds=10) for _ in range(5)))) == [
        False
    ] * 4 + [True]
    assert not await repository.probe("c", now=115, seconds=10)
    assert await repository.probe("c", now=117, seconds=10)
    await repository.fail("c", limit=3, pause=5, now=118)
    assert await repository.probe("c", now=119, seconds=10)
    await repository.reset("c")
    assert await repository.breaker("c") == BreakerRow()
    assert await repository.fail("d", limit=1, pause=5, now=100) == BreakerRow(1, 105)


async def test_a_lock_has_one_holder_until_its_time(store: Store) -> None:
    repository = store.connectors
    assert await repository.lock("k", "a", 60)
    assert not await repository.lock("k", "b", 60)
    await repository.unlock("k", "b")
    assert not await repository.lock("k", "b", 60)
    await repository.unlock("k", "a")
    assert await repository.lock("k", "b", -1)
    assert await repository.lock("k", "c", 60)


async def test_a_state_is_good_once(store: Store) -> None:
    state, made = await store.connectors.begin_authorization("c", "ada", "http://localhost/cb")
    assert await store.connectors.end_authorization("x" + state) is None
    assert await store.connectors.end_authorization(state) == made
    assert await store.connectors.end_authorization(state) is None
