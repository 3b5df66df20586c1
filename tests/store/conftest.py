"""Stores on both databases. PostgreSQL: a database of this test process, dropped at its end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from interlace.store import Store
from interlace.store.journal import RunJournal
from interlace.store.runs import NewRun
from interlace.store.tables import metadata

SERVER = os.environ.get("INTERLACE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    try:
        server = psycopg.connect(SERVER, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL at {SERVER}: {error}")
    name = f"interlace_store_{os.getpid()}"
    with server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    server.close()
    yield f"{SERVER.rpartition('/')[0]}/{name}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """None for SQLite; a PostgreSQL database that is empty but for its tables."""
    if request.param == "sqlite":
        yield None
        return
    url: str = request.getfixturevalue("postgres_url")
    yield url
    with psycopg.connect(url, autocommit=True) as connection:
        present = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        ours = [sql.Identifier(name) for (name,) in present if name in metadata.tables]
        if ours:
            connection.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(ours)))


@pytest.fixture
async def store(url: str | None, tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(url, tmp_path / "home")
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite_store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(None, tmp_path / "home")
    yield opened
    await opened.close()


async def begin(store: Store, **fields: object) -> RunJournal:
    """A new run under a lease, and its journal."""
    values = {"name": "test", "document": "{}", "lease_owner": "me", **fields}
    created = await store.runs.create(NewRun(**values))  # type: ignore[arg-type]
    return store.journal(created.run_id, created.epoch, 2)


async def commit(journal: RunJournal) -> None:
    waiting = journal.commit()
    if waiting is not None:
        await waiting
