"""Reads made once for all who ask at once, and never shared with one who asks later."""

from __future__ import annotations

import asyncio

import pytest

from interlace.store.together import Together


class Shelf:
    """Counts its reads; `gate` holds them."""

    def __init__(self) -> None:
        self.value = 0
        self.reads = 0
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def read(self, key: str) -> str:
        self.reads += 1
        self.begun.set()
        found = f"{key}{self.value}"
        await self.gate.wait()
        return found


async def test_who_asks_at_once_shares_a_read() -> None:
    shelf = Shelf()
    together = Together(shelf.read)
    found = await asyncio.gather(*(together.get(key) for key in "aabab"))
    assert found == ["a0", "a0", "b0", "a0", "b0"]
    assert shelf.reads == 2


async def test_a_read_under_way_answers_nobody_who_asks_later() -> None:
    shelf = Shelf()
    together = Together(shelf.read)
    shelf.gate.clear()
    first = asyncio.ensure_future(together.get("a"))
    await shelf.begun.wait()
    shelf.value = 1
    second = asyncio.ensure_future(together.get("a"))
    shelf.gate.set()
    assert await asyncio.gather(first, second) == ["a0", "a1"]


async def test_one_who_gives_up_leaves_the_read_to_the_others() -> None:
    shelf = Shelf()
    together = Together(shelf.read)
    first, second = (asyncio.ensure_future(together.get("a")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "a0"


async def test_an_error_reaches_all() -> None:
    async def fails(key: str) -> str:
        raise OSError(key)

    together = Together(fails)
    found = await asyncio.gather(*(together.get("a") for _ in range(3)), return_exceptions=True)
    assert [str(error) for error in found] == ["a"] * 3
    with pytest.raises(OSError, match="a"):
        await together.get("a")
