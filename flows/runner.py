"""Starts, watches, cancels and resumes runs in this process.

Every run goes through here: command line, HTTP, Prefect's host, sub-workflows. A run's row with its inputs is durable
before anybody is told that the run exists; a lease makes this process its only owner; the journal is the truth.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from interlace.engine.clock import SystemClock
from interlace.engine.errors import Detached, StoreError
from interlace.engine.inputs import prepare_inputs
from interlace.engine.node import RunInfo
from interlace.engine.protocols import Clock, Files, Services
from interlace.engine.run import Execution, Recorded, RunResult, prepare
from interlace.engine.run.result import error_of
from interlace.engine.waits import Answer
from interlace.flows.documents import Documents, Pinned
from interlace.flows.leases import LEASE_SECONDS, Leases
from interlace.flows.pauses import only_pauses
from interlace.flows.recorded import recorded_of, response_of
from interlace.flows.request import Request
from interlace.store import Store
from interlace.store.errors import FencedError
from interlace.store.run_row import FINAL, NewRun, Run

_CLOSE_SECONDS = 10.0

log = structlog.get_logger("interlace.runner")

Ended = Callable[[str, RunResult], Coroutine[Any, Any, None]]


class ClosingError(StoreError):
    """This process is leaving and starts no runs; the node that would start one is left to the run's next process."""


