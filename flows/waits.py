"""Suspended runs go on: answers are handed to them, pauses and time-outs end, children report back.

What ends a wait is one conditional update of its row, so it happens once with any number of processes; who goes on
with the run is decided by its lease. A process that dies between the two leaves a row that `look` finds.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import structlog

from interlace.engine.errors import InterlaceError
from interlace.engine.run import RunResult
from interlace.engine.waits import Answer
from interlace.flows.answering import Answered, Given, record_answer
from interlace.flows.callbacks import CallbackUrls
from interlace.flows.handing_over import hand_over
from interlace.flows.leases import LEASE_SECONDS
from interlace.flows.people import Person
from interlace.flows.runner import Runner
from interlace.resources.http.callback_setting import token_hash
from interlace.resources.notices import Notices
from interlace.store.errors import NotFoundError
from interlace.store.run_row import FINAL, Run
from interlace.store.wait_row import Wait

_LOOK_SECONDS = 0.5
_SOON_SECONDS = 0.01
_EARLY_SECONDS = 5.0
"""So long a callback is held whose request is still being answered."""

log = structlog.get_logger("interlace.waits")


class RunWaits:
    """The waits of all runs, as one process looks after them."""

    def __init__(self, runner: Runner, notices: Notices, callbacks: CallbackUrls) -> None:
        self._runner = runner
        self._store = runner.store
        self._notices = notices
        self._callbacks = callbacks
        self.elsewhere: Callable[[Run], Awaitable[bool]] | None = None
        """Asked first to go on with a run: Prefect's host for those of its work pool."""
        runner.ended.append(self._ended)
        notices.told = self._note

    async def answer(self, wait_id: str, given: Given, person: Person) -> Wait:
        """Record a person's answer and let the run go on; gives the wait as it is then.

        Raises:
            InterlaceError: as `record_answer`.
        """
        wait = await record_answer(self._store, wait_id, given, person, self._runner.clock.now())
        if wait.status == "answered":
            await self.wake(wait.run_id)
        return wait

    async def assign(self, wait_id: str, to: str, person: Person, *, comment: str | None = None) -> Wait:
        """Hand a request that asks a person to somebody else, who hears of it where requests are announced.

        Raises:
            InterlaceError: as `hand_over`.
        """
        wait = await hand_over(self._store, wait_id, to, person, self._runner.clock.now(), comment=comment)
        self._runner.background(self._announce(wait))
        return wait

    async def call_back(self, token: str, body: Any) -> None:
        """Take a call from outside and let the run go on.

        Raises:
            NotFoundError: no such URL was given out; one that is called before its request has been answered is
                waited for.
            Answered: it was called already, or is not waited for any more.
        """
        if not self._callbacks.is_ours(token):
            raise NotFoundError("this callback is unknown")
        key, end = token_hash(token), time.monotonic() + _EARLY_SECONDS
        while (wait := await self._store.waits.by_token(key)) is None:
            if time.monotonic() > end:
                raise NotFoundError("this callback is unknown")
            await asyncio.sleep(_EARLY_SECONDS / 50)
        answer = Answer(action="called", form={"body": body}, at=self._runner.clock.now())
        if wait.status != "pending" or not await self._store.waits.settle(wait, "answered", answer):
            raise Answered(await self._store.waits.get(wait.id))
        await self.wake(wait.run_id)

    async def wake(self, run_id: str) -> None:
        """Hand a run what has come for it: at once where it is active here, else it is taken up if nobody has it."""
        active = self._runner.active.get(run_id)
        if active is not None:
            if active.execution is not None:
                for wait_id, answer in (await self._store.waits.answers(run_id)).items():
                    active.execution.waits.answer(wait_id, answer)
            return
        run = await self._store.runs.get(run_id)
        if run.status != "suspended" or self._runner.closing:
            return
        if not self._runner.admission.served.serves(run.pool):
            return  # the hosts of its pool find it
        if self.elsewhere is None or not await self.elsewhere(run):
            await self._runner.resume(run)

    async def look(self) -> None:
        """Do everything that is due now."""
        now = self._runner.clock.now()
        for wait in await self._store.waits.due(now):
            await self._due(wait, now)
        for wait in await self._store.waits.ended_children():
            await self._store.waits.settle(wait, "answered", Answer(action="ended", at=now))
        await self._take_placed()
        ended: dict[str, list[Wait]] = {}
        for wait in await self._store.waits.unconsumed():
            ended.setdefault(wait.run_id, []).append(wait)
        for run_id, waits in ended.items():
            try:
                await self._follow_up(run_id, waits)
            except InterlaceError as error:
                log.warning("a suspended run cannot go on here", run=run_id, error=str(error))

    async def _take_placed(self) -> None:
        """Go on with runs whose next node runs in a pool that this process serves."""
        runner = self._runner
        for wait in await self._store.waits.placed(runner.admission.served.pools):
            if len(runner.active) >= runner.max_runs or runner.closing:
                return
            try:
                await runner.resume(await self._store.runs.get(wait.run_id))
            except InterlaceError as error:
                log.warning(
                    "a node of this process's pools cannot run here", run=wait.run_id, error=str(error)
                )

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Look again and again while the block runs."""
        task = asyncio.create_task(self._keep_looking(), name="interlace-waits")
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _keep_looking(self) -> None:
        while True:
            pause = _LOOK_SECONDS
            try:
                await self.look()
                due = await self._store.waits.next_due()
                if due is not None:
                    pause = min(max(due - self._runner.clock.now(), _SOON_SECONDS), pause)
            except InterlaceError as error:
                log.warning("the waits could not be looked through", error=str(error))
            await asyncio.sleep(pause)

    async def _due(self, wait: Wait, now: float) -> None:
        if wait.until is not None and wait.until <= now:
            await self._store.waits.settle(wait, "timed_out", Answer(at=now, answers=tuple(wait.answers)))
            return
        done = [entry for entry in wait.schedule if entry[0] <= now]
        people = list(dict.fromkeys([*wait.assignees, *(name for entry in done for name in entry[1])]))
        if await self._store.waits.advance(
            wait, schedule=wait.schedule[len(done) :], assignees=people, reminded=len(done)
        ):
            # Not waited for: a channel that does not answer must not hold up what other runs wait for.
            self._runner.background(self._announce(wait))

    async def _note(self, wait_id: str, entry: Mapping[str, Any]) -> None:
        try:
            await self._store.waits.note(wait_id, {"at": self._runner.clock.now(), **entry})
        except InterlaceError as error:
            log.warning("an announcement could not be noted", request=wait_id, error=str(error))

    async def _announce(self, wait: Wait) -> None:
        """Post a request again."""
        for channel in wait.channels:
            failure = await self._notices.post(channel, wait.request, wait.id, reminder=True)
            if failure is not None:
                log.warning("a reminder could not be posted", request=wait.id, error=failure)

    async def _follow_up(self, run_id: str, waits: list[Wait]) -> None:
        """Let a run go on after waits of it have ended; what nobody waits for any more is cleared away."""
        over = [wait for wait in waits if wait.status == "cancelled"]
        for wait in over:
            if wait.kind == "child" and wait.ref is not None:
                with contextlib.suppress(NotFoundError):
                    await self._runner.cancel(wait.ref, "cancelled with its parent")
        try:
            run = await self._store.runs.get(run_id)
        except NotFoundError:
            over = waits
        else:
            if run.status in FINAL:
                over = waits
        await self._store.waits.consumed(wait.id for wait in over)
        if len(over) == len(waits):
            return
        if any(wait.phase == "deadline" for wait in waits) and await self._end_late(run):
            return
        await self.wake(run_id)

    async def _end_late(self, run: Run) -> bool:
        """End a suspended run whose time is over, whichever pool it belongs to; False where that is not so.

        It needs neither a host of its pool nor a slot: nothing of it is executed any more.
        """
        document = await self._runner.documents.read(run.document_hash)
        seconds, now = document.settings.timeout, self._runner.clock.now()
        if run.status != "suspended" or not seconds or now < (run.started_at or now) + seconds:
            return False
        epoch = await self._store.runs.claim(run.id, self._runner.owner, LEASE_SECONDS)
        return epoch is not None and await self._runner.resume(run, epoch=epoch)

    async def _ended(self, run_id: str, result: RunResult) -> None:
        """After a turn: an answer that came in its last moment, and the parent that waits for the run."""
        if self._runner.closing:
            return
        if result.status == "suspended":
            answers = await self._store.waits.answers(run_id)
            if not answers.keys().isdisjoint(result.waiting):
                await self.wake(run_id)
        elif result.child:
            parent = await self._store.waits.by_child(run_id)
            if parent is not None and await self._store.waits.settle(
                parent, "answered", Answer(action="ended", at=self._runner.clock.now())
            ):
                await self.wake(parent.run_id)
