"""One operation on its way: it ends at its deadline, at once when cancelled, and never in the middle of a commit."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError as DeliveryCancelled
from concurrent.futures import Future
from typing import TypeVar

from interlace.resources.databases.faults import out_of_time, unknown_outcome
from interlace.resources.databases.result import Row

T = TypeVar("T")

Stream = Callable[[list[Row]], Awaitable[None]]

_GRACE_S = 0.8
_COMMIT_GRACE_S = 5.0


class Stopped(Exception):  # noqa: N818 - ends a worker, is never shown
    """The operation was stopped from outside."""


class Flight:
    """The hand that stops an operation, for both sides: the one that waits and the one that works.

    Args:
        seconds: the deadline, counted from `land`.
        stream: takes the rows of each batch, on the event loop.
    """

    def __init__(self, seconds: float, stream: Stream | None = None) -> None:
        self.seconds = seconds
        self.stopped = False
        self.committing = False
        self._loop = asyncio.get_running_loop()
        self._stream = stream
        self._delivery: Future[None] | None = None
        self._interrupt: Callable[[], object] | None = None
        # Held while stopping meets committing: one of the two happens, never both.
        self._lock = threading.Lock()

    def on_stop(self, interrupt: Callable[[], object] | None) -> None:
        """Name what interrupts the work from now on (quick, callable from any thread); None where nothing can."""
        with self._lock:
            self._interrupt = interrupt
            if self.stopped:
                raise Stopped

    def enter_commit(self) -> None:
        """From here on the operation is not stopped any more.

        Raises:
            Stopped: it was stopped before.
        """
        with self._lock:
            if self.stopped:
                raise Stopped
            self.committing = True

    def stop(self) -> None:
        """Stop the work unless it commits."""
        with self._lock:
            if self.committing or self.stopped:
                return
            self.stopped = True
            interrupt, delivery = self._interrupt, self._delivery
        if delivery is not None:
            delivery.cancel()
        if interrupt is not None:
            interrupt()

    @property
    def streams(self) -> bool:
        """Whether somebody takes the rows batch by batch."""
        return self._stream is not None

    async def deliver(self, rows: list[Row]) -> None:
        """Hand a batch over, from the event loop."""
        if self._stream is not None and rows:
            await self._stream(rows)

    def deliver_from_thread(self, rows: list[Row]) -> None:
        """Hand a batch over from a worker thread and wait until it is taken."""
        if self._stream is None or not rows:
            return
        with self._lock:
            if self.stopped:
                raise Stopped
            self._delivery = asyncio.run_coroutine_threadsafe(self._take(rows), self._loop)
        try:
            self._delivery.result()
        except DeliveryCancelled:
            raise Stopped from None

    async def _take(self, rows: list[Row]) -> None:
        await self.deliver(rows)

    async def land(self, work: asyncio.Future[T], *, writes: bool) -> T:
        """Wait for the work until its deadline.

        Raises:
            NodeError: kind `timeout`, after the work was stopped; what the work raises.
        """
        try:
            await asyncio.wait({work}, timeout=self.seconds)
            if not work.done():
                self.stop()
                await self._settle(work)
        except asyncio.CancelledError:
            self.stop()
            await self._settle(work)
            raise
        late = out_of_time(self.seconds, wrote=writes)
        if not work.done():
            raise unknown_outcome(late) if self.committing else late
        if self.stopped and (work.cancelled() or work.exception() is not None):
            raise late
        return work.result()

    async def _settle(self, work: asyncio.Future[T]) -> None:
        await asyncio.wait({work}, timeout=_COMMIT_GRACE_S if self.committing else _GRACE_S)
        if work.done() and not work.cancelled():
            # Looked at, so that the loop does not report it as lost.
            with contextlib.suppress(asyncio.CancelledError):
                work.exception()
        elif not work.done():
            work.add_done_callback(_look_at)


def _look_at(work: asyncio.Future[T]) -> None:
    if not work.cancelled():
        work.exception()
