"""A database's errors in the platform's words: the kind to branch on, the server's message, the position."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

from interlace.engine.errors import NodeError

if TYPE_CHECKING:
    import psycopg
    import pymysql

    from interlace.resources.databases.hiding import Hidden


class ServerError(NodeError):
    """What a server said; `brief` leaves out the details, in which it repeats rows and names columns."""

    brief: str = ""


_POSTGRES_CLASSES = {
    "08": "connection", "23": "constraint", "28": "connection", "3D": "connection", "53": "overloaded",
    "57": "connection", "58": "connection",
}  # fmt: skip
_POSTGRES_CODES = {
    "40P01": "deadlock", "55P03": "deadlock", "40001": "serialization", "57014": "timeout", "25006": "sql_refused",
    "42501": "permission", "53200": "overloaded",
}  # fmt: skip
# Wrong name, password or database: trying again changes nothing.
_POSTGRES_FINAL = ("28", "3D")
_MYSQL = {
    1205: "deadlock", 1213: "deadlock", 1020: "serialization", 1062: "constraint", 1169: "constraint",
    1216: "constraint", 1217: "constraint", 1451: "constraint", 1452: "constraint", 1048: "constraint",
    3819: "constraint", 4025: "constraint", 1586: "constraint", 1364: "constraint", 1317: "timeout", 1969: "timeout",
    3024: "timeout", 1792: "sql_refused", 1044: "permission", 1142: "permission", 1143: "permission",
    1227: "permission", 1370: "permission", 1040: "overloaded", 1203: "overloaded", 1045: "connection",
    1049: "connection", 1698: "connection", 1053: "connection", 1927: "connection",
}  # fmt: skip
_MYSQL_FINAL = frozenset({1044, 1045, 1049, 1698})
_MYSQL_CLIENT = range(2000, 3000)
_RETRYABLE = frozenset({"deadlock", "serialization", "connection", "overloaded"})
_SQLITE_AUTH = sqlite3.SQLITE_AUTH
_DUCKDB_FILES = {
    "missing": "There is no such database file; a statement with 'allow_ddl' creates it.",
    "unreadable": "The file cannot be opened as a database of DuckDB: it is another file, or of a newer version.",
    "moved": "The path of the database file changed while it was opened.",
}
_WHAT = {
    "connection": "The database cannot be reached",
    "constraint": "The database refused the rows",
    "deadlock": "The statement waited for a lock that others hold and was rolled back; another attempt may succeed",
    "serialization": "Another transaction changed the same rows; rolled back, another attempt may succeed",
    "overloaded": "The database has no room for another request now",
    "permission": "The database user may not do this",
    "sql_refused": "The statement is not allowed: the transaction only reads",
    "sql_error": "The database does not accept the statement",
    "memory_limit": "The statement needs more memory than it may take",
    "timeout": "The statement was cancelled by the database",
}


def postgres_fault(error: psycopg.Error, position: str = "") -> NodeError:
    """The NodeError of a psycopg error; `position` is where in the author's text."""
    import psycopg  # noqa: PLC0415 - loaded by the caller, and only by callers with such a database

    state = error.sqlstate or ""
    if not state and isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        kind = "connection"
    else:
        kind = _POSTGRES_CODES.get(state) or _POSTGRES_CLASSES.get(state[:2], "sql_error")
    text = error.diag.message_primary or _first_line(error)
    details = [error.diag.message_detail, error.diag.message_hint]
    message = ". ".join(part.rstrip(".") for part in [text, *details] if part)
    code = f"SQLSTATE {state}" if state else ""
    fault = _fault(kind, message, code, position, final=state[:2] in _POSTGRES_FINAL)
    fault.brief = _fault(kind, text, code, position, final=False).message
    return fault


