"""Suspended runs go on: answers are handed to them, pauses and time-outs end, children report back.

What ends a wait is one conditional update of its row, so it happens once with any number of processes; who goes on
with the run is decided by its lease. A process that dies between the two leaves a row that `look` finds.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import structlog

from interlace.engine.errors import InterlaceError
from interlace.engine.run import RunResult
from interlace.engine.waits import Answer
from interlace.flows.answering import Answered, Given, record_answer
from interlace.flows.callbacks import CallbackUrls
from interlace.flows.going_on import apart
from interlace.flows.handing_over import hand_over
from interlace.flows.people import Person
from interlace.flows.runner import Runner
from interlace.resources.http.callback_setting import token_hash
from interlace.resources.notices import Notices
from interlace.store.errors import NotFoundError
from interlace.store.run_row import FINAL, Run
from interlace.store.wait_row import Wait

_LOOK_SECONDS = 0.5
_SOON_SECONDS = 0.01
_PAGE, _PAGES = 200, 5
"""Waits that are read at once, and how often in one look."""
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
        self._left_off: dict[str, str] = {}
        """The last id that was looked at of each list that is longer than a look."""
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

    async def wake(self, run_id: str) -> bool:
        """Hand a run what has come for it: at once where it is active here, else it is taken up if nobody has it.

        False where it does not go on now.
        """
        active = self._runner.active.get(run_id)
        if active is not None:
            if active.execution is not None:
                for wait_id, answer in (await self._store.waits.answers(run_id)).items():
                    active.execution.waits.answer(wait_id, answer)
            return True
        run = await self._store.runs.get(run_id)
        if run.status != "suspended" or self._runner.closing:
            return False
        if not self._runner.admission.served.serves(run.pool):
            return False  # the hosts of its pool find it
        if self.elsewhere is not None and await self.elsewhere(run):
            return True
        return await self._runner.resume(run)

    async def look(self) -> None:
        """Do everything that is due now."""
        now = self._runner.clock.now()
        for wait in await self._store.waits.due(now):
            await self._due(wait, now)
        for wait in await self._store.waits.ended_children():
            await self._store.waits.settle(wait, "answered", Answer(action="ended", at=now))
        await self._take_placed()
        await self._take_ended()

    async def _take_placed(self) -> None:
        """Go on with runs whose next node runs in a pool that this process serves."""
        runner, full = self._runner, set[str]()
        read = partial(self._store.waits.placed, runner.admission.served.pools)
        async for waits in self._pages("placed", read):
            for wait in waits:
                if len(runner.active) >= runner.max_runs or runner.closing:
                    return
                with apart("a node of this process's pools cannot run here", run=wait.run_id):
                    run = await self._store.runs.get(wait.run_id)
                    if run.slot_key not in full and not await runner.resume(run) and run.slot_key:
                        full.add(run.slot_key)

    async def _take_ended(self) -> None:
        """Go on with runs of which a wait has ended."""
        served, full = self._runner.admission.served, set[str]()
        read = partial(self._store.waits.unconsumed, served.pools, served.default)
        async for waits in self._pages("ended", read):
            ended: dict[str, list[Wait]] = {}
            for wait in waits:
                ended.setdefault(wait.run_id, []).append(wait)
            for run_id, of_run in ended.items():
                with apart("a suspended run cannot go on here", run=run_id):
                    await self._follow_up(run_id, of_run, full)

    async def _pages(
        self, name: str, read: Callable[..., Awaitable[Sequence[Wait]]]
    ) -> AsyncIterator[Sequence[Wait]]:
        """Some pages of a list of waits, from where the last look left off: what stays in it hides nothing behind it."""
        for _ in range(_PAGES):
            page = await read(limit=_PAGE, after=self._left_off.get(name, ""))
            self._left_off[name] = page[-1].id if len(page) == _PAGE else ""
            yield page
            if not self._left_off[name]:
                return

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
            with apart("the waits could not be looked through"):
                await self.look()
                due = await self._store.waits.next_due()
                if due is not None:
                    pause = min(max(due - self._runner.clock.now(), _SOON_SECONDS), pause)
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

    async def _follow_up(self, run_id: str, waits: list[Wait], full: set[str]) -> None:
        """Let a run go on after waits of it have ended; what nobody waits for any more is cleared away.

        `full` are the queues in which no slot was left.
        """
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
        due = run.status == "suspended" and any(wait.phase == "deadline" for wait in waits)
        if due and await self._runner.admission.end_late(run):
            return
        if not self._runner.admission.served.serves(run.pool):
            await self._time_out_alone(run, waits)
        elif run.slot_key not in full and not await self.wake(run_id) and run.slot_key is not None:
            full.add(run.slot_key)

    async def _time_out_alone(self, run: Run, waits: list[Wait]) -> None:
        """Let a time-out take effect in a run of another pool that no host serves now.

        What follows it and does work waits for a host of the pool, as everything placed does.
        """
        late = any(wait.status == "timed_out" and wait.phase != "pause" for wait in waits)
        if late and run.status == "suspended" and not self._runner.closing:
            name = self._runner.admission.served.name(run.pool)
            if name not in await self._store.hosts.pools():
                await self._runner.resume(run)

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