@dataclass(slots=True, eq=False)
class Active:
    """A run that this process executes under the lease `epoch`."""

    run_id: str
    epoch: int
    task: asyncio.Task[RunResult] | None = None
    execution: Execution | None = None
    cancelled: str | None = None

    def cancel(self, reason: str) -> None:
        """End the run early, also when it has not begun yet; the first reason counts."""
        if self.cancelled is None:
            self.cancelled = reason
            if self.execution is not None:
                self.execution.cancel(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One turn of a run: everything but who runs it. `recorded` is what an earlier turn left behind."""

    info: RunInfo
    owner: str
    inputs: dict[str, Any]
    first_seq: int
    recorded: Mapping[str, Recorded] | None = None
    answers: Mapping[str, Answer] | None = None


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
    ) -> None:
        self.store = store
        self.documents = documents
        self.services = services
        self.clock = clock or SystemClock()
        self.active: dict[str, Active] = {}
        self.closing = False
        self.ended: list[Ended] = []
        """Called with run id and result when a run of this process has ended, or is suspended."""
        self._leases = Leases(store, self.active, self._cancel_here)
        self._slots = asyncio.Semaphore(max_runs)
        self._after: set[asyncio.Task[None]] = set()

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
        new = self._new(pinned, request, inputs, lease_owner=self.owner)
        created = await self.store.runs.create(new)
        if created.epoch is not None and self.closing:
            await self.store.runs.release(created.run_id, created.epoch)
        elif created.epoch is not None:
            info = self._info(created.run_id, pinned, new, started=None)
            work = Work(info=info, owner=new.owner, inputs=inputs, first_seq=2)
            self._launch(Active(created.run_id, created.epoch), pinned, work)
        return created.run_id

    async def create(self, pinned: Pinned, request: Request) -> tuple[str, bool]:
        """Create a run durably for any process to claim; gives its id and whether it is new.

        Raises:
            InvalidDocument: the inputs do not fit; nothing was created.
        """
        inputs = prepare_inputs(pinned.document.inputs, request.inputs)
        created = await self.store.runs.create(self._new(pinned, request, inputs, lease_owner=None))
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
            epoch = await self.store.runs.claim(run.id, self.owner, LEASE_SECONDS)
        if epoch is None:
            return False
        # Known from here on, so that a second call does not begin a second turn while this one reads.
        active = self.active[run.id] = Active(run.id, epoch)
        try:
            pinned = await self.documents.from_hash(
                run.document_hash, workflow_id=run.workflow_id, version=run.version
            )
            recorded, last = await recorded_of(self.store, run.id)
            answers = await self.store.waits.answers(run.id)
            full = await self.store.runs.resolve(run)
        except BaseException:
            self.active.pop(run.id, None)
            await self.store.runs.release(run.id, epoch)
            raise
        if self.closing:
            self.active.pop(run.id, None)
            await self.store.runs.release(run.id, epoch)
            return False
        work = Work(
            info=self._info(run.id, pinned, run, started=run.started_at), owner=run.owner, inputs=full.inputs,
            first_seq=last + 1, recorded=None if run.started_at is None else recorded, answers=answers,
        )  # fmt: skip
        self._launch(active, pinned, work)
        return True

    def _new(
        self, pinned: Pinned, request: Request, inputs: dict[str, Any], *, lease_owner: str | None
    ) -> NewRun:
        parent = request.parent
        return NewRun(
            name=pinned.document.name,
            document=pinned.text if pinned.workflow_id is None else None,
            document_hash=pinned.hash,
            inputs=inputs,
            trigger={**request.trigger, "folder": pinned.folder} if pinned.folder else request.trigger,
            owner=parent.owner if parent else request.owner,
            workflow_id=pinned.workflow_id,
            version=pinned.version,
            environment=request.environment,
            idempotency_key=request.idempotency_key,
            parent_run_id=parent.id if parent else None,
            parent_path=request.parent_path,
            depth=parent.depth + 1 if parent else 0,
            scheduled_for=request.scheduled_for,
            tags=request.tags,
            node_count=len(pinned.document.nodes),
            lease_owner=lease_owner,
            lease_seconds=LEASE_SECONDS,
        )

    def _info(self, run_id: str, pinned: Pinned, row: NewRun | Run, *, started: float | None) -> RunInfo:
        scheduled = None if row.scheduled_for is None else time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.scheduled_for)
        )  # fmt: skip
        return RunInfo(
            id=run_id, workflow=pinned.document.name, started_at=started or self.clock.now(),
            trigger={key: value for key, value in row.trigger.items() if key != "folder"},  # a path of this machine
            environment=row.environment, scheduled_for=scheduled, depth=row.depth,
        )  # fmt: skip

    def _launch(self, active: Active, pinned: Pinned, work: Work) -> None:
        self.active[active.run_id] = active
        active.task = asyncio.get_running_loop().create_task(self._execute(active, pinned, work))
        active.task.add_done_callback(lambda task: self._over(active, task))
        self._leases.keep()

    async def _execute(self, active: Active, pinned: Pinned, work: Work) -> RunResult:
        # A child holds no slot of its own: its parent has one, and would wait for it for ever.
        slot = self._slots if work.info.depth == 0 else contextlib.nullcontext()
        files = self.store.files.of_run(active.run_id, owner=work.owner)
        async with slot:
            active.execution = prepare(
                pinned.plan,
                work.info,
                work.inputs,
                journal=self.store.journal(active.run_id, active.epoch, work.first_seq),
                services=self.services.with_service(Files, files),
                clock=self.clock,
                recorded=work.recorded,
                answers=work.answers,
            )
            if active.cancelled is not None:
                active.execution.cancel(active.cancelled)
            return await active.execution.run()

    # -- the end of a turn ---------------------------------------------------------------------------------

    def _over(self, active: Active, task: asyncio.Task[RunResult]) -> None:
        self.active.pop(active.run_id, None)
        if task.cancelled():
            return
        failure = task.exception()
        if failure is None:
            result = task.result()
            for callback in self.ended:
                self._background(callback(active.run_id, result))
            if result.status == "suspended" and active.cancelled is not None:
                self._background(self._cancel_late(active.run_id, active.cancelled))
        elif not isinstance(failure, Detached):
            self._background(self._stopped(active, failure))

    async def _stopped(self, active: Active, failure: BaseException) -> None:
        """The run did not come to an end of its own: the store failed, or the engine has a fault."""
        run_id = active.run_id
        if isinstance(failure, FencedError):
            log.warning("another process owns the run now; this one stopped", run=run_id)
            return
        log.error("the run stopped in this process", run=run_id, exc_info=failure)
        try:
            if isinstance(failure, StoreError):
                await self.store.runs.release(run_id, active.epoch)
            else:
                message = f"the engine failed: {type(failure).__name__}: {failure}"
                error = error_of(message=message, kind="internal")
                await self._end(run_id, active.epoch, "run.failed", {"error": error})
        except StoreError as error:
            log.warning("the run is taken up again when its lease has run out", run=run_id, error=str(error))

    async def _end(self, run_id: str, epoch: int, kind: str, data: Mapping[str, Any]) -> None:
        """Write the last event of a run that nobody executes."""
        journal = self.store.journal(run_id, epoch, await self.store.events.last_seq(run_id) + 1)
        journal.append(kind, "", 0, data)
        commit = journal.commit()
        if commit is not None:
            await commit

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
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
            await self._end(run_id, epoch, "run.cancelled", {"reason": reason})
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
