"""Rows of all tables as lines of JSON: read in one snapshot, whatever is written meanwhile."""

from __future__ import annotations

import base64
import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

import orjson
from sqlalchemy import URL, Connection, LargeBinary, MetaData, Table, create_engine, insert, inspect, select
from sqlalchemy.pool import NullPool

from interlace.store.database import Location
from interlace.store.errors import SchemaError
from interlace.store.migration import revision
from interlace.store.tables import metadata

NOT_KEPT: Final = frozenset({"hosts", "counters", "tickets", "logins", "answers"})
"""What means nothing elsewhere or later: who works now, who is signed in, what was counted."""
_VERSIONS: Final = "alembic_version"
_AT_ONCE: Final = 1000


@contextlib.contextmanager
def snapshot(location: Location, scratch: Path) -> Iterator[Connection]:
    """A connection that sees the database as it is now, for as long as the block runs.

    A SQLite database is copied first (its own online backup), so that nobody waits for whoever reads the copy.
    """
    if location.kind == "sqlite":
        copy = scratch / "snapshot.db"
        with (
            contextlib.closing(
                sqlite3.connect(f"file:{location.path}?mode=ro", uri=True, timeout=60)
            ) as source,
            contextlib.closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(
                target
            )  # in one step: in several it begins again after each write of another process
        url, level = URL.create("sqlite", database=str(copy)), "SERIALIZABLE"
    else:
        url, level = location.url, "REPEATABLE READ"
    engine = create_engine(url, poolclass=NullPool)
    try:
        with engine.connect().execution_options(isolation_level=level) as connection:
            yield connection
    finally:
        engine.dispose()


def tables_of(connection: Connection) -> dict[str, Table]:
    """The tables of ours that a database has, with the columns that they have there."""
    there = set(inspect(connection).get_table_names())
    found = MetaData()
    found.reflect(connection, only=[name for name in metadata.tables if name in there], resolve_fks=False)
    return {name: found.tables[name] for name in sorted(found.tables)}


def write_rows(connection: Connection, table: Table, into: IO[bytes]) -> int:
    """Write all rows of a table, a JSON object each; gives how many."""
    typed = metadata.tables[table.name]
    columns = [column for column in table.columns if column.name in typed.columns]
    # Our own types: a reflected boolean of SQLite is a number.
    statement = select(*(typed.columns[column.name] for column in columns))
    count = 0
    for row in connection.execution_options(stream_results=True).execute(statement).yield_per(_AT_ONCE):
        values = {str(column.name): _plain(value) for column, value in zip(columns, row, strict=True)}
        into.write(orjson.dumps(values) + b"\n")
        count += 1
    return count


def read_rows(connection: Connection, table: Table, lines: Iterator[bytes]) -> int:
    """Add rows that `write_rows` wrote; gives how many.

    Raises:
        SchemaError: a line has a column that the table has not.
    """
    typed, count = metadata.tables[table.name], 0
    binary = {column.name for column in typed.columns if isinstance(column.type, LargeBinary)}
    batch: list[dict[str, Any]] = []

    def flush() -> None:
        if batch:
            connection.execute(insert(table), batch)
            batch.clear()

    for line in lines:
        values = orjson.loads(line)
        if not values.keys() <= set(table.columns.keys()):
            raise SchemaError(
                f"table {table.name!r} of the backup has columns that this version does not know"
            )
        batch.append({name: _real(value, binary=name in binary) for name, value in values.items()})
        count += 1
        if len(batch) >= _AT_ONCE:
            flush()
    flush()
    return count


def revision_of(connection: Connection) -> str:
    """The migration that a database is at.

    Raises:
        SchemaError: it has none: it is empty.
    """
    found = revision(connection)
    if found is None:
        raise SchemaError("there is nothing to back up: the database has no tables yet")
    return found


def _plain(value: Any) -> Any:
    return {"$base64": base64.b64encode(value).decode()} if isinstance(value, (bytes, memoryview)) else value


def _real(value: Any, *, binary: bool) -> Any:
    return base64.b64decode(value["$base64"]) if binary and isinstance(value, dict) else value
