"""The group commit on SQLite: one raw connection, used on the loop's thread.

A commit costs some 20 µs, a hop to a thread five times that; so the loop commits itself, and only what may take long
goes to the thread: a database that another process is writing to, commits that wait for the disk, checkpoints.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar

from interlace.engine.errors import StoreError
from interlace.store.changing import ENSURE, READ, WRITE, Changing, as_values, keys_of
from interlace.store.errors import CommitError, UnfitError
from interlace.store.write_ahead import BUSY_MILLISECONDS, log_ahead
from interlace.store.writer import Batch, Queue, changing, fence, pending

T = TypeVar("T")
Durability = Literal["normal", "full"]

_INLINE_EVENTS = 2000
"""A commit of more events, some 5 ms, is not made on the loop."""
_CHECKPOINT_SECONDS = 2.0
_CHECKPOINT_BYTES = 8 * 1024 * 1024
_BEHIND = 8
"""When so many times the above is written while a checkpoint runs, commits wait for its end."""
_WAL_PAGES = 16_384
"""A write-ahead log of more pages (64 MB) is cut, which writers wait for."""
_COMMIT_BYTES = 8 * 1024
"""About what a small commit adds to the write-ahead log."""

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_EPOCH = "SELECT lease_epoch FROM runs WHERE id = ?"
_INSERT = "INSERT INTO events (run_id, seq, at, type, path, attempt, data) VALUES (?, ?, ?, ?, ?, ?, ?)"

_ENSURE = ENSURE.format(of="?1", name="?2")
_READ = READ.format(of="?1", name="?2")
_WRITE = WRITE.format(value="?1", version="?2", at="?3", of="?4", name="?5")


class SQLiteWriter:
    """Commits batches of the running loop to a SQLite file whose tables exist."""

    def __init__(self, path: Path, *, durability: Durability = "normal") -> None:
        self._path = path
        self._full = durability == "full"
        self._connection = connect(path, durability)
        self._cursor = self._connection.cursor()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="interlace-writer")
        self._checkpointer = Checkpointer(path)
        self._threaded: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._thread_of_loop = threading.get_ident()
        self._queue = Queue(self._wake)
        self._closed = False

    @property
    def on_commit(self) -> Callable[[set[str]], None] | None:
        """Called on the loop after a commit with the runs that got events."""
        return self._queue.on_commit

    @on_commit.setter
    def on_commit(self, listener: Callable[[set[str]], None] | None) -> None:
        self._queue.on_commit = listener

    def submit(self, batch: Batch) -> asyncio.Future[None]:
        """Queue a batch; the future is resolved after the commit, or fails with a StoreError."""
        if self._closed:
            raise CommitError(f"the store at {str(self._path)!r} is closed; open it again to write")
        return self._queue.submit(batch)

    async def close(self) -> None:
        """Commit what is queued, empty the write-ahead log where nobody hinders it, and close the connection."""
        self._closed = True
        while len(self._queue) or self._threaded is not None:
            if self._threaded is not None:
                await asyncio.wait([self._threaded])
            await asyncio.sleep(0)
        await self._checkpointer.close()
        self._thread.shutdown()
        self._connection.close()

    def _wake(self) -> None:
        if self._threaded is None:
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        if self._threaded is not None or not len(self._queue):
            return
        if (checkpoint := self._checkpointer.behind()) is not None:
            checkpoint.add_done_callback(lambda _: self._flush())
            return
        group = self._queue.take()
        if self._full or any(b.slow for b in group) or sum(len(b.events) for b in group) > _INLINE_EVENTS:
            self._offload(group)
            return
        try:
            self._write(group)
        except _Busy:
            self._offload(group)
        else:
            self._settle(group)

    def _offload(self, group: list[Batch]) -> None:
        self._threaded = self._loop.run_in_executor(self._thread, self._write_patiently, group)
        self._threaded.add_done_callback(lambda _: self._back(group))

    def _back(self, group: list[Batch]) -> None:
        self._threaded = None
        self._settle(group)
        if len(self._queue):
            self._loop.call_soon(self._flush)

    def _settle(self, group: list[Batch]) -> None:
        self._queue.settle(group)
        # A row that is larger than a page takes up to twice its size.
        self._checkpointer.note(
            _COMMIT_BYTES + 2 * sum(len(row[6]) for batch in group for row in batch.events)
        )

    def _write_patiently(self, group: list[Batch]) -> None:
        """In the thread: wait for the database as long as it takes, within reason."""
        self._connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
        try:
            self._write(group)
        except _Busy:
            error = CommitError(
                f"the database {str(self._path)!r} was locked for {BUSY_MILLISECONDS // 1000} s by another process"
                " that writes to it; find and end that process"
            )
            for batch in pending(group):
                batch.lane.error = error
        finally:
            self._connection.execute("PRAGMA busy_timeout=0")

    def _write(self, group: list[Batch]) -> None:
        """Write a group in one commit; when it fails, batch by batch, so that one run's fault stays its own."""
        batches = pending(group)
        try:
            self._transact(batches)
        except Exception as error:  # whatever it is, the waiters must hear of it
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY:
                raise _Busy from error
            if len(batches) > 1:
                for batch in batches:
                    self._write([batch])
                return
            batches[0].lane.error = self._refused(batches[0], error)

    def _refused(self, batch: Batch, error: Exception) -> StoreError:
        if isinstance(error, StoreError):
            return error
        if batch.lane.epoch is None and isinstance(error, OverflowError | UnicodeEncodeError):
            return UnfitError(error)
        return CommitError(f"{str(self._path)!r} did not take a commit: {error}")

    def _transact(self, batches: list[Batch]) -> None:
        if not batches:
            return
        cursor = self._cursor
        cursor.execute("BEGIN IMMEDIATE")
        try:
            live = [batch for batch in batches if batch.lane.epoch is None or self._holds(batch)]
            for batch in live:
                for operation in batch.operations:
                    operation.rows[:] = cursor.execute(operation.sql, operation.params).fetchall()
            if changes := changing(live):
                self._change(cursor, changes)
            cursor.executemany(
                _INSERT, live[0].events if len(live) == 1 else chain.from_iterable(b.events for b in live)
            )
            for batch in live:
                for hook in batch.hooks:
                    hook()
            cursor.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                cursor.execute("ROLLBACK")
            raise
        for batch in live:
            batch.done = True

    def _change(self, cursor: sqlite3.Cursor, changes: list[Changing]) -> None:
        keys = keys_of(changes)
        cursor.executemany(_ENSURE, keys)
        found = as_values({key: cursor.execute(_READ, key).fetchone() for key in keys})
        for settled in self._on_loop(lambda: [change.settle(found) for change in changes]):
            cursor.executemany(_WRITE, settled.values)
            for operation in settled.operations:
                cursor.execute(operation.sql, operation.params)
            for hook in settled.hooks:
                hook()

    def _on_loop(self, work: Callable[[], T]) -> T:
        """What the loop's thread gives: what changes are computed from is that thread's own."""
        if threading.get_ident() == self._thread_of_loop:
            return work()
        done: Future[T] = Future()

        def do() -> None:
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                done.set_exception(error)

        self._loop.call_soon_threadsafe(do)
        return done.result(BUSY_MILLISECONDS / 1000)

    def _holds(self, batch: Batch) -> bool:
        row = self._cursor.execute(_EPOCH, (batch.lane.run_id,)).fetchone()
        return fence(batch.lane, None if row is None else row[0])


