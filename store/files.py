"""Files: content-addressed bytes with a name, of a run or uploaded by an owner."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.protocols import FileValue
from interlace.store.database import Database
from interlace.store.errors import NotFoundError
from interlace.store.ids import uuid7
from interlace.store.links import Links
from interlace.store.payloads import Payloads, PayloadWriter, Stored
from interlace.store.statements import Prepared
from interlace.store.tables import files
from interlace.store.uploads import Uses
from interlace.store.writer import Batch, Lane

_INLINE_BYTES = 256 * 1024
_PIECE_BYTES = 1024 * 1024


class Streamed:
    """A file in the making. Implements the engine's `FileStream`; belongs to one task."""

    def __init__(self, writer: PayloadWriter) -> None:
        self.value: FileValue | None = None
        self._writer = writer
        self._waiting: list[bytes] = []
        self._size = 0

    async def write(self, content: bytes) -> None:
        """Add to the end; what is small waits for more."""
        self._waiting.append(content)
        self._size += len(content)
        if self._size >= _PIECE_BYTES:
            await self.flush()

    async def flush(self) -> None:
        """Hand over what waits."""
        content = b"".join(self._waiting)
        self._waiting, self._size = [], 0
        if content:
            await asyncio.to_thread(self._writer.write, content)


class FileStore:
    """The engine's `Files`.

    Args:
        run_id: the run that files belong to and are deleted with; None for uploads, which stay once something has used them.
    """

    def __init__(
        self,
        database: Database,
        payloads: Payloads,
        links: Links,
        *,
        owner: str = "local",
        run_id: str | None = None,
        insertion: Prepared | None = None,
        uses: Uses | None = None,
    ) -> None:
        self._database = database
        self._payloads = payloads
        self._links = links
        self._owner = owner
        self._run_id = run_id
        self._insert = insertion or database.compile(insert(files))
        self._uses = uses or Uses(database.compile)

    def of_run(self, run_id: str, *, owner: str = "local") -> FileStore:
        """The files of one run."""
        return self._of(owner, run_id)

    def of_owner(self, owner: str) -> FileStore:
        """The uploads of one owner."""
        return self._of(owner, None)

    def _of(self, owner: str, run_id: str | None) -> FileStore:
        # Every run has one: its statement is compiled once for all.
        return FileStore(
            self._database, self._payloads, self._links, owner=owner, run_id=run_id, insertion=self._insert,
            uses=self._uses,
        )  # fmt: skip

    async def save(self, content: bytes, *, name: str, media_type: str) -> FileValue:
        """Store the bytes durably and give the value that refers to them."""
        put = self._payloads.put_bytes
        stored = put(content) if len(content) < _INLINE_BYTES else await asyncio.to_thread(put, content)
        return await self._note(stored, name, media_type)

    @asynccontextmanager
    async def stream(self, *, name: str, media_type: str) -> AsyncIterator[Streamed]:
        """Store a file piece by piece; at the end of the block it is durable and has its value."""
        writer = self._payloads.open()
        streamed = Streamed(writer)
        try:
            yield streamed
            await streamed.flush()
            stored = await asyncio.to_thread(writer.finish)
            streamed.value = await self._note(stored, name, media_type)
        finally:
            await asyncio.shield(asyncio.to_thread(writer.close))

    async def _note(self, stored: Stored, name: str, media_type: str) -> FileValue:
        now = time.time()
        batch = Batch(Lane())
        if self._run_id is None:
            batch.execute(self._links.note(stored, now))
        else:
            batch.operations.extend(self._links.of(self._run_id, stored, now))
        row: dict[str, Any] = {"name": name, "media_type": media_type, "size": stored.size, "ref": stored.ref}
        row |= {"owner": self._owner, "run_id": self._run_id, "created_at": now, "used_at": None}
        batch.execute(self._insert(id=uuid7(), **row))
        batch.hooks.append(stored.secure)
        await self._database.writer.submit(batch)
        return FileValue(
            name=name,
            media_type=media_type,
            size=stored.size,
            sha256=stored.ref.removeprefix("sha256-"),
            ref=stored.ref,
        )

    async def load(self, ref: str) -> bytes:
        """The bytes of one of the owner's files: uploaded by them, or made by a run of theirs.

        Raises:
            NotFoundError: the owner has no such file, whoever else may have it.
        """
        await self.find(ref)
        return await self._payloads.get(ref)

    async def find(self, ref: str) -> FileValue:
        """The newest file of this owner with that content.

        Raises:
            NotFoundError: the owner has none.
        """
        statement = (
            select(files).where(files.c.ref == ref, files.c.owner == self._owner).order_by(files.c.id.desc())
        )
        row = await self._database.first(statement.limit(1))
        if row is None:
            raise NotFoundError(f"no file {ref!r} of {self._owner!r}; upload it first")
        if row.run_id is None and row.used_at is None:
            await self._database.write(*self._uses.of(f'"{ref}"', time.time()))
        return FileValue(
            name=row.name,
            media_type=row.media_type,
            size=row.size,
            sha256=ref.removeprefix("sha256-"),
            ref=ref,
        )
