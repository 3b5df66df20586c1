"""The leases of one process: renewed as long as it has runs in hand, and asked whether somebody wants one cancelled."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection

import structlog

from interlace.engine.errors import InterlaceError, StoreError
from interlace.flows.owner import new_owner
from interlace.store import Store

LEASE_SECONDS = 15.0
_BEAT_SECONDS = 0.4
"""Between two looks at cancel requests: a cancel from another process interrupts within a second."""
_BEATS_A_LEASE = 10

log = structlog.get_logger("interlace.runner")


class Leases:
    """Keeps the leases of `owner`, which names this process and no other one (see `owner`).

    Args:
        store: where the leases are.
        active: the runs in hand, by id.
        cancel: called with each run that somebody asked to cancel.
    """

    def __init__(self, store: Store, active: Collection[str], cancel: Callable[[str], None]) -> None:
        self.owner = new_owner()
        self._store = store
        self._active = active
        self._cancel = cancel
        self._beat: asyncio.Task[None] | None = None

    def keep(self) -> None:
        """Keep the leases until no run is in hand."""
        if self._beat is None or self._beat.done():
            self._beat = asyncio.get_running_loop().create_task(self._beats(), name="interlace-leases")

    async def _beats(self) -> None:
        beat = 0
        while self._active:
            await asyncio.sleep(_BEAT_SECONDS)
            beat += 1
            try:
                for run_id in await self._wanted(renew=beat % _BEATS_A_LEASE == 0):
                    self._cancel(run_id)
            except StoreError as error:
                log.warning("the leases could not be renewed", error=str(error))

    async def _wanted(self, *, renew: bool) -> Collection[str]:
        if not renew:
            return await self._store.runs.cancel_requests(self.owner)
        renewed = await self._store.runs.renew(self.owner, LEASE_SECONDS)
        return [run_id for run_id, cancel in renewed.items() if cancel]

    async def close(self) -> None:
        """Let other processes take the runs at once instead of after the lease."""
        if self._beat is not None:
            self._beat.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._beat
        with contextlib.suppress(InterlaceError):
            for run_id in await self._store.runs.renew(self.owner, 0.0):
                log.info("left for another process", run=run_id)
