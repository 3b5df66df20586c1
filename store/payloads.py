"""Large values, content-addressed: the same content is kept once, whoever made it.

A payload's file is put in its place before the row that refers to it is committed, and removed inside the transaction
that deletes the row. `secure` runs inside the transaction of whoever refers to it, so that a removal in between is
made good before the reference becomes durable.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from interlace.engine.errors import StoreError
from interlace.store.encoding import decode, encode, escape
from interlace.store.errors import NotFoundError

_REF = re.compile(r"sha256-([0-9a-f]{64})")
_INLINE_BYTES = 256 * 1024
"""Smaller payloads are read on the loop: a thread costs more than the read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A payload in its place."""

    ref: str
    size: int
    secure: Callable[[], None]
    """Sees to it that the payload is (still, and as durably as configured) there; called inside the transaction."""


class PayloadWriter(Protocol):
    """A payload in the making; its calls wait for the disk, so they belong into a thread."""

    def write(self, content: bytes) -> None:
        """Add to the end.

        Raises:
            StoreError: it cannot be written.
        """
        ...

    def finish(self) -> Stored:
        """Put it into its place. It stays secured until `close`."""
        ...

    def close(self) -> None:
        """Let go of it; what was not finished is removed."""
        ...


class Payloads(Protocol):
    """Where payloads are kept: files now, an object store with the same calls."""

    def put_bytes(self, content: bytes) -> Stored:
        """Keep bytes."""
        ...

    def open(self) -> PayloadWriter:
        """Keep bytes that come piece by piece."""
        ...

    def put_json(self, value: Any) -> Stored:
        """Keep a JSON value; a long text is written in pieces, without a second copy in memory."""
        ...

    async def get(self, ref: str) -> bytes:
        """The bytes of a payload.

        Raises:
            NotFoundError: there is none of that reference.
            StoreError: what is kept there is damaged.
        """
        ...

    async def load(self, ref: str) -> Any:
        """The JSON value of a payload; raises as `get`."""
        ...

    def kept(self, ref: str, size: int) -> Stored:
        """A payload that is there already, for one more who refers to it.

        Its `secure` raises NotFoundError when it has been removed meanwhile.
        """
        ...

    def remove(self, ref: str) -> None:
        """Remove a payload that nothing refers to; no error when it is gone already."""
        ...

    def refs(self, older_than: float) -> Iterator[str]:
        """All payloads that were written more than so many seconds ago."""
        ...


class FilePayloads:
    """Payloads as files `ab/cd/<sha256>` under a root.

    Args:
        fsync: whether a payload is forced to disk before the commit that refers to it.
    """

    def __init__(self, root: Path, *, fsync: bool = False) -> None:
        self.root = root
        self._fsync = fsync
        root.mkdir(parents=True, exist_ok=True)

    def path_of(self, ref: str) -> Path:
        """Where a payload's file is, or would be.

        Raises:
            NotFoundError: it is no reference.
        """
        return self._path(_digest(ref))

    def put_bytes(self, content: bytes) -> Stored:
        """Keep bytes."""
        return self._keep(lambda: (content,))

    def open(self) -> FileWriter:
        """Keep bytes that come piece by piece."""
        return FileWriter(self, self.root / f".{os.getpid()}-{secrets.token_hex(8)}")

    def take(self, digest: str, temporary: Path) -> None:
        """Give a written file its place, unless its content is there already; the file itself stays.

        Raises:
            StoreError: it cannot be put there.
        """
        target = self._path(digest)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                _link(temporary, target)
        except OSError as error:
            raise self._full(error) from error

    def secure(self, digest: str) -> None:
        """Force a payload and its folder to disk, where so configured."""
        if not self._fsync:
            return
        path = self._path(digest)
        for target in (path, path.parent):
            descriptor = os.open(target, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def put_json(self, value: Any) -> Stored:
        """Keep a JSON value.

        Raises:
            NotJsonError: it is not JSON.
        """
        return self._keep(lambda: escape(value)) if type(value) is str else self.put_bytes(encode(value))

    async def get(self, ref: str) -> bytes:
        """The bytes of a payload."""
        path = self._path(_digest(ref))
        try:
            small = path.stat().st_size < _INLINE_BYTES
            content = path.read_bytes() if small else await asyncio.to_thread(path.read_bytes)
        except FileNotFoundError:
            raise NotFoundError(
                f"no payload {ref!r}: it was deleted, or this home is not the one that wrote it"
            ) from None
        except OSError as error:
            raise StoreError(f"payload {ref!r} cannot be read: {error}") from error
        if hashlib.sha256(content).hexdigest() != path.name:
            raise StoreError(
                f"payload {ref!r} is damaged: {path} does not hold what it was written with; restore a backup"
            )
        return content

    async def load(self, ref: str) -> Any:
        """The JSON value of a payload."""
        content = await self.get(ref)
        return decode(content) if len(content) < _INLINE_BYTES else await asyncio.to_thread(decode, content)

    def kept(self, ref: str, size: int) -> Stored:
        """A payload that is there already."""
        path = self._path(_digest(ref))

        def secure() -> None:
            if not path.exists():
                raise NotFoundError(f"payload {ref!r} was deleted just now, with the run that it is from")

        return Stored(ref=ref, size=size, secure=secure)

    def remove(self, ref: str) -> None:
        """Remove a payload that nothing refers to."""
        self._path(_digest(ref)).unlink(missing_ok=True)

    def refs(self, older_than: float) -> Iterator[str]:
        """All payloads that were written more than so many seconds ago; left-over temporary files are removed."""
        limit = time.time() - older_than
        for path in chain(self.root.glob(".*"), self.root.glob("*/*/*")):
            try:
                old = path.stat().st_mtime <= limit
            except FileNotFoundError:
                continue
            if old and path.name.startswith("."):
                path.unlink(missing_ok=True)
            elif old:
                yield f"sha256-{path.name}"

    def _path(self, digest: str) -> Path:
        return self.root / digest[:2] / digest[2:4] / digest

    def _keep(self, pieces: Callable[[], Iterable[bytes]]) -> Stored:
        # Hashing comes first, writing only when it is new: what passes through many nodes is written once.
        hashed, size = hashlib.sha256(), 0
        for piece in pieces():
            hashed.update(piece)
            size += len(piece)
        digest = hashed.hexdigest()
        if not self._path(digest).exists():
            self._write(digest, pieces())
        return Stored(ref=f"sha256-{digest}", size=size, secure=lambda: self._secure(digest, pieces))

    def _write(self, digest: str, pieces: Iterable[bytes]) -> None:
        target = self._path(digest)
        temporary = self.root / f".{os.getpid()}-{secrets.token_hex(8)}"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("xb") as file:
                for piece in pieces:
                    file.write(piece)
            temporary.replace(target)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise self._full(error) from error

    def _full(self, error: OSError) -> StoreError:
        return StoreError(
            f"a payload could not be written to {str(self.root)!r}: {error}; make room there and resume the run"
        )

    def _secure(self, digest: str, pieces: Callable[[], Iterable[bytes]]) -> None:
        path = self._path(digest)
        if not path.exists():
            self._write(digest, pieces())
        self.secure(digest)


class FileWriter:
    """A payload that is written to a file of its own first. Implements `PayloadWriter`."""

    def __init__(self, payloads: FilePayloads, temporary: Path) -> None:
        self._payloads = payloads
        self._temporary = temporary
        self._hash, self._size = hashlib.sha256(), 0
        try:
            self._file = temporary.open("xb")
        except OSError as error:
            raise StoreError(f"a payload could not be begun in {str(payloads.root)!r}: {error}") from error

    def write(self, content: bytes) -> None:
        """Add to the end."""
        self._hash.update(content)
        self._size += len(content)
        try:
            self._file.write(content)
        except OSError as error:
            raise StoreError(
                f"a payload could not be written to {str(self._payloads.root)!r}: {error}; make room there"
            ) from error

    def finish(self) -> Stored:
        """Put it into its place."""
        self._file.close()
        digest = self._hash.hexdigest()

        def secure() -> None:
            self._payloads.take(digest, self._temporary)  # it may have been removed since
            self._payloads.secure(digest)

        self._payloads.take(digest, self._temporary)
        return Stored(ref=f"sha256-{digest}", size=self._size, secure=secure)

    def close(self) -> None:
        """Let go of it."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    """A second name for a file; a copy where the file system has none."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        part = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
        shutil.copyfile(source, part)
        part.replace(target)


def _digest(ref: str) -> str:
    match = _REF.fullmatch(ref)
    if match is None:
        raise NotFoundError(f"no payload {ref!r}: a reference looks like 'sha256-' and 64 hexadecimal digits")
    return match[1]
