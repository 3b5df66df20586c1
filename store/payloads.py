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


class Payloads(Protocol):
    """Where payloads are kept: files now, an object store with the same calls."""

    def put_bytes(self, content: bytes) -> Stored:
        """Keep bytes."""
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

    def put_bytes(self, content: bytes) -> Stored:
        """Keep bytes."""
        return self._keep(lambda: (content,))

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
            raise StoreError(
                f"a payload could not be written to {str(self.root)!r}: {error}; make room there and resume the run"
            ) from error

    def _secure(self, digest: str, pieces: Callable[[], Iterable[bytes]]) -> None:
        path = self._path(digest)
        if not path.exists():
            self._write(digest, pieces())
        if self._fsync:
            for target in (path, path.parent):
                descriptor = os.open(target, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)


def _digest(ref: str) -> str:
    match = _REF.fullmatch(ref)
    if match is None:
        raise NotFoundError(f"no payload {ref!r}: a reference looks like 'sha256-' and 64 hexadecimal digits")
    return match[1]
