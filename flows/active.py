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
    expired: str | None = None
    """Why it fails without having begun."""
    _in_line: bool = False

    async def occupy(self, places: asyncio.Semaphore) -> bool:
        """Wait for one of this process's places; False when the run has to end before there is one."""
        if self._has_to_end:
            return False
        self._in_line = True
        try:
            await places.acquire()
        except asyncio.CancelledError:
            if self.task is None or not self._has_to_end:
                raise
            self.task.uncancel()
            return False
        finally:
            self._in_line = False
        return True

    def cancel(self, reason: str) -> None:
        """End the run early, also when it has not begun yet; the first reason counts."""
        if self.cancelled is None:
            self.cancelled = reason
            if self.execution is not None:
                self.execution.cancel(reason)
            self._leave_line()

    def expire(self, message: str) -> None:
        """Let the run fail if it still waits for a place."""
        if self._in_line and self.expired is None:
            self.expired = message
            self._leave_line()

    @property
    def _has_to_end(self) -> bool:
        return self.cancelled is not None or self.expired is not None

    def _leave_line(self) -> None:
        if self._in_line and self.task is not None:
            self.task.cancel()
