"""SQLite: a fresh connection for each operation, in a worker thread, behind its own authorizer and limits."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from interlace.engine.errors import NodeError
from interlace.resources.databases.faults import sqlite_fault
from interlace.resources.databases.flight import Flight
from interlace.resources.databases.grammar import FUNCTIONS, WRITE_FUNCTIONS
from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.parameters import Bound
from interlace.resources.databases.result import Collector, WriteResult

Mode = Literal["ro", "rw", "rwc"]
Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]

_BUSY_S = 5.0
_PROGRESS_STEPS = 20_000
_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LENGTH: 16_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 5_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_READ = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_WRITE = _READ | {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
_DDL = _WRITE | {
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_INDEX,
    sqlite3.SQLITE_CREATE_VIEW,
    sqlite3.SQLITE_DROP_TABLE,
    sqlite3.SQLITE_DROP_INDEX,
    sqlite3.SQLITE_DROP_VIEW,
    sqlite3.SQLITE_DROP_TRIGGER,
    sqlite3.SQLITE_ALTER_TABLE,
    sqlite3.SQLITE_REINDEX,
}
_ON_COLUMNS = frozenset({sqlite3.SQLITE_READ, sqlite3.SQLITE_UPDATE})
_ON_TABLES = _ON_COLUMNS | {
    sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_DROP_VIEW,
}  # fmt: skip
# Operators that SQLite asks about as functions.
_OPERATORS = frozenset({"->", "->>"})
_INNER_PREFIX = "sqlite_"
# What the full-text index asks of itself.
_PRAGMAS = frozenset({"data_version"})
_TYPES: dict[type, str] = {int: "integer", float: "real", str: "text", bytes: "blob"}


def read(
    path: Path, bound: Bound, collector: Collector, flight: Flight, *, hidden: Hidden | None = None
) -> None:
    """Fill the collector from one SELECT, in a worker thread; nothing that is hidden is read for it."""
    _guarded(lambda: _read(path, bound, collector, flight, hidden))


def look_up(path: Path, sql: str, values: Sequence[object] = ()) -> list[dict[str, object]]:
    """Rows of the platform's own question about the schema (no authorizer: it uses pragma functions)."""
    found: list[dict[str, object]] = []

    def ask() -> None:
        with closing(_connect(path, "ro", _BUSY_S)) as connection:
            cursor = connection.execute(sql, tuple(values))
            names = [entry[0] for entry in cursor.description]
            found.extend(dict(zip(names, row, strict=True)) for row in cursor)

    _guarded(ask)
    return found


def write(
    path: Path,
    statements: Sequence[Bound],
    collector: Collector,
    flight: Flight,
    mode: Mode,
    *,
    hidden: Hidden | None = None,
) -> WriteResult:
    """Do the statements in one transaction, in a worker thread; rows of RETURNING go to the collector."""
    counts: list[int] = []

    def work() -> None:
        with closing(_connect(path, mode, min(_BUSY_S, flight.seconds))) as connection:
            _watch(connection, flight)
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("BEGIN IMMEDIATE")
            connection.set_authorizer(_authorizer(_DDL if mode == "rwc" else _WRITE, hidden, writes=True))
            for bound in statements:
                cursor = connection.execute(bound.sql, bound.values)
                if cursor.description:
                    # The change is made in full only when the last returned row was read.
                    rows = cursor.fetchall()
                    _describe(cursor, rows, collector)
                    collector.take(rows, len(rows) + 1)
                counts.append(max(cursor.rowcount, 0))
            connection.set_authorizer(None)
            flight.enter_commit()
            connection.execute("COMMIT")

    _guarded(work)
    return WriteResult(
        row_count=sum(counts), rows=collector.rows, columns=collector.columns, truncated=collector.truncated
    )


def _read(path: Path, bound: Bound, collector: Collector, flight: Flight, hidden: Hidden | None) -> None:
    with closing(_connect(path, "ro", min(_BUSY_S, flight.seconds))) as connection:
        _watch(connection, flight)
        connection.execute("PRAGMA query_only=ON")
        connection.execute("BEGIN")
        connection.set_authorizer(_authorizer(_READ, hidden, writes=False))
        cursor = connection.execute(bound.sql, bound.values)
        if cursor.description is None:
            raise NodeError("The statement returns no rows.", kind="sql_refused", retryable=False)
        _collect(cursor, collector, flight)
        cursor.close()


def _collect(cursor: sqlite3.Cursor, collector: Collector, flight: Flight) -> None:
    asked = collector.wanted()
    rows = cursor.fetchmany(asked)
    _describe(cursor, rows, collector)
    while True:
        flight.deliver_from_thread(collector.take(rows, asked))
        asked = collector.wanted()
        if not asked:
            return
        rows = cursor.fetchmany(asked)


def _describe(cursor: sqlite3.Cursor, rows: Sequence[Sequence[object]], collector: Collector) -> None:
    names = [str(entry[0]) for entry in cursor.description]
    collector.describe(names, _types(len(names), rows))


def _connect(path: Path, mode: Mode, busy: float) -> sqlite3.Connection:
    if mode != "rwc" and not path.exists():
        raise NodeError(
            f"There is no database file {path.name!r}; a statement with 'allow_ddl' creates it.",
            kind="connection",
            retryable=False,
        )
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=busy,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=0,
    )
    # The path may have been exchanged for a link since it was checked.
    if path.resolve() != path:
        connection.close()
        raise NodeError(f"The path of {path.name!r} changed while it was opened.", kind="blocked_address")
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _watch(connection: sqlite3.Connection, flight: Flight) -> None:
    flight.on_stop(lambda: _interrupt(connection))
    connection.set_progress_handler(lambda: int(flight.stopped), _PROGRESS_STEPS)


def _interrupt(connection: sqlite3.Connection) -> None:
    try:
        connection.interrupt()
    except sqlite3.ProgrammingError:
        return  # closed in the meantime: the work is done


def _authorizer(actions: frozenset[int], hidden: Hidden | None, *, writes: bool) -> Authorizer:
    functions = FUNCTIONS["sqlite"] | _OPERATORS | (WRITE_FUNCTIONS["sqlite"] if writes else frozenset())
    ddl = sqlite3.SQLITE_ALTER_TABLE in actions

    def allow(
        action: int, first: str | None, second: str | None, _database: str | None, _inner: str | None
    ) -> int:
        if action in actions:
            return (
                sqlite3.SQLITE_DENY
                if hidden and _touches(hidden, action, first, second)
                else sqlite3.SQLITE_OK
            )
        if action == sqlite3.SQLITE_FUNCTION and second is not None:
            name = second.lower()
            if name in functions or (ddl and name.startswith(_INNER_PREFIX)):
                return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            # A table-valued function or full-text index declares itself so; the file stays as it is, being read-only.
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    return allow


def _touches(hidden: Hidden, action: int, table: str | None, column: str | None) -> bool:
    """Whether an action reads or changes what is hidden, under whatever name: a view or trigger does it in its own words.

    SQLite names the column that is the key where a statement says `rowid`.
    """
    if action not in _ON_TABLES or table is None:
        return False
    return hidden.hides(table, column if action in _ON_COLUMNS else None)


def _types(width: int, rows: Sequence[Sequence[object]]) -> list[str]:
    """SQLite has types of values, not of columns: that of the first value there is."""
    found = ["null"] * width
    for index in range(width):
        value = next((row[index] for row in rows if row[index] is not None), None)
        found[index] = _TYPES.get(type(value), "null")
    return found


def _guarded(work: Callable[[], None]) -> None:
    try:
        work()
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise sqlite_fault(error) from None
