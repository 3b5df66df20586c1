"""PostgreSQL through psycopg's asynchronous connections: READ ONLY transactions and named cursors."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import AsyncRawCursor, AsyncRawServerCursor
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import make_conninfo

from interlace.resources.databases.access import Place
from interlace.resources.databases.faults import postgres_fault, unknown_outcome
from interlace.resources.databases.flight import Flight
from interlace.resources.databases.parameters import Bound
from interlace.resources.databases.pool import Pool
from interlace.resources.databases.result import Collector, WriteResult
from interlace.resources.databases.url import DatabaseUrl
from interlace.resources.databases.values import number, parsed_json

Connection = psycopg.AsyncConnection[tuple[Any, ...]]

_NO_FILE = "/dev/null/none"
_SETTINGS = {
    "standard_conforming_strings": "on",
    "datestyle": "ISO",
    "intervalstyle": "iso_8601",
    "timezone": "UTC",
    "bytea_output": "hex",
    "client_min_messages": "error",
}
_DECLARE = 'DECLARE "interlace_read" CURSOR FOR '
_CURSOR = "interlace_read"
_TEXT_TYPES = (
    "date", "time", "timetz", "interval", "uuid", "inet", "cidr", "int4range", "int8range", "numrange", "daterange",
    "tsrange", "tstzrange", "int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange",
    "tstzmultirange", "record",
)  # fmt: skip
# What the loaders below and the driver's own give as JSON; type names with a length are looked at.
_SURE = frozenset(
    {"bool", "int2", "int4", "int8", "text", "varchar", "name", "timestamp", "timestamptz", *_TEXT_TYPES}
)


class _Text(Loader):
    def load(self, data: Buffer) -> str:
        return str(data, "utf-8")


class _Timestamp(Loader):
    def load(self, data: Buffer) -> str:
        return str(data, "utf-8").replace(" ", "T", 1)


class _TimestampZone(Loader):
    def load(self, data: Buffer) -> str:
        text = str(data, "utf-8").replace(" ", "T", 1)
        return text + ":00" if text[-3:-2] in {"+", "-"} else text


class _Numeric(Loader):
    def load(self, data: Buffer) -> int | float | str | None:
        return number(str(data, "utf-8"))


class _Json(Loader):
    def load(self, data: Buffer) -> object:
        return parsed_json(bytes(data))


class _OneStatement(AsyncRawCursor[tuple[Any, ...]]):
    """Always the extended protocol, in which the server itself refuses a second statement."""

    def _execute_send(self, query: Any, **options: Any) -> None:
        super()._execute_send(query, **(options | {"force_extended": True}))


async def connect(url: DatabaseUrl, place: Place) -> Connection:
    """Open a connection to the checked address, with every setting given: nothing comes from files or environment.

    Raises:
        NodeError: kind `connection`.
    """
    settings = dict(_SETTINGS)
    if url.schema:
        settings["search_path"] = f'"{url.schema}"'
    verify = url.sslmode == "verify-full"
    conninfo = make_conninfo(
        host=url.host,
        hostaddr=place.address,
        port=url.port,
        user=url.user,
        password=url.password,
        dbname=url.database,
        sslmode=url.sslmode,
        sslrootcert="system" if verify else _NO_FILE,
        sslcertmode="disable",
        sslcert=_NO_FILE,
        sslkey=_NO_FILE,
        sslcrl=_NO_FILE if not verify else "",
        passfile=_NO_FILE,
        gssencmode="disable",
        target_session_attrs="any",
        application_name="interlace",
        client_encoding="utf8",
        connect_timeout=url.connect_timeout,
        keepalives_idle=30,
        options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
    )
    try:
        connection = await psycopg.AsyncConnection.connect(conninfo, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise postgres_fault(error) from None
    adapters = connection.adapters
    for name in _TEXT_TYPES:
        adapters.register_loader(name, _Text)
    adapters.register_loader("timestamp", _Timestamp)
    adapters.register_loader("timestamptz", _TimestampZone)
    adapters.register_loader("numeric", _Numeric)
    adapters.register_loader("json", _Json)
    adapters.register_loader("jsonb", _Json)
    return connection


async def read(lease: Lease, bound: Bound, collector: Collector, flight: Flight) -> None:
    """Fill the collector from one SELECT in a read-only transaction, through a named cursor."""
    cursor: AsyncRawServerCursor[tuple[Any, ...]] | None = None
    try:
        connection = await lease.begin("READ ONLY", flight.seconds)
        cursor = AsyncRawServerCursor(connection, _CURSOR)
        await cursor.execute(bound.sql, bound.values or None)
        _describe(cursor, collector)
        while asked := collector.wanted():
            rows = await cursor.fetchmany(asked)
            await flight.deliver(collector.take(rows, asked))
        await connection.execute("ROLLBACK")
        await cursor.close()
        await lease.give_back()
    except psycopg.Error as error:
        raise postgres_fault(error, _position(error, bound, len(_DECLARE))) from None
    finally:
        lease.discard()
        if cursor is not None:
            await cursor.close()  # asks the server nothing: the connection or the cursor is closed already


async def write(
    lease: Lease, statements: Sequence[Bound], collector: Collector, flight: Flight
) -> WriteResult:
    """Do the statements in one transaction; rows of RETURNING go to the collector."""
    bound = statements[0]
    count = 0
    try:
        connection = await lease.begin("READ WRITE", flight.seconds)
        for bound in statements:
            cursor = _OneStatement(connection)
            await cursor.execute(bound.sql, bound.values)
            count += max(cursor.rowcount, 0)
            if cursor.description is not None:
                await _returned(cursor, collector)
        flight.enter_commit()
        await connection.execute("COMMIT")
        await lease.give_back()
    except psycopg.Error as error:
        fault = postgres_fault(error, _position(error, bound, 0))
        lost = flight.committing and fault.kind == "connection"
        raise (unknown_outcome(fault) if lost else fault) from None
    finally:
        lease.discard()
    return WriteResult(
        row_count=count, rows=collector.rows, columns=collector.columns, truncated=collector.truncated
    )


async def look_up(lease: Lease, sql: str, values: Sequence[object] = ()) -> list[dict[str, object]]:
    """Rows of the platform's own question about the schema."""
    try:
        connection = await lease.begin("READ ONLY", 30)
        cursor = _OneStatement(connection)
        await cursor.execute(sql, values)
        names = [column.name for column in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in await cursor.fetchall()]
        await lease.give_back()
    except psycopg.Error as error:
        raise postgres_fault(error) from None
    finally:
        lease.discard()
    return rows


