"""Reading journals: events in order, as they come, and folded into the state of a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from sqlalchemy import Row, func, select

from interlace.engine.events import FINAL_EVENTS, Event
from interlace.store.database import Database
from interlace.store.encoding import decode
from interlace.store.errors import NotFoundError
from interlace.store.payloads import Payloads
from interlace.store.references import resolve_data
from interlace.store.state import Folding, RunState
from interlace.store.tables import events, runs
from interlace.store.watch import Watch

_CHUNK = 2000
_GONE_SECONDS = 5.0
"""How often a reader of a silent run looks whether the run still exists."""


class EventRepository:
    """The events of all runs. Large values in them are references, which `resolve` replaces."""

    def __init__(self, database: Database, payloads: Payloads, watch: Watch) -> None:
        self._database = database
        self._payloads = payloads
        self._watch = watch

    async def read(self, run_id: str, after_seq: int = 0, limit: int = 1000) -> list[Event]:
        """The events after a number, in order; none when there is no such run."""
        statement = (
            select(events.c.type, events.c.path, events.c.attempt, events.c.data, events.c.seq, events.c.at)
            .where(events.c.run_id == run_id, events.c.seq > after_seq)
            .order_by(events.c.seq)
            .limit(limit)
        )
        return [_event(row) for row in await self._database.rows(statement)]

    async def last_seq(self, run_id: str) -> int:
        """The number of the newest event; 0 when there is none. A resumed run's journal begins after it."""
        row = await self._database.first(select(func.max(events.c.seq)).where(events.c.run_id == run_id))
        return 0 if row is None else row[0] or 0

    async def follow(self, run_id: str, after_seq: int = 0) -> AsyncIterator[Event]:
        """The events after a number as they are committed, by any process; ends after the run's last event.

        Raises:
            NotFoundError: there is no such run, or it was deleted meanwhile.
        """
        ended = False
        with self._watch.run(run_id) as changed:
            while True:
                changed.clear()
                found = await self.read(run_id, after_seq, _CHUNK)
                for event in found:
                    after_seq = event.seq
                    yield event
                    if event.type in FINAL_EVENTS:
                        return
                if found:
                    continue
                if ended:
                    return
                # A run that ended since the read has events that the read did not see: it is read once more.
                ended = await self._ended(run_id)
                if not ended:
                    await _wait(changed)

    async def fold(self, run_id: str) -> RunState:
        """The state that a run's journal adds up to.

        Raises:
            NotFoundError: there is no such run.
        """
        folding = Folding()
        while found := await self.read(run_id, folding.state.last_seq, _CHUNK):
            for event in found:
                folding.add(event)
            if len(found) < _CHUNK:
                break
        if folding.state.last_seq == 0:
            await self._ended(run_id)
        return folding.state

    async def resolve(self, event: Event) -> Event:
        """The event with the references in its data resolved."""
        data = await resolve_data(event.data, lambda reference: self._payloads.load(reference["$payload"]))
        return Event(event.type, event.path, event.attempt, data, event.seq, event.at)

    async def _ended(self, run_id: str) -> bool:
        row = await self._database.first(select(runs.c.finished_at).where(runs.c.id == run_id))
        if row is None:
            raise NotFoundError(f"no run {run_id!r}; `interlace runs list` shows those there are")
        return row.finished_at is not None


async def _wait(changed: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_GONE_SECONDS):
            await changed.wait()
    except TimeoutError:
        return


def _event(row: Row[*tuple[Any, ...]]) -> Event:
    kind, path, attempt, data, seq, at = row
    return Event(kind, path, attempt, decode(data), seq, at)
