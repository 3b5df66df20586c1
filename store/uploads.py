"""Uploads, the files of no run: noted when something has a use for them, removed when nothing ever had."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Double, Text, bindparam, delete, select, update

from interlace.engine.protocols import FileValue
from interlace.store.database import Database
from interlace.store.links import Links
from interlace.store.payloads import Payloads
from interlace.store.statements import Compiler, Operation
from interlace.store.tables import files
from interlace.store.writer import Batch, Lane

_REF = re.compile(r"sha256-[0-9a-f]{64}")
_REF_LENGTH = 71
_MENTION = re.compile(f'"({_REF.pattern})"')


class Uses:
    """What notes, in the commit of whatever mentions them, that uploads are used. Compiled once per open store."""

    def __init__(self, compiler: Compiler) -> None:
        self._use = compiler(
            update(files)
            .where(
                files.c.ref == bindparam("mentioned", type_=Text),
                files.c.run_id.is_(None),
                files.c.used_at.is_(None),
            )
            .values(used_at=bindparam("now", type_=Double))
        )

    def of(self, text: str, now: float) -> Iterator[Operation]:
        """The operations for a JSON text that may mention files."""
        if '"sha256-' in text:
            for ref in sorted(set(_MENTION.findall(text))):
                yield self._use(mentioned=ref, now=now)

    def of_value(self, value: Any, now: float) -> Iterator[Operation]:
        """The same for a value, which is not written out for it: it may be large."""
        for ref in sorted(set(_mentioned(value))):
            yield self._use(mentioned=ref, now=now)


def _mentioned(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, FileValue):
            yield part.ref
        elif isinstance(part, str):
            if len(part) == _REF_LENGTH and _REF.fullmatch(part):
                yield part
        elif isinstance(part, Mapping):
            left.extend(part.values())
        elif isinstance(part, list | tuple):
            left.extend(part)


class UploadRepository:
    """The uploads of all owners that nothing has used."""

    def __init__(self, database: Database, payloads: Payloads, links: Links) -> None:
        self._database = database
        self._payloads = payloads
        self._links = links
        self._unused = (files.c.run_id.is_(None), files.c.used_at.is_(None))
        self._remove = database.compile(
            delete(files)
            .where(files.c.id == bindparam("upload", type_=Text), *self._unused)
            .returning(files.c.ref),
            returns=True,
        )

    async def unused(self, before: float, *, limit: int = 200, after: str = "") -> Sequence[str]:
        """The ids of uploads of before an instant that nothing has used, `after` an id."""
        old = (files.c.created_at < before, files.c.id > after)
        statement = select(files.c.id).where(*self._unused, *old).order_by(files.c.id).limit(limit)
        return [row.id for row in await self._database.rows(statement)]

    async def remove(self, upload: str) -> bool:
        """Remove an upload with its bytes, unless others have them; False where it is used by now, or gone."""
        batch = Batch(Lane())
        removed = batch.execute(self._remove(upload=upload))
        await self._database.writer.submit(batch)
        for (ref,) in removed:
            batch = Batch(Lane())
            self._links.sweep(batch, ref, self._payloads)
            await self._database.writer.submit(batch)
        return bool(removed)
