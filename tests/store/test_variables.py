from __future__ import annotations

import asyncio

import pytest

from interlace.store import Store
from interlace.store.errors import ConflictError, NotJsonError
from interlace.store.variables import Variable


async def test_variables_outlive_their_writers(store: Store) -> None:
    assert await store.variables.get("w", "seen") is None
    assert await store.variables.set("w", "seen", [1, None, 2**70]) == 1
    assert await store.variables.set("w", "seen", {"a": "ü"}) == 2
    assert await store.variables.set("w", "n", 1) == 1
    assert await store.variables.get("w", "seen") == Variable({"a": "ü"}, 2)
    assert await store.variables.all("w") == {"seen": {"a": "ü"}, "n": 1}
    assert await store.variables.all("other") == {}
    await store.variables.clear("w")
    assert await store.variables.all("w") == {}
    with pytest.raises(NotJsonError):
        await store.variables.set("w", "n", float("nan"))


async def test_of_writers_that_read_the_same_version_one_wins(store: Store) -> None:
    for expected in (0, 1):
        results = await asyncio.gather(
            *(store.variables.set("w", "n", n, expected=expected) for n in range(5)), return_exceptions=True
        )
        assert results.count(expected + 1) == 1
        assert [type(each) for each in results if each != expected + 1] == [ConflictError] * 4
    with pytest.raises(ConflictError, match="no longer at version 1"):
        await store.variables.set("w", "n", 9, expected=1)


async def test_no_increment_is_lost(store: Store) -> None:
    async def increment() -> None:
        while True:
            found = await store.variables.get("w", "n") or Variable(0, 0)
            try:
                await store.variables.set("w", "n", found.value + 1, expected=found.version)
            except ConflictError:
                continue
            return

    await asyncio.gather(*(increment() for _ in range(8)))
    assert await store.variables.get("w", "n") == Variable(8, 8)
