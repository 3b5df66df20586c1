"""The group commit on PostgreSQL: one task with one connection; while it commits a group, the next one gathers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor

from interlace.engine.errors import StoreError
from interlace.store.changing import ENSURE, WRITE, Changing, as_values, keys_of
from interlace.store.errors import CommitError, UnfitError
from interlace.store.statements import Operation
from interlace.store.writer import Batch, Queue, changing, fence, pending

_TRIES = 5
_RECONNECT_SECONDS = 8.0
_RECONNECT_PAUSE = 0.2
_EPOCHS = "SELECT id, lease_epoch FROM runs WHERE id = ANY(%s)"
_HOLD = f"{_EPOCHS} ORDER BY id FOR NO KEY UPDATE"
_INSERT = (
    "INSERT INTO events (run_id, seq, at, type, path, attempt, data)"
    " SELECT * FROM unnest(%s::text[], %s::int[], %s::float8[], %s::text[], %s::text[], %s::int[], %s::text[])"
)
# The lease is checked and the events are written in one statement: one way to the server and back. The lock makes a
# claim wait for this commit, and this statement see a claim that came first.
_APPEND = """
WITH
lane AS (SELECT * FROM unnest(%s::text[], %s::int[]) AS lane (id, epoch)),
held AS (
    SELECT runs.id FROM runs JOIN lane ON lane.id = runs.id AND lane.epoch = runs.lease_epoch
    ORDER BY runs.id FOR NO KEY UPDATE OF runs
),
written AS (
    INSERT INTO events (run_id, seq, at, type, path, attempt, data)
    SELECT * FROM unnest(%s::text[], %s::int[], %s::float8[], %s::text[], %s::text[], %s::int[], %s::text[])
    AS event (run_id, seq, at, type, path, attempt, data)
    WHERE run_id IN (SELECT id FROM held)
)
SELECT id FROM held
"""
_ENSURE = ENSURE.format(of="wanted.of", name="wanted.name").replace(
    "WHERE", "FROM unnest(%s::text[], %s::text[]) AS wanted (of, name) WHERE", 1
)
_READ = (
    "SELECT workflow_id, v.name, value, version FROM variables AS v"
    " JOIN unnest(%s::text[], %s::text[]) AS wanted (of, name) ON workflow_id = wanted.of AND v.name = wanted.name ORDER BY workflow_id, v.name FOR UPDATE OF v"
)
_WRITE = WRITE.format(value="%s", version="%s", at="%s", of="%s", name="%s")
_RECORDED = (
    "SELECT run_id FROM events JOIN unnest(%s::text[], %s::int[], %s::float8[]) AS sent (run_id, seq, at)"
    " USING (run_id, seq, at)"
)
_UNFIT = (psycopg.DataError, OverflowError, UnicodeEncodeError)
_OF_ONE_BATCH = (*_UNFIT, psycopg.IntegrityError, psycopg.ProgrammingError, StoreError, OSError)
"""Faults of a batch; others, like a server that is gone, are everybody's."""
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
            left = pending(batches)
            if len(left) > 1 and isinstance(error, _OF_ONE_BATCH):
                for batch in left:
                    await self._write([batch])
                return
            for batch in left:
                batch.lane.error = _refused(batch, error)

    async def _try(self, batches: list[Batch]) -> None:
        """One commit; again after a deadlock with another process, or on a new connection when the old one broke."""
        for tries_left in reversed(range(_TRIES)):
            try:
                await self._commit(batches)
            except _TRANSIENT:
                if not tries_left:
                    raise
            except _Broken as broken:
                if not tries_left:
                    raise broken.error from None
                if broken.sent:
                    await self._find_out(batches, broken.error)
            batches = pending(batches)
            if not batches:
                return

    async def _commit(self, batches: list[Batch]) -> None:
        connection = await self._connect()
        sent = False
        try:
            if _only_events(batches):
                sent = True
                await self._append(connection, batches)
                return
            async with connection.transaction(), connection.cursor() as cursor:
                live = await self._statements(cursor, batches)
                sent = True
        except psycopg.OperationalError as error:
            if not connection.broken:
                raise
            await self._drop()
            raise _Broken(error, sent=sent) from error
        for batch in live:
            batch.done = True

    async def _append(self, connection: AsyncConnection[Any], batches: list[Batch]) -> None:
        """The common case, events only."""
        ids = [batch.lane.run_id for batch in batches]
        events = [event for batch in batches for event in batch.events]
        lanes = [ids, [batch.lane.epoch for batch in batches]]
        async with connection.cursor() as cursor:
            await cursor.execute(_APPEND, [*lanes, *_columns(events)])
            held = {row[0] for row in await cursor.fetchall()}
            for batch in batches:
                batch.done = batch.lane.run_id in held
            if len(held) < len(batches):
                await cursor.execute(_EPOCHS, (ids,))
                epochs = dict(await cursor.fetchall())
                for batch in pending(batches):
                    fence(batch.lane, epochs.get(batch.lane.run_id))

    async def _statements(self, cursor: AsyncCursor[Any], batches: list[Batch]) -> list[Batch]:
        live = await self._held(cursor, batches)
        together = [batch.operations for batch in live if batch.independent]
        for index in range(max(map(len, together), default=0)):
            await _execute(cursor, [operations[index] for operations in together if len(operations) > index])
        for batch in live:
            if not batch.independent:
                for operation in batch.operations:
                    await _execute(cursor, [operation])
        if changes := changing(live):
            await _change(cursor, changes)
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
        await cursor.execute(_HOLD, (fenced,))
        epochs = dict(await cursor.fetchall())
        return [b for b in batches if b.lane.epoch is None or fence(b.lane, epochs.get(b.lane.run_id))]

    async def _find_out(self, batches: list[Batch], error: psycopg.OperationalError) -> None:
        """The connection broke when the commit was on its way: look for its events, to know whether it took place."""
        first = [batch.events[0][:3] for batch in batches if batch.events]
        if not first:
            raise CommitError(
                f"the connection to PostgreSQL broke during a commit, so nobody knows whether it took place: {error};"
                " look whether what was asked for is there before asking again"
            ) from error
        connection = await self._connect()
        async with connection.cursor() as cursor:
            await cursor.execute(_RECORDED, _columns(first))
            recorded = {row[0] for row in await cursor.fetchall()}
        for batch in batches:
            batch.done = bool(recorded) and (not batch.events or batch.events[0][0] in recorded)

    async def _connect(self) -> AsyncConnection[Any]:
        """The connection; a server that restarts is waited for, shorter than a lease lasts."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _RECONNECT_SECONDS
        while self._connection is None:
            try:
                self._connection = await AsyncConnection.connect(self._conninfo, autocommit=True)
            except psycopg.OperationalError:
                if loop.time() > until:
                    raise
                await asyncio.sleep(_RECONNECT_PAUSE)
        return self._connection

    async def _drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(psycopg.Error):
                await self._connection.close()
            self._connection = None


class _Broken(Exception):  # noqa: N818 - a signal
    """The connection broke; with `sent` the commit may have taken place."""

    def __init__(self, error: psycopg.OperationalError, *, sent: bool) -> None:
        super().__init__()
        self.error = error
        self.sent = sent


async def _change(cursor: AsyncCursor[Any], changes: list[Changing]) -> None:
    keys = keys_of(changes)
    columns = _columns(keys)
    await cursor.execute(_ENSURE, columns)
    await cursor.execute(_READ, columns)
    found = as_values({(row[0], row[1]): (row[2], row[3]) for row in await cursor.fetchall()})
    settled = [change.settle(found) for change in changes]
    if values := [value for each in settled for value in each.values]:
        await cursor.executemany(_WRITE, values)
    for each in settled:
        await _execute(cursor, each.operations)
        for hook in each.hooks:
            hook()


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


def _only_events(batches: list[Batch]) -> bool:
    """Whether there are only events, each run's of one lane."""
    plain = all(
        batch.lane.epoch is not None and not batch.operations and not batch.changes for batch in batches
    )
    return plain and len({batch.lane.run_id for batch in batches}) == len(batches)


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _refused(batch: Batch, error: Exception) -> StoreError:
    if isinstance(error, StoreError):
        return error
    if batch.lane.epoch is None and isinstance(error, _UNFIT):
        return UnfitError(error)
    return CommitError(f"PostgreSQL did not commit: {error}")
