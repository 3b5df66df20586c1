from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import psycopg
import pytest

from interlace.engine.errors import StoreError
from interlace.store import Store
from interlace.store.database import Database
from interlace.store.errors import CommitError
from interlace.store.postgres_writer import PostgresWriter
from interlace.store.sqlite_writer import SQLiteWriter
from interlace.store.writer import Batch

from .conftest import begin, commit

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("holding", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
print("let go", flush=True)
sys.stdin.readline()
"""


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the database's write lock until it is told to let go."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "holding\n"
        yield process
    finally:
        process.communicate("\n\n", timeout=30)


def writer_of(store: Store) -> SQLiteWriter:
    writer = store.database.writer
    assert isinstance(writer, SQLiteWriter)
    return writer


def path_of(database: Database) -> Path:
    return database.location.path


async def test_runs_of_one_turn_share_one_commit(sqlite_store: Store) -> None:
    commits: list[str] = []
    journals = await asyncio.gather(*(begin(sqlite_store) for _ in range(50)))
    writer_of(sqlite_store)._connection.set_trace_callback(
        lambda sql: commits.append(sql) if sql == "COMMIT" else None
    )

    async def chain(index: int) -> None:
        for n in range(4):
            journals[index].append("node.log", f"n{n}", 1)
            await commit(journals[index])

    await asyncio.gather(*map(chain, range(50)))
    assert len(commits) <= 8, "200 commits were asked for in 4 turns"
    assert await sqlite_store.events.last_seq(journals[49].run_id) == 5


async def test_a_busy_database_is_waited_for_without_blocking_the_loop(sqlite_store: Store) -> None:
    journal = await begin(sqlite_store)
    with holder(path_of(sqlite_store.database)) as other:
        journal.append("node.started", "n", 1)
        first = asyncio.ensure_future(commit(journal))
        turns = 0
        for _ in range(100):
            await asyncio.sleep(0)
            turns += 1
        assert turns == 100
        assert not first.done()
        journal.append("node.succeeded", "n", 1, {"outputs": {}})
        second = asyncio.ensure_future(commit(journal))
        assert other.stdin is not None
        other.stdin.write("\n")
        other.stdin.flush()
        await asyncio.gather(first, second)
    assert await sqlite_store.events.last_seq(journal.run_id) == 3
    journal.append("node.log", "n", 1)
    await commit(journal)


async def test_a_database_that_stays_locked_fails_the_commit(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlace.store.sqlite_writer.BUSY_MILLISECONDS", 20)
    journal = await begin(sqlite_store)
    with holder(path_of(sqlite_store.database)):
        journal.append("node.started", "n", 1)
        with pytest.raises(CommitError, match="was locked for"):
            await commit(journal)
        with pytest.raises(CommitError):
            journal.append("node.log", "n", 1)
    other = await begin(sqlite_store)
    assert (await sqlite_store.runs.get(other.run_id)).status == "queued"


async def test_a_full_disk_fails_every_waiter(sqlite_store: Store) -> None:
    journals = await asyncio.gather(*(begin(sqlite_store) for _ in range(3)))
    connection = writer_of(sqlite_store)._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")
    for journal in journals:
        for n in range(100):
            journal.append("node.log", f"n{n}", 1, {"message": "x" * 5000})
    results = await asyncio.gather(*map(commit, journals), return_exceptions=True)
    assert [type(result) for result in results] == [CommitError] * 3
    assert "full" in str(results[0])
    connection.execute(f"PRAGMA max_page_count={pages * 1000}")
    with pytest.raises(CommitError):
        journals[0].append("node.log", "n", 1)
    assert await sqlite_store.events.last_seq(journals[0].run_id) == 1


async def test_the_write_ahead_log_stays_bounded(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlace.store.sqlite_writer._CHECKPOINT_BYTES", 200_000)
    monkeypatch.setattr("interlace.store.sqlite_writer._WAL_PAGES", 500)
    journal = await begin(sqlite_store)
    log = path_of(sqlite_store.database).with_name("interlace.db-wal")
    written = largest = 0
    while written < 20_000_000:
        for n in range(10):
            journal.append("node.log", f"n{n}", 1, {"message": "x" * 5000})
        await commit(journal)
        written += 50_000
        largest = max(largest, log.stat().st_size)
    assert largest < 10_000_000
    assert await sqlite_store.events.last_seq(journal.run_id) == 4001


async def test_closing_commits_what_is_queued(tmp_path: Path) -> None:
    store = await Store.open(None, tmp_path)
    journal = await begin(store)
    journal.append("node.log", "n", 1)
    waiting = journal.commit()
    await store.close()
    assert waiting is not None
    await waiting
    connection = sqlite3.connect(tmp_path / "interlace.db")
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (2,)
    connection.close()
    assert not (tmp_path / "interlace.db-wal").exists(), "the log is emptied into the database"
    journal.append("node.log", "n", 1)
    with pytest.raises(CommitError, match="is closed"):
        journal.commit()


def end_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as killer:
        killer.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_a_broken_connection_to_postgresql_is_made_anew(postgres_url: str, tmp_path: Path) -> None:
    store = await Store.open(postgres_url, tmp_path)
    journal = await begin(store)
    end_connections(postgres_url)
    journal.append("node.log", "n", 1)
    await commit(journal)
    end_connections(postgres_url)
    journal.append("run.succeeded", data={"outputs": {}})
    await commit(journal)
    assert await store.events.last_seq(journal.run_id) == 3
    end_connections(postgres_url)
    await store.variables.write("w", {"n": 1})
    assert await store.variables.values("w") == {"n": 1}
    await store.close()


async def test_a_commit_whose_answer_was_lost_is_not_made_twice(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await Store.open(postgres_url, tmp_path)
    journals = [await begin(store) for _ in range(2)]
    writer = store.database.writer
    assert isinstance(writer, PostgresWriter)
    append = writer._append

    async def lose_the_answer(connection: psycopg.AsyncConnection[Any], batches: list[Batch]) -> None:
        await append(connection, batches)
        for batch in batches:
            batch.done = False
        end_connections(postgres_url)
        await connection.execute("SELECT 1")

    monkeypatch.setattr(writer, "_append", lose_the_answer)
    for journal in journals:
        journal.append("node.log", "n", 1)
    await asyncio.gather(*map(commit, journals))
    monkeypatch.undo()
    for journal in journals:
        journal.append("node.log", "n", 2)
    await asyncio.gather(*map(commit, journals))
    for journal in journals:
        assert [event.seq for event in await store.events.read(journal.run_id)] == [1, 2, 3]
    await store.close()


class Gate:
    """A way to the PostgreSQL server that can be shut and opened again."""

    def __init__(self, server: SplitResult) -> None:
        self._target = (server.hostname or "", server.port or 5432)
        self._server: asyncio.Server | None = None
        self._ways: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self.port = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        assert self._server is not None
        self._server.close()
        for way in self._ways:
            way.close()
        await asyncio.gather(*self._passing, return_exceptions=True)
        self._ways.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        their_reader, their_writer = await asyncio.open_connection(*self._target)
        self._ways |= {writer, their_writer}
        for way in (self._pass(reader, their_writer), self._pass(their_reader, writer)):
            task = asyncio.ensure_future(way)
            self._passing.add(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
        writer.close()


async def test_a_server_that_restarts_is_waited_for_and_one_that_is_gone_is_not(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = urlsplit(postgres_url)
    gate = Gate(direct)
    await gate.open()
    store = await Store.open(direct._replace(netloc=f"postgres@127.0.0.1:{gate.port}").geturl(), tmp_path)
    journal = await begin(store)
    await gate.shut()
    journal.append("node.log", "n", 1)
    waiting = asyncio.ensure_future(commit(journal))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await gate.open()
    await waiting
    assert await store.events.last_seq(journal.run_id) == 2
    await gate.shut()
    monkeypatch.setattr("interlace.store.postgres_writer._RECONNECT_SECONDS", 0.0)
    journal.append("node.log", "n", 2)
    with pytest.raises(CommitError, match="PostgreSQL did not commit"):
        await commit(journal)
    with pytest.raises(StoreError, match="could not be read"):
        await store.events.last_seq(journal.run_id)
    await store.close()


async def test_two_processes_write_to_one_home(store: Store, url: str | None) -> None:
    home = store.payloads.root.parent
    other = await Store.open(url, home)
    journals = [await begin(each) for each in (store, other) * 5]

    async def chain(index: int) -> None:
        for n in range(20):
            journals[index].append("node.succeeded", f"n{n}", 1, {"outputs": {"text": "same" * 5000}})
            await commit(journals[index])

    await asyncio.gather(*map(chain, range(10)))
    assert [await other.events.last_seq(journal.run_id) for journal in journals] == [21] * 10
    await other.close()
