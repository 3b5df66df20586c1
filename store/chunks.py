"""Chunks of documents as they are read: those that were found, and those of one document in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, or_, select

from interlace.store.database import Database
from interlace.store.encoding import decode
from interlace.store.paging import Page, page
from interlace.store.tables import kb_chunks


async def texts(
    database: Database, generation: str, wanted: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], tuple[str, dict[str, Any]]]:
    """Text and position of chunks, by document and number."""
    if not wanted:
        return {}
    rows = await database.rows(
        select(kb_chunks.c.document_id, kb_chunks.c.seq, kb_chunks.c.text, kb_chunks.c.position).where(
            kb_chunks.c.generation == generation,
            or_(*(and_(kb_chunks.c.document_id == d, kb_chunks.c.seq == s) for d, s in wanted)),
        )
    )
    return {(row.document_id, row.seq): (row.text, decode(row.position)) for row in rows}


async def chunks(
    database: Database, generation: str, document_id: str, *, limit: int, after: int
) -> Page[tuple[int, str, dict[str, Any]]]:
    """Number, text and position of a document's chunks, in order, those after a number."""
    rows = await database.rows(
        select(kb_chunks.c.seq, kb_chunks.c.text, kb_chunks.c.position)
        .where(
            kb_chunks.c.generation == generation,
            kb_chunks.c.document_id == document_id,
            kb_chunks.c.seq > after,
        )
        .order_by(kb_chunks.c.seq)
        .limit(limit + 1)
    )
    found = [(row.seq, row.text, decode(row.position)) for row in rows]
    return page(found, limit, [str(row.seq) for row in rows])
