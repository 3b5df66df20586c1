"""Documents of knowledge bases and the generations of their indexes; who may see a base is decided before."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, or_, select, true, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store import chunks as stored
from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import NotFoundError
from interlace.store.holding import Holding
from interlace.store.ids import uuid7
from interlace.store.knowledge_rows import ChunkRow, Entry, Generation, KbDocument, Segment, Work, document_of
from interlace.store.links import Links
from interlace.store.paging import Page
from interlace.store.payloads import Payloads
from interlace.store.tables import kb_chunks, kb_documents, kb_entries, kb_generations
from interlace.store.writer import Batch, Lane

_AT_ONCE = 200
_REPLACED = ("name", "media_type", "ref", "size", "metadata", "added_by", "updated_at")


def _param(column: Any, name: str) -> Any:
    return column == bindparam(name, type_=column.type)


class KnowledgeRepository:
    """What is kept of all knowledge bases."""

    def __init__(self, database: Database, payloads: Payloads, links: Links) -> None:
        self._database = database
        self._payloads = payloads
        self._links = links
        compiler = database.compile
        self._generation = compiler(insert(kb_generations))
        upsert = insert(kb_documents)
        changed = {name: upsert.excluded[name] for name in _REPLACED}
        self._document = compiler(
            upsert.on_conflict_do_update(
                index_elements=["kb_id", "source"],
                set_={**changed, "version": kb_documents.c.version + 1, "lease_until": 0.0},
            ).returning(kb_documents.c.id),
            returns=True,
        )
        self._holding = Holding(database)
        self._compile_changes()

    def _compile_changes(self) -> None:
        compiler = self._database.compile
        of_generation = _param(kb_chunks.c.generation, "wanted")
        of_document = _param(kb_chunks.c.document_id, "document")
        self._cut_generation = compiler(delete(kb_chunks).where(of_generation))
        self._cut_document = compiler(delete(kb_chunks).where(of_document))
        self._cut_entry = compiler(delete(kb_entries).where(_param(kb_entries.c.document_id, "document")))
        self._cut_entries = compiler(delete(kb_entries).where(_param(kb_entries.c.generation, "wanted")))
        self._forget = compiler(delete(kb_documents).where(_param(kb_documents.c.id, "document")))
        self._drop = compiler(delete(kb_generations).where(_param(kb_generations.c.id, "wanted")))
        self._bump = compiler(
            update(kb_generations)
            .where(_param(kb_generations.c.kb_id, "base"))
            .values(revision=kb_generations.c.revision + 1)
        )
        self._set_status = compiler(
            update(kb_generations)
            .where(_param(kb_generations.c.id, "wanted"))
            .values(status=bindparam("new_status", type_=kb_generations.c.status.type))
        )
        self._claim = compiler(
            update(kb_documents)
            .where(
                _param(kb_documents.c.id, "document"),
                or_(
                    kb_documents.c.lease_until < bindparam("now", type_=kb_documents.c.lease_until.type),
                    _param(kb_documents.c.lease_owner, "holder"),
                ),
            )
            .values(
                lease_owner=bindparam("holder", type_=kb_documents.c.lease_owner.type),
                lease_until=bindparam("until", type_=kb_documents.c.lease_until.type),
            )
            .returning(kb_documents.c.id),
            returns=True,
        )

    async def begin(self, kb_id: str, settings: Mapping[str, Any], *, current: bool) -> str:
        """A new generation; one that was being built is given up."""
        found = uuid7()
        old = [g for g in await self.generations(kb_id) if g.status == "building"]
        operations = [op for g in old for op in self._dropped(g.id)]
        row = {"status": "current" if current else "building", "settings": encode(dict(settings)).decode()}
        operations.append(
            self._generation(id=found, kb_id=kb_id, revision=0, created_at=self._database.now(), **row)
        )
        await self._database.write(*operations)
        return found

    def _dropped(self, generation: str) -> list[Any]:
        return [  # the row itself first: see `Holding`
            self._drop(wanted=generation),
            self._cut_generation(wanted=generation),
            self._cut_entries(wanted=generation),
        ]

    async def generations(self, kb_id: str) -> list[Generation]:
        """The generations of a base, the oldest first."""
        found = await self._database.rows(
            select(kb_generations)
            .where(kb_generations.c.kb_id == kb_id)
            .order_by(kb_generations.c.created_at, kb_generations.c.id)
        )
        return [
            Generation(row.id, row.kb_id, row.status, decode(row.settings), row.revision, row.created_at)
            for row in found
        ]

    async def put(
        self,
        kb_id: str,
        source: str,
        content: bytes,
        *,
        name: str,
        media_type: str,
        metadata: Mapping[str, Any],
        by: str,
    ) -> tuple[KbDocument, bool]:
        """Add a document, or replace the one of that source; whether anything changed comes with it."""
        known = await self.find(kb_id, source)
        stored = await asyncio.to_thread(self._payloads.put_bytes, content)
        if known is not None and (known.ref, known.metadata) == (stored.ref, dict(metadata)):
            return known, False
        now = self._database.now()
        document_id = uuid7() if known is None else known.id
        batch = Batch(Lane())
        batch.operations.extend(self._links.of(document_id, stored, now))
        batch.execute(
            self._document(
                id=document_id, kb_id=kb_id, source=source, name=name, media_type=media_type, ref=stored.ref,
                size=stored.size, version=1, metadata=encode(dict(metadata)).decode(), properties="{}", added_by=by,
                created_at=now, updated_at=now, lease_owner=None, lease_until=0.0,
            )
        )  # fmt: skip
        batch.hooks.append(stored.secure)
        await self._database.writer.submit(batch)
        found = await self.find(kb_id, source)
        assert found is not None
        return found, True

    async def find(self, kb_id: str, source_or_id: str) -> KbDocument | None:
        """A document by its source or id."""
        row = await self._database.first(
            select(kb_documents).where(
                kb_documents.c.kb_id == kb_id,
                or_(kb_documents.c.source == source_or_id, kb_documents.c.id == source_or_id),
            )
        )
        return None if row is None else document_of(row)

    async def content(self, document: KbDocument) -> bytes:
        """The bytes of a document."""
        return await self._payloads.get(document.ref)

    async def remove(self, kb_id: str, source_or_id: str) -> KbDocument:
        """Remove a document with its chunks.

        Raises:
            NotFoundError: there is none.
        """
        found = await self.find(kb_id, source_or_id)
        if found is None:
            raise NotFoundError(f"the knowledge base has no document {source_or_id!r}")
        batch = Batch(Lane())
        self._remove(batch, found.id)
        batch.execute(self._bump(base=kb_id))
        await self._database.writer.submit(batch)
        return found

    def _remove(self, batch: Batch, document_id: str) -> None:
        batch.execute(self._forget(document=document_id))  # first: see `Holding`
        batch.execute(self._cut_document(document=document_id))
        batch.execute(self._cut_entry(document=document_id))
        self._links.cut(batch, document_id, self._payloads)

    async def clearing(self, kb_id: str) -> Batch:
        """What removes everything of a base, to be submitted with the removal of the base itself."""
        found = await self._database.rows(select(kb_documents.c.id).where(kb_documents.c.kb_id == kb_id))
        batch = Batch(Lane())
        for (document_id,) in found:
            self._remove(batch, document_id)
        for generation in await self.generations(kb_id):
            for operation in self._dropped(generation.id):
                batch.execute(operation)
        return batch

    async def documents(
        self, kb_id: str, *, generation: str, limit: int = 100, after: str | None = None
    ) -> Page[tuple[KbDocument, Entry | None]]:
        """Documents in the order of their sources, with what a generation holds of them."""
        statement = self._with_entries(kb_id, generation).order_by(kb_documents.c.source).limit(limit + 1)
        if after is not None:
            statement = statement.where(kb_documents.c.source > after)
        rows = await self._database.rows(statement)
        items = [(document_of(row), _entry(row)) for row in rows[:limit]]
        return Page(items, items[-1][0].source if len(rows) > limit else None)

    @staticmethod
    def _with_entries(kb_id: str, generation: str) -> Any:
        joined = and_(kb_entries.c.document_id == kb_documents.c.id, kb_entries.c.generation == generation)
        return (
            select(
                *kb_documents.c, kb_entries.c.version.label("held"), kb_entries.c.state, kb_entries.c.chunks,
                kb_entries.c.error, kb_entries.c.revision,
            )
            .select_from(kb_documents.outerjoin(kb_entries, joined))
            .where(kb_documents.c.kb_id == kb_id)
        )  # fmt: skip

    async def counts(self, kb_id: str, generation: str) -> dict[str, int]:
        """Documents by state in a generation, and its chunks."""
        held = self._with_entries(kb_id, generation).subquery()
        rows = await self._database.rows(
            select(
                func.count(), held.c.state, held.c.held == held.c.version, func.sum(held.c.chunks)
            ).group_by(held.c.state, held.c.held == held.c.version)
        )
        found = {"documents": 0, "ready": 0, "failed": 0, "waiting": 0, "chunks": 0}
        for count, state, same, chunks in rows:
            found["documents"] += count
            found[state if state is not None and same else "waiting"] += count
            found["chunks"] += int(chunks or 0)
        return found

    async def work(self, limit: int = 20, *, held: bool = False) -> list[Work]:
        """Documents that a generation does not hold as they are now, the oldest first; `held`: those at work too."""
        now = self._database.now()
        joined = and_(
            kb_entries.c.document_id == kb_documents.c.id, kb_entries.c.generation == kb_generations.c.id
        )
        rows = await self._database.rows(
            select(kb_documents.c.id, kb_documents.c.kb_id, kb_generations.c.id)
            .select_from(
                kb_documents.join(kb_generations, kb_generations.c.kb_id == kb_documents.c.kb_id).outerjoin(
                    kb_entries, joined
                )
            )
            .where(
                or_(kb_entries.c.version.is_(None), kb_entries.c.version != kb_documents.c.version),
                true() if held else kb_documents.c.lease_until < now,
            )
            .order_by(kb_generations.c.created_at, kb_documents.c.updated_at)
            .limit(limit)
        )
        return [Work(*row) for row in rows]

    async def claim(self, document_id: str, holder: str, seconds: float) -> bool:
        """Take or renew the lease of a document; False while somebody else holds it."""
        now = self._database.now()
        rows = await self._database.write(
            self._claim(document=document_id, holder=holder, now=now, until=now + seconds)
        )
        return bool(rows)

    async def hold(
        self,
        work: Work,
        document: KbDocument,
        chunks: Sequence[ChunkRow],
        *,
        error: Mapping[str, Any] | None,
        properties: Mapping[str, Any],
    ) -> None:
        """Replace what a generation holds of a document, in one commit; its lease ends.

        Nothing changes where the document was removed or replaced meanwhile, or the generation given up.
        """
        await self._holding.hold(work, document, chunks, error=error, properties=properties)

    async def switch(self, kb_id: str) -> bool:
        """Make the generation that is being built the current one, once it holds every document."""
        generations = await self.generations(kb_id)
        new = next((g for g in generations if g.status == "building"), None)
        if new is None or (await self.counts(kb_id, new.id))["waiting"]:
            return False
        old = [g for g in generations if g.status == "current"]
        await self._database.write(
            *[op for g in old for op in self._dropped(g.id)],
            self._set_status(wanted=new.id, new_status="current"),
        )
        return True

    async def building(self) -> list[str]:
        """Bases of which a generation is being built."""
        rows = await self._database.rows(
            select(kb_generations.c.kb_id).where(kb_generations.c.status == "building")
        )
        return [kb_id for (kb_id,) in rows]

    async def held(self, kb_id: str, generation: str) -> dict[str, tuple[int, KbDocument]]:
        """Documents with chunks in a generation: revision of the entry, and the document."""
        rows = await self._database.rows(self._with_entries(kb_id, generation).where(kb_entries.c.chunks > 0))
        return {row.id: (row.revision, document_of(row)) for row in rows}

    async def segments(self, generation: str, documents: Sequence[str]) -> list[Segment]:
        """Vectors and terms of all chunks of some documents."""
        found: list[Segment] = []
        for start in range(0, len(documents), _AT_ONCE):
            rows = await self._database.rows(
                select(
                    kb_chunks.c.document_id,
                    kb_chunks.c.seq,
                    kb_chunks.c.length,
                    kb_chunks.c.vector,
                    kb_chunks.c.terms,
                )
                .where(
                    kb_chunks.c.generation == generation,
                    kb_chunks.c.document_id.in_(documents[start : start + _AT_ONCE]),
                )
                .order_by(kb_chunks.c.document_id, kb_chunks.c.seq)
            )
            found += [Segment(*row) for row in rows]
        return found

    async def texts(
        self, generation: str, wanted: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], tuple[str, dict[str, Any]]]:
        """Text and position of chunks."""
        return await stored.texts(self._database, generation, wanted)

    async def chunks(
        self, generation: str, document_id: str, *, limit: int = 100, after: int = -1
    ) -> Page[tuple[int, str, dict[str, Any]]]:
        """Number, text and position of a document's chunks, in order."""
        return await stored.chunks(self._database, generation, document_id, limit=limit, after=after)

    async def document(
        self, kb_id: str, source_or_id: str, *, generation: str
    ) -> tuple[KbDocument, Entry | None] | None:
        """A document by its source or id, with what a generation holds of it."""
        one = or_(kb_documents.c.source == source_or_id, kb_documents.c.id == source_or_id)
        row = await self._database.first(self._with_entries(kb_id, generation).where(one))
        return None if row is None else (document_of(row), _entry(row))


def _entry(row: Any) -> Entry | None:
    if row.held is None:
        return None
    error = None if row.error is None else decode(row.error)
    return Entry(version=row.held, state=row.state, chunks=row.chunks, error=error)
