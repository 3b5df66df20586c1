"""Counters over windows of time, shared by all servers of a database."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Double, Integer, Text, bindparam, case, delete
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.tables import counters


@dataclass(frozen=True, slots=True)
class Count:
    """How often something happened in its window, which ends at `until` (Unix seconds)."""

    count: int
    until: float


class CounterRepository:
    """Counts by key."""

    def __init__(self, database: Database) -> None:
        self._database = database
        now, until = bindparam("now", type_=Double), bindparam("end", type_=Double)
        number = bindparam("number", type_=Integer)
        over = counters.c.until <= now
        row = insert(counters).values(key=bindparam("of", type_=Text), count=number, until=until)
        self._add = database.compile(
            row.on_conflict_do_update(
                index_elements=["key"],
                set_={
                    "count": case((over, number), else_=counters.c.count + number),
                    "until": case((over, until), else_=counters.c.until),
                },
            ).returning(counters.c.count, counters.c.until),
            returns=True,
        )
        self._clear = database.compile(delete(counters).where(counters.c.key == bindparam("of", type_=Text)))

    async def add(self, key: str, *, seconds: float, number: int = 1) -> Count:
        """Count something; a window of so many seconds begins with the first time. Gives the count with it."""
        now = time.time()
        rows = await self._database.write(self._add(of=key, number=number, now=now, end=now + seconds))
        return Count(*rows[0])

    async def clear(self, *keys: str) -> None:
        """Begin anew."""
        if keys:
            await self._database.write(*(self._clear(of=key) for key in keys))
