"""Attempts of one node: evaluate the config, run with a time-out, retry, give up.

The only place where failures of nodes are caught.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from interlace.engine.document import Retry
from interlace.engine.errors import NodeError, NodeTimeout, StoreError, matches_kind
from interlace.engine.node import Output
from interlace.engine.run.context import Context
from interlace.engine.run.faults import as_error
from interlace.engine.run.plan import NodePlan
from interlace.engine.run.result import Recorded
from interlace.engine.run.scope import Scope

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
        execution.succeed(context, outputs_of(result), (time.perf_counter() - started) * 1000)
    except TimeoutError as failure:
        _fail(execution, context, _too_long(context.plan) if limit.expired() else failure)
    except asyncio.CancelledError:
        _note_cancelled(execution, context.path, context.attempt)
        raise
    except Exception as failure:  # noqa: BLE001 - the node boundary
        _fail(execution, context, failure)


async def run_attempts(execution: Execution, scope: Scope, plan: NodePlan, path: str) -> None:
    """Run a node as a task: wait first where asked, then attempts until success or the last failure."""
    record = execution.recorded.get(path)
    attempt, retries = (1, 0) if record is None else (record.attempt, record.retries)
    written = None if record is None else _write_again(scope, record)
    try:
        if plan.spec.wait is not None and (record is None or record.status in ("pending", "suspended")):
            await _wait(execution, scope, plan, path)
        if record is not None and record.status in ("running", "cancelled"):
            attempt = _after_interruption(execution, plan, path, record.attempt)
        while True:
            context = Context(execution, scope, plan, path, attempt)
            context.assigned = written
            failure = await _attempt(execution, context)
            if failure is None:
                return
            delay = retry_delay(plan.retry, failure, retries)
            if delay is None or not _repeatable(plan, failure):
                _fail(execution, context, failure)
                return
            written = context.assigned
            _note_retry(execution, context, failure, delay)
            await execution.clock.sleep(delay)
            attempt, retries = attempt + 1, retries + 1
    except asyncio.CancelledError:
        _note_cancelled(execution, path, attempt)
        raise
    except NodeError as failure:
        _fail(execution, Context(execution, scope, plan, path, attempt), failure)


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
    if execution.ending.broken is None:
        execution.journal.append("node.cancelled", path, attempt, {})


async def _attempt(execution: Execution, context: Context) -> NodeError | None:
    """One attempt; the failure is returned, success is recorded."""
    if execution.draining:
        await asyncio.get_running_loop().create_future()
    fragile = context.plan.effects == "once"
    execution.fragile += fragile
    try:
        return await _one_attempt(execution, context)
    finally:
        execution.fragile -= fragile


async def _one_attempt(execution: Execution, context: Context) -> NodeError | None:
    plan = context.plan
    execution.journal.append("node.started", context.path, context.attempt, {"effects": plan.effects})
    commit = execution.journal.commit()
    if commit is not None:
        await commit
    started = time.perf_counter()
    try:
        async with asyncio.timeout(plan.timeout) as limit:
            output = await _run(plan, context)
        execution.succeed(context, outputs_of(output), (time.perf_counter() - started) * 1000)
    except TimeoutError as failure:
        if limit.expired():
            return _too_long(plan)
        _fail(execution, context, failure)
    except NodeError as failure:
        return failure
    except Exception as failure:  # noqa: BLE001 - the node boundary
        _fail(execution, context, failure)
    return None


async def _run(plan: NodePlan, context: Context) -> Output:
    config = plan.config if plan.resolve is None else plan.resolve(context.scope)
    if plan.spec.confirm:
        raise NodeError(
            f"{plan.id} asks for a person's confirmation, and nobody can be asked here; it does not run unconfirmed",
            kind="confirmation_unavailable",
        )
    if type(plan.node).inline and plan.spec.timeout is not None:
        output = await asyncio.to_thread(plan.node.run, config, context)
    else:
        output = plan.node.run(config, context)
    result: Output = output if isinstance(output, Output) else await output
    return result


async def _wait(execution: Execution, scope: Scope, plan: NodePlan, path: str) -> None:
    record = execution.recorded.get(path)
    if record is not None and record.wait_until is not None:
        until = record.wait_until
    else:
        until = wait_until(execution, scope, plan)
        execution.journal.append("node.suspended", path, 0, {"until": until})
        commit = execution.journal.commit()
        if commit is not None:
            await commit
    while (left := until - execution.clock.now()) > 0:
        await execution.clock.sleep(left)


def wait_until(execution: Execution, scope: Scope, plan: NodePlan) -> float:
    """The instant (Unix time) at which a node's durable pause ends."""
    wait = plan.spec.wait
    assert wait is not None
    if wait.for_ is not None:
        return execution.clock.now() + wait.for_
    from interlace.engine.instants import instant  # noqa: PLC0415 - only for waits

    return instant(Context(execution, scope, plan, plan.id, 1).resolve(wait.until))


def _after_interruption(execution: Execution, plan: NodePlan, path: str, attempt: int) -> int:
    """The number of the attempt that follows one which a crash interrupted.

    Raises:
        NodeError: nobody knows whether the interrupted attempt did its work, and repeating it is not allowed.
    """
    if type(plan.node).container:
        return attempt  # its body goes on where it was
    if plan.effects != "once" or plan.spec.on_unknown == "retry":
        return attempt + 1
    execution.journal.append("node.unknown", path, attempt, {"effects": plan.effects})
    raise NodeError(
        f"attempt {attempt} was interrupted and nobody knows whether it did its work; it is not repeated because its"
        " effects are 'once' (set on_unknown: retry to repeat it, or effects: idempotent where repeating is safe)",
        kind="unknown_outcome", retryable=False,
    )  # fmt: skip


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


def _repeatable(plan: NodePlan, failure: NodeError) -> bool:
    """Whether another attempt is safe: the other side answered that it failed, or repeating does no harm."""
    return plan.effects != "once" or plan.spec.on_unknown == "retry" or failure.outcome_known


def outputs_of(output: Output) -> dict[str, Any]:
    """The outputs by name, by reference."""
    extra = output.__pydantic_extra__
    return {**output.__dict__, **extra} if extra else dict(output.__dict__)


def _too_long(plan: NodePlan) -> NodeTimeout:
    return NodeTimeout(
        f"{plan.id} took longer than its time-out of {plan.timeout:g} s; set `timeout` on the node to allow more"
    )


def _fail(execution: Execution, context: Context, failure: Exception) -> None:
    """Record a node's failure.

    Raises:
        StoreError: it is not the node's: the journal is out of reach, or another process owns the run.
    """
    if isinstance(failure, StoreError) and failure.breaks_run:
        raise failure
    error = as_error(failure, context.plan, context.path, context.attempt)
    execution.fail(context, error)
