"""One step of ingestion: a document becomes the chunks of a generation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from interlace.engine.chat import CallSite
from interlace.engine.errors import InterlaceError, NodeError
from interlace.resources.documents.document import Extracted
from interlace.resources.documents.extractor import Extractor
from interlace.resources.knowledge.chunking import cut
from interlace.resources.knowledge.embedders import Embedders
from interlace.store import Store
from interlace.store.knowledge_rows import ChunkRow, Generation, KbDocument, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT_ONCE = 64


class Ingestor:
    """Extracts, cuts, embeds and stores one document.

    Args:
        store: where it comes from and goes to.
        extractor: reads it, in a process of its own.
        embedders: give the vectors.
    """

    def __init__(self, store: Store, extractor: Extractor, embedders: Embedders) -> None:
        self._store = store
        self._extractor = extractor
        self._embedders = embedders

    async def ingest(self, work: Work, *, last: bool = True) -> str:
        """Do one document, all of it or nothing; what is wrong with it is kept beside it.

        Args:
            work: the document, and the generation it is for.
            last: whether an error that may pass is kept too; otherwise it is raised.

        Returns:
            `ready`, `failed`, or `gone` where document or generation were removed meanwhile.

        Raises:
            NodeError: the embedding model is out of reach, and this was not the last attempt.
        """
        knowledge = self._store.knowledge
        document = await knowledge.find(work.kb_id, work.document_id)
        generation = next(
            (g for g in await knowledge.generations(work.kb_id) if g.id == work.generation), None
        )
        if document is None or generation is None:
            return "gone"
        try:
            extracted = await self._extractor.extract(
                await knowledge.content(document), name=document.name, media_type=document.media_type
            )
            rows = await self._rows(extracted, document, generation)
        except InterlaceError as error:
            if isinstance(error, NodeError) and error.retryable is not False and not last:
                raise
            said = {"type": getattr(error, "kind", "store"), "message": str(error)}
            await knowledge.hold(work, document, [], error=said, properties={})
            return "failed"
        properties = {"format": extracted.format, **extracted.metadata}
        if extracted.warnings:
            properties["warnings"] = list(extracted.warnings)
        await knowledge.hold(work, document, rows, error=None, properties=properties)
        return "ready"

    async def _rows(
        self, extracted: Extracted, document: KbDocument, generation: Generation
    ) -> Sequence[ChunkRow]:
        from interlace.resources.knowledge.segment import packed_terms  # noqa: PLC0415 - numpy, only where something is ingested

        settings = generation.settings
        # Beside the loop, as the terms below: a long document holds up no other work.
        chunks = await asyncio.to_thread(
            cut, extracted.blocks, size=settings["size"], overlap=settings["overlap"]
        )
        title = str(document.metadata.get("title") or extracted.metadata.get("title") or "")
        texts = [chunk.embedded(title) for chunk in chunks]
        site = CallSite(principal=await self._store.users.principal(document.added_by))
        rows: list[ChunkRow] = []
        for start in range(0, len(chunks), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            vectors = await self._embedders.vectors(some, model=str(settings["embedding"]), site=site)
            packed = await asyncio.to_thread(lambda: list(map(packed_terms, some)))  # noqa: B023 - awaited here
            for chunk, (terms, length), vector in zip(
                chunks[start : start + _AT_ONCE], packed, vectors, strict=True
            ):
                rows.append(
                    ChunkRow(
                        text=chunk.text,
                        position=chunk.position,
                        length=length,
                        vector=vector.tobytes(),
                        terms=terms,
                    )
                )
        return rows
