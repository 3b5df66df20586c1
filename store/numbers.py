"""How much there is of what waits: read by indexes, so that asking often costs little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select

from interlace.store.database import Database
from interlace.store.tables import deliveries, outbox, runs


@dataclass(frozen=True, slots=True)
class Numbers:
    """Unfinished runs by status, runs with a lease, deliveries by status, and the oldest that waits (Unix seconds)."""

    runs: dict[str, int]
    leased: int
    deliveries: dict[str, int]
    oldest_delivery: float | None
    outgoing: int


class NumberRepository:
    """Numbers of the whole database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> Numbers:
        """Count."""
        open_ = ("queued", "running", "suspended")
        by_status = (
            select(runs.c.status, func.count()).where(runs.c.status.in_(open_)).group_by(runs.c.status)
        )
        leased = select(func.count()).where(runs.c.lease_owner.is_not(None))
        waiting = select(func.count(), func.min(deliveries.c.received_at)).where(
            deliveries.c.next_at.is_not(None)
        )
        dead = select(func.count()).where(deliveries.c.status == "dead")
        outgoing = select(func.count()).where(outbox.c.next_at.is_not(None))
        (held,) = await self._one(leased)
        received, oldest = await self._one(waiting)
        return Numbers(
            runs={row[0]: row[1] for row in await self._database.rows(by_status)}, leased=held,
            deliveries={"received": received, "dead": (await self._one(dead))[0]}, oldest_delivery=oldest,
            outgoing=(await self._one(outgoing))[0],
        )  # fmt: skip

    async def _one(self, statement: Select[*tuple[Any, ...]]) -> tuple[Any, ...]:
        row = await self._database.first(statement)
        assert row is not None, "an aggregate has a row"
        return tuple(row)
