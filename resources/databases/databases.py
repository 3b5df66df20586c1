"""The one door to SQL databases: every statement passes the access list, the policy, the binds and the limits."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from interlace.engine.errors import NodeError
from interlace.engine.protocols import Files
from interlace.resources.databases import catalog
from interlace.resources.databases.access import Access, Place
from interlace.resources.databases.catalog import ColumnInfo, Report, TableInfo
from interlace.resources.databases.export import MEDIA_TYPES, Exported, Format, RowWriter
from interlace.resources.databases.faults import discreet
from interlace.resources.databases.flight import Flight, Stream
from interlace.resources.databases.identifiers import common_columns, quoted, quoted_table
from interlace.resources.databases.parameters import bind, insert
from interlace.resources.databases.relations import COLUMNS_OF, OWN_FUNCTIONS, RELATIONS, Known, known
from interlace.resources.databases.result import Collector, QueryResult, WriteResult
from interlace.resources.databases.servers import Servers
from interlace.resources.databases.url import DatabaseUrl, Dialect
from interlace.resources.databases.views import GENERATED, VIEWS, widened

if TYPE_CHECKING:
    from interlace.resources.databases import policy
    from interlace.resources.databases.hiding import Hidden

MAX_ROWS = 1_000
MAX_BYTES = 16_000_000
MAX_EXPORTED_ROWS = 10_000_000
MAX_EXPORTED_BYTES = 4_000_000_000
TIMEOUT_S = 300.0
MAX_INSERT_ROWS = 100_000

_BATCH_ROWS = 500
_BATCH_VALUES = 30_000
_KNOWN_S = 60.0


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
        self._servers = Servers()
        self._known: dict[tuple[DatabaseUrl, Hidden], tuple[float, Known]] = {}

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
        hidden: Hidden | None = None,
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
            hidden: tables and columns that may not be named, nor given unnamed.

        Raises:
            NodeError: kinds `database_url`, `blocked_address`, `sql_refused`, `parameters`, `connection`, `timeout`,
                `sql_error`, `permission`, `deadlock`, `serialization`, `overloaded`.
        """
        address = DatabaseUrl.parse(url)
        _checked(address.dialect, sql, "read", tables, hidden)
        bind(address.dialect, sql, parameters or {})
        passed = await self._passed(address, sql, "read", tables, hidden)
        bound = bind(address.dialect, passed.sql, parameters or {})
        collector = Collector(max_rows=max_rows, max_bytes=max_bytes, keep=stream is None)
        flight = Flight(timeout, stream)
        with _discreet(hidden):
            await self._servers.read(address, passed.place, bound, collector, flight, hidden=passed.hidden)
        return collector.result()

    async def export(
        self,
        url: str,
        sql: str,
        parameters: Mapping[str, object] | None = None,
        *,
        files: Files,
        name: str,
        how: Format = "jsonl",
        max_rows: int = MAX_EXPORTED_ROWS,
        max_bytes: int = MAX_EXPORTED_BYTES,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - see query
        hidden: Hidden | None = None,
    ) -> Exported:
        """The rows of a query as a file, of which memory holds a batch at a time; raises as `query`, and StoreError."""
        async with files.stream(name=f"{name}.{how}", media_type=MEDIA_TYPES[how]) as stream:
            writer = RowWriter(stream, how)
            found = await self.query(
                url, sql, parameters, max_rows=max_rows, max_bytes=max_bytes, timeout=timeout, stream=writer.take,
                hidden=hidden,
            )  # fmt: skip
            await writer.end(found.columns)
        assert stream.value is not None
        return Exported(
            file=stream.value, columns=found.columns, row_count=found.row_count, truncated=found.truncated
        )

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
        hidden: Hidden | None = None,
    ) -> WriteResult:
        """Do one INSERT, UPDATE, DELETE or MERGE (with `allow_ddl` also CREATE, ALTER, DROP, TRUNCATE).

        The transaction is committed or rolled back whole (MySQL and MariaDB commit DDL at once by themselves). The
        caps count for the rows of RETURNING; the change itself is made in full.

        Raises:
            NodeError: as `query`, and `constraint`.
        """
        address = DatabaseUrl.parse(url)
        purpose: policy.Purpose = "ddl" if allow_ddl else "write"
        _checked(address.dialect, sql, purpose, tables, hidden)
        bind(address.dialect, sql, parameters or {})
        passed = await self._passed(address, sql, purpose, tables, hidden)
        bound = bind(address.dialect, passed.sql, parameters or {})
        collector = Collector(max_rows=max_rows, max_bytes=max_bytes)
        try:
            with _discreet(hidden):
                return await self._servers.write(
                    address,
                    passed.place,
                    [bound],
                    collector,
                    timeout,
                    found=passed.found,
                    hidden=passed.hidden,
                )
        finally:
            if passed.found.purpose == "ddl":
                self._known.clear()

    async def insert_many(
        self,
        url: str,
        table: str,
        rows: Sequence[Mapping[str, object]],
        *,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - see query
        tables: frozenset[str] | None = None,
        hidden: Hidden | None = None,
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
        shape = head + f"({', '.join(['NULL'] * len(columns))})"
        passed = await self._passed(address, shape, "write", tables, hidden)
        per_batch = max(1, min(_BATCH_ROWS, _BATCH_VALUES // len(columns)))
        statements = [
            insert(address.dialect, head, columns, rows[start : start + per_batch])
            for start in range(0, len(rows), per_batch)
        ]
        collector = Collector(max_rows=0, max_bytes=0)
        with _discreet(hidden):
            return await self._servers.write(
                address,
                passed.place,
                statements,
                collector,
                timeout,
                found=passed.found,
                hidden=passed.hidden,
            )

    async def check(self, url: str) -> Report:
        """Try the connection and say what its user may do beyond reading; raises nothing for an unreachable one."""
        try:
            address = DatabaseUrl.parse(url)
            place = await self._access.check(address)
            facts = await self._servers.look_up(address, place, catalog.RIGHTS[address.dialect], ())
        except NodeError as error:
            return Report(reachable=False, error=error.message)
        return catalog.report(address.dialect, facts)

    async def tables(self, url: str) -> list[TableInfo]:
        """The tables and views the user can read, those of the URL's schema where it names one."""
        address = DatabaseUrl.parse(url)
        place = await self._access.check(address)
        values = (address.schema,) if address.dialect == "postgresql" else ()
        found = await self._servers.look_up(address, place, catalog.TABLES[address.dialect], values)
        return [TableInfo(**row) for row in found]

    async def columns(self, url: str, table: str) -> list[ColumnInfo]:
        """The columns of a table (`name` or `schema.name`), in order; none where there is no such table."""
        address = DatabaseUrl.parse(url)
        place = await self._access.check(address)
        name = quoted_table("postgresql", table) if address.dialect == "postgresql" else table
        found = await self._servers.look_up(address, place, catalog.COLUMNS[address.dialect], (name,))
        return [ColumnInfo(**(row | {"nullable": bool(row["nullable"])})) for row in found]

    async def close(self) -> None:
        """Close every resting connection; operations on their way end by themselves."""
        await self._servers.close()

    async def hides(self, url: str, hidden: Hidden) -> Hidden:
        """What is hidden in a database all in all: views over it, and tables that inherit from it, count as it does."""
        address = DatabaseUrl.parse(url)
        return (await self._look(address, await self._access.check(address), hidden)).hidden

    async def _look(
        self, address: DatabaseUrl, place: Place, hidden: Hidden, *, afresh: bool = False
    ) -> Known:
        kept = self._known.get((address, hidden))
        now = time.monotonic()
        if kept is not None and kept[0] > now and not afresh:
            return kept[1]
        dialect = address.dialect
        views = await self._servers.look_up(address, place, VIEWS[dialect], ())
        generated = (
            await self._servers.look_up(address, place, GENERATED[dialect], ()) if hidden.columns else []
        )
        wider = widened(dialect, hidden, views, generated)
        relations = await self._servers.look_up(address, place, RELATIONS[dialect], ())
        columns = [
            row
            for owner in sorted({owner for owner, _ in wider.columns} - wider.tables)
            for row in await self._servers.look_up(address, place, COLUMNS_OF[dialect], (owner,))
        ]
        functions = await self._servers.look_up(address, place, OWN_FUNCTIONS[dialect], ())
        found = known(dialect, wider, relations, columns, functions)
        self._known = {key: entry for key, entry in self._known.items() if entry[0] > now}
        self._known[address, hidden] = (now + _KNOWN_S, found)
        return found

    async def _passed(
        self,
        address: DatabaseUrl,
        sql: str,
        purpose: policy.Purpose,
        tables: frozenset[str] | None,
        hidden: Hidden | None,
    ) -> _Passed:
        """What is sent, and where to, once the policy and the access list let it."""
        found = _checked(address.dialect, sql, purpose, tables, hidden)
        place = await self._access.check(address)
        if not hidden:
            return _Passed(place, found, sql, None)
        from interlace.resources.databases.narrowed import narrowed  # noqa: PLC0415 - see _checked

        with _discreet(hidden):
            looked = await self._look(address, place, hidden)
        found = _checked(address.dialect, sql, purpose, tables, looked.hidden)
        try:
            sent = narrowed(address.dialect, sql, looked)
        except NodeError:  # a table that came into being since
            with _discreet(hidden):
                looked = await self._look(address, place, hidden, afresh=True)
            found = _checked(address.dialect, sql, purpose, tables, looked.hidden)
            sent = narrowed(address.dialect, sql, looked)
        return _Passed(place, found, sent, looked.hidden)


@dataclass(frozen=True, slots=True)
class _Passed:
    place: Place
    found: policy.Statement
    sql: str
    hidden: Hidden | None


@contextmanager
def _discreet(hidden: Hidden | None) -> Iterator[None]:
    try:
        yield
    except NodeError as error:
        if hidden:
            discreet(error, hidden)
        raise


def _checked(
    dialect: Dialect, sql: str, purpose: policy.Purpose, tables: frozenset[str] | None, hidden: Hidden | None
) -> policy.Statement:
    from interlace.resources.databases import policy  # noqa: PLC0415 - its SQL parser is loaded by the first statement

    return policy.check(dialect, sql, purpose, tables, hidden)