def mysql_fault(error: pymysql.err.Error, position: str = "") -> NodeError:
    """The NodeError of a PyMySQL error."""
    import pymysql  # noqa: PLC0415 - loaded by the caller, and only by callers with such a database

    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    text = str(error.args[1]) if len(error.args) > 1 else str(error)
    lost = code in _MYSQL_CLIENT or isinstance(error, pymysql.err.InterfaceError)
    kind = "connection" if lost else _MYSQL.get(code, "sql_error")
    return _fault(kind, text, f"error {code}" if code else "", position, final=code in _MYSQL_FINAL)


def sqlite_fault(error: sqlite3.Error | sqlite3.Warning) -> NodeError:
    """The NodeError of a sqlite3 error."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    text = str(error)
    primary = code & 0xFF
    if primary == _SQLITE_AUTH or text.startswith(("not authorized", "access to", "authorization")):
        kind = "sql_refused"
    elif isinstance(error, sqlite3.IntegrityError):
        kind = "constraint"
    elif primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        kind = "deadlock"
    elif primary in {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
    }:
        return _fault("connection", text, "", "", final=primary != sqlite3.SQLITE_IOERR)
    elif primary == sqlite3.SQLITE_INTERRUPT:
        kind = "timeout"
    elif primary == sqlite3.SQLITE_READONLY:
        kind = "permission"
    else:
        kind = "sql_error"
    return _fault(kind, text, "", "", final=False)


_DUCKDB = {
    "ConstraintException": "constraint", "TransactionException": "serialization", "PermissionException": "sql_refused",
    "InterruptException": "timeout", "OutOfMemoryException": "memory_limit", "MemoryError": "memory_limit",
    "Refused": "sql_refused",
}  # fmt: skip
_DUCKDB_BROKEN = frozenset(
    {"FatalException", "InternalException", "SerializationException", "ConnectionException"}
)


def duckdb_fault(name: str, text: str) -> NodeError:
    """The NodeError of an exception of DuckDB, by the name of its class."""
    if name == "Refused" and text in _DUCKDB_FILES:
        return NodeError(_DUCKDB_FILES[text], kind="connection", retryable=False)
    text = text.strip().partition("\n")[0]
    head, _, rest = text.partition("Error: ")
    text = rest if head and rest and len(head.split()) <= 2 else text  # noqa: PLR2004 - `Binder Error: …`
    kind = _DUCKDB.get(name, "sql_error")
    if name == "IOException":
        busy = "lock" in text
        return _fault("overloaded" if busy else "connection", text, "", "", final=not busy)
    if name in _DUCKDB_BROKEN or (name == "InvalidInputException" and "valid DuckDB database" in text):
        return _fault("connection", text, "", "", final=True)
    if "read-only mode" in text:
        kind = "sql_refused"
    return _fault(kind, text, "", "", final=False)


def out_of_time(seconds: float, *, wrote: bool) -> NodeError:
    """The error of an operation that its deadline ended."""
    after = "; nothing was changed" if wrote else ""
    return NodeError(
        f"The database took longer than {seconds:g} s; the statement was cancelled{after}.", kind="timeout"
    )


def unknown_outcome(cause: NodeError) -> NodeError:
    """The error of a connection lost while the commit was on its way: the rows may or may not be there."""
    return NodeError(
        f"The connection was lost during the commit ({cause.message}); whether the change was made is unknown.",
        kind=cause.kind,
        retryable=False,
    )


def discreet(error: NodeError, hidden: Hidden) -> NodeError:
    """The error without what a server says of hidden tables and columns, and of rows that may hold their values."""
    if not isinstance(error, ServerError):
        return error
    text = error.brief
    if error.kind == "constraint" or any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) for name in hidden.names
    ):
        text = f"{_WHAT[error.kind]}; its words are left out, as they may tell of what is not visible here."
    error.message = text
    error.args = (text,)
    return error


def _fault(kind: str, text: str, code: str, position: str, *, final: bool) -> ServerError:
    where = ", ".join(part for part in (position, code) if part)
    message = f"{_WHAT[kind]}: {text.strip().rstrip('.')}" + (f" ({where})." if where else ".")
    fault = ServerError(message, kind=kind, retryable=kind in _RETRYABLE and not final)
    fault.brief = message
    return fault


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
