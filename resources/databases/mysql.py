"""MariaDB and MySQL through PyMySQL in worker threads: READ ONLY transactions and unbuffered cursors."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import pymysql
from pymysql.constants import CLIENT, FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import Cursor, SSCursor

from interlace.engine.errors import NodeError
from interlace.resources.databases.access import Place
from interlace.resources.databases.faults import mysql_fault, unknown_outcome
from interlace.resources.databases.flight import Flight
from interlace.resources.databases.parameters import Bound
from interlace.resources.databases.pool import Pool
from interlace.resources.databases.result import Collector, WriteResult
from interlace.resources.databases.url import DatabaseUrl
from interlace.resources.databases.values import number, parsed_json

Connection: TypeAlias = "_Link"

if TYPE_CHECKING:
    _Driver = pymysql.Connection[Cursor]
else:
    _Driver = pymysql.Connection

_SESSION = (
    "SET NAMES utf8mb4, sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',"
    " time_zone='+00:00', autocommit=1"
)
_RESET = 0x1F
_BINARY = 63
_TYPES = {value: name.lower() for name, value in vars(FIELD_TYPE).items() if isinstance(value, int)}
_TYPES |= {FIELD_TYPE.VAR_STRING: "varchar", FIELD_TYPE.STRING: "char", FIELD_TYPE.NEWDECIMAL: "decimal",
           FIELD_TYPE.LONG: "int", FIELD_TYPE.LONGLONG: "bigint", FIELD_TYPE.SHORT: "smallint",
           FIELD_TYPE.TINY: "tinyint", FIELD_TYPE.INT24: "mediumint", FIELD_TYPE.BLOB: "text"}  # fmt: skip
_SURE = frozenset(
    {"tinyint", "smallint", "mediumint", "int", "decimal", "date", "time", "datetime", "timestamp"}
)


def _timestamp(text: str) -> str:
    return text.replace(" ", "T", 1)


def _bits(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _text(value: str) -> str:
    return value


_CONVERSIONS: dict[Any, Any] = conversions | {
    FIELD_TYPE.DATE: _text,
    FIELD_TYPE.NEWDATE: _text,
    FIELD_TYPE.TIME: _text,
    FIELD_TYPE.DATETIME: _timestamp,
    FIELD_TYPE.TIMESTAMP: _timestamp,
    FIELD_TYPE.DECIMAL: number,
    FIELD_TYPE.NEWDECIMAL: number,
    FIELD_TYPE.JSON: parsed_json,
    FIELD_TYPE.BIT: _bits,
}


class _Link(_Driver):
    def _create_ssl_ctx(self, sslp: object) -> ssl.SSLContext:
        """Without an explicit context the mode is `prefer`; the driver would read all root certificates each time."""
        return sslp if isinstance(sslp, ssl.SSLContext) else _unverified()


def connect(url: DatabaseUrl, place: Place) -> Connection:
    """Open a connection to the checked address; no option file, no local files, no second statement.

    Raises:
        NodeError: kind `connection`.
    """
    context = {"verify-full": _verified, "require": _unverified}.get(url.sslmode, lambda: None)()
    try:
        connection = _Link(
            host=url.host,
            port=url.port,
            user=url.user,
            password=url.password,
            database=url.database,
            charset="utf8mb4",
            conv=_CONVERSIONS,
            local_infile=False,
            read_default_file=None,
            client_flag=CLIENT.FOUND_ROWS,
            init_command=_SESSION,
            autocommit=None,
            connect_timeout=url.connect_timeout,
            ssl_disabled=url.sslmode == "disable",
            ssl=context,
            defer_connect=True,
        )
        link = socket.create_connection((place.address, url.port), url.connect_timeout)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.connect(link)
    except pymysql.err.Error as error:
        raise mysql_fault(error) from None
    except OSError as error:
        raise NodeError(
            f"The database cannot be reached: {url.host}:{url.port}: {error}.", kind="connection"
        ) from None
    return connection


def read(lease: Lease, bound: Bound, collector: Collector, flight: Flight) -> None:
    """Fill the collector from one SELECT in a read-only transaction, in a worker thread."""

    def work() -> None:
        connection = lease.begin("READ ONLY", flight, collector.max_rows + 1)
        cursor = SSCursor(connection)
        try:
            cursor.execute(bound.sql, bound.values)
            names, kinds = _columns(cursor)
            collector.describe(names, kinds, _SURE)
            while asked := collector.wanted():
                flight.deliver_from_thread(collector.take(cursor.fetchmany(asked), asked))
            if not collector.truncated or cursor.fetchone() is None:
                cursor.close()
                flight.on_stop(None)
                lease.give_back()
        finally:
            # An unread result would be read to its end by the cursor; the connection goes instead.
            lease.discard()
            _forget(cursor)

    _guarded(work, flight)


def write(
    lease: Lease,
    statements: Sequence[Bound],
    collector: Collector,
    flight: Flight,
    *,
    reusable: bool,
) -> WriteResult:
    """Do the statements in one transaction, in a worker thread; rows of RETURNING go to the collector."""
    counts: list[int] = []

    def work() -> None:
        try:
            connection = lease.begin("READ WRITE", flight, 0)
            for bound in statements:
                with connection.cursor(Cursor) as cursor:
                    counts.append(max(cursor.execute(bound.sql, bound.values), 0))
                    if cursor.description:
                        names, kinds = _columns(cursor)
                        collector.describe(names, kinds, _SURE)
                        while asked := collector.wanted():
                            collector.take(cursor.fetchmany(asked), asked)
            flight.enter_commit()
            connection.commit()
            if reusable:
                lease.give_back()
        finally:
            lease.discard()

    _guarded(work, flight)
    return WriteResult(
        row_count=sum(counts), rows=collector.rows, columns=collector.columns, truncated=collector.truncated
    )


def look_up(lease: Lease, flight: Flight, sql: str, values: Sequence[object] = ()) -> list[dict[str, object]]:
    """Rows of the platform's own question about the schema."""
    found: list[dict[str, object]] = []

    def work() -> None:
        try:
            connection = lease.begin("READ ONLY", flight, 100_000)
            with connection.cursor(Cursor) as cursor:
                cursor.execute(sql, tuple(values))
                names = [str(entry[0]).lower() for entry in cursor.description or ()]
                found.extend(dict(zip(names, row, strict=True)) for row in cursor.fetchall())
            flight.on_stop(None)
            lease.give_back()
        finally:
            lease.discard()

    _guarded(work, flight)
    return found


