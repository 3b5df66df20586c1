"""Database addresses as structured fields: nothing of a URL reaches a driver as free text."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, unquote

from interlace.engine.errors import NodeError

Dialect = Literal["sqlite", "postgresql", "mysql", "duckdb"]

_SCHEMES: dict[str, Dialect] = {
    "sqlite": "sqlite",
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "duckdb": "duckdb",
}
DIALECTS: tuple[Dialect, ...] = ("sqlite", "postgresql", "mysql", "duckdb")
FILES: frozenset[Dialect] = frozenset({"sqlite", "duckdb"})
"""Dialects whose databases are files."""
_DRIVERS = frozenset(
    {
        "psycopg",
        "psycopg2",
        "asyncpg",
        "pymysql",
        "aiomysql",
        "asyncmy",
        "aiosqlite",
        "pysqlite",
        "duckdb_engine",
    }
)
_PORTS: dict[Dialect, int] = {"sqlite": 0, "duckdb": 0, "postgresql": 5432, "mysql": 3306}
_OPTIONS: dict[Dialect, frozenset[str]] = {
    "sqlite": frozenset(),
    "duckdb": frozenset(),
    "postgresql": frozenset({"sslmode", "schema", "connect_timeout"}),
    "mysql": frozenset({"sslmode", "connect_timeout", "charset"}),
}
_SSL_MODES = ("disable", "prefer", "require", "verify-full")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_URL = 2000
_MAX_CONNECT_S = 60
_DEFAULT_CONNECT_S = 10
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9]*)(?:\+(?P<driver>[A-Za-z0-9_]+))?://(?P<rest>.*)", re.DOTALL
)
_HOST = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9_-]+)*\.?")
_NUMBER_END = re.compile(r"(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?$")
_SCHEMA = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseUrl:
    """Where a database is and who asks: the only fields a driver is ever given.

    `database` is the file path for SQLite and DuckDB (relative to a base directory, or absolute) and the database name
    otherwise. `str()` hides the password. `sslmode` is one of disable, prefer, require, verify-full.
    """

    dialect: Dialect
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    database: str = ""
    sslmode: str = "prefer"
    schema: str = ""
    connect_timeout: int = _DEFAULT_CONNECT_S

    @classmethod
    def parse(cls, text: str) -> DatabaseUrl:
        """The fields of a URL such as `postgresql://user:password@host:5432/name?sslmode=require`.

        Raises:
            NodeError: kind `database_url`; the message never repeats the URL, which may hold a password.
        """
        if len(text) > _MAX_URL:
            raise _wrong(f"the URL is longer than {_MAX_URL} characters")
        found = _URL.fullmatch(text.strip())
        if found is None or CONTROL.search(text.strip()):
            raise _wrong(
                "expected a URL such as 'postgresql://user:password@host:5432/name' or 'sqlite:///file.db'"
            )
        scheme, driver = found["scheme"].lower(), (found["driver"] or "").lower()
        if scheme not in _SCHEMES:
            raise _wrong(f"no database kind {scheme!r}; known: sqlite, postgresql, mysql, mariadb, duckdb")
        if driver and driver not in _DRIVERS:
            raise _wrong(f"no driver {driver!r}; leave it out: '{scheme}://…'")
        dialect = _SCHEMES[scheme]
        rest, _, query = found["rest"].partition("?")
        if "#" in rest or "#" in query:
            raise _wrong("a '#' in a URL must be written %23")
        options = _options(dialect, query)
        return _file(dialect, rest) if dialect in FILES else _server(dialect, rest, options)

    def __str__(self) -> str:
        if self.dialect in FILES:
            return f"{self.dialect}:///{self.database}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.dialect}://{self.user}@{host}:{self.port}/{self.database}"


def _wrong(why: str) -> NodeError:
    return NodeError(f"The database URL cannot be used: {why}.", kind="database_url", retryable=False)


def _options(dialect: Dialect, query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    if len(options) != len(pairs):
        raise _wrong("an option is given twice")
    known = _OPTIONS[dialect]
    for name in options:
        if name not in known:
            allowed = ", ".join(sorted(known)) or "none"
            raise _wrong(f"the option {name!r} is not allowed for {dialect}; allowed: {allowed}")
    if options.get("charset", "utf8mb4") != "utf8mb4":
        raise _wrong("the only charset is utf8mb4")
    return options


def _file(dialect: Dialect, rest: str) -> DatabaseUrl:
    if not rest.startswith("/"):
        raise _wrong(
            f"write '{dialect}:///relative.db' or '{dialect}:////absolute.db' (no host, no password)"
        )
    path = _decoded(rest[1:], "path")
    if not path or path.startswith(":memory:"):
        raise _wrong(f"a database in memory is gone after each node; name a file: '{dialect}:///file.db'")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", path):
        raise _wrong(f"addresses such as 'file:' are not allowed; name a file: '{dialect}:///file.db'")
    return DatabaseUrl(dialect=dialect, database=path)


def _server(dialect: Dialect, rest: str, options: dict[str, str]) -> DatabaseUrl:
    authority, slash, name = rest.partition("/")
    if not slash or not name:
        raise _wrong(f"name the database: '{dialect}://user:password@host/name'")
    credentials, _, address = authority.rpartition("@")
    user, _, password = credentials.partition(":")
    if not user:
        raise _wrong(f"name the user: '{dialect}://user:password@host/name'")
    host, port = _address(address, dialect)
    schema = options.get("schema", "")
    if schema and not _SCHEMA.fullmatch(schema):
        raise _wrong("the schema must be one plain name (letters, digits, '_', '$')")
    if (sslmode := options.get("sslmode", "prefer")) not in _SSL_MODES:
        raise _wrong(f"sslmode must be one of {', '.join(_SSL_MODES)}")
    return DatabaseUrl(
        dialect=dialect,
        host=host,
        port=port,
        user=_decoded(user, "user"),
        password=_decoded(password, "password"),
        database=_decoded(name, "database name"),
        sslmode=sslmode,
        schema=schema,
        connect_timeout=_seconds(options.get("connect_timeout", str(_DEFAULT_CONNECT_S))),
    )


def _address(text: str, dialect: Dialect) -> tuple[str, int]:
    """Host and port; a socket path, a list of hosts and odd spellings of an address are not hosts."""
    bracketed = re.fullmatch(r"\[([0-9A-Fa-f:.]+)\](?::([0-9]+))?", text)
    plain = re.fullmatch(r"([^:\[\]]+)(?::([0-9]+))?", text)
    found = bracketed or plain
    if found is None:
        raise _wrong("expected 'host' or 'host:port' (an IPv6 address in brackets)")
    port = int(found[2]) if found[2] else _PORTS[dialect]
    if not 0 < port < 65536:  # noqa: PLR2004 - the ports there are
        raise _wrong("the port must be between 1 and 65535")
    if bracketed:
        try:
            return str(ipaddress.IPv6Address(bracketed[1])), port
        except ValueError:
            raise _wrong("what stands in brackets is no IPv6 address") from None
    return host_name(_decoded(found[1], "host")), port


def dialect_of(text: str) -> Dialect | None:
    """The dialect that a URL begins with, even where the rest is not known yet; None where that is open."""
    scheme = re.match(r"\s*([A-Za-z]+)(?:\+[a-z0-9_]+)?://", text)
    return _SCHEMES.get(scheme[1].lower()) if scheme else None


def host_name(text: str) -> str:
    """The host in lower case.

    Raises:
        NodeError: kind `database_url`, where it is no host name and no plainly written IPv4 address.
    """
    if _NUMBER_END.search(text):
        try:
            return str(ipaddress.IPv4Address(text))
        except ValueError:
            raise _wrong("an IPv4 address is written as four decimal numbers") from None
    if not _HOST.fullmatch(text):
        raise _wrong(
            "the host must be one host name or address (socket paths and lists of hosts are not allowed)"
        )
    return text.lower().rstrip(".")


def _seconds(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", text) or not 0 < int(text) <= _MAX_CONNECT_S:
        raise _wrong(f"connect_timeout must be 1 to {_MAX_CONNECT_S} seconds")
    return int(text)


def _decoded(text: str, what: str) -> str:
    try:
        plain = unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise _wrong(f"the {what} is not UTF-8 after percent-decoding") from None
    if CONTROL.search(plain):
        raise _wrong(f"the {what} holds a control character")
    return plain