class _Busy(Exception):  # noqa: N818 - a signal
    """Another process is writing."""


class Checkpointer:
    """Moves the write-ahead log into the database in a thread, so that no commit has to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="interlace-checkpoint")
        self._loop = asyncio.get_running_loop()
        self._running: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._written = 0

    def note(self, size: int) -> None:
        """So many bytes were written."""
        self._written += size
        if self._running is not None:
            return
        if self._written > _CHECKPOINT_BYTES:
            self._start()
        elif self._timer is None:
            self._timer = self._loop.call_later(_CHECKPOINT_SECONDS, self._start)

    def behind(self) -> asyncio.Future[None] | None:
        """The running checkpoint, when so much was written meanwhile that writers should wait for its end."""
        return self._running if self._written > _BEHIND * _CHECKPOINT_BYTES else None

    async def close(self) -> None:
        """One last checkpoint."""
        if self._timer is not None:
            self._timer.cancel()
        if self._running is not None:
            await asyncio.wait([self._running])
        await self._loop.run_in_executor(self._thread, self._checkpoint, True)
        self._thread.shutdown()

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._running is not None:
            return
        self._written = 0
        self._running = self._loop.run_in_executor(self._thread, self._checkpoint, False)
        self._running.add_done_callback(self._over)

    def _over(self, running: asyncio.Future[None]) -> None:
        self._running = None
        if not running.cancelled():
            running.exception()
        if self._written > _CHECKPOINT_BYTES:
            self._start()

    def _checkpoint(self, last: bool) -> None:
        # A checkpoint that fails (disk full, another process in its way) is made up for by the next one.
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(connect(self._path, "normal")) as connection,
        ):
            _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if last or pages > _WAL_PAGES:
                connection.execute(f"PRAGMA busy_timeout={0 if last else 1000}")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def connect(path: Path, durability: Durability) -> sqlite3.Connection:
    """A raw connection that begins and commits only when told, and is never made to checkpoint."""
    connection = sqlite3.connect(
        path,
        timeout=BUSY_MILLISECONDS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    log_ahead(connection.execute)
    connection.execute(f"PRAGMA synchronous={'FULL' if durability == 'full' else 'NORMAL'}")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("PRAGMA busy_timeout=0")
    return connection
