"""A home made anew from a backup: checked first, and put in place only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from sqlalchemy import URL, Connection, delete, inspect, select, text, update

from interlace.store.backup.archive import KEY_FILES, Backup, BackupError, check_backup, parts_of
from interlace.store.backup.rows import NOT_KEPT, read_rows, tables_of
from interlace.store.database import Location, locate
from interlace.store.errors import SchemaError
from interlace.store.home import make_home
from interlace.store.migration import HEAD, exclusive, known_revisions, migrate
from interlace.store.payloads import FilePayloads
from interlace.store.statements import Now
from interlace.store.tables import hosts, metadata, runs

_BESIDE: Final = ".restoring"
_PIECE: Final = 1 << 20


def restore_backup(
    path: Path, *, url: str | None, home: Path, payloads: Path | None = None, force: bool = False
) -> Backup:
    """Make the database and payloads of a home from a backup; nobody else may use them meanwhile.

    The backup is read to its end and every checksum compared before anything is changed. Runs that had not ended when
    it was made go on from there.

    Args:
        path: the backup.
        url: the database; None is the one of the home. It may be of another kind than the backup's.
        home: the folder of the installation.
        payloads: the folder of payloads, where it is not in the home.
        force: whether what is there may be replaced; a SQLite file stays beside the new one as `…before-restore`.

    Raises:
        BackupError: the backup is damaged, or something is there and `force` is not given.
        SchemaError: it was made by a newer version.
    """
    made = check_backup(path)
    if made.revision not in known_revisions():
        raise SchemaError(
            f"the backup was made by Interlace {made.version} with tables of version {made.revision!r}, this program knows"
            f" them up to {HEAD!r}; install that version or a newer one"
        )
    location = locate(url, home)
    _check_unused(location)
    if not force and (there := _there(location)):
        raise BackupError(f"{there} is there already; give --force to replace it, or choose another home")
    make_home(home)
    kept = FilePayloads(payloads or home / "payloads", fsync=True)
    keys: dict[str, bytes] = {}
    with _target(location, home, keys) as connection:
        _empty(connection)
        migrate(connection, made.revision)
        tables = tables_of(connection)
        for table in tables.values():
            connection.execute(delete(table))
        for name, file in parts_of(path):
            folder, _, rest = name.partition("/")
            if folder == "tables" and rest.removesuffix(".jsonl") in tables:
                table = tables[rest.removesuffix(".jsonl")]
                if table.name not in NOT_KEPT:
                    read_rows(connection, table, iter(file.readline, b""))
            elif folder == "payloads":
                _put(kept, rest, file)
            elif folder == "keys" and rest in KEY_FILES:
                keys[rest] = file.read()
                _check_key(home / rest, keys[rest], force=force)
        migrate(connection, "head")
        # Whoever held runs then is not here to go on with them.
        connection.execute(update(runs).values(lease_owner=None, lease_until=None))
    return made


def _check_unused(location: Location) -> None:
    """Raise where processes work with a database: what is theirs would be taken away from under them."""
    if location.kind == "sqlite" and not location.path.exists():
        return
    with exclusive(_plain(location), lock=False) as connection:
        if not inspect(connection).has_table("hosts"):
            return
        living = select(hosts.c.name).where(hosts.c.seen_until > Now())
        names = [str(row[0]) for row in connection.execute(living)]
    if names:
        raise BackupError(
            f"{', '.join(names)} work with this database now; end them first (they are gone 30 s after a kill)"
        )


def _plain(location: Location) -> URL:
    return location.url.set(drivername="sqlite") if location.kind == "sqlite" else location.url


def _there(location: Location) -> str | None:
    """What would be replaced; None where nothing is."""
    if location.kind == "sqlite":
        return f"the database {str(location.path)!r}" if location.path.exists() else None
    with exclusive(location.url, lock=False) as connection:
        found = inspect(connection).has_table("alembic_version")
    return f"a database of Interlace at {location.url.render_as_string()}" if found else None


@contextmanager
def _target(location: Location, home: Path, keys: Mapping[str, bytes]) -> Iterator[Connection]:
    """A connection in one transaction to the database that is made; it takes the place of the old one at the end.

    So do the `keys` that were found meanwhile: never before it.
    """
    if location.kind != "sqlite":
        with ExitStack() as around, exclusive(location.url, lock=True) as connection:
            yield connection
            around.enter_context(_keys_beside(home, keys))
        return
    path, beside = location.path, location.path.with_name(location.path.name + _BESIDE)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove(beside)
    os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with exclusive(URL.create("sqlite", database=str(beside)), lock=True) as connection:
            yield connection
        with exclusive(URL.create("sqlite", database=str(beside)), lock=False) as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        with _keys_beside(home, keys):
            _replace(path, beside)
    finally:
        _remove(beside)


def _replace(path: Path, new: Path) -> None:
    """Put a database in the place of another one, which stays beside it."""
    if path.exists():
        before = path.with_name(path.name + ".before-restore")
        _remove(before)
        for tail in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + tail).replace(before.with_name(before.name + tail))
    new.replace(path)


def _remove(path: Path) -> None:
    for tail in ("", "-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)


def _empty(connection: Connection) -> None:
    """Take all tables of ours away; in a transaction that brings them back where the restoring fails."""
    there = set(inspect(connection).get_table_names())
    for name in [*metadata.tables, "alembic_version"]:
        if name in there:
            connection.execute(text(f'DROP TABLE "{name}"'))
    if connection.dialect.name == "postgresql":  # elsewhere triggers go with their tables
        connection.execute(text("DROP FUNCTION IF EXISTS audit_is_append_only()"))


def _put(kept: FilePayloads, ref: str, file: IO[bytes]) -> None:
    writer = kept.open()
    try:
        while piece := file.read(_PIECE):
            writer.write(piece)
        stored = writer.finish()
        stored.secure()
    finally:
        writer.close()
    if stored.ref != ref:
        raise BackupError(f"payload {ref!r} of the backup has other content than its name says")


def _check_key(path: Path, content: bytes, *, force: bool) -> None:
    if not force and path.exists() and path.read_bytes() != content:
        raise BackupError(f"there is another key {str(path)!r} already; give --force to replace it")


@contextmanager
def _keys_beside(home: Path, keys: Mapping[str, bytes]) -> Iterator[None]:
    """Keys are written beside the old ones first; the block puts the database in place, and they follow it.

    Where the block fails the old keys are still there, which the old database needs.
    """
    beside = {name: home / f"{name}{_BESIDE}" for name in keys}
    try:
        for name, content in keys.items():
            beside[name].unlink(missing_ok=True)
            descriptor = os.open(beside[name], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        yield
        for name, content in keys.items():
            path = home / name
            if path.exists() and path.read_bytes() != content:
                path.replace(path.with_name(f"{name}.before-restore"))
            beside[name].replace(path)
    finally:
        for path in beside.values():
            path.unlink(missing_ok=True)
