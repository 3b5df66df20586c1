"""From what a node raised to the error that journal, API and `<id>.error` show."""

from __future__ import annotations

from typing import Any

from interlace.engine.errors import NodeError, StoreError
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
