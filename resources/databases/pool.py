"""A few open connections per database, closed when idle for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

C = TypeVar("C")

IDLE_S = 60.0


class Pool(Generic[C]):
    """At most `size` connections at work and at rest; the user opens them and says what goes back.

    Args:
        size: how many operations run at once; more wait.
        close: closes a connection, without waiting.
    """

    def __init__(self, size: int, close: Callable[[C], object]) -> None:
        self._slots = asyncio.Semaphore(size)
        self._close = close
        self._idle: list[tuple[float, C]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    async def __aenter__(self) -> Pool[C]:
        await self._slots.acquire()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._slots.release()

    def take(self) -> C | None:
        """The connection that rests for the shortest time, if any."""
        self._sweep()
        return self._idle.pop()[1] if self._idle else None

    def put(self, connection: C) -> None:
        """Lay a connection back; it must be clean."""
        if self._closed:
            self._close(connection)
            return
        self._idle.append((time.monotonic(), connection))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S + 1, self._sweep_later)

    @property
    def idle(self) -> int:
        """How many connections rest."""
        return len(self._idle)

    def close(self) -> None:
        """Close what rests; what works is closed when it comes back."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._idle:
            self._close(self._idle.pop()[1])

    def _sweep_later(self) -> None:
        self._timer = None
        self._sweep()
        if self._idle:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S + 1, self._sweep_later)

    def _sweep(self) -> None:
        oldest = time.monotonic() - IDLE_S
        while self._idle and self._idle[0][0] < oldest:
            self._close(self._idle.pop(0)[1])
