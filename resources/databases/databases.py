"""The one door to SQL databases: every statement passes the access list, the policy, the binds and the limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from interlace.engine.errors import NodeError
from interlace.resources.databases import catalog, sqlite
from interlace.resources.databases.access import Access, Place
from interlace.resources.databases.catalog import ColumnInfo, Report, TableInfo
from interlace.resources.databases.flight import Flight, Stream
from interlace.resources.databases.identifiers import common_columns, quoted, quoted_table
from interlace.resources.databases.parameters import Bound, bind, insert
from interlace.resources.databases.pool import Pool
from interlace.resources.databases.result import Collector, QueryResult, WriteResult
from interlace.resources.databases.url import DatabaseUrl, Dialect

if TYPE_CHECKING:
    from interlace.resources.databases import mysql, policy, postgres

MAX_ROWS = 1_000
MAX_BYTES = 16_000_000
TIMEOUT_S = 300.0
POOL_SIZE = 4
MAX_INSERT_ROWS = 100_000

_THREADS = 16
_BATCH_ROWS = 500
_BATCH_VALUES = 30_000
_LOOK_UP_S = 30.0

T = TypeVar("T")


class Databases:
    """Runs statements on the databases an operator allows.

    Connections are pooled by URL, credentials included. Build one instance for each organisation, so that no
    connection is ever shared between two. It belongs to one event loop.

    Args:
        allow: hosts, `host:port`, CIDRs and SQLite paths that may be reached (empty: none).
        refused_paths: never reached, whatever is allowed: the platform's home.
        refused_urls: never reached, whatever is allowed: the platform's own database.
        base_dir: where relative SQLite paths start.
    """

    def __init__(
        self,
        *,
        allow: Sequence[str],
        refused_paths: Iterable[Path] = (),
        refused_urls: Iterable[str] = (),
        base_dir: Path,
    ) -> None:
        self._access = Access(
            allow=allow, refused_paths=refused_paths, refused_urls=refused_urls, base_dir=base_dir
        )
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="interlace-database")
        self._postgres: dict[DatabaseUrl, Pool[postgres.Connection]] = {}
        self._mysql: dict[DatabaseUrl, Pool[mysql.Connection]] = {}

    async def query(
        self,
        url: str,
        sql: str,
        parameters: Mapping[str, object] | None = None,
        *,
        max_rows: int = MAX_ROWS,
        max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - the deadline must cancel the query at the server, too
        stream: Stream | None = None,
        tables: frozenset[str] | None = None,
    ) -> QueryResult:
        """Rows of one statement that only reads.

        Args:
            url: where, see `DatabaseUrl`.
            sql: one SELECT, VALUES or WITH … SELECT with `:name` parameters.
            parameters: a value for each parameter.
            max_rows: rows to keep at most; `truncated` says that there were more.
            max_bytes: bytes of JSON to keep at most.
            timeout: seconds until the query is cancelled.
            stream: takes the rows in batches; the result then holds none.
            tables: the only tables that may be named, where the caller limits them.

        Raises:
            NodeError: kinds `database_url`, `blocked_address`, `sql_refused`, `parameters`, `connection`, `timeout`,
                `sql_error`, `permission`, `deadlock`, `serialization`, `overloaded`.
        """
        address = DatabaseUrl.parse(url)
        _checked(address.dialect, sql, "read", tables)
        bound = bind(address.dialect, sql, parameters or {})
        place = await self._access.check(address)
        collector = Collector(max_rows=max_rows, max_bytes=max_bytes, keep=stream is None)
        flight = Flight(timeout, stream)
        if address.dialect == "postgresql":
            from interlace.resources.databases import postgres  # noqa: PLC0415 - a driver is loaded by the first who uses it

            await self._on_postgres(
                address,
                place,
                flight,
                lambda lease: postgres.read(lease, bound, collector, flight),
            )
        elif address.dialect == "mysql":
            from interlace.resources.databases import mysql  # noqa: PLC0415 - a driver is loaded by the first who uses it

            await self._on_mysql(
                address,
                place,
                flight,
                lambda lease: mysql.read(lease, bound, collector, flight),
            )
        else:
            work = partial(sqlite.read, _path(place), bound, collector, flight)
            await self._in_thread(work, flight, writes=False)
        return collector.result()

    async def execute(
        self,
        url: str,
        sql: str,
        parameters: Mapping[str, object] | None = None,
        *,
        allow_ddl: bool = False,
        max_rows: int = MAX_ROWS,
        max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - see query
        tables: frozenset[str] | None = None,
    ) -> WriteResult:
        """Do one INSERT, UPDATE, DELETE or MERGE (with `allow_ddl` also CREATE, ALTER, DROP, TRUNCATE).

        The transaction is committed or rolled back whole (MySQL and MariaDB commit DDL at once by themselves). The
        caps count for the rows of RETURNING; the change itself is made in full.

        Raises:
            NodeError: as `query`, and `constraint`.
        """
        address = DatabaseUrl.parse(url)
        found = _checked(address.dialect, sql, "ddl" if allow_ddl else "write", tables)
        bound = bind(address.dialect, sql, parameters or {})
        place = await self._access.check(address)
        collector = Collector(max_rows=max_rows, max_bytes=max_bytes)
        return await self._write(address, place, [bound], collector, timeout, ddl=found.purpose == "ddl")

    async def insert_many(
        self,
        url: str,
        table: str,
        rows: Sequence[Mapping[str, object]],
        *,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - see query
        tables: frozenset[str] | None = None,
    ) -> WriteResult:
        """Insert rows, all or none; each must have the columns of the first.

        Raises:
            NodeError: as `execute`, and `identifier` for a name that cannot be a table or column.
        """
        address = DatabaseUrl.parse(url)
        if not rows:
            return WriteResult(row_count=0)
        if len(rows) > MAX_INSERT_ROWS:
            raise NodeError(
                f"{len(rows):,} rows are more than {MAX_INSERT_ROWS:,}; insert them in parts.",
                kind="parameters",
            )
        columns = common_columns(rows)
        target = quoted_table(address.dialect, table)
        names = ", ".join(quoted(address.dialect, column) for column in columns)
        head = f"INSERT INTO {target} ({names}) VALUES "  # noqa: S608 - quoted and checked identifiers
        _checked(address.dialect, head + f"({', '.join(['NULL'] * len(columns))})", "write", tables)
        place = await self._access.check(address)
        per_batch = max(1, min(_BATCH_ROWS, _BATCH_VALUES // len(columns)))
        statements = [
            insert(address.dialect, head, columns, rows[start : start + per_batch])
            for start in range(0, len(rows), per_batch)
        ]
        collector = Collector(max_rows=0, max_bytes=0)
        return await self._write(address, place, statements, collector, timeout, ddl=False)

    async def check(self, url: str) -> Report:
        """Try the connection and say what its user may do beyond reading; raises nothing for an unreachable one."""
        try:
            address = DatabaseUrl.parse(url)
            place = await self._access.check(address)
            facts = await self._look_up(address, place, catalog.RIGHTS[address.dialect], ())
        except NodeError as error:
            return Report(reachable=False, error=error.message)
        return catalog.report(address.dialect, facts)

    async def tables(self, url: str) -> list[TableInfo]:
        """The tables and views the user can read, those of the URL's schema where it names one."""
        address = DatabaseUrl.parse(url)
        place = await self._access.check(address)
        values = (address.schema,) if address.dialect == "postgresql" else ()
        found = await self._look_up(address, place, catalog.TABLES[address.dialect], values)
        return [TableInfo(**row) for row in found]

    async def columns(self, url: str, table: str) -> list[ColumnInfo]:
        """The columns of a table (`name` or `schema.name`), in order; none where there is no such table."""
        address = DatabaseUrl.parse(url)
        place = await self._access.check(address)
        name = quoted_table("postgresql", table) if address.dialect == "postgresql" else table
        found = await self._look_up(address, place, catalog.COLUMNS[address.dialect], (name,))
        return [ColumnInfo(**(row | {"nullable": bool(row["nullable"])})) for row in found]

    async def close(self) -> None:
        """Close every resting connection; operations on their way end by themselves."""
        for pool in self._postgres.values():
            pool.close()
        for other in self._mysql.values():
            other.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _write(
        self,
        address: DatabaseUrl,
        place: Place,
        statements: list[Bound],
        collector: Collector,
        seconds: float,
        *,
        ddl: bool,
    ) -> WriteResult:
        flight = Flight(seconds)
        if address.dialect == "postgresql":
            from interlace.resources.databases import postgres  # noqa: PLC0415 - a driver is loaded by the first who uses it

            return await self._on_postgres(
                address,
                place,
                flight,
                lambda lease: postgres.write(lease, statements, collector, flight),
                writes=True,
            )
        if address.dialect == "mysql":
            from interlace.resources.databases import mysql  # noqa: PLC0415 - a driver is loaded by the first who uses it

            return await self._on_mysql(
                address,
                place,
                flight,
                lambda lease: mysql.write(lease, statements, collector, flight, reusable=not ddl),
                writes=True,
            )
        mode: sqlite.Mode = "rwc" if ddl else "rw"
        work = partial(sqlite.write, _path(place), statements, collector, flight, mode)
        return await self._in_thread(work, flight, writes=True)

    async def _look_up(
        self, address: DatabaseUrl, place: Place, sql: str, values: tuple[object, ...]
    ) -> list[dict[str, Any]]:
        flight = Flight(_LOOK_UP_S)
        if address.dialect == "postgresql":
            from interlace.resources.databases import postgres  # noqa: PLC0415 - a driver is loaded by the first who uses it

            return await self._on_postgres(
                address, place, flight, lambda lease: postgres.look_up(lease, sql, values)
            )
        if address.dialect == "mysql":
            from interlace.resources.databases import mysql  # noqa: PLC0415 - a driver is loaded by the first who uses it

            return await self._on_mysql(
                address, place, flight, lambda lease: mysql.look_up(lease, flight, sql, values)
            )
        work = partial(sqlite.look_up, _path(place), sql, values)
        return await self._in_thread(work, flight, writes=False)

    async def _on_postgres(
        self,
        address: DatabaseUrl,
        place: Place,
        flight: Flight,
        work: Callable[[postgres.Lease], Awaitable[T]],
        *,
        writes: bool = False,
    ) -> T:
        from interlace.resources.databases import postgres  # noqa: PLC0415 - a driver is loaded by the first who uses it

        pool = self._postgres.setdefault(address, Pool(POOL_SIZE, postgres.close))

        async def run() -> T:
            async with pool:
                return await work(postgres.Lease(pool, address, place))

        task = asyncio.ensure_future(run())
        flight.on_stop(task.cancel)
        return await flight.land(task, writes=writes)

    async def _on_mysql(
        self,
        address: DatabaseUrl,
        place: Place,
        flight: Flight,
        work: Callable[[mysql.Lease], T],
        *,
        writes: bool = False,
    ) -> T:
        from interlace.resources.databases import mysql  # noqa: PLC0415 - a driver is loaded by the first who uses it

        pool = self._mysql.setdefault(address, Pool(POOL_SIZE, mysql.close))

        async def run() -> T:
            async with pool:
                lease = mysql.Lease(pool, address, place)
                lease.take()
                try:
                    return await asyncio.wrap_future(self._threads.submit(work, lease))
                finally:
                    lease.put()

        return await flight.land(asyncio.ensure_future(run()), writes=writes)

    async def _in_thread(self, work: Callable[[], T], flight: Flight, *, writes: bool) -> T:
        future = asyncio.wrap_future(self._threads.submit(work))
        return await flight.land(future, writes=writes)


def _checked(
    dialect: Dialect, sql: str, purpose: policy.Purpose, tables: frozenset[str] | None
) -> policy.Statement:
    from interlace.resources.databases import policy  # noqa: PLC0415 - its SQL parser is loaded by the first statement

    return policy.check(dialect, sql, purpose, tables)


def _path(place: Place) -> Path:
    assert place.path is not None
    return place.path
