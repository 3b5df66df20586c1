"""Who may start: a run waits for a host of its pool and for a slot where its workflow, or all runs, have a limit.

The store decides, with any number of processes and with Prefect away: a slot is taken with the lease, in one commit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import structlog

from interlace.engine.document import Document
from interlace.engine.errors import InterlaceError
from interlace.flows.going_on import apart
from interlace.flows.leases import LEASE_SECONDS
from interlace.flows.served import Served
from interlace.store import Store
from interlace.store.run_row import Run

if TYPE_CHECKING:
    from interlace.flows.active import Active
    from interlace.flows.documents import Pinned
    from interlace.flows.runner import Runner

_BATCH = 20

log = structlog.get_logger("interlace.runner")


def slot_of(pinned: Pinned, owner: str) -> dict[str, Any]:
    """What a new run has of pool, limit and time to start, by its document."""
    settings = pinned.document.settings
    found: dict[str, Any] = {"pool": settings.pool, "start_within": settings.start_timeout}
    if settings.concurrency is not None:
        name = pinned.workflow_id or f"{owner}/{pinned.document.name}"
        found |= {"slot_key": name, "slot_limit": settings.concurrency.limit}
    return found


class Admission:
    """Lets the runs of one process start, and those that waited when others have ended.

    Args:
        runner: the runs of this process.
        served: the pools that it takes runs of.
        most: how many runs may be active on all machines together; None for no limit.
    """

    def __init__(self, runner: Runner, served: Served, most: int | None) -> None:
        self._runner = runner
        self.served = served
        self.most = most

    def at_once(self, document: Document) -> bool:
        """Whether a run of a document can be made with its lease: nothing but this process has a say."""
        settings = document.settings
        return settings.concurrency is None and self.most is None and self.served.serves(settings.pool)

    async def claim(self, run: Run) -> int | None:
        """Take a run with its slot; None where that is not possible now. A full limit may end this run or another."""
        runs = self._runner.store.runs
        epoch = await runs.claim(run.id, self._runner.owner, LEASE_SECONDS, key=run.slot_key, most=self.most)
        if epoch is None and run.slot_key is not None and run.status == "queued":
            await self._full(run)
        return epoch

    async def admit(self, run_id: str) -> None:
        """Start a new run here if it may start now; otherwise it stays queued for whoever may."""
        run = await self._runner.store.runs.get(run_id)
        if self.served.serves(run.pool):
            await self._runner.resume(run)

    async def _full(self, run: Run) -> None:
        document = await self._runner.documents.read(run.document_hash)
        rule = document.settings.concurrency
        if rule is None or rule.when_full == "queue" or run.slot_key is None:
            return
        runner = self._runner
        active = await runner.store.runs.of_slot(run.slot_key)
        if rule.when_full == "cancel_oldest":
            for other in active[: max(len(active) - rule.limit, 0)]:
                await runner.cancel(
                    other.id, f"cancelled for a newer run (settings.concurrency.limit is {rule.limit})"
                )
        elif sum(other.id < run.id for other in active) >= rule.limit:
            reason = (
                f"skipped: {rule.limit} earlier runs of {run.name!r} are active (settings.concurrency.limit)"
            )
            await runner.cancel(run.id, reason)

    async def overdue(self) -> None:
        """End runs that have not started in time, and those whose time is over and whose pool nobody serves."""
        await self._not_started()
        served = self.served.pools | set(await self._runner.store.hosts.pools())
        for run in await self._runner.store.runs.stranded(served, self.served.default):
            with apart("a run whose time is over cannot be ended here", run=run.id):
                await self.end_late(run)

    async def end_late(self, run: Run) -> bool:
        """End a run that nobody works on and whose time is over, whichever pool it belongs to; False where that is not so.

        It needs neither a host of its pool nor a slot: nothing of it is executed any more.
        """
        runner = self._runner
        seconds = (await runner.documents.read(run.document_hash)).settings.timeout
        now = runner.clock.now()
        if not seconds or now < (run.started_at or now) + seconds:
            return False
        epoch = await runner.store.runs.claim(run.id, runner.owner, LEASE_SECONDS)
        return epoch is not None and await runner.resume(run, epoch=epoch)

    async def _not_started(self) -> None:
        runner, late = self._runner, "the run did not start within settings.start_timeout"
        for run in await runner.store.runs.late(runner.owner):
            if (active := runner.active.get(run.id)) is not None:
                active.expire(f"{late}: all {runner.max_runs} places of this process are taken")
            elif (epoch := await runner.store.runs.claim(run.id, runner.owner, LEASE_SECONDS)) is not None:
                why = await self.why_queued(run) or "nobody has taken it"
                await runner.fail(run.id, epoch, f"{late}: {why}", kind="timeout")

    async def why_queued(self, run: Run) -> str | None:
        """Why a queued run has not started, in words; None when nothing keeps it from starting."""
        here = self.served.pools
        return await why_queued(self._runner.store, self.served, run, most=self.most, here=here)

    def gave_up(self, active: Active) -> None:
        """After a turn: the slot that it held, if any, goes to the run that waits longest."""
        is_child = active.execution is not None and active.execution.info.depth > 0
        if active.slot_key is not None or (self.most is not None and not is_child):
            self._runner.background(self._hand_over(active))

    async def _hand_over(self, active: Active) -> None:
        if self._runner.closing:
            return
        try:
            runs = self._runner.store.runs
            if active.slot_key is not None and await self._next(
                await runs.of_slot(active.slot_key, _BATCH, waiting=True)
            ):
                return
            if self.most is not None:
                await self._next(await self.waiting(_BATCH))
        except InterlaceError as error:
            log.warning("the next run is started later", run=active.run_id, error=str(error))

    async def _next(self, waiting: Sequence[Run]) -> bool:
        """Start the first of these that can start now; whether there is one."""
        full: set[str] = set()
        for run in waiting:
            if run.status != "queued" or run.slot_key in full or not self.served.serves(run.pool):
                continue
            if await self._runner.resume(run):
                return True
            if run.slot_key is None:
                return False
            full.add(run.slot_key)
        return False

    async def waiting(self, limit: int, after: str = "") -> Sequence[Run]:
        """The oldest unfinished runs of this process's pools that nobody has."""
        return await self._runner.store.runs.unfinished(
            limit, pools=self.served.pools, default=self.served.default, after=after
        )


async def why_queued(
    store: Store, served: Served, run: Run, *, most: int | None = None, here: Collection[str] = ()
) -> str | None:
    """Why a queued run has not started, in words; None when nothing keeps it from starting.

    `here` are pools whose runs the asking process takes itself, beside those of the hosts.
    """
    if run.status != "queued":
        return None
    pool = served.name(run.pool)
    if pool not in here and pool not in await store.hosts.pools():
        return (
            f"it waits for a host of pool {pool!r}, and none serves it now; start one with:"
            f" interlace worker --pool {pool}"
        )
    if run.slot_key is not None:
        active = [other for other in await store.runs.of_slot(run.slot_key) if other.id < run.id]
        if len(active) >= (run.slot_limit or 0):
            return (
                f"it is number {len(active) - (run.slot_limit or 0) + 1} in the queue of its workflow, whose limit is"
                f" {run.slot_limit} (settings.concurrency)"
            )
    if most is not None:
        return f"all {most} places of INTERLACE_CONCURRENCY are taken"
    return None