class Lease:
    """One connection for one operation: taken from the pool or opened, given back clean or closed."""

    def __init__(self, pool: Pool[Connection], url: DatabaseUrl, place: Place) -> None:
        self._pool, self._url, self._place = pool, url, place
        self._connection: Connection | None = None

    async def begin(self, access: str, seconds: float) -> Connection:
        """Start the transaction; a resting connection that the server has closed is replaced."""
        limit = int(seconds * 1000) + 500
        start = (
            f"BEGIN {access}; SET LOCAL statement_timeout = {limit};"
            f" SET LOCAL idle_in_transaction_session_timeout = {limit}"
        )
        while (resting := self._pool.take()) is not None:
            self._connection = resting
            with contextlib.suppress(psycopg.OperationalError):
                await resting.execute(start)
                return resting
            self.discard()
        self._connection = await connect(self._url, self._place)
        await self._connection.execute(start)
        return self._connection

    async def give_back(self) -> None:
        """End the transaction, forget everything the session knows, and lay the connection back."""
        connection = self._connection
        assert connection is not None
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            await connection.execute("ROLLBACK")
        await connection.execute("DISCARD ALL")
        self._pool.put(connection)
        self._connection = None

    def discard(self) -> None:
        """Close the connection unless it was given back."""
        if self._connection is not None:
            close(self._connection)
            self._connection = None


def close(connection: Connection) -> None:
    """Close at once, without waiting for the server."""
    connection.pgconn.finish()


def _describe(cursor: psycopg.AsyncCursor[Any], collector: Collector) -> None:
    columns = cursor.description or ()
    collector.describe(
        [column.name for column in columns], [column.type_display for column in columns], _SURE
    )


async def _returned(cursor: AsyncRawCursor[Any], collector: Collector) -> None:
    _describe(cursor, collector)
    while asked := collector.wanted():
        collector.take(await cursor.fetchmany(asked), asked)


def _position(error: psycopg.Error, bound: Bound, prefix: int) -> str:
    text = error.diag.statement_position
    return bound.position(int(text) - 1 - prefix) if text else ""
