"""The group commit on PostgreSQL: one task with one connection; while it commits a group, the next one gathers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor

from interlace.engine.errors import StoreError
from interlace.store.errors import CommitError
from interlace.store.statements import Operation
from interlace.store.writer import Batch, EventRow, Queue, fence, pending

_TRIES = 5
_EPOCHS = "SELECT id, lease_epoch FROM runs WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
_INSERT = (
    "INSERT INTO events (run_id, seq, at, type, path, attempt, data)"
    " SELECT * FROM unnest(%s::text[], %s::int[], %s::float8[], %s::text[], %s::text[], %s::int[], %s::text[])"
)
_TRANSIENT = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)


class PostgresWriter:
    """Commits batches of the running loop to a PostgreSQL database whose tables exist."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: AsyncConnection[Any] | None = None
        self._wanted = asyncio.Event()
        self._queue = Queue(self._wanted.set)
        self._closed = False
        self._task = asyncio.get_running_loop().create_task(self._run(), name="interlace-writer")

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
            raise CommitError("the store is closed; open it again to write")
        return self._queue.submit(batch)

    async def close(self) -> None:
        """Commit what is queued and close the connection."""
        self._closed = True
        self._wanted.set()
        await self._task
        if self._connection is not None:
            await self._connection.close()

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            while len(self._queue):
                group = self._queue.take()
                await self._write(group)
                self._queue.settle(group)
            if self._closed:
                return

    async def _write(self, group: list[Batch]) -> None:
        """Write a group in one commit; when it fails, batch by batch, so that one run's fault stays its own."""
        batches = pending(group)
        try:
            await self._try(batches)
        except Exception as error:  # noqa: BLE001 - whatever it is, the waiters must hear of it
            if len(batches) > 1 and not isinstance(error, LostError):
                for batch in batches:
                    await self._write([batch])
                return
            for batch in batches:
                batch.lane.error = (
                    error
                    if isinstance(error, StoreError)
                    else CommitError(f"PostgreSQL did not commit: {error}")
                )

    async def _try(self, batches: list[Batch]) -> None:
        """One commit, again after a deadlock with another process or when the idle connection turns out to be dead."""
        for tries_left in reversed(range(_TRIES)):
            connection = await self._connect()
            committing = False
            try:
                live = await self._statements(connection, batches)
                committing = True
                await connection.commit()
            except _TRANSIENT:
                await connection.rollback()
                if not tries_left:
                    raise
            except psycopg.OperationalError as error:
                if not connection.broken and not connection.closed:
                    await connection.rollback()
                    raise
                await self._drop()
                if committing or not tries_left:
                    raise LostError(
                        f"the connection to PostgreSQL broke during a commit, so nobody knows whether it took place: {error};"
                        " the run goes on from its journal when it is claimed again"
                    ) from error
            except BaseException:
                await connection.rollback()
                raise
            else:
                for batch in live:
                    batch.done = True
                return

    async def _statements(self, connection: AsyncConnection[Any], batches: list[Batch]) -> list[Batch]:
        async with connection.cursor() as cursor:
            live = await self._held(cursor, batches)
            together = [batch.operations for batch in live if batch.independent]
            for index in range(max(map(len, together), default=0)):
                await _execute(
                    cursor, [operations[index] for operations in together if len(operations) > index]
                )
            for batch in live:
                if not batch.independent:
                    for operation in batch.operations:
                        await _execute(cursor, [operation])
            if events := [event for batch in live for event in batch.events]:
                await cursor.execute(_INSERT, _columns(events))
        for batch in live:
            for hook in batch.hooks:
                hook()
        return live

    async def _held(self, cursor: AsyncCursor[Any], batches: list[Batch]) -> list[Batch]:
        fenced = [batch.lane.run_id for batch in batches if batch.lane.epoch is not None]
        if not fenced:
            return batches
        await cursor.execute(_EPOCHS, (fenced,))
        epochs = dict(await cursor.fetchall())
        return [b for b in batches if b.lane.epoch is None or fence(b.lane, epochs.get(b.lane.run_id))]

    async def _connect(self) -> AsyncConnection[Any]:
        if self._connection is None:
            self._connection = await AsyncConnection.connect(self._conninfo)
        return self._connection

    async def _drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(psycopg.Error):
                await self._connection.close()
            self._connection = None


class LostError(CommitError):
    """The connection broke."""


async def _execute(cursor: AsyncCursor[Any], operations: list[Operation]) -> None:
    kinds: dict[str, list[Operation]] = {}
    for operation in operations:
        kinds.setdefault(operation.sql, []).append(operation)
    for text, same in kinds.items():
        # The text comes from the statement compiler, never from a user.
        sql = text
        returns = same[0].returns
        await cursor.executemany(sql, [operation.params for operation in same], returning=returns)
        if returns:
            for operation in same:
                operation.rows[:] = await cursor.fetchall()
                cursor.nextset()


def _columns(events: list[EventRow]) -> list[list[Any]]:
    return [list(column) for column in zip(*events, strict=True)]
