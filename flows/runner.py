"""Starts, watches, cancels and resumes runs in this process.

Every run goes through here: command line, HTTP, Prefect's host, sub-workflows. A run's row with its inputs is durable
before anybody is told that the run exists; a lease makes this process its only owner; the journal is the truth.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import structlog

from interlace.engine import origin
from interlace.engine.clock import SystemClock
from interlace.engine.errors import Detached, StoreError
from interlace.engine.inputs import prepare_inputs
from interlace.engine.node import RunInfo
from interlace.engine.principal import Principal
from interlace.engine.protocols import Clock, Services
from interlace.engine.run import RunResult
from interlace.engine.run.result import error_of
from interlace.engine.run.watching import NodeWatcher, unwatched
from interlace.flows.active import Active
from interlace.flows.admission import Admission
from interlace.flows.documents import Documents, Pinned
from interlace.flows.environment import RunEnvironments
from interlace.flows.leases import LEASE_SECONDS, Leases
from interlace.flows.pauses import only_pauses
from interlace.flows.recorded import recorded_of, response_of
from interlace.flows.request import Request
from interlace.flows.served import Served
from interlace.flows.surroundings import prepare_turn
from interlace.flows.turn import new_run
from interlace.flows.work import Work, keeps_of, run_info
from interlace.store import Store
from interlace.store.errors import FencedError
from interlace.store.run_row import FINAL, Run

_CLOSE_SECONDS = 10.0

log = structlog.get_logger("interlace.runner")

Ended = Callable[[str, RunResult], Coroutine[Any, Any, None]]


class ClosingError(StoreError):
    """This process is leaving and starts no runs; the node that would start one is left to the run's next process."""


