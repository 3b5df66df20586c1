"""Starts, watches, cancels and resumes runs in this process.

Every run goes through here: command line, HTTP, Prefect's host, sub-workflows. A run's row with its inputs is durable
before anybody is told that the run exists; a lease makes this process its only owner; the journal is the truth.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from interlace.engine.clock import SystemClock
from interlace.engine.errors import InterlaceError, StoreError
from interlace.engine.inputs import prepare_inputs
from interlace.engine.node import RunInfo
from interlace.engine.protocols import Clock, Files, Services
from interlace.engine.run import Execution, Recorded, RunResult, prepare
from interlace.engine.run.execution import Detached
from interlace.flows.documents import Documents, Pinned
from interlace.flows.recorded import recorded_of
from interlace.store import Store
from interlace.store.errors import FencedError
from interlace.store.run_row import FINAL, NewRun, Run

LEASE_SECONDS = 15.0
_BEAT_SECONDS = 0.4
"""Between two looks at cancel requests: a cancel from another process interrupts within a second."""
_BEATS_A_LEASE = 10

log = structlog.get_logger("interlace.runner")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a run is started with."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"kind": "manual"})
    environment: str = "dev"
    scheduled_for: float | None = None
    parent: Run | None = None
    parent_path: str | None = None
    tags: tuple[str, ...] = ()
    idempotency_key: str | None = None


@dataclass(slots=True, eq=False)
class Active:
    """A run that this process executes."""

    run_id: str
    task: asyncio.Task[RunResult] | None = None
    execution: Execution | None = None
    cancelled: str | None = None

    def cancel(self, reason: str) -> None:
        """End the run early, also when it has not begun yet."""
        self.cancelled = reason
        if self.execution is not None:
            self.execution.cancel(reason)


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
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.active: dict[str, Active] = {}
        self.closing = False
        self.ended: list[Callable[[str, RunResult], Coroutine[Any, Any, None]]] = []
        """Called with run id and result when a run of this process has ended."""
        self._slots = asyncio.Semaphore(max_runs)
        self._beat: asyncio.Task[None] | None = None
        self._after: set[asyncio.Task[None]] = set()

    # -- starting ------------------------------------------------------------------------------------------

    async def start(self, pinned: Pinned, request: Request) -> str:
        """Create a run durably and start it; gives its id. A known idempotency key gives the earlier run's.

        Raises:
            InvalidDocument: the inputs do not fit; nothing was created.
        """
        run_id, created = await self.create(pinned, request, lease=True)
        if created is not None:
            inputs, epoch = created
            self._launch(run_id, epoch, pinned, self._info(run_id, pinned, request), inputs, None, 2)
        return run_id

    async def create(
        self, pinned: Pinned, request: Request, *, lease: bool
    ) -> tuple[str, tuple[dict[str, Any], int] | None]:
        """Create a run durably without starting it; without `lease` any process may claim it.

        Gives the id and, when the run is new and leased, its checked inputs and lease number.
        """
        inputs = prepare_inputs(pinned.document.inputs, request.inputs)
        parent = request.parent
        created = await self.store.runs.create(
            NewRun(
                name=pinned.document.name,
                document=pinned.text if pinned.workflow_id is None else None,
                document_hash=pinned.hash,
                inputs=inputs,
                trigger={**request.trigger, "folder": pinned.folder} if pinned.folder else request.trigger,
                owner=parent.owner if parent else "local",
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
                lease_owner=self.owner if lease else None,
                lease_seconds=LEASE_SECONDS,
            )
        )
        return created.run_id, (inputs, created.epoch) if created.epoch is not None else None

    async def resume(self, run: Run, *, epoch: int | None = None) -> bool:
        """Go on with an unfinished run where its journal ends; False when another process owns it."""
        if run.id in self.active:
            return True
        if epoch is None:
            epoch = await self.store.runs.claim(run.id, self.owner, LEASE_SECONDS)
        if epoch is None:
            return False
        pinned = await self.documents.from_hash(
            run.document_hash, workflow_id=run.workflow_id, version=run.version
        )
        recorded, last = await recorded_of(self.store, run.id)
        full = await self.store.runs.resolve(run)
        request = Request(trigger=run.trigger, environment=run.environment, scheduled_for=run.scheduled_for)
        info = self._info(run.id, pinned, request, started=run.started_at, depth=run.depth)
        fresh = run.started_at is None
        self._launch(run.id, epoch, pinned, info, full.inputs, None if fresh else recorded, last + 1)
        return True

    async def resume_unfinished(self) -> int:
        """Take over every unfinished run that nobody works on; gives how many."""
        taken = 0
        for run in await self.store.runs.unfinished():
            if run.parent_run_id is None or run.started_at is not None:
                taken += await self.resume(run)
        return taken

    def _launch(
        self, run_id: str, epoch: int, pinned: Pinned, info: RunInfo, inputs: dict[str, Any],
        recorded: Mapping[str, Recorded] | None, first_seq: int,
    ) -> None:  # fmt: skip
        active = self.active[run_id] = Active(run_id)
        journal = self.store.journal(run_id, epoch, first_seq)
        services = self.services.with_service(Files, self.store.files.of_run(run_id))

        async def work() -> RunResult:
            slot = self._slots if info.depth == 0 else contextlib.nullcontext()
            async with slot:
                active.execution = prepare(
                    pinned.plan,
                    info,
                    inputs,
                    journal=journal,
                    services=services,
                    clock=self.clock,
                    recorded=recorded,
                )
                if active.cancelled is not None:
                    active.execution.cancel(active.cancelled)
                return await active.execution.run()

        active.task = asyncio.get_running_loop().create_task(work())
        active.task.add_done_callback(lambda task: self._over(active, task))
        self._keep_beating()

    def _over(self, active: Active, task: asyncio.Task[RunResult]) -> None:
        self.active.pop(active.run_id, None)
        if task.cancelled():
            return
        failure = task.exception()
        if failure is None:
            for callback in self.ended:
                self._background(callback(active.run_id, task.result()))
        elif isinstance(failure, FencedError):
            log.warning("another process owns the run now; this one stopped", run=active.run_id)
        elif not isinstance(failure, Detached):
            log.error(
                "the run stopped in this process and is taken up again", run=active.run_id, exc_info=failure
            )

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._after.add(task)
        task.add_done_callback(self._after.discard)

    def _info(
        self,
        run_id: str,
        pinned: Pinned,
        request: Request,
        *,
        started: float | None = None,
        depth: int | None = None,
    ) -> RunInfo:
        scheduled = None if request.scheduled_for is None else time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(request.scheduled_for)
        )  # fmt: skip
        if depth is None:
            depth = request.parent.depth + 1 if request.parent else 0
        trigger = {**request.trigger, "folder": pinned.folder} if pinned.folder else request.trigger
        return RunInfo(
            id=run_id, workflow=pinned.document.name, started_at=started or self.clock.now(), trigger=trigger,
            environment=request.environment, scheduled_for=scheduled, depth=depth,
        )  # fmt: skip

    # -- waiting and cancelling ----------------------------------------------------------------------------

    async def wait(self, run_id: str, timeout: float | None = None) -> RunResult | None:
        """How a run ended, whichever process runs it; None when it has not within `timeout` seconds.

        The run goes on when the waiting is given up.
        """
        active = self.active.get(run_id)
        try:
            async with asyncio.timeout(timeout):
                if active is not None and active.task is not None:
                    with contextlib.suppress(StoreError, Detached):
                        return await asyncio.shield(active.task)
                async for _event in self.store.events.follow(run_id):
                    pass
        except TimeoutError:
            return None
        return await self.result(run_id)

    async def result(self, run_id: str) -> RunResult:
        """What the row of a run says about its end."""
        run = await self.store.runs.resolve(await self.store.runs.get(run_id))
        return RunResult(run_id=run_id, status=run.status, outputs=run.outputs, error=run.error)

    async def cancel(self, run_id: str, reason: str = "cancelled") -> bool:
        """Cancel a run, here or in another process; False when it has ended already. Queued runs end at once."""
        active = self.active.get(run_id)
        if active is not None:
            active.cancel(reason)
            return True
        if not await self.store.runs.request_cancel(run_id):
            return False
        run = await self.store.runs.get(run_id)
        if run.status in FINAL or (run.lease_until is not None and run.lease_until > time.time()):
            return True
        epoch = await self.store.runs.claim(run_id, self.owner, LEASE_SECONDS)
        if epoch is not None:
            _, last = await recorded_of(self.store, run_id)
            journal = self.store.journal(run_id, epoch, last + 1)
            journal.append("run.cancelled", "", 0, {"reason": reason})
            commit = journal.commit()
            if commit is not None:
                await commit
        return True

    # -- leases --------------------------------------------------------------------------------------------

    def _keep_beating(self) -> None:
        if self._beat is None or self._beat.done():
            self._beat = asyncio.get_running_loop().create_task(self._beats())

    async def _beats(self) -> None:
        """Renew the leases and look for cancel requests as long as there are runs."""
        beat = 0
        while self.active:
            await asyncio.sleep(_BEAT_SECONDS)
            beat += 1
            try:
                if beat % _BEATS_A_LEASE == 0:
                    renewed = await self.store.runs.renew(self.owner, LEASE_SECONDS)
                    wanted: Sequence[str] = [run_id for run_id, cancel in renewed.items() if cancel]
                else:
                    wanted = await self.store.runs.cancel_requests(self.owner)
            except StoreError as error:
                log.warning("the leases could not be renewed", error=str(error))
                continue
            for run_id in wanted:
                active = self.active.get(run_id)
                if active is not None and active.cancelled is None:
                    active.cancel("cancelled")

    async def close(self) -> None:
        """Stop working without ending the runs: they go on where their journals end, here or elsewhere."""
        self.closing = True
        tasks = [active.task for active in self.active.values() if active.task is not None]
        for active in list(self.active.values()):
            if active.execution is not None:
                active.execution.detach()
            elif active.task is not None:
                active.task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=10)
        if self._after:
            await asyncio.wait(self._after, timeout=10)
        if self._beat is not None:
            self._beat.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._beat
        await self._release()

    async def _release(self) -> None:
        """Let other processes take the runs at once instead of after the lease."""
        with contextlib.suppress(InterlaceError):
            for run_id in await self.store.runs.renew(self.owner, 0.0):
                log.info("left for another process", run=run_id)
