"""One open database: reads through SQLAlchemy, writes through the group commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import URL, Row, Select, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from interlace.engine.errors import StoreError
from interlace.store.errors import UnfitError
from interlace.store.migration import upgrade
from interlace.store.sqlite_writer import Durability, SQLiteWriter
from interlace.store.statements import Compiler, Operation
from interlace.store.write_ahead import BUSY_MILLISECONDS
from interlace.store.writer import Batch, Lane, Writer


@dataclass(frozen=True, slots=True)
class Location:
    """Where a database is."""

    kind: Literal["sqlite", "postgresql"]
    url: URL

    @property
    def path(self) -> Path:
        """The file of a SQLite database."""
        return Path(self.url.database or "")


def locate(url: str | None, home: Path) -> Location:
    """The database of a URL (`sqlite:///file`, `postgresql://…`); without one the file of the home.

    Raises:
        StoreError: it is no URL, or one of another kind of database.
    """
    if url is None:
        return Location("sqlite", URL.create("sqlite+aiosqlite", database=str(home / "interlace.db")))
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(
            f"{url!r} is not a database URL; write sqlite:///path/to/file.db or postgresql://user@host:5432/name"
        ) from None
    backend = parsed.drivername.partition("+")[0]
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return Location("sqlite", parsed.set(drivername="sqlite+aiosqlite"))
    if backend in ("postgresql", "postgres"):
        return Location("postgresql", parsed.set(drivername="postgresql+psycopg"))
    raise StoreError(
        f"a database of kind {parsed.drivername!r} ({parsed.render_as_string()}) cannot be used; use a SQLite file or PostgreSQL"
    )


class Database:
    """What the repositories share; made by `open_database`."""

    def __init__(self, location: Location, engine: AsyncEngine, writer: Writer) -> None:
        self.location = location
        self.writer = writer
        self.compile = Compiler(location.kind)
        self._engine = engine
        self.now: Callable[[], float] = time.time
        """Unix time in seconds: this machine's, or where several share the database, the database's."""

    async def rows(self, statement: Select[Any]) -> Sequence[Row[*tuple[Any, ...]]]:
        """Read all rows."""
        try:
            async with self._engine.connect() as connection:
                rows: Sequence[Row[*tuple[Any, ...]]] = (await connection.execute(statement)).all()
        except (OverflowError, UnicodeEncodeError, DataError) as error:
            raise UnfitError(getattr(error, "orig", None) or error) from error
        except SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            raise StoreError(
                f"the database could not be read: {cause}; check that it is reachable"
            ) from error
        return rows

    async def first(self, statement: Select[Any]) -> Row[*tuple[Any, ...]] | None:
        """Read the first row."""
        return next(iter(await self.rows(statement.limit(1))), None)

    async def write(self, *operations: Operation) -> list[tuple[Any, ...]]:
        """Commit some operations together; gives the rows of the last one."""
        batch = Batch(Lane())
        batch.operations.extend(operations)
        await self.writer.submit(batch)
        return operations[-1].rows

    async def close(self) -> None:
        """Commit what is queued and close all connections."""
        await self.writer.close()
        await self._engine.dispose()


async def open_database(location: Location, *, durability: Durability) -> Database:
    """Bring the tables up to date and open reader and writer.

    Raises:
        StoreError: the database cannot be reached or is of a newer version.
    """
    try:
        await upgrade(location.url)
    except DBAPIError as error:
        raise StoreError(
            f"the database {location.url.render_as_string()} cannot be opened: {error.orig}; check that it exists,"
            " that it is reachable and that this user may create tables in it"
        ) from error
    if location.kind == "sqlite":
        # Readers have no transactions, so there is nothing to roll back, which would cost a hop to a thread.
        engine = create_async_engine(
            location.url,
            isolation_level="AUTOCOMMIT",
            pool_reset_on_return=None,
            skip_autocommit_rollback=True,
        )
        event.listen(engine.sync_engine, "connect", _prepare_reader)
        return Database(location, engine, SQLiteWriter(location.path, durability=durability))
    from interlace.store.postgres_writer import PostgresWriter  # noqa: PLC0415 - its driver is not for free

    engine = create_async_engine(location.url, isolation_level="AUTOCOMMIT", pool_pre_ping=True)
    conninfo = location.url.set(drivername="postgresql").render_as_string(hide_password=False)
    return Database(location, engine, PostgresWriter(conninfo))


def _prepare_reader(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
    del entry
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    cursor.execute("PRAGMA query_only=ON")
    cursor.close()
