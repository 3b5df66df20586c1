"""Attempts of one node: evaluate the config, run with a time-out, retry, give up.

The only place where failures of nodes are caught.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from interlace.engine import origin
from interlace.engine.document import Effects, Retry
from interlace.engine.errors import NodeError, StoreError, matches_kind
from interlace.engine.node import Config, Output
from interlace.engine.run.context import Context
from interlace.engine.run.faults import as_error, too_long
from interlace.engine.run.phases import ask_whether_done, confirm, pause, place
from interlace.engine.run.plan import NodePlan
from interlace.engine.run.result import Recorded, outputs_of
from interlace.engine.run.scope import Scope
from interlace.engine.run.waiting import Suspended
from interlace.engine.waits import Answer, Phase, Suspend

if TYPE_CHECKING:
    from interlace.engine.run.execution import Execution

_STARTED: dict[str, Any] = {}


def run_inline(execution: Execution, scope: Scope, plan: NodePlan, path: str) -> None:
    """Run a quick node on the spot; one that turns out to need time goes on as a task."""
    context = Context(execution, scope, plan, path, 1)
    execution.journal.append("node.started", path, 1, _STARTED)
    started = time.perf_counter()
    try:
        config = plan.config if plan.resolve is None else plan.resolve(scope)
        output = plan.node.run(config, context)
        if isinstance(output, Output):
            execution.succeed(context, outputs_of(output), (time.perf_counter() - started) * 1000)
            return
    except Suspend as suspend:
        work = Attempts(execution, scope, plan, path)
        work.phase = "node"
        try:
            wait = work.note_suspended(suspend)
        except NodeError as failure:
            _fail(execution, context, failure)
            return
        if suspend.announce is None:
            return
        output = work.announce(suspend, wait)
    except Exception as failure:  # noqa: BLE001 - the node boundary
        _fail(execution, context, failure)
        return
    execution.start_task(scope, plan, _await_inline(execution, context, output, started))


async def _await_inline(
    execution: Execution, context: Context, output: Awaitable[Any], started: float
) -> None:
    try:
        async with asyncio.timeout(context.plan.timeout) as limit:
            result = await output
        if result is not None:
            execution.succeed(context, outputs_of(result), (time.perf_counter() - started) * 1000)
    except TimeoutError as failure:
        _fail(execution, context, too_long(context.plan) if limit.expired() else failure)
    except asyncio.CancelledError:
        _note_cancelled(execution, context.path, context.attempt)
        raise
    except Exception as failure:  # noqa: BLE001 - the node boundary
        _fail(execution, context, failure)


async def run_attempts(execution: Execution, scope: Scope, plan: NodePlan, path: str) -> None:
    """Run a node as a task: what stands before it first, then attempts until success, a wait or the last failure."""
    work = Attempts(execution, scope, plan, path)
    try:
        try:
            await work.run()
        except Suspend as suspend:
            await work.announce(suspend, work.note_suspended(suspend))
    except asyncio.CancelledError:
        _note_cancelled(execution, path, work.attempt)
        raise
    except NodeError as failure:
        _fail(execution, Context(execution, scope, plan, path, work.attempt), failure)


class Attempts:
    """The attempts of one node, from its first start or from what an earlier turn recorded of it."""

    def __init__(self, execution: Execution, scope: Scope, plan: NodePlan, path: str) -> None:
        self.execution = execution
        self.scope = scope
        self.plan = plan
        self.path = path
        self.record = record = execution.recorded.get(path)
        self.attempt, self.retries = (1, 0) if record is None else (record.attempt, record.retries)
        self.confirmed = None if record is None else record.confirmed
        self.effects: Effects = (record and record.effects) or plan.effects
        self.phase: Phase = "pause"
        self._written = None if record is None else _write_again(scope, record)

    async def run(self) -> None:
        """Run until the node has succeeded or failed.

        Raises:
            Suspend: it waits.
            NodeError: it failed before or between attempts.
        """
        if self.plan.spec.wait is not None:
            await pause(self)
        if self._interrupted() and self._after_interruption():
            return
        while True:
            context = Context(self.execution, self.scope, self.plan, self.path, self.attempt)
            context.assigned = self._written
            failure = await self._attempt(context)
            if failure is None:
                return
            delay = retry_delay(self.plan.retry, failure, self.retries)
            if delay is None or not self._repeatable(failure):
                _fail(self.execution, context, failure)
                return
            self._written = context.assigned
            _note_retry(self.execution, context, failure, delay)
            await self.execution.clock.sleep(delay)
            self.attempt, self.retries = self.attempt + 1, self.retries + 1
            self.record = None

    def note_suspended(self, suspend: Suspend) -> str:
        """Record the wait and let go of the node; gives the wait's id.

        Raises:
            NodeError: the run is offline, and the recorded one had no such wait.
        """
        record = Recorded(
            status="suspended", attempt=self.attempt, retries=self.retries, variables=dict(self._written or {}),
            confirmed=self.confirmed,
        )  # fmt: skip
        node = Suspended(scope=self.scope, plan=self.plan, path=self.path, record=record)
        waits, recording, wanted = (
            self.execution.waits,
            self.execution.recording,
            (suspend.wanted, *suspend.also),
        )
        answers: list[Answer | None] = [None] * len(wanted)
        if recording is not None:
            answers = [
                recording.answer(self.path, self.phase, self.execution.redact(dict(entry.request)))
                for entry in wanted
            ]
        if suspend.wanted.key:
            return waits.requests.suspend(node, wanted, self.phase, answers)
        return waits.suspend(node, suspend.wanted, self.phase, answers[0])

    async def announce(self, suspend: Suspend, wait: str) -> None:
        """Tell the world of a wait, once it is durable."""
        recording = self.execution.recording
        if suspend.announce is not None and (recording is None or not recording.offline):
            await self.execution.commit()
            await suspend.announce(wait)

    def _interrupted(self) -> bool:
        record = self.record
        if record is None:
            return False
        asked = record.status == "suspended" and record.wait is not None and record.wait.phase == "unknown"
        return asked or record.status in ("running", "cancelled", "unknown")

    def _after_interruption(self) -> bool:
        """Find out what became of an attempt that a crash interrupted; whether nothing more is to be done.

        Raises:
            NodeError: nobody knows, or somebody said so, and the node fails for it.
            Suspend: a person is asked.
        """
        execution, plan = self.execution, self.plan
        assert self.record is not None
        if type(plan.node).container:
            return False  # its body goes on where it was
        if self.effects != "once" or plan.spec.on_unknown == "retry":
            self.attempt += 1
            return False
        self.phase = "unknown"
        if self.record.status in ("running", "cancelled"):
            execution.journal.append("node.unknown", self.path, self.attempt, {"effects": self.effects})
        answer = ask_whether_done(self) if plan.spec.on_unknown == "ask" else Answer(action="fail")
        if answer.action == "not_happened":
            self.attempt += 1
            self.record = None
            return False
        if answer.action != "happened":
            raise NodeError(
                f"attempt {self.attempt} was interrupted and nobody knows whether it did its work; it is not repeated because"
                " its effects are 'once' (set on_unknown: retry to repeat it, or effects: idempotent where that is safe)",
                kind="unknown_outcome", retryable=False,
            )  # fmt: skip
        outputs = answer.form.get("outputs") or plan.spec.default_output or dict.fromkeys(plan.null_fields)
        context = Context(execution, self.scope, plan, self.path, self.attempt)
        execution.succeed(context, dict(outputs), 0.0)
        return True

    def _repeatable(self, failure: NodeError) -> bool:
        """Whether another attempt is safe: the other side answered that it failed, or repeating does no harm."""
        return self.effects != "once" or self.plan.spec.on_unknown == "retry" or failure.outcome_known

    async def _attempt(self, context: Context) -> NodeError | None:
        """One attempt; the failure is returned, success is recorded."""
        execution = self.execution
        if execution.draining:
            await asyncio.get_running_loop().create_future()
        if self.plan.asks_effects:
            with suppress(NodeError):
                self.effects = await self.plan.node.effects_of(context)
        fragile = self.effects == "once"
        execution.fragile += fragile
        try:
            return await self._one_attempt(context)
        finally:
            execution.fragile -= fragile
            execution.waits.deadlines.pop(self.path, None)

    async def _one_attempt(self, context: Context) -> NodeError | None:
        origin.enter(self.path, self.attempt)
        plan, limit = self.plan, None
        try:
            config = self._confirmed_config() if plan.spec.confirm else None
            place(self)
            self.phase = "node"
            answer = self.execution.waits.take(self.record, "node", self.path)
            if answer is None:
                await self._note_started(context)
            started = time.perf_counter()
            left = self._seconds_left()
            if left is not None and left <= 0:
                self.execution.waits.withdraw_inside(self.path)
                return too_long(plan)
            limit = asyncio.timeout(left)
            async with limit:
                output = await (
                    _run(plan, context, config) if answer is None else self._resumed(context, answer)
                )
            self.execution.succeed(context, outputs_of(output), (time.perf_counter() - started) * 1000)
        except TimeoutError as failure:
            if limit is not None and limit.expired():
                return too_long(plan)
            _fail(self.execution, context, failure)
        except Suspend:
            raise
        except NodeError as failure:
            return failure
        except Exception as failure:  # noqa: BLE001 - the node boundary
            _fail(self.execution, context, failure)
        return None

    def _seconds_left(self) -> float | None:
        """What is left of the time-out; a container's goes on while its body waits, and when its process has died."""
        plan, record, now = self.plan, self.record, self.execution.clock.now()
        if plan.timeout is None or not type(plan.node).container:
            return plan.timeout
        started = record.started if record is not None and record.status == "running" else None
        until = (now if started is None else started) + plan.timeout
        self.execution.waits.deadlines[self.path] = until
        return until - now

    def _confirmed_config(self) -> Config | None:
        if self.record is not None and self.record.wait is not None and self.record.wait.phase == "node":
            return None
        if self.record is not None and (self.record.substeps or self.record.requests):
            return None  # what was confirmed is under way
        self.phase = "confirm"
        config = self.plan.config if self.plan.resolve is None else self.plan.resolve(self.scope)
        confirm(self, config)
        return config

    async def _note_started(self, context: Context) -> None:
        record = self.record
        if record is not None and (
            (record.requests and record.status == "suspended")
            or (type(self.plan.node).container and record.status == "running")
        ):
            return  # the attempt goes on, it does not begin
        self.execution.journal.append("node.started", self.path, context.attempt, {"effects": self.effects})
        await self.execution.commit()

    async def _resumed(self, context: Context, answer: Answer) -> Output:
        assert self.record is not None
        assert self.record.wait is not None
        output = self.plan.node.resume(self.record.wait.state, answer, context)
        result: Output = output if isinstance(output, Output) else await output
        return result


