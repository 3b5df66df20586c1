"""A backup as one file: a tar of tables and payloads, and a manifest with a checksum of each of its parts."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, Final

import orjson

import interlace
from interlace.engine.errors import StoreError
from interlace.store.backup.rows import NOT_KEPT, revision_of, snapshot, tables_of, write_rows
from interlace.store.database import locate
from interlace.store.payloads import FilePayloads

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
KEY_FILES: Final = ("secret.key", "owner.key")
_LEVEL: Final = 3
_PIECE: Final = 1 << 20


class BackupError(StoreError):
    """A backup cannot be made, read or restored."""

    code: ClassVar[str] = "backup"
    breaks_run: ClassVar[bool] = False


@dataclass(slots=True, kw_only=True)
class Backup:
    """What stands in a backup; `created_at` in Unix seconds.

    `parts` holds the SHA-256 of each file by its name, `missing` the payloads that were deleted with their runs while
    the backup was made.
    """

    format: int = FORMAT
    version: str = interlace.__version__
    revision: str = ""
    database: str = ""
    created_at: float = 0.0
    keys: bool = False
    tables: dict[str, int] = field(default_factory=dict)
    payloads: int = 0
    missing: list[str] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)


def make_backup(
    to: Path, *, url: str | None, home: Path, payloads: Path | None = None, keys: bool = False
) -> Backup:
    """Write a backup of a home while it is in use; the file appears when it is complete, and is its owner's alone.

    Args:
        to: the file; it must not be there.
        url: the database; None is the one of the home.
        home: the folder of the installation.
        payloads: the folder of payloads, where it is not in the home.
        keys: whether the keys that open secrets go into it too.

    Raises:
        BackupError: the file is there, or cannot be written.
        StoreError: the database cannot be read.
    """
    if to.exists():
        raise BackupError(f"{str(to)!r} is there already; choose another name")
    location = locate(url, home)
    if location.kind == "sqlite" and not location.path.is_file():
        raise BackupError(f"there is nothing to back up: no database {str(location.path)!r}")
    made = Backup(database=location.kind, created_at=time.time(), keys=keys)
    part = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        scratch = tempfile.TemporaryDirectory(dir=to.parent, prefix=".interlace-backup-")
        with scratch as folder, _writing(part) as tar:
            adding = _Adding(tar, made, Path(folder))
            refs = adding.tables(location)
            adding.payloads(refs, FilePayloads(payloads or home / "payloads", fsync=False))
            if keys:
                adding.keys(home)
            _add(tar, MANIFEST, orjson.dumps(asdict(made), option=orjson.OPT_INDENT_2))
        part.replace(to)
    except OSError as error:
        raise BackupError(f"the backup cannot be written: {error}") from None
    finally:
        part.unlink(missing_ok=True)
    return made


@contextmanager
def _writing(path: Path) -> Iterator[tarfile.TarFile]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with (
        os.fdopen(descriptor, "wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_LEVEL, filename="", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        yield tar


class _Adding:
    """Adds the parts of a backup one after the other."""

    def __init__(self, tar: tarfile.TarFile, made: Backup, scratch: Path) -> None:
        self._tar = tar
        self._made = made
        self._scratch = scratch

    def tables(self, location: Any) -> list[str]:
        """Add all tables as they are now; gives the payloads that they refer to."""
        with snapshot(location, self._scratch) as connection:
            self._made.revision = revision_of(connection)
            for name, table in tables_of(connection).items():
                if name in NOT_KEPT:
                    continue
                with (self._scratch / "rows").open("w+b") as rows:
                    self._made.tables[name] = write_rows(connection, table, rows)
                    self._file(f"tables/{name}.jsonl", rows)
            found = connection.exec_driver_sql("SELECT ref FROM payloads")
            return [str(row[0]) for row in found]

    def payloads(self, refs: list[str], kept: FilePayloads) -> None:
        """Add payloads; those of runs that were deleted meanwhile are gone."""
        for ref in refs:
            try:
                with kept.path_of(ref).open("rb") as file:
                    self._file(f"payloads/{ref}", file)
                self._made.payloads += 1
            except FileNotFoundError:
                self._made.missing.append(ref)

    def keys(self, home: Path) -> None:
        """Add the keys that stand in the home."""
        for name in KEY_FILES:
            if (home / name).is_file():
                with (home / name).open("rb") as file:
                    self._file(f"keys/{name}", file)

    def _file(self, name: str, file: IO[bytes]) -> None:
        size, digest = file.seek(0, io.SEEK_END), hashlib.sha256()
        file.seek(0)
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = size, 0o600, int(self._made.created_at)
        self._tar.addfile(entry, _Digesting(file, digest))
        self._made.parts[name] = digest.hexdigest()


class _Digesting(io.RawIOBase):
    """A file whose checksum is made while it is read."""

    def __init__(self, file: IO[bytes], digest: Any) -> None:
        self._file = file
        self._digest = digest

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        found = self._file.read(size)
        self._digest.update(found)
        return found


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    tar.addfile(entry, io.BytesIO(content))


def check_backup(path: Path) -> Backup:
    """Read a backup to its end and compare every checksum; nothing is changed.

    Raises:
        BackupError: it is damaged, cut off, or of a form that this version does not know.
    """
    found: dict[str, str] = {}
    made: Backup | None = None
    with readable(path):
        for name, file in parts_of(path):
            if name == MANIFEST:
                made = _manifest(path, file.read())
                continue
            digest = hashlib.sha256()
            while piece := file.read(_PIECE):
                digest.update(piece)
            found[name] = digest.hexdigest()
    if made is None:
        raise BackupError(f"{str(path)!r} ends before its manifest: it was cut off, or is no backup")
    wrong = sorted(n for n in made.parts.keys() | found.keys() if made.parts.get(n) != found.get(n))
    if wrong:
        raise BackupError(f"{str(path)!r} is damaged: {', '.join(wrong[:5])} are not what the manifest says")
    return made


def parts_of(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The files in a backup by name, in order; each is read before the next is asked for, within `readable`."""
    with gzip.open(path) as packed:
        with tarfile.open(fileobj=packed, mode="r|") as tar:
            for entry in tar:
                file = tar.extractfile(entry) if entry.isreg() else None
                if file is None or entry.name.startswith("/") or ".." in entry.name.split("/"):
                    raise BackupError(f"{str(path)!r} holds {entry.name!r}, which no backup does")
                yield entry.name, file
        while packed.read(_PIECE):  # to the checksum at its end
            pass


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """A block that reads a backup.

    Raises:
        BackupError: it cannot be read.
    """
    try:
        yield
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise BackupError(f"{str(path)!r} cannot be read as a backup: {error}") from None


def _manifest(path: Path, content: bytes) -> Backup:
    try:
        values = orjson.loads(content)
        if values["format"] > FORMAT:
            raise BackupError(
                f"{str(path)!r} was made by Interlace {values['version']} in form {values['format']}, this version reads"
                f" forms up to {FORMAT}; install that version or a newer one"
            )
        return Backup(**values)
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise BackupError(f"{str(path)!r} has no readable manifest: {error}") from None
