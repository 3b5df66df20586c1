"""Queued runs handed to Prefect's work pools: those of one moment together, so that a burst is a few requests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.shown import deployment_of
from interlace.store.run_row import Run

if TYPE_CHECKING:
    from interlace.flows.link import PrefectLink

_AT_ONCE = 50

log = structlog.get_logger("interlace.prefect")


class HandOver:
    """Hands runs over in the background, in the order given. What Prefect does not take, hosts take without it.

    Args:
        link: the tie to Prefect.
    """

    def __init__(self, link: PrefectLink) -> None:
        self._link = link
        self._queue: list[tuple[Run, Mapping[str, Any]]] = []
        self._task: asyncio.Task[None] | None = None

    def give(self, run: Run, schema: Mapping[str, Any]) -> None:
        """Hand a run over soon; `schema` is that of its workflow's inputs."""
        self._queue.append((run, schema))
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work(), name="prefect-hand-over")

    async def finish(self, seconds: float) -> None:
        """Wait for what is under way, for so long."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=seconds)
            self._task.cancel()

    async def _work(self) -> None:
        while self._queue:
            first = self._queue[0][0]
            same = [
                entry
                for entry in self._queue[: _AT_ONCE * 4]
                if (entry[0].pool, deployment_of(entry[0])) == (first.pool, deployment_of(first))
            ][:_AT_ONCE]
            try:
                await self._link.submit_all([run for run, _ in same], same[-1][1])
            except InterlaceError as error:
                log.warning("runs start without Prefect's work pool", runs=len(same), reason=str(error))
            taken = {run.id for run, _ in same}
            self._queue = [entry for entry in self._queue if entry[0].id not in taken]
