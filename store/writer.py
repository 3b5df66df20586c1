"""The group commit: what all runs of the process write within one turn of the event loop shares one commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from interlace.engine.errors import StoreError
from interlace.store.changing import Changing, EventRow
from interlace.store.errors import CommitError, FencedError
from interlace.store.statements import Operation


class Lane:
    """One writer's line of batches. After a failed commit every later one fails too: no event is lost silently.

    Args:
        run_id: the run whose lease the commits are checked against; empty when `epoch` is None.
        epoch: the lease that the writer holds; None for writes outside any lease.
    """

    __slots__ = ("epoch", "error", "run_id")

    def __init__(self, run_id: str = "", epoch: int | None = None) -> None:
        self.run_id = run_id
        self.epoch = epoch
        self.error: StoreError | None = None


class Batch:
    """What one lane adds to one commit: all of it becomes durable, or none.

    Args:
        independent: whether the operations touch only what is this lane's own, so that those of several lanes may be
            sent to the database together, whatever their order.
    """

    __slots__ = (
        "changes",
        "done",
        "events",
        "hooks",
        "independent",
        "lane",
        "operations",
        "queued",
        "sealed",
        "slow",
        "waiters",
    )

    def __init__(self, lane: Lane, *, independent: bool = False) -> None:
        self.lane = lane
        self.independent = independent
        self.events: list[EventRow] = []
        self.changes: list[Changing] = []
        self.operations: list[Operation] = []
        self.hooks: list[Callable[[], None]] = []
        self.waiters: list[asyncio.Future[None]] = []
        self.queued = False
        self.sealed = False
        self.done = False
        self.slow = False

    def execute(self, operation: Operation) -> list[tuple[Any, ...]]:
        """Add an operation; the list is filled with its rows at the commit."""
        self.operations.append(operation)
        return operation.rows


class Writer(Protocol):
    """Commits batches in groups."""

    on_commit: Callable[[set[str]], None] | None

    def submit(self, batch: Batch) -> asyncio.Future[None]:
        """Queue a batch; the future is resolved after the commit, or fails with a StoreError."""
        ...

    async def close(self) -> None:
        """Commit what is queued and let go of the database."""
        ...


class Queue:
    """Collects batches until a group is taken, and tells their waiters how it went."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._batches: list[Batch] = []
        self._wake = wake
        self.on_commit: Callable[[set[str]], None] | None = None

    def __len__(self) -> int:
        return len(self._batches)

    def submit(self, batch: Batch) -> asyncio.Future[None]:
        """Queue a batch. Each waiter gets a future of its own: one that is cancelled must not cancel the others."""
        future = self._loop.create_future()
        batch.waiters.append(future)
        if not batch.queued:
            batch.queued = True
            self._batches.append(batch)
            if len(self._batches) == 1:
                self._wake()
        return future

    def take(self) -> list[Batch]:
        """All queued batches, closed to further additions."""
        group, self._batches = self._batches, []
        for batch in group:
            batch.sealed = True
        return group

    def settle(self, group: Iterable[Batch]) -> None:
        """Resolve the waiters of a written group; batches that are not done have failed."""
        runs: set[str] = set()
        for batch in group:
            if batch.done:
                if batch.events:
                    runs.add(batch.events[0][0])
                for future in batch.waiters:
                    if not future.done():
                        future.set_result(None)
            else:
                if batch.lane.error is None:
                    batch.lane.error = CommitError("the commit was given up; nothing of it is recorded")
                for future in batch.waiters:
                    if not future.done():
                        future.set_exception(batch.lane.error)
        if runs and self.on_commit is not None:
            self.on_commit(runs)


def pending(group: Iterable[Batch]) -> list[Batch]:
    """The batches of a group that are neither written nor failed."""
    return [batch for batch in group if not batch.done and batch.lane.error is None]


def changing(group: Iterable[Batch]) -> list[Changing]:
    """The changes of a group, in order."""
    return [change for batch in group for change in batch.changes]


def fence(lane: Lane, epoch: int | None) -> bool:
    """Compare a lane's lease with the one in force; a stale lane fails for good."""
    if epoch == lane.epoch:
        return True
    held = "the run is gone" if epoch is None else f"the lease in force is number {epoch}"
    lane.error = FencedError(
        f"run {lane.run_id!r}: nothing was committed, because the lease number {lane.epoch} is over and {held};"
        " another process goes on with the run, this one must stop"
    )
    return False
