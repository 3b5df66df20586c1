"""Faults that a process of the tests is given before it works: it kills itself at a chosen write.

They wrap the product's classes in that process alone; nothing in the product knows of them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import Any

from interlace.store import payloads, postgres_writer, sqlite_writer
from interlace.store.writer import Batch

POINTS = ("before", "inside", "after")
"""Of a commit: before it begins, when all its statements are done, when it is durable and nobody has heard of it."""
PAYLOAD_POINTS = ("unwritten", "half", "written")
"""Of a payload's file: not begun, begun under its temporary name, in its place and not committed."""


def die() -> None:
    """End this very process as kill -9 does."""
    os.kill(os.getpid(), signal.SIGKILL)


class Writes:
    """Counts what this process commits and kills it at one of its commits.

    How many batches share a commit hangs on how busy the machine is; the events that a run writes do not. So a kill is
    placed by an event: it strikes at the commit that holds it.

    Args:
        number: dies at the commit that holds this event (a batch without events counts as one), from 1; 0 for none.
        point: one of `POINTS`.
    """

    def __init__(self, number: int = 0, point: str = "before") -> None:
        self.count = 0
        """Events so far."""
        self.commits = 0
        self.at: dict[int, Callable[[], None]] = {}
        """What else happens before a commit, by its number."""
        self._number = number
        self._struck = False
        self._point = point

    def install(self) -> None:
        """Wrap the group commit of both databases."""
        transact, commit = sqlite_writer.SQLiteWriter._transact, postgres_writer.PostgresWriter._commit

        def on_sqlite(writer: Any, batches: list[Batch]) -> None:
            if batches:
                self._begin(batches)
            transact(writer, batches)
            if batches:
                self._end()

        async def on_postgres(writer: Any, batches: list[Batch]) -> None:
            self._begin(batches)
            await commit(writer, batches)
            self._end()

        sqlite_writer.SQLiteWriter._transact = on_sqlite  # type: ignore[method-assign]
        postgres_writer.PostgresWriter._commit = on_postgres  # type: ignore[method-assign]

    def _begin(self, batches: list[Batch]) -> None:
        before, self.count = self.count, self.count + sum(len(batch.events) or 1 for batch in batches)
        self.commits += 1
        self.at.get(self.commits, _nothing)()
        self._struck = before < self._number <= self.count
        if self._struck and self._point == "before":
            die()
        if self._struck and self._point == "inside":
            batches[-1].hooks.append(die)
            postgres_writer._only_events = lambda _batches: (
                False
            )  # else it is one statement, and has no inside

    def _end(self) -> None:
        if self._struck and self._point == "after":
            die()


def kill_at_payload(number: int, point: str) -> None:
    """Die at the writing of a payload's file; `point` is one of `PAYLOAD_POINTS`."""
    write, seen = payloads.FilePayloads._write, 0

    def pieces_of(pieces: Iterable[bytes]) -> Iterable[bytes]:
        for piece in pieces:
            yield piece[: len(piece) // 2]
            die()

    def wrapped(store: Any, digest: str, pieces: Iterable[bytes]) -> None:
        nonlocal seen
        seen += 1
        if seen == number and point == "unwritten":
            die()
        write(store, digest, pieces_of(pieces) if seen == number and point == "half" else pieces)
        if seen == number and point == "written":
            die()

    payloads.FilePayloads._write = wrapped  # type: ignore[method-assign]


def jump_clock(seconds: float) -> None:
    """Let the clock of this process jump, as an administrator or a time server does it to the machine's."""
    before = time.time
    time.time = lambda: before() + seconds


def _nothing() -> None:
    pass
