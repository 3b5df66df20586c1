"""How a run ends: which of success, failure and cancellation, and its outputs."""

from __future__ import annotations

from typing import Any

from interlace.engine.events import RunStatus
from interlace.engine.run.plan import NodePlan
from interlace.engine.run.result import RunResult, error_of
from interlace.engine.run.scope import Scope


class Ending:
    """Collects what END nodes give and the first reason to end early."""

    def __init__(self, *, child: bool = False) -> None:
        self._child = child
        self.broken: BaseException | None = None
        self.suspended: tuple[str, ...] = ()
        """What the run waits for when nothing of it can go on: its turn ends, the run does not."""
        self.deadline: float | None = None
        """When a suspended run is taken up even if nothing has come (Unix time)."""
        self._ends: dict[int, tuple[str, dict[str, Any], dict[str, Any] | None]] = {}
        self._error: dict[str, Any] | None = None
        self._cancelled: str | None = None

    @property
    def lets_go(self) -> bool:
        """Whether this turn ends without ending the run: what is open stays open."""
        return self.broken is not None or self._suspends

    @property
    def _suspends(self) -> bool:
        return bool(self.suspended) and self._error is None and self._cancelled is None

    def collect(self, plan: NodePlan, outputs: dict[str, Any], scope: Scope) -> None:
        """Take the outputs of an END node that ran."""
        del scope
        response = outputs.pop("$response", None) if "$response" in outputs else None
        self._ends[plan.index] = (plan.id, outputs, response)

    def failed(self, error: dict[str, Any]) -> None:
        """The run failed; the first error counts."""
        if self._error is None and self._cancelled is None:
            self._error = error

    def cancelled(self, reason: str) -> None:
        """Somebody cancelled the run."""
        if self._error is None and self._cancelled is None:
            self._cancelled = reason

    def event(self) -> tuple[str, dict[str, Any]]:
        """Type and data of the run's last event."""
        if self._suspends:
            data: dict[str, Any] = {"waiting": list(self.suspended)}
            return "run.suspended", data if self.deadline is None else {**data, "deadline": self.deadline}
        outputs = self._merge()
        if self._cancelled is not None:
            return "run.cancelled", {"reason": self._cancelled}
        if self._error is not None:
            return "run.failed", {"error": self._error}
        return "run.succeeded", {"outputs": outputs}

    def result(self, run_id: str) -> RunResult:
        """The result, after `event`."""
        if self._suspends:
            return RunResult(run_id=run_id, status="suspended", waiting=self.suspended, child=self._child)
        kind, data = self.event()
        status: RunStatus = {"run.cancelled": "cancelled", "run.failed": "failed"}.get(kind, "succeeded")  # type: ignore[assignment]
        error = data.get("error")
        if status == "cancelled":
            error = error_of(message=f"the run was {data['reason']}", kind="cancelled")
        responses = [entry[2] for entry in self._ends.values() if entry[2] is not None]
        return RunResult(
            run_id=run_id, status=status, outputs=data.get("outputs"), error=error,
            response=responses[-1] if responses else None, child=self._child,
        )  # fmt: skip

    def _merge(self) -> dict[str, Any]:
        """The END nodes' outputs in document order; a key that two of them set is an error."""
        merged: dict[str, Any] = {}
        owner: dict[str, str] = {}
        for _index, (node, outputs, _response) in sorted(self._ends.items()):
            for key, value in outputs.items():
                if key in merged:
                    self.failed(
                        error_of(
                            message=f"END nodes {owner[key]!r} and {node!r} both ran and set {key!r}; rename one of them",
                            kind="output_conflict", node=node, path=node, attempt=1,
                        )
                    )  # fmt: skip
                merged[key], owner[key] = value, node
        if not self._ends:
            self.failed(
                error_of(
                    message="no END node ran; every path to one was skipped or none was reached",
                    kind="no_end_reached",
                )
            )
        return merged
