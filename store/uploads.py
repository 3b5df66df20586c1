"""Uploads, the files of no run: noted when something has a use for them, removed when nothing ever had."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlalchemy import Double, Text, bindparam, delete, select, update

from interlace.store.database import Database
from interlace.store.links import Links
from interlace.store.payloads import Payloads
from interlace.store.statements import Compiler, Operation
from interlace.store.tables import files
from interlace.store.writer import Batch, Lane

_MENTION = re.compile(r'"(sha256-[0-9a-f]{64})"')


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
