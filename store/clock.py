"""The time of the database's machine, for all that share it: their own clocks may differ by hours."""

from __future__ import annotations

import asyncio
import sys
import time

from sqlalchemy import select

from interlace.store.database import Database
from interlace.store.statements import Now


class DatabaseClock:
    """Unix time as the database has it, carried on between two looks by this machine's clock since its start.

    Implements the engine's `Clock`. `sync` once before use, and again now and then.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._offset = time.time() - _elapsed()

    def now(self) -> float:
        """Unix time in seconds."""
        return _elapsed() + self._offset

    async def sleep(self, seconds: float) -> None:
        """Pause."""
        await asyncio.sleep(seconds)

    async def sync(self) -> None:
        """Ask the database for its time.

        Raises:
            StoreError: it does not answer.
        """
        before = _elapsed()
        row = await self._database.first(select(Now().label("now")))
        assert row is not None
        self._offset = float(row.now) - (before + _elapsed()) / 2


def _elapsed() -> float:
    """Seconds since the start of this machine, those included that it was asleep or its virtual machine was stopped."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()
