"""Reads that several ask for at once, made once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Together(Generic[Key, Value]):
    """Answers all who ask for the same key in one turn of the event loop with one read.

    Nobody is answered by a read that had begun before they asked: what was committed before is seen.

    Args:
        read: the read of one key.
    """

    def __init__(self, read: Callable[[Key], Awaitable[Value]]) -> None:
        self._read = read
        self._next: dict[Key, asyncio.Task[Value]] = {}

    async def get(self, key: Key) -> Value:
        """What the read gives; its errors are raised to all who asked."""
        task = self._next.get(key)
        if task is None:
            task = self._next[key] = asyncio.get_running_loop().create_task(self._turn(key))
        # One who gives up does not end the read of the others.
        return await asyncio.shield(task)

    async def _turn(self, key: Key) -> Value:
        await asyncio.sleep(0)
        del self._next[key]
        return await self._read(key)