def _write_again(scope: Scope, record: Recorded) -> dict[str, Any] | None:
    """Set the variables that earlier attempts of an unfinished node had set."""
    scope.assign_all(record.variables)
    return dict(record.variables) or None


def _note_retry(execution: Execution, context: Context, failure: NodeError, delay: float) -> None:
    data: dict[str, Any] = {
        "error": {"type": failure.kind, "message": execution.redact(failure.message)},
        "delay": delay,
    }
    if context.assigned:
        data["variables"] = dict(context.assigned)
    execution.journal.append("node.retrying", context.path, context.attempt, data)
    inside = (f"{context.path}[", f"{context.path}#")
    for path in [path for path in execution.recorded if path.startswith(inside)]:
        del execution.recorded[path]  # the next attempt runs the body anew


def _note_cancelled(execution: Execution, path: str, attempt: int) -> None:
    """Record the end of a cancelled attempt; one whose process lets go of the run stays open, to be taken up."""
    if not execution.ending.lets_go:
        execution.waits.requests.close(path, attempt)
        execution.journal.append("node.cancelled", path, attempt, {})


async def _run(plan: NodePlan, context: Context, config: Config | None) -> Output:
    if config is None:
        config = plan.config if plan.resolve is None else plan.resolve(context.scope)
    if type(plan.node).inline and plan.spec.timeout is not None:
        output = await asyncio.to_thread(plan.node.run, config, context)
    else:
        output = plan.node.run(config, context)
    result: Output = output if isinstance(output, Output) else await output
    return result


def retry_delay(retry: Retry | None, failure: NodeError, retries: int) -> float | None:
    """Seconds until the next attempt after so many retries, None when there is none."""
    if retry is None or retries >= retry.max:
        return None
    wanted = (
        failure.retryable if retry.on is None else any(matches_kind(failure.kind, kind) for kind in retry.on)
    )
    if not wanted:
        return None
    delay = min(retry.delay * retry.backoff**retries, retry.max_delay)
    if retry.jitter:
        delay *= random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing
    return max(delay, failure.retry_after or 0.0)


def _fail(execution: Execution, context: Context, failure: Exception) -> None:
    """Record a node's failure.

    Raises:
        StoreError: it is not the node's: the journal is out of reach, or another process owns the run.
    """
    if isinstance(failure, StoreError) and failure.breaks_run:
        raise failure
    error = as_error(failure, context.plan, context.path, context.attempt)
    execution.fail(context, error)