class Lease:
    """One connection for one operation: taken from the pool or opened, given back clean or closed."""

    def __init__(self, pool: Pool[Connection], url: DatabaseUrl, place: Place) -> None:
        self._pool, self._url, self._place = pool, url, place
        self._connection: Connection | None = None
        self._resting: list[Connection] = []
        self.clean: Connection | None = None

    def take(self) -> None:
        """Fetch a resting connection, on the event loop."""
        resting = self._pool.take()
        if resting is not None:
            self._resting.append(resting)

    def put(self) -> None:
        """Lay the clean connection back, on the event loop."""
        if self.clean is not None:
            self._pool.put(self.clean)
            self.clean = None

    def begin(self, access: str, flight: Flight, select_limit: int) -> Connection:
        """Start the transaction; a resting connection that the server has closed is replaced."""
        while self._resting:
            self._connection = self._resting.pop()
            with contextlib.suppress(pymysql.err.OperationalError, pymysql.err.InterfaceError):
                return self._start(self._connection, access, flight, select_limit)
            self.discard()
        self._connection = connect(self._url, self._place)
        return self._start(self._connection, access, flight, select_limit)

    def give_back(self) -> None:
        """End the transaction and forget everything the session knows."""
        connection = self._connection
        assert connection is not None
        # The server rolls back and resets the session; PyMySQL has no public call for it.
        connection._execute_command(_RESET, b"")  # type: ignore[attr-defined]  # noqa: SLF001 - see above
        connection._read_ok_packet()  # type: ignore[attr-defined]  # noqa: SLF001 - see above
        connection.query(_SESSION)
        self.clean, self._connection = connection, None

    def discard(self) -> None:
        """Close the connection unless it was given back."""
        if self._connection is not None:
            close(self._connection)
            self._connection = None

    def _start(self, connection: Connection, access: str, flight: Flight, select_limit: int) -> Connection:
        thread = int(connection.thread_id())  # type: ignore[no-untyped-call]
        flight.on_stop(lambda: self._kill(thread))
        maria = "MariaDB" in connection.get_server_info()  # type: ignore[no-untyped-call]
        if maria:
            settings = [f"max_statement_time={flight.seconds + 0.5:.3f}"]
        else:
            settings = [f"max_execution_time={int(flight.seconds * 1000) + 500}"]
        if access == "READ ONLY":
            # DDL commits the transaction and would run after it; with the setting the session stays read-only.
            settings += [
                f"sql_select_limit={select_limit}",
                f"{'tx' if maria else 'transaction'}_read_only=1",
            ]
        connection.query(f"SET {', '.join(settings)}")
        connection.query(f"START TRANSACTION {access}")
        return connection

    def _kill(self, thread: int) -> None:
        threading.Thread(target=self._kill_now, args=(thread,), daemon=True).start()

    def _kill_now(self, thread: int) -> None:
        with contextlib.suppress(NodeError, pymysql.err.Error, OSError):
            second = connect(self._url, self._place)
            try:
                second.query(f"KILL {thread}")
            finally:
                second.close()


def close(connection: Connection) -> None:
    """Close, whatever state the connection is in."""
    with contextlib.suppress(pymysql.err.Error):
        connection.close()


def _forget(cursor: SSCursor) -> None:
    result = getattr(cursor, "_result", None)
    if result is not None:
        result.unbuffered_active = False
    cursor.connection = None  # type: ignore[assignment]


def _columns(cursor: Cursor) -> tuple[list[str], list[str]]:
    description = cursor.description or ()
    fields = getattr(getattr(cursor, "_result", None), "fields", None) or ()
    binary = [getattr(field, "charsetnr", 0) == _BINARY for field in fields]
    names = [str(entry[0]) for entry in description]
    kinds = [_TYPES.get(int(entry[1] or 0), "unknown") for entry in description]
    return names, [
        "blob" if kind == "text" and index < len(binary) and binary[index] else kind
        for index, kind in enumerate(kinds)
    ]


@cache
def _verified() -> ssl.SSLContext:
    return ssl.create_default_context()


@cache
def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _guarded(work: Callable[[], None], flight: Flight) -> None:
    try:
        work()
    except pymysql.err.Error as error:
        fault = mysql_fault(error)
        lost = flight.committing and fault.kind == "connection"
        raise (unknown_outcome(fault) if lost else fault) from None
    except (OSError, ValueError, AttributeError) as error:
        # The socket was closed under the reader: by the server or by a stop.
        raise NodeError(f"The database connection broke: {error}.", kind="connection") from None
