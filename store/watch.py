"""Who waits for new events of which run: woken by this process's commits at once, by those of others within 0.1 s."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import func, select

from interlace.engine.errors import StoreError
from interlace.store.database import Database
from interlace.store.tables import events

_POLL_SECONDS = 0.1


class Watch:
    """The waiting readers of a store. One query asks for all of them, and only while there are any."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._readers: dict[str, set[asyncio.Event]] = {}
        self._last: dict[str, int] = {}
        self._poller: asyncio.Task[None] | None = None
        database.writer.on_commit = self._committed

    @contextmanager
    def run(self, run_id: str) -> Iterator[asyncio.Event]:
        """An event that is set whenever the run has new events; the reader clears it before it reads."""
        changed = asyncio.Event()
        self._readers.setdefault(run_id, set()).add(changed)
        if self._poller is None:
            self._poller = asyncio.get_running_loop().create_task(self._poll(), name="interlace-watch")
        try:
            yield changed
        finally:
            readers = self._readers[run_id]
            readers.discard(changed)
            if not readers:
                del self._readers[run_id]
                self._last.pop(run_id, None)

    async def close(self) -> None:
        """Stop asking."""
        if self._poller is not None:
            self._poller.cancel()
            with suppress(asyncio.CancelledError):
                await self._poller

    def _committed(self, run_ids: set[str]) -> None:
        for run_id in run_ids & self._readers.keys():
            self._wake(run_id)

    def _wake(self, run_id: str) -> None:
        for changed in self._readers.get(run_id, ()):
            changed.set()

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            if not self._readers:
                self._poller = None
                return
            newest = select(events.c.run_id, func.max(events.c.seq)).where(
                events.c.run_id.in_(list(self._readers))
            )
            try:
                rows = await self._database.rows(newest.group_by(events.c.run_id))
            except StoreError:
                # The database is away for a moment: the readers, who hear of it themselves, are asked to look.
                for run_id in list(self._readers):
                    self._wake(run_id)
                continue
            for run_id, seq in rows:
                if self._last.get(run_id) != seq and run_id in self._readers:
                    self._last[run_id] = seq
                    self._wake(run_id)
