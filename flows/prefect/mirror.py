"""Runs that started in process, shown in Prefect afterwards: in bulk, late by seconds, never in a run's way."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import httpx2

from interlace.flows.prefect.connection import (
    PrefectApi,
    PrefectConnection,
    PrefectRefused,
    PrefectUnavailable,
)
from interlace.flows.prefect.deployments import Deployments
from interlace.flows.prefect.records import Mark, RunRecord, RunSource
from interlace.flows.prefect.wire import SentRun, sent
from interlace.flows.prefect.writers import Writer, writer_for

_LOG = logging.getLogger(__name__)
_BATCH = 100
_LONGEST_PAUSE_SECONDS = 30.0
# What Prefect says to something it was sent; anything else is about the sender or the server.
_ABOUT_A_RECORD = frozenset({400, 409, 413, 422, 500})
# A server that has just started, or whose database is busy, says so as well: it is asked again before it is believed.
_MAY_PASS = frozenset({409, 500})
_TRIES = 5

Detail = Literal["full", "plain", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorRates:
    """How much is recorded at which rate, in runs a minute.

    Up to `full_per_minute` runs are recorded with nodes and log; up to `plain_per_minute` as a flow run only; above
    it one in `sample` is, and every failed run.
    """

    full_per_minute: int = 300
    plain_per_minute: int = 1200
    sample: int = 20


class Mirror:
    """Records runs in Prefect.

    Args:
        connection: the Prefect to record in.
        source: the journal's view: what is to be recorded, and what became of it.
        pool: the work pool whose deployments the runs belong to.
        rates: how much detail at which rate.
        interval: seconds between two looks at the source while nothing pokes it.
    """

    def __init__(
        self,
        connection: PrefectConnection,
        source: RunSource,
        *,
        pool: str = "interlace",
        rates: MirrorRates | None = None,
        interval: float = 5.0,
    ) -> None:
        self._connection = connection
        self._source = source
        self._pool = pool
        self._rates = rates or MirrorRates()
        self._interval = interval
        self._window = _Window()
        self._skipped = 0
        self._tries: Counter[str] = Counter()
        self._api: PrefectApi | None = None
        self._deployments: Deployments | None = None
        self._writer: Writer | None = None
        self._task: asyncio.Task[None] | None = None
        self._poked = asyncio.Event()

    async def start(self) -> None:
        """Record in the background from now on; Prefect need not be there yet."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="prefect-mirror")

    async def stop(self) -> None:
        """Stop recording; what is pending stays pending in the source."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self._disconnect()

    def poke(self) -> None:
        """Say that there is something to record: it is looked at soon instead of at the next interval."""
        self._poked.set()

    async def flush(self) -> int:
        """Record everything that is pending; how many runs that were.

        Raises:
            PrefectUnavailable: Prefect does not answer; what is left stays pending.
        """
        total = 0
        while done := await self._round():
            total += done
        return total

    async def _run(self) -> None:
        pause = self._interval
        while True:
            try:
                busy = await self._round()
                pause = 0.0 if busy == _BATCH else self._interval
            except PrefectUnavailable as error:
                pause = min(max(1.0, pause * 2), _LONGEST_PAUSE_SECONDS)
                _LOG.info("Prefect cannot be told about runs now, again in %.0f s: %s", pause, error)
            except Exception:  # noqa: BLE001 - a worker loop's boundary: recording goes on whatever one round met
                pause = _LONGEST_PAUSE_SECONDS
                _LOG.exception("A round of recording runs in Prefect failed; again in %.0f s.", pause)
            await self._sleep(pause)

    async def _sleep(self, seconds: float) -> None:
        # Not wait_for: before Python 3.12 it can swallow the cancellation that `stop` sends.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(seconds, 0.01)):
                await self._poked.wait()
        self._poked.clear()

    async def _round(self) -> int:
        runs = await self._source.pending(_BATCH)
        if not runs:
            return 0
        shown: list[tuple[RunRecord, Detail]] = []
        marks: list[Mark] = []
        for run in runs:
            detail = self._detail(run)
            if detail == "none":
                marks.append(Mark(run_id=run.run_id, state=run.state, fate="sampled_out"))
            else:
                shown.append((run, detail))
        if shown:
            marks += await self._record(shown)
        await self._source.recorded(marks)
        return len(marks)

    def _detail(self, run: RunRecord) -> Detail:
        rate = self._window.count()
        if rate < self._rates.full_per_minute:
            return "full"
        if rate < self._rates.plain_per_minute or run.state == "failed" or run.flow_run_id is not None:
            return "plain"
        self._skipped += 1
        return "plain" if self._skipped % self._rates.sample == 0 else "none"

    async def _record(self, shown: Sequence[tuple[RunRecord, Detail]], *, fresh: bool = False) -> list[Mark]:
        try:
            ready, writer = await self._ready(shown)
            keys = await writer.write(ready)
        except PrefectRefused as refusal:
            if refusal.status == httpx2.codes.NOT_FOUND and not fresh:
                # Another database behind the same address: what was found there before is gone.
                await self._disconnect()
                return await self._record(shown, fresh=True)
            if refusal.status not in _ABOUT_A_RECORD:
                raise
            if len(shown) == 1:
                return self._given_up(shown[0][0], refusal)
            # One bad record must not keep the others out: halve until it stands alone.
            half = len(shown) // 2
            return await self._record(shown[:half], fresh=fresh) + await self._record(
                shown[half:], fresh=fresh
            )
        return [
            Mark(run_id=run.run_id, state=run.state, fate="recorded", flow_run_id=key)
            for (run, _), key in zip(shown, keys, strict=True)
        ]

    def _given_up(self, run: RunRecord, refusal: PrefectRefused) -> list[Mark]:
        """The mark of a run that cannot be shown; none while another try may do."""
        self._tries[run.run_id] += 1
        if refusal.status in _MAY_PASS and self._tries[run.run_id] < _TRIES:
            return []
        del self._tries[run.run_id]
        _LOG.warning("Run %s cannot be shown in Prefect: %s", run.run_id, refusal)
        return [Mark(run_id=run.run_id, state=run.state, fate="refused", reason=str(refusal))]

    async def _ready(self, shown: Sequence[tuple[RunRecord, Detail]]) -> tuple[list[SentRun], Writer]:
        if self._api is None:
            self._api = PrefectApi(self._connection)
        if self._deployments is None:
            self._deployments = Deployments(self._api, self._pool)
        if self._writer is None:
            self._writer = await writer_for(self._api)
        ready: list[SentRun] = []
        for run, detail in shown:
            deployment = await self._deployments.find(run.workflow_id, run.workflow_name)
            ready.append(sent(run, deployment, detail=detail == "full"))
        return ready, self._writer

    async def _disconnect(self) -> None:
        api, self._api, self._deployments, self._writer = self._api, None, None, None
        if api is not None:
            await api.close()


class _Window:
    """How many runs came in the last minute, in steps of a second."""

    def __init__(self) -> None:
        self._seconds: deque[tuple[int, int]] = deque()
        self._total = 0

    def count(self) -> int:
        """Count one more run; how many came before it within the minute."""
        now = int(time.monotonic())
        while self._seconds and self._seconds[0][0] <= now - 60:
            self._total -= self._seconds.popleft()[1]
        before = self._total
        if self._seconds and self._seconds[-1][0] == now:
            self._seconds[-1] = (now, self._seconds[-1][1] + 1)
        else:
            self._seconds.append((now, 1))
        self._total += 1
        return before
