"""A run in hand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from interlace.engine.run import Execution, RunResult


@dataclass(slots=True, eq=False)
class Active:
    """A run that this process executes under the lease `epoch`."""

    run_id: str
    epoch: int
    task: asyncio.Task[RunResult] | None = None
    execution: Execution | None = None
    cancelled: str | None = None
    slot_key: str | None = None
    """The queue of its workflow, where `settings.concurrency` limits it."""

    def cancel(self, reason: str) -> None:
        """End the run early, also when it has not begun yet; the first reason counts."""
        if self.cancelled is None:
            self.cancelled = reason
            if self.execution is not None:
                self.execution.cancel(reason)
