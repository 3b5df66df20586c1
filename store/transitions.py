"""What a run's events do to its row: the row is a summary of the journal, written in the same commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, func, null, update

from interlace.store.references import Externalizer
from interlace.store.statements import Compiler, Operation
from interlace.store.tables import runs

_ENDS = {"run.succeeded": "succeeded", "run.failed": "failed", "run.cancelled": "cancelled"}


class Transitions:
    """Operations on the run's row, by event type."""

    def __init__(self, compiler: Compiler) -> None:
        row = update(runs).where(runs.c.id == bindparam("run"))
        free = {"lease_owner": null(), "lease_until": null()}
        self._running = compiler(
            row.values(status="running", started_at=func.coalesce(runs.c.started_at, bindparam("now")))
        )
        self._suspended = compiler(row.values(status="suspended", **free))
        self._ended = compiler(
            row.values(
                status=bindparam("ended"),
                finished_at=bindparam("now"),
                outputs=bindparam("result"),
                error=bindparam("failure"),
                **free,
            )
        )

    def of(
        self, run_id: str, kind: str, now: float, data: Mapping[str, Any], encoder: Externalizer
    ) -> Operation | None:
        """The operation of an event; None when it leaves the row as it is."""
        if kind in ("run.started", "run.resumed"):
            return self._running(run=run_id, now=now)
        if kind == "run.suspended":
            return self._suspended(run=run_id)
        if kind not in _ENDS:
            return None
        outputs, error = data.get("outputs"), data.get("error")
        if kind == "run.cancelled" and error is None:
            message = f"the run was {data.get('reason') or 'cancelled'}"
            error = dict.fromkeys(("node", "path", "attempt")) | {
                "type": "cancelled",
                "message": message,
                "retryable": False,
            }
        return self._ended(
            run=run_id,
            ended=_ENDS[kind],
            now=now,
            result=None if outputs is None else encoder.map(outputs).decode(),
            failure=None if error is None else encoder.map(error).decode(),
        )