class Runner:
    """The runs of one process."""

    def __init__(
        self,
        store: Store,
        documents: Documents,
        services: Services,
        *,
        clock: Clock | None = None,
        max_runs: int = 200,
        served: Served | None = None,
        most: int | None = None,
        environments: RunEnvironments | None = None,
    ) -> None:
        self.store = store
        self.documents = documents
        self.services = services
        self.environments = environments
        self.clock = clock or SystemClock()
        self.active: dict[str, Active] = {}
        self.closing = False
        self.shared = False
        """Whether other processes take runs of the same store."""
        self.ended: list[Ended] = []
        """Called with run id and result when a run of this process has ended, or is suspended."""
        self.ended_of: dict[str, Ended] = {}
        """The same for runs of one kind of trigger."""
        self.observers: list[Callable[[RunInfo, RunResult], None]] = []
        """Called with every turn of this process that came to its end."""
        self.fenced: list[Callable[[], None]] = []
        """Called when another process owns a run that this one worked on."""
        self.watcher: NodeWatcher = unwatched
        self.traced = False
        """Whether runs are part of traces."""
        self._leases = Leases(store, self.active, self._cancel_here)
        self.max_runs = max_runs
        self._slots = asyncio.Semaphore(max_runs)
        self._after: set[asyncio.Task[None]] = set()
        self.admission = Admission(self, served or Served(), most)

    @property
    def owner(self) -> str:
        """The name of this process in leases."""
        return self._leases.owner

    # -- starting ------------------------------------------------------------------------------------------

    async def start(self, pinned: Pinned, request: Request) -> str:
        """Create a run durably and start it; gives its id. A known idempotency key gives the earlier run's.

        Raises:
            InvalidDocument: the inputs do not fit; nothing was created.
            ClosingError: this process is leaving; nothing was created.
        """
        if self.closing:
            raise ClosingError(f"this process is closing; start {pinned.document.name!r} again in a moment")
        inputs = prepare_inputs(pinned.document.inputs, request.inputs)
        at_once = self.admission.at_once(pinned.document)
        new = new_run(pinned, request, inputs, lease_owner=self.owner if at_once else None)
        principal = request.principal or await self.principal(request.parent, new.owner)
        created = await self.store.runs.create(new, request.also)
        if created.epoch is not None and self.closing:
            await self.store.runs.release(created.run_id, created.epoch)
        elif created.epoch is not None and (new.options or new.seeds):
            await self.resume(await self.store.runs.get(created.run_id), epoch=created.epoch)
        elif created.epoch is not None:
            info = run_info(created.run_id, pinned, new, principal, started_at=self.clock.now())
            work = Work(
                info=info, owner=new.owner, inputs=inputs, first_seq=2, keeps=keeps_of(new), test=new.test
            )
            self._launch(Active(created.run_id, created.epoch), pinned, work)
        elif created.created:
            await self.admission.admit(created.run_id)
        return created.run_id

    async def create(self, pinned: Pinned, request: Request) -> tuple[str, bool]:
        """Create a run durably for any process to claim; gives its id and whether it is new.

        Raises:
            InvalidDocument: the inputs do not fit; nothing was created.
        """
        inputs = prepare_inputs(pinned.document.inputs, request.inputs)
        created = await self.store.runs.create(
            new_run(pinned, request, inputs, lease_owner=None), request.also
        )
        return created.run_id, created.created

    async def resume(self, run: Run, *, epoch: int | None = None) -> bool:
        """Go on with an unfinished run where its journal ends; False when another process owns it, or will."""
        if run.id in self.active:
            return True
        if self.closing:
            if epoch is not None:
                await self.store.runs.release(run.id, epoch)
            return False
        if epoch is None:
            epoch = await self.admission.claim(run)
        if epoch is None:
            return False
        # Known from here on, so that a second call does not begin a second turn while this one reads.
        active = self.active[run.id] = Active(run.id, epoch, slot_key=run.slot_key)
        try:
            pinned = await self.documents.from_hash(
                run.document_hash, workflow_id=run.workflow_id, version=run.version
            )
            past = await recorded_of(self.store, run.id)
            answers = await self.store.waits.answers(run.id)
            full = await self.store.runs.resolve(run)
            principal = await self.store.users.principal(run.owner)
        except BaseException:
            self.active.pop(run.id, None)
            # Others, and the runs behind it in its queue, have their turn before it is tried again.
            await self.store.runs.rest(run.id, epoch, LEASE_SECONDS)
            raise
        if self.closing:
            self.active.pop(run.id, None)
            await self.store.runs.release(run.id, epoch)
            return False
        began = run.started_at is not None
        info = run_info(run.id, pinned, full, principal, started_at=run.started_at or self.clock.now())
        work = Work(
            info=info, owner=run.owner, inputs=full.inputs, first_seq=past.last_seq + 1, began=began,
            recorded=past.nodes if began or past.nodes else None, answers=answers, options=full.options,
            variables=past.variables, keeps=keeps_of(full), test=full.test,
        )  # fmt: skip
        self._launch(active, pinned, work)
        return True

    async def principal(self, parent: Run | None, owner: str) -> Principal:
        """Whose rights a new run acts with; a child has its parent's."""
        active = None if parent is None else self.active.get(parent.id)
        if active is not None and active.execution is not None:
            return active.execution.info.principal
        return await self.store.users.principal(owner)

    def _launch(self, active: Active, pinned: Pinned, work: Work) -> None:
        self.active[active.run_id] = active
        active.task = asyncio.get_running_loop().create_task(self._execute(active, pinned, work))
        active.task.add_done_callback(lambda task: self._over(active, task))
        self._leases.keep()

    async def _execute(self, active: Active, pinned: Pinned, work: Work) -> RunResult:
        # A child holds no slot of its own: its parent has one, and would wait for it for ever.
        holds_slot = work.info.depth == 0 and await active.occupy(self._slots)
        try:
            if active.expired is not None:
                return await self.fail(active.run_id, active.epoch, active.expired, kind="timeout")
            origin.current.set(self._origin(work.info))
            active.execution = await prepare_turn(self, active, pinned, work)
            active.execution.watcher = self.watcher
            if active.cancelled is not None:
                active.execution.cancel(active.cancelled)
            return await active.execution.run()
        finally:
            if holds_slot:
                self._slots.release()

    def _origin(self, info: RunInfo) -> origin.Origin:
        trace = origin.trace_of(info.id, info.traceparent) if self.traced else None
        return origin.Origin(info.id, trace=trace)

    # -- the end of a turn ---------------------------------------------------------------------------------

    def _over(self, active: Active, task: asyncio.Task[RunResult]) -> None:
        self.active.pop(active.run_id, None)
        if task.cancelled():
            return
        failure = task.exception()
        if failure is None:
            result = task.result()
            if active.execution is not None:
                for observer in self.observers:
                    observer(active.execution.info, result)
            for callback in self.ended:
                self.background(callback(active.run_id, result))
            self.admission.gave_up(active)
            kind = "" if active.execution is None else str(active.execution.info.trigger.get("kind"))
            if (of_kind := self.ended_of.get(kind)) is not None:
                self.background(of_kind(active.run_id, result))
            if result.status == "suspended" and active.cancelled is not None:
                self.background(self._cancel_late(active.run_id, active.cancelled))
        elif not isinstance(failure, Detached):
            self.background(self._stopped(active, failure))

    async def _stopped(self, active: Active, failure: BaseException) -> None:
        """The run did not come to an end of its own: the store failed, or the engine has a fault."""
        run_id = active.run_id
        if isinstance(failure, FencedError):
            log.warning("another process owns the run now; this one stopped", run=run_id)
            for callback in self.fenced:
                callback()
            return
        log.error("the run stopped in this process", run=run_id, exc_info=failure)
        try:
            if isinstance(failure, StoreError):
                await self.store.runs.release(run_id, active.epoch)
            else:
                message = f"the engine failed: {type(failure).__name__}: {failure}"
                await self.fail(run_id, active.epoch, message, kind="internal")
        except StoreError as error:
            log.warning("the run is taken up again when its lease has run out", run=run_id, error=str(error))

    async def end(self, run_id: str, epoch: int, kind: str, data: Mapping[str, Any]) -> None:
        """Write the last event of a run that nobody executes."""
        journal = self.store.journal(run_id, epoch, await self.store.events.last_seq(run_id) + 1)
        journal.append(kind, "", 0, data)
        commit = journal.commit()
        if commit is not None:
            await commit

    async def fail(self, run_id: str, epoch: int, message: str, *, kind: str) -> RunResult:
        """End a run that nobody executes as failed."""
        error = error_of(message=message, kind=kind)
        await self.end(run_id, epoch, "run.failed", {"error": error})
        return RunResult(run_id=run_id, status="failed", error=error)

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the runs, and finish it before this process leaves."""
        task = asyncio.get_running_loop().create_task(work)
        self._after.add(task)
        task.add_done_callback(self._after.discard)

    # -- waiting and cancelling ----------------------------------------------------------------------------

    async def wait(self, run_id: str, seconds: float | None = None) -> RunResult | None:
        """How a run ended, whichever process runs it; None when it has not within `seconds`.

        A run that waits for somebody is given as suspended; pauses are waited for, where they end within `seconds`.
        The run goes on when the waiting is given up.
        """
        before = None if seconds is None else self.clock.now() + seconds
        try:
            async with asyncio.timeout(seconds):
                while True:
                    result = await self.turn(run_id)
                    if result.status in FINAL or not await only_pauses(self.store, run_id, before):
                        return result
                    await self._next_turn(run_id)
        except TimeoutError:
            return None

    async def turn(self, run_id: str) -> RunResult:
        """How the run's present turn ends, whichever process runs it: the run has ended then, or is suspended."""
        active = self.active.get(run_id)
        if active is not None and active.task is not None:
            await asyncio.wait([active.task])
            # Whatever stopped it in this process: row and journal say how it ends, there or elsewhere.
            if not active.task.cancelled() and active.task.exception() is None:
                return active.task.result()
        async for event in self.store.events.follow(run_id):
            if event.type == "run.suspended" and await self._is_suspended(run_id):
                break
        return await self.result(run_id)

    async def _next_turn(self, run_id: str) -> None:
        """Wait until a suspended run goes on or ends."""
        last = await self.store.events.last_seq(run_id)
        if await self._is_suspended(run_id):
            async for _event in self.store.events.follow(run_id, last):
                return

    async def _is_suspended(self, run_id: str) -> bool:
        return run_id not in self.active and (await self.store.runs.get(run_id)).status == "suspended"

    async def idle(self) -> None:
        """Wait until this process has no run in hand, those included that ended runs started."""
        while self.active or self._after:
            tasks = {active.task for active in self.active.values() if active.task is not None} | self._after
            await asyncio.wait(tasks) if tasks else await asyncio.sleep(0)

    async def result(self, run_id: str) -> RunResult:
        """What row and journal of a run say about its end."""
        run = await self.store.runs.resolve(await self.store.runs.get(run_id))
        response = None
        if run.status == "succeeded":
            document = await self.documents.read(run.document_hash)
            response = await response_of(self.store, run_id, document)
        return RunResult(
            run_id=run_id, status=run.status, outputs=run.outputs, error=run.error, response=response
        )

    async def _cancel_late(self, run_id: str, reason: str) -> None:
        """Cancel a run that was suspended in the moment in which somebody cancelled it."""
        await self.cancel(run_id, reason)

    def _cancel_here(self, run_id: str) -> None:
        active = self.active.get(run_id)
        if active is not None:
            active.cancel("cancelled")

    async def cancel(self, run_id: str, reason: str = "cancelled") -> bool:
        """Cancel a run, here or in another process; False when it has ended already. Queued runs end at once."""
        active = self.active.get(run_id)
        if active is not None:
            active.cancel(reason)
            return True
        if not await self.store.runs.request_cancel(run_id):
            return False
        epoch = await self.store.runs.claim(run_id, self.owner, LEASE_SECONDS)
        if epoch is not None:
            await self.end(run_id, epoch, "run.cancelled", {"reason": reason})
            for child in await self.store.runs.children(run_id):
                if child.status not in FINAL and child.trigger.get("wait", True):
                    await self.cancel(child.id, "cancelled with its parent")
        return True

    # -- leaving -------------------------------------------------------------------------------------------

    async def close(self, drain: float = 0.0) -> None:
        """Stop working without ending the runs: they go on where their journals end, here or elsewhere.

        Nothing more is started; attempts that must not be repeated have `drain` seconds to finish.
        """
        if self._after:  # what ended runs start is still started, to be found by the next process
            await asyncio.wait(self._after, timeout=_CLOSE_SECONDS)
        self.closing = True
        await self._drain(drain)
        tasks = [active.task for active in self.active.values() if active.task is not None]
        for active in list(self.active.values()):
            if active.execution is not None:
                active.execution.detach()
            elif active.task is not None:
                active.task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
        if self._after:
            await asyncio.wait(self._after, timeout=_CLOSE_SECONDS)
        await self._leases.close()

    async def _drain(self, seconds: float) -> None:
        executions = [active.execution for active in self.active.values() if active.execution is not None]
        for execution in executions:
            execution.drain()
        end = time.monotonic() + seconds
        while any(execution.fragile for execution in executions) and time.monotonic() < end:  # noqa: ASYNC110 - once, at the end
            await asyncio.sleep(0.02)
