"""Cron: looks which schedules are due, and decides about their nominal times one after the other."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog
from pydantic import ValidationError

from interlace.engine.cron import Cron
from interlace.engine.cron.firings import cron_of
from interlace.engine.cron.zone import iso
from interlace.engine.errors import InterlaceError, InvalidDocument
from interlace.engine.run import RunResult
from interlace.engine.triggers import CronTrigger
from interlace.flows.pool import start_queued
from interlace.flows.runner import ClosingError
from interlace.flows.triggers.starting import LostAccessError, mapped, ready, request_of, utc_text
from interlace.store.firings import DecidedError
from interlace.store.runs import Also
from interlace.store.trigger_row import Firing, FiringStatus, Trigger

if TYPE_CHECKING:
    from interlace.flows.link import PrefectLink
    from interlace.flows.platform import Platform

_QUEUE = 1000
"""Nominal times of one schedule that may wait for earlier runs to end."""
_QUEUE_SECONDS = 2.0
"""Between two looks whether an earlier run has ended, which may be in another process."""

log = structlog.get_logger("interlace.triggers")


class Schedules:
    """Fires the schedules of a store, together with any number of other processes."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.link: PrefectLink | None = None
        self.woken = asyncio.Event()
        """Set when there may be something to do before the next look."""
        self._waiting: set[str] = set()
        platform.runner.ended.append(self._ended)

    async def look(self) -> None:
        """Do everything that is due now."""
        store, runner = self._platform.store, self._platform.runner
        while not runner.closing:
            now = runner.clock.now()
            claimed = await store.firings.claim_due(runner.owner, now)
            if not claimed:
                return
            await asyncio.gather(*(self._work(trigger, now) for trigger in claimed))

    async def next_due(self) -> float | None:
        """When there is something to do next."""
        return await self._platform.store.firings.next_due()

    async def run_now(self, trigger: Trigger, by: str) -> str:
        """Start a run of a schedule out of turn; gives its id.

        Raises:
            LostAccessError: the owner may not run the workflow any more.
            InvalidDocument: the inputs do not fit.
        """
        now = self._platform.runner.clock.now()
        spec = CronTrigger.model_validate(trigger.definition)
        return await self._start(trigger, spec, int(now), None, by=by)

    # -- one schedule ------------------------------------------------------------------------------------------

    async def _work(self, trigger: Trigger, now: float) -> None:
        firings, me = self._platform.store.firings, self._platform.runner.owner
        try:
            due = await self._fire(trigger, now)
            await firings.release(trigger, me, due)
        except DecidedError:
            return  # whoever has it now goes on
        except ClosingError:
            await firings.release(trigger, me, now)
        except ValidationError as error:
            await self._say(trigger, f"the schedule cannot be read: {error}")
            await firings.release(trigger, me, None)
        except InterlaceError as error:
            # Its claim runs out, and it is tried again from where it stands.
            log.warning("a schedule could not be worked on", schedule=trigger.id, error=str(error))
        except Exception:  # a fault of one schedule does not stop the others
            log.exception("a schedule could not be worked on", schedule=trigger.id)

    async def _fire(self, trigger: Trigger, now: float) -> float | None:
        """Decide about what is due; gives when the schedule is to be looked at next."""
        spec = CronTrigger.model_validate(trigger.definition)
        cron = cron_of(spec.cron, spec.timezone)
        waiting = await self._dequeue(trigger, spec)
        last = trigger.cursor if trigger.cursor is not None else now
        for nominal, dropped in self._due(trigger, spec, cron, last, now):
            if dropped:
                why = f"missed; `missed: {spec.missed}` does not make up for it, nor for those before it"
                await self._note(trigger, nominal, "missed", why)
            else:
                waiting = await self._decide(trigger, spec, nominal) or waiting
            last = nominal
        following = cron.next(last)
        due = None if following is None else following + delay(trigger.id, following, spec.jitter)
        if not waiting:
            self._waiting.discard(trigger.id)
            return due
        self._waiting.add(trigger.id)
        again = now + _QUEUE_SECONDS
        return again if due is None else min(due, again)

    def _due(
        self, trigger: Trigger, spec: CronTrigger, cron: Cron, last: float, now: float
    ) -> list[tuple[int, bool]]:
        """The nominal times to decide about, and whether one is only noted as missed."""
        long_ago = now - spec.grace - spec.jitter
        keep = {"skip": 0, "latest": 1, "all": spec.missed_limit}[spec.missed]
        missed = cron.last(last, long_ago, keep + 1) if last < long_ago else []
        on_time: list[int] = []
        begins = 0.0  # in the order of the times: one waits for the delay of the one before
        for nominal in cron.after(max(last, long_ago)):
            begins = max(begins, nominal + delay(trigger.id, nominal, spec.jitter))
            if begins > now:
                break
            (missed if begins <= now - spec.grace else on_time).append(nominal)
        dropped, kept = missed[: len(missed) - keep], missed[len(missed) - keep :] if keep else []
        return [
            *((nominal, True) for nominal in dropped[-1:]),
            *((nominal, False) for nominal in [*kept, *on_time]),
        ]

    async def _dequeue(self, trigger: Trigger, spec: CronTrigger) -> bool:
        """Start the times that waited, as far as no earlier run is in their way; whether some still wait."""
        firings = self._platform.store.firings
        for firing in await firings.queued(trigger.id):
            if await firings.unfinished(trigger.id):
                return True
            await self._begin(trigger, spec, firing.nominal, queued=True)
        return False

    async def _decide(self, trigger: Trigger, spec: CronTrigger, nominal: int) -> bool:
        """Start a run, or note why not; whether the time waits for an earlier run."""
        firings = self._platform.store.firings
        running = [] if spec.overlap == "allow" else await firings.unfinished(trigger.id)
        if running and spec.overlap == "skip":
            await self._note(
                trigger, nominal, "skipped", f"run {running[-1]} has not ended (`overlap: skip`)"
            )
            return False
        if spec.overlap == "queue":
            waiting = await firings.queued(trigger.id, _QUEUE)
            if len(waiting) >= _QUEUE:
                await self._note(trigger, nominal, "skipped", f"{_QUEUE} times wait already")
                return True
            if running or waiting:
                await self._note(trigger, nominal, "queued", "waits for the runs before it to end")
                return True
        if spec.overlap == "cancel_previous":
            for run_id in running:
                await self._platform.runner.cancel(run_id, "cancelled by its schedule for a newer run")
        await self._begin(trigger, spec, nominal)
        return False

    async def _begin(
        self, trigger: Trigger, spec: CronTrigger, nominal: int, *, queued: bool = False
    ) -> None:
        firing = Firing(
            trigger_id=trigger.id, nominal=nominal, status="started", run_id=None, note=None,
            at=self._platform.runner.clock.now(),
        )  # fmt: skip
        firings, me = self._platform.store.firings, self._platform.runner.owner
        try:
            await self._start(
                trigger, spec, nominal,
                lambda batch, run_id: firings.decide(batch, me, replace(firing, run_id=run_id), queued=queued),
            )  # fmt: skip
        except LostAccessError as error:
            await self._note(trigger, nominal, "refused", str(error), queued=queued)
            await self._say(trigger, str(error))
        except InvalidDocument as error:
            await self._note(trigger, nominal, "failed", str(error), queued=queued)
            await self._say(trigger, f"the inputs do not fit the workflow: {error}")
        else:
            if trigger.error is not None:
                await self._platform.store.triggers.fail(trigger.id, None, 0.0)

    async def _start(
        self, trigger: Trigger, spec: CronTrigger, nominal: int, also: Also | None, *, by: str | None = None
    ) -> str:
        platform = self._platform
        found = await ready(platform, trigger)
        scheduled_for = None if by is not None else float(nominal)
        data: Mapping[str, Any] = {
            "kind": "cron", "schedule": trigger.id, "name": trigger.key.removeprefix("own:"), "cron": spec.cron, "timezone": spec.timezone,
            "scheduled_for": utc_text(nominal),
            "local_time": iso(nominal, cron_of(spec.cron, spec.timezone).zone.offset(nominal)),
            **({} if by is None else {"by": by}),
        }  # fmt: skip
        inputs = mapped(platform, spec.inputs, data, scheduled_for=scheduled_for)
        request = request_of(
            platform, found, trigger=data, inputs=inputs, also=also, scheduled_for=scheduled_for
        )
        return (await start_queued(platform, self.link, found.pinned, request)).run_id

    async def _note(
        self, trigger: Trigger, nominal: int, status: FiringStatus, note: str, *, queued: bool = False
    ) -> None:
        at = self._platform.runner.clock.now()
        firing = Firing(trigger_id=trigger.id, nominal=nominal, status=status, run_id=None, note=note, at=at)
        await self._platform.store.firings.note(self._platform.runner.owner, firing, queued=queued)

    async def _say(self, trigger: Trigger, why: str) -> None:
        log.warning(
            "a schedule started nothing", schedule=trigger.id, workflow=trigger.workflow_id, reason=why
        )
        await self._platform.store.triggers.fail(trigger.id, why, self._platform.runner.clock.now())

    async def _ended(self, _run_id: str, result: RunResult) -> None:
        """After a run: the schedules that wait for one to end are looked at at once."""
        if result.status == "suspended" or not self._waiting:
            return
        now = self._platform.runner.clock.now()
        for trigger_id in tuple(self._waiting):
            await self._platform.store.firings.wake(trigger_id, now)
        self.woken.set()


def delay(trigger_id: str, nominal: int, jitter: float) -> float:
    """How long after a nominal time its run is started: the same whoever asks, spread evenly over the jitter."""
    if not jitter:
        return 0.0
    digest = hashlib.sha256(f"{trigger_id}:{nominal}".encode()).digest()
    return jitter * int.from_bytes(digest[:8], "big") / 2**64
