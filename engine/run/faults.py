"""From what a node raised to the error that journal, API and `<id>.error` show."""

from __future__ import annotations

from typing import Any

from interlace.engine.errors import NodeError, NodeTimeout, StoreError
from interlace.engine.expressions import NodeOutputs, NullOutputs
from interlace.engine.run.plan import NodePlan
from interlace.engine.run.result import error_of


def as_error(failure: Exception, plan: NodePlan, path: str, attempt: int) -> dict[str, Any]:
    """The error of a failed attempt; an inner node's error stays that node's."""
    inner = getattr(failure, "error", None)
    if isinstance(failure, NodeError) and isinstance(inner, dict):
        return inner
    if isinstance(failure, NodeError):
        return error_of(
            message=failure.message,
            kind=failure.kind,
            node=plan.id,
            path=path,
            attempt=attempt,
            retryable=failure.retryable,
        )
    if isinstance(failure, StoreError):
        return error_of(message=str(failure), kind=failure.code, node=plan.id, path=path, attempt=attempt)
    message = (
        f"{type(failure).__name__}: {failure} (a fault in node type {plan.spec.type}, not in the workflow)"
    )
    return error_of(message=message, kind="internal", node=plan.id, path=path, attempt=attempt)


def too_long(plan: NodePlan) -> NodeTimeout:
    """The error of an attempt that took longer than it may."""
    return NodeTimeout(
        f"{plan.id} took longer than its time-out of {plan.timeout or 0:g} s; set `timeout` on the node to allow more"
    )


def not_recorded(plan: NodePlan, error: StoreError) -> NodeError:
    """The failure of a node whose outputs the journal does not take.

    Raises:
        StoreError: that is not the node's fault: the run cannot go on in this process.
    """
    if error.breaks_run:
        raise error
    return NodeError(f"the outputs of {plan.id} cannot be recorded: {error}", kind=error.code)


def handled_failure(plan: NodePlan, error: dict[str, Any]) -> tuple[NodeOutputs, str]:
    """What is read of a failed node whose error policy goes on, and the handle that it takes."""
    if plan.spec.on_error == "branch":
        return NodeOutputs({"error": error}), "error"
    default = plan.spec.default_output
    nulls = dict.fromkeys(plan.null_fields) if default is None else default
    handle = "else" if "else" in plan.handles else plan.handles[0] if plan.handles else "out"
    return NullOutputs({**nulls, "error": error}), handle
