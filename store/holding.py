"""What an index holds of a document is replaced in one commit, if document and generation are still what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import encode
from interlace.store.knowledge_rows import ChunkRow, KbDocument, Work
from interlace.store.statements import Operation
from interlace.store.tables import kb_chunks, kb_documents, kb_entries, kb_generations


def _is(column: Any, name: str) -> ColumnElement[bool]:
    found: ColumnElement[bool] = column == bindparam(name, type_=column.type)
    return found


def _values(table: Any, names: Sequence[str]) -> list[Any]:
    return [bindparam(name, type_=table.c[name].type) for name in names]


class Holding:
    """The statements of it.

    Whoever removes a document or a generation deletes its row before what depends on it, and here it is the row that is
    written first: of the two, one waits for the other, and nothing is left behind.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        same = and_(
            _is(kb_documents.c.id, "document_id"),
            kb_documents.c.version == bindparam("version", type_=kb_documents.c.version.type),
        )
        of_generation = _is(kb_generations.c.id, "generation")
        unchanged = and_(
            exists(select(kb_documents.c.id).where(same)), exists(select(kb_generations.c.id).where(of_generation))
        )  # fmt: skip
        self._document = compiler(
            update(kb_documents)
            .where(same)
            .values(
                properties=bindparam("found", type_=kb_documents.c.properties.type),
                lease_until=0.0,
            )
        )
        self._bump = compiler(
            update(kb_generations)
            .where(of_generation, exists(select(kb_documents.c.id).where(same)))
            .values(revision=kb_generations.c.revision + 1)
        )
        self._cut = compiler(
            delete(kb_chunks).where(
                _is(kb_chunks.c.generation, "generation"), _is(kb_chunks.c.document_id, "document_id"), unchanged
            )
        )  # fmt: skip
        names = [column.name for column in kb_chunks.c]
        self._chunk = compiler(
            insert(kb_chunks).from_select(names, select(*_values(kb_chunks, names)).where(unchanged))
        )
        given = ["document_id", "version", "state", "chunks", "error", "at"]
        entry = insert(kb_entries).from_select(
            ["generation", "revision", *given],
            select(kb_generations.c.id, kb_generations.c.revision, *_values(kb_entries, given)).where(
                of_generation, unchanged
            ),
        )
        changed = ("version", "revision", "state", "chunks", "error", "at")
        self._entry = compiler(
            entry.on_conflict_do_update(
                index_elements=["generation", "document_id"],
                set_={name: entry.excluded[name] for name in changed},
            )
        )

    async def hold(
        self,
        work: Work,
        document: KbDocument,
        chunks: Sequence[ChunkRow],
        *,
        error: Mapping[str, Any] | None,
        properties: Mapping[str, Any],
    ) -> None:
        """Replace what a generation holds of this version of a document; its lease ends. Else nothing changes."""
        which = {"generation": work.generation, "document_id": document.id, "version": document.version}
        operations: list[Operation] = [
            self._document(document_id=document.id, version=document.version, found=_text(properties)),
            self._bump(**which),
            self._cut(**which),
        ]
        operations += [
            self._chunk(
                **which, seq=seq, text=row.text, position=_text(row.position), length=row.length, vector=row.vector,
                terms=row.terms,
            )
            for seq, row in enumerate(chunks)
        ]  # fmt: skip
        operations.append(
            self._entry(
                **which, state="ready" if error is None else "failed", chunks=len(chunks),
                error=None if error is None else _text(error), at=self._database.now(),
            )
        )  # fmt: skip
        await self._database.write(*operations)


def _text(value: Mapping[str, Any]) -> str:
    return encode(dict(value)).decode()
