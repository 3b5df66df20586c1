"""Brings a database's tables up to the version of this code, one process at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import URL, Connection, create_engine, event, inspect, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from interlace.store.creation import create
from interlace.store.errors import SchemaError
from interlace.store.write_ahead import BUSY_MILLISECONDS, log_ahead

if TYPE_CHECKING:
    from alembic.config import Config

HEAD: Final = "0017"
"""The newest migration; known here so that opening an up-to-date database does not import Alembic."""

_LOCK = 7_310_867_249_021
"""The number of the advisory lock on PostgreSQL."""
_FOLDER = Path(__file__).parent / "migrations"


async def upgrade(url: URL) -> None:
    """Apply the migrations that are missing.

    Raises:
        SchemaError: the database was made by a newer version.
    """
    await asyncio.to_thread(upgrade_sync, url)


def upgrade_sync(url: URL) -> None:
    """Apply the migrations that are missing, blocking."""
    if url.get_backend_name() == "sqlite":
        assert url.database is not None
        path = Path(url.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            with contextlib.suppress(OSError):  # SQLite then says what is the matter
                # Inputs and outputs of runs stand in it; SQLite gives its other files the mode of this one.
                path.touch(mode=0o600)
        url = url.set(drivername="sqlite")
    with exclusive(url, lock=False) as connection:
        if revision(connection) == HEAD:
            return
    with exclusive(url, lock=True) as connection:
        found = revision(connection)
        if found == HEAD:
            return
        if found is None:
            create(connection, HEAD)
            return
        if found not in known_revisions():
            raise SchemaError(
                f"the database has the tables of version {found!r}, this program knows them up to {HEAD!r};"
                " install the newer version that made them, or use another home"
            )
        migrate(connection, "head")


def known_revisions() -> frozenset[str]:
    """The migrations that this program knows."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - half a second that only few pay

    scripts = ScriptDirectory.from_config(_config())
    return frozenset(script.revision for script in scripts.walk_revisions())


def migrate(connection: Connection, target: str) -> None:
    """Bring a database to a migration, within the connection's transaction; `head` is the newest."""
    from alembic import command  # noqa: PLC0415 - half a second that only an old database pays

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, target)


def _config() -> Config:
    from alembic.config import Config  # noqa: PLC0415 - see above

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    return config


@contextmanager
def exclusive(url: URL, *, lock: bool) -> Iterator[Connection]:
    """A connection in a transaction; with `lock` no other process migrates meanwhile."""
    engine = create_engine(url, poolclass=NullPool)
    sqlite = engine.dialect.name == "sqlite"
    if sqlite:
        event.listen(engine, "connect", _prepare)

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if lock else "BEGIN")

    try:
        with engine.begin() as connection:
            if lock and not sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            yield connection
    finally:
        engine.dispose()


def revision(connection: Connection) -> str | None:
    """The migration that the database is at; None when it is empty."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _prepare(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
    del entry
    # The driver's own transactions would leave DDL outside of them.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    log_ahead(cursor.execute)
    cursor.close()
