"""One run of a plan: the loop that starts ready nodes, journals results and decides edges.

Invariants
- a node starts only after all its incoming edges are decided, and at most once a scope;
- a result is committed before any successor starts: the loop runs what is ready, commits once, then decides edges;
- the cost of a step does not depend on how many nodes there are: deciding an edge touches its target only.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

from interlace.engine.errors import Detached, StoreError
from interlace.engine.expressions import Missing, NodeOutputs, restore_clock, use_clock
from interlace.engine.node import Bodies, RunInfo
from interlace.engine.protocols import Clock, Journal, Services
from interlace.engine.recording import Recording
from interlace.engine.run import attempts
from interlace.engine.run.bodies import BodyRunner
from interlace.engine.run.context import Context
from interlace.engine.run.ending import Ending
from interlace.engine.run.faults import handled_failure, not_recorded
from interlace.engine.run.plan import BREAK_INDEX, NodePlan, Plan
from interlace.engine.run.result import Recorded, RunResult, error_of
from interlace.engine.run.scope import Decided, Scope, ScopeEnd, ended_already
from interlace.engine.run.secrets import Secrets
from interlace.engine.run.slots import Slots
from interlace.engine.run.waiting import Waits
from interlace.engine.run.watching import NodeWatcher, unwatched
from interlace.engine.waits import Answer

_TURN_SECONDS = 0.01
"""Longest stretch of inline nodes before the event loop gets its turn."""
_CANCEL_SECONDS = 5.0
"""How long cancelled nodes may take to clean up before the run ends without them."""


class Execution:
    """Runs one plan once. `await run()` gives the result; `cancel()` ends it early."""

    def __init__(
        self, plan: Plan, info: RunInfo, names: Mapping[str, Any], *, journal: Journal, services: Services,
        clock: Clock, recorded: Mapping[str, Recorded] | None = None, answers: Mapping[str, Answer] | None = None,
        recording: Recording | None = None, kept: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.plan = plan
        self.info = info
        self.journal = journal
        self.services = services
        self.clock = clock
        self.recording = recording
        self.kept = frozenset(kept)  # run variables that outlive the run
        self.limit = plan.document.settings.max_concurrency
        self.recorded = dict(recorded or {})
        self.ending = Ending(child=info.depth > 0)
        self.draining = False
        self.fragile = 0
        """Attempts in hand whose work must not be done twice."""
        self.watcher: NodeWatcher = unwatched
        self.secrets = given if isinstance(given := names.get("secrets"), Secrets) else Secrets()
        self.redact = self.secrets.redact
        self._slots = Slots(self.limit)
        self._ready: deque[tuple[Scope, NodePlan]] = deque()
        self._decided: list[Decided] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiter: asyncio.Future[None] | None = None
        self.waits = Waits(self, answers)
        self.root = Scope(plan.root, None, "", names=dict(names), on_end=self._root_ended)

    # -- what nodes and containers call -------------------------------------------------------------------

    def bodies(self, context: Context) -> Bodies:
        """The runner of a container's body."""
        return BodyRunner(self, context)

    def emit(self, kind: str, path: str, attempt: int, data: Mapping[str, Any]) -> None:
        """Add an event to the journal; it is committed with the next results or within the turn."""
        self.journal.append(kind, path, attempt, self.redact(data))
        self._wake()

    def make_ready(self, scope: Scope, plan: NodePlan) -> None:
        """Let a node start, or go on after its wait."""
        self._ready.append((scope, plan))
        self._wake()

    def open_scope(self, scope: Scope) -> None:
        """Start a pass: its roots are ready."""
        self._ready.extend((scope, node) for node in scope.plan.roots)
        self._wake()

    def abandon(self, scope: Scope) -> None:
        """End a scope that nobody waits for; what runs in it is cancelled."""
        self._end_scope(scope, "abandoned", None)

    def cancel(self, reason: str = "cancelled") -> None:
        """End the run early; what runs is interrupted at once."""
        if self.root.ended is None:
            self.ending.cancelled(reason)
            self._end_scope(self.root, "abandoned", None)
            self._wake()

    def drain(self) -> None:
        """Start nothing more, so that `detach` interrupts nothing once `fragile` is 0."""
        self.draining = True

    def detach(self) -> None:
        """Let go of the run without ending it: nothing more is started, what runs is interrupted."""
        if self.root.ended is None:
            self._broken(Detached())

    # -- the loop -----------------------------------------------------------------------------------------

    async def run(self) -> RunResult:
        """Run to the end. Cancelling the awaiting task cancels the run, which is then recorded as cancelled."""
        timeout, timer = self.plan.document.settings.timeout, None
        if timeout:
            left = timeout - (self.clock.now() - self.info.started_at)
            timer = asyncio.get_running_loop().call_later(max(left, 0.0), self._timed_out, timeout)
            if left <= 0:  # its time passed while it was suspended: nothing more of it begins
                self._timed_out(timeout)
        self.open_scope(self.root)
        try:
            await self._drive()
        except asyncio.CancelledError:
            self.cancel()
            await self._finish()
            raise
        except Exception as failure:  # noqa: BLE001 - `_finish` ends what runs and raises it again
            self._broken(failure)
        finally:
            if timer is not None:
                timer.cancel()
        return await self._finish()

    async def _drive(self) -> None:
        while self.root.ended is None:
            started = time.perf_counter()
            self._start_ready(started + _TURN_SECONDS)
            # Results that come while the commit is under way belong to the next one.
            decided, self._decided = self._decided, []
            if (commit := self.journal.commit()) is not None:
                await commit
            elif time.perf_counter() - started > _TURN_SECONDS:
                await asyncio.sleep(0)
            for scope, plan, handles in decided:
                self._decide_edges(scope, plan, handles)
            if self._ready or self._decided or self.root.ended is not None:
                continue
            if self.waits.stops_all(len(self._tasks)):
                self.ending.suspended = tuple(self.waits.pending)
                self.ending.deadline = self.waits.deadline()
                return
            await self._sleep()

    def _start_ready(self, until: float) -> None:
        ready, count = self._ready, 0
        start = self._start if self.recording is None else self._start_by_its_clock
        while ready:
            scope, plan = ready.popleft()
            if scope.is_over() or self.draining:
                continue
            start(scope, plan)
            count += 1
            if not count & 31 and time.perf_counter() > until:
                return

    async def _sleep(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- starting a node ----------------------------------------------------------------------------------

    def _start(self, scope: Scope, plan: NodePlan) -> None:
        path = scope.prefix + plan.id
        if (
            self.recorded
            and (record := self.recorded.get(path)) is not None
            and (self._take_again(scope, plan, record) or self.waits.still(scope, plan, path, record))
        ):
            return
        if plan.spec.disabled:
            self._skip(scope, plan, "disabled", plan.handles[:1])
        elif plan.inline and (path not in self.recorded or self.recorded[path].status != "suspended"):
            attempts.run_inline(self, scope, plan, path)
        elif plan.takes_slot and self._slots.full:
            self._slots.wait(scope, plan)
        else:
            self.start_task(scope, plan, attempts.run_attempts(self, scope, plan, path))

    def _start_by_its_clock(self, scope: Scope, plan: NodePlan) -> None:
        """Start a node whose expressions, in its task too, read a clock of their own."""
        assert self.recording is not None
        token = use_clock(self.recording.clock(scope.prefix + plan.id))
        try:
            self._start(scope, plan)
        finally:
            restore_clock(token)

    def start_task(self, scope: Scope, plan: NodePlan, work: Any) -> None:
        """Run a node's coroutine as a task of its scope."""
        if plan.takes_slot:
            self._slots.take()
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        if scope.tasks is None:
            scope.tasks = set()
        scope.tasks.add(task)
        self._tasks.add(task)

        def over(task: asyncio.Task[None]) -> None:
            assert scope.tasks is not None
            scope.tasks.discard(task)
            self._tasks.discard(task)
            if plan.takes_slot:
                self._slots.give_back()
            if (following := self._slots.next()) is not None:
                self._ready.append(following)
            if not task.cancelled() and (failure := task.exception()) is not None:
                self._broken(failure)
            self._wake()

        task.add_done_callback(over)

    def _broken(self, failure: BaseException) -> None:
        """The engine itself or the store failed: the run cannot go on in this process."""
        self.ending.broken = failure
        self._end_scope(self.root, "abandoned", None)

    def _take_again(self, scope: Scope, plan: NodePlan, record: Recorded) -> bool:
        """Take a recorded result instead of running the node; False when it has to run."""
        if record.status in ("succeeded", "failed"):
            scope.assign_all(record.variables)
        if record.status == "skipped":
            self._note_skip(scope, plan, record.reason or "skipped", record.handles)
        elif record.status == "succeeded":
            self._note_success(scope, plan, record.outputs or {}, record.handles, record.why)
        elif record.status == "failed" and record.error is not None:
            if plan.spec.on_error == "stop":
                self._end_scope(scope, "failed", record.error)
            else:
                self._note_handled(scope, plan, record.error)
        else:
            return False
        return True

    # -- results ------------------------------------------------------------------------------------------

    def succeed(self, context: Context, outputs: dict[str, Any], elapsed_ms: float) -> None:
        """Record a node's result; its edges are decided after the commit."""
        scope, plan = context.scope, context.plan
        outputs = self.redact(outputs)
        handles = context.taken if context.taken is not None else plan.handles[:1]
        if context.recorded:
            self._note_success(scope, plan, outputs, handles, context.why)
            return
        self.waits.requests.close(context.path, context.attempt)
        data = context.result(outputs, handles, elapsed_ms)
        try:
            self.journal.append("node.succeeded", context.path, context.attempt, data)
        except StoreError as error:
            raise not_recorded(plan, error) from None
        self.watcher(plan.spec.type, "succeeded", elapsed_ms / 1000)
        self._note_success(scope, plan, outputs, handles, context.why)

    def _note_success(
        self, scope: Scope, plan: NodePlan, outputs: dict[str, Any], handles: tuple[str, ...],
        why: Mapping[str, str] | None,
    ) -> None:  # fmt: skip
        scope.names[plan.id] = NodeOutputs(outputs)
        if why:
            scope.why = scope.why or {}
            scope.why.update({(plan.index, handle): reason for handle, reason in why.items()})
        if scope.parent is None and plan.spec.type == "END":
            self.ending.collect(plan, outputs, scope)
        self._note_decided(scope, plan, handles)

    def _note_decided(self, scope: Scope, plan: NodePlan, handles: tuple[str, ...]) -> None:
        if handles != ("out",):
            scope.chosen[plan.index] = handles
        self._decided.append(Decided(scope, plan, handles))
        self._wake()

    def fail(self, context: Context, error: dict[str, Any]) -> None:
        """Record a node's final failure and apply its error policy."""
        scope, plan = context.scope, context.plan
        error = self.redact(error)
        self.waits.requests.close(context.path, context.attempt)
        data = context.failure(error)
        try:
            self.journal.append("node.failed", context.path, context.attempt, data)
        except StoreError as fault:
            if fault.breaks_run or "variables" not in data:
                raise
            del data["variables"]  # what cannot be recorded was never set
            self.journal.append("node.failed", context.path, context.attempt, data)
        self.watcher(plan.spec.type, "failed", None)
        if plan.spec.on_error == "stop":
            self._end_scope(scope, "failed", error)
        else:
            self._note_handled(scope, plan, error)

    def _note_handled(self, scope: Scope, plan: NodePlan, error: dict[str, Any]) -> None:
        scope.names[plan.id], handle = handled_failure(plan, error)
        self._note_decided(scope, plan, (handle,))

    def _skip(self, scope: Scope, plan: NodePlan, reason: str, handles: tuple[str, ...] = ()) -> None:
        data: dict[str, Any] = {"reason": reason}
        if handles:
            data["handles"] = handles
        self.journal.append("node.skipped", scope.prefix + plan.id, 0, data)
        self._note_skip(scope, plan, reason, handles)

    def _note_skip(self, scope: Scope, plan: NodePlan, reason: str, handles: tuple[str, ...]) -> None:
        scope.names[plan.id] = Missing(f"{plan.id} was skipped: {reason}")
        scope.chosen[plan.index] = handles
        self._decided.append(Decided(scope, plan, handles))

    # -- edges --------------------------------------------------------------------------------------------

    def _decide_edges(self, scope: Scope, plan: NodePlan, handles: tuple[str, ...]) -> None:
        """Take or skip the edges of a decided node; ready targets are queued, skipped ones decided in turn."""
        if scope.ended is not None:
            return
        scope.open -= 1
        for handle, target in plan.outgoing:
            taken = handle in handles
            if target < 0:
                if taken:
                    self._end_scope(scope, "break" if target == BREAK_INDEX else "continue", None)
                    return
                continue
            scope.taken[target] += taken
            scope.pending[target] -= 1
            if scope.pending[target] == 0:
                self._decide_node(scope, scope.plan.nodes[target])
        if scope.open == 0:
            self._end_scope(scope, "done", None)

    def _decide_node(self, scope: Scope, plan: NodePlan) -> None:
        taken = scope.taken[plan.index]
        if taken == len(plan.incoming) if plan.join_all else taken:
            self._ready.append((scope, plan))
            return
        record = self.recorded.get(scope.prefix + plan.id) if self.recorded else None
        if record is not None and record.status == "skipped" and not record.handles:
            self._note_skip(scope, plan, record.reason or "skipped", ())
        else:
            self._skip(scope, plan, scope.skip_reason(plan))

    def _end_scope(self, scope: Scope, status: ScopeEnd, error: dict[str, Any] | None) -> None:
        if scope.ended is not None:
            return
        scope.ended = status
        self.waits.withdraw(scope)
        if scope.tasks:
            for task in scope.tasks - {asyncio.current_task()}:
                task.cancel()
        on_end, scope.on_end = scope.on_end, ended_already  # lets go of the scope at once
        on_end(status, error)
        self._wake()

    def _root_ended(self, status: ScopeEnd, error: dict[str, Any] | None) -> None:
        if status == "failed" and error is not None:
            self.ending.failed(error)

    def _timed_out(self, seconds: float) -> None:
        if self.root.ended is None:
            message = f"the run took longer than its time-out of {seconds:g} s"
            self._end_scope(self.root, "failed", error_of(message=message, kind="timeout"))

    async def _finish(self) -> RunResult:
        if self._tasks:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.wait(list(self._tasks), timeout=_CANCEL_SECONDS)
        if isinstance(self.ending.broken, Detached):
            await self.commit()  # what finished until now stays finished
        if self.ending.broken is not None:
            raise self.ending.broken
        kind, data = self.ending.event()
        self.journal.append(kind, "", 0, data)
        await self.commit()
        return self.ending.result(self.info.id)

    async def commit(self) -> None:
        """Make what was appended durable."""
        if (commit := self.journal.commit()) is not None:
            await commit
