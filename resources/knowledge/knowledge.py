"""Knowledge bases as people, nodes and agents use them: looked up by rights, filled, searched."""

from __future__ import annotations

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from interlace.engine.chat import CallSite
from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.documents.source import Source, fetch
from interlace.resources.http import HttpClient
from interlace.resources.knowledge.definition import KnowledgeBase, read_definition
from interlace.resources.knowledge.duplicates import saying_nothing_new
from interlace.resources.knowledge.embedders import Embedders
from interlace.resources.knowledge.filters import compile_filter, metadata_of
from interlace.resources.knowledge.grounding import (
    citations_of,
    confidence_of,
    conflicts_of,
    context_of,
    quotes_of,
)
from interlace.resources.knowledge.rerank import Rerank
from interlace.resources.knowledge.result import Found, Retrieved
from interlace.resources.lookup import usable
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.knowledge_rows import Entry, Generation, KbDocument
from interlace.store.paging import Page
from interlace.store.resources import Resource, Visibility

if TYPE_CHECKING:
    import numpy as np

    from interlace.resources.knowledge.index import Hit, Index

KIND = "knowledge_base"
MAX_TOP_K = 100
_POOL = 200
_RERANKED = 20
_INDEX_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked.

    Args:
        text: the question.
        mode: by meaning and words, by meaning alone, or by words alone.
        top_k: most chunks.
        min_score: chunks below are left out, 0 to 1.
        filter: `{field: value}` or `{field: {operator: value}}` on the metadata of documents.
        rerank: let the model of the role `fast` put the best in order.
        grounded: give quotes and conflicts, and nothing below the base's confidence.
    """

    text: str
    mode: Literal["hybrid", "dense", "text"] = "hybrid"
    top_k: int = 5
    min_score: float = 0.0
    filter: Mapping[str, Any] | None = None
    rerank: bool = False
    grounded: bool = False


class KnowledgeBases:
    """The knowledge bases of all users.

    Args:
        store: where they are kept.
        embedders: give the vectors.
        http: fetches documents at URLs behind its guard.
        rerank: puts results in order by a model.
        memory: bytes of indexes that stay in memory; the one that was not asked for longest goes first.
    """

    def __init__(
        self,
        store: Store,
        embedders: Embedders,
        http: HttpClient,
        rerank: Rerank,
        *,
        memory: int = _INDEX_BYTES,
    ) -> None:
        self._store = store
        self._embedders = embedders
        self._http = http
        self._rerank = rerank
        self._memory = memory
        self._indexes: OrderedDict[str, Index] = OrderedDict()
        self.changed: list[Callable[[], None]] = []
        """Called when there is something to ingest."""

    async def add(
        self,
        name: str,
        definition: Mapping[str, Any] | KnowledgeBase,
        *,
        by: Principal,
        org_id: str | None = None,
        visibility: Visibility = "private",
    ) -> Resource:
        """Make a knowledge base; it is empty.

        Raises:
            NodeError: `knowledge_definition`.
            ConflictError, NotFoundError, ForbiddenError: as for every resource.
        """
        base = read_definition(definition)
        added = await self._store.resources.add(
            KIND, name, base.model_dump(mode="json"), by=by, org_id=org_id, visibility=visibility
        )
        await self._store.knowledge.begin(added.id, base.index_settings(), current=True)
        return added

    async def update(
        self, name: str, definition: Mapping[str, Any] | KnowledgeBase, *, by: Principal
    ) -> Resource:
        """Change a knowledge base; where documents are to be cut or embedded in another way, a new index is built."""
        base = read_definition(definition)
        before = await self._store.resources.find(KIND, name, by=by)
        after = await self._store.resources.update(before.id, definition=base.model_dump(mode="json"), by=by)
        if (await self._current(after)).settings != base.index_settings():
            await self._begin(after, base)
        return after

    async def remove(self, name: str, *, by: Principal) -> None:
        """Remove a knowledge base with all its documents."""
        found = await self._store.resources.find(KIND, name, by=by)
        along = await self._store.knowledge.clearing(found.id)
        await self._store.resources.remove(found.id, by=by, along=along)
        self._indexes.pop(found.id, None)

    async def reindex(self, name: str, *, by: Principal) -> None:
        """Build a new index beside the one in use, and take it when it holds every document."""
        found = await self._writable(name, by)
        await self._begin(found, read_definition(found.definition))

    async def _begin(self, found: Resource, base: KnowledgeBase) -> None:
        await self._store.knowledge.begin(found.id, base.index_settings(), current=False)
        self._notify()

    async def put(
        self,
        name: str,
        source: Source | str,
        *,
        by: Principal,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> tuple[KbDocument, bool]:
        """Add a document, or replace the one of the same source; it is found once it is ingested.

        Args:
            name: of the knowledge base.
            source: the file, or the URL that it is fetched from.
            by: who adds it.
            metadata: what filters may ask for.
            key: what it is known by; the URL or the file's name, if not given.

        Raises:
            NodeError: `document_empty`; those of the HTTP client.
            NotFoundError, ForbiddenError: no such base, or not to be changed by `by`.
        """
        base = await self._writable(name, by)
        known = key or (source if isinstance(source, str) else source.name)
        file = await fetch(source, self._http) if isinstance(source, str) else source
        if not known:
            raise NodeError("the document has no name; give a key", kind="bad_file", retryable=False)
        if not file.content:
            raise NodeError(f"{known!r} is empty", kind="document_empty", retryable=False)
        found = await self._store.knowledge.put(
            base.id, known, file.content, name=file.name or known, media_type=file.media_type,
            metadata=metadata or {}, by=by.user_id,
        )  # fmt: skip
        self._notify()
        return found

    async def drop(self, name: str, document: str, *, by: Principal) -> None:
        """Remove a document, by its source or id; it is not found from now on."""
        base = await self._writable(name, by)
        await self._store.knowledge.remove(base.id, document)

    async def documents(
        self, name: str, *, by: Principal, limit: int = 100, after: str | None = None
    ) -> Page[tuple[KbDocument, Entry | None]]:
        """The documents of a base, with what of them can be found."""
        base = await self._store.resources.find(KIND, name, by=by)
        generation = await self._current(base)
        return await self._store.knowledge.documents(
            base.id, generation=generation.id, limit=limit, after=after
        )

    async def document(self, name: str, document: str, *, by: Principal) -> tuple[KbDocument, Entry | None]:
        """One document of a base by its source or id, with what of it can be found.

        Raises:
            NotFoundError: `by` sees no such base, or it has no such document.
        """
        base = await self._store.resources.find(KIND, name, by=by)
        generation = await self._current(base)
        found = await self._store.knowledge.document(base.id, document, generation=generation.id)
        if found is None:
            raise NotFoundError(f"no document {document!r} in {base.name!r}")
        return found

    async def chunks(
        self, name: str, document: str, *, by: Principal, limit: int = 100, after: int = -1
    ) -> Page[tuple[int, str, dict[str, Any]]]:
        """Number, text and position of a document's chunks, as they can be found now. Raises as `document`."""
        found, _ = await self.document(name, document, by=by)
        base = await self._store.resources.find(KIND, name, by=by)
        generation = await self._current(base)
        return await self._store.knowledge.chunks(generation.id, found.id, limit=limit, after=after)

    async def progress(self, name: str, *, by: Principal) -> dict[str, Any]:
        """How far ingestion is: documents by state, chunks, and the same of a new index that is being built."""
        base = await self._store.resources.find(KIND, name, by=by)
        found: dict[str, Any] = {"building": None}
        for generation in await self._store.knowledge.generations(base.id):
            counts = await self._store.knowledge.counts(base.id, generation.id)
            if generation.status == "current":
                found |= counts
            else:
                found["building"] = counts
        return found

    async def listing(self, *, by: Principal) -> list[dict[str, str]]:
        """All bases that `by` sees: id, name and what each is about."""
        found: list[dict[str, str]] = []
        cursor = None
        while True:
            page = await self._store.resources.list(KIND, by=by, active=True, after=cursor)
            for base in page.items:
                about = str(base.definition.get("description") or "")
                found.append({"id": base.id, "name": base.name, "description": about})
            if page.cursor is None:
                return found
            cursor = page.cursor

    async def search(self, names: Sequence[str], query: Query, *, site: CallSite) -> Retrieved:
        """Search some knowledge bases together, with the rights of the site's principal.

        Raises:
            NodeError: `knowledge_query`, `knowledge_filter`, `resource_not_found`; those of the embedding model.
        """
        _check(query)
        passes = compile_filter(query.filter)
        ranked: list[list[tuple[Found, np.ndarray]]] = []
        bases: list[KnowledgeBase] = []
        for name in dict.fromkeys(names):
            resource = await usable(self._store.resources, KIND, name, by=site.principal)
            base = read_definition(resource.definition)
            bases.append(base)
            ranked.append(await self._search(resource, base, query, passes, site))
        # Each base's own order stays: one by ranks (`rrf`) is not that of the scores.
        found = list(heapq.merge(*ranked, key=lambda pair: -pair[0].score))
        confidence = confidence_of([chunk for chunk, _ in found[: query.top_k]])
        chosen = [chunk for chunk, _ in found][: _RERANKED if query.rerank else query.top_k]
        if query.rerank:
            chosen = (await self._rerank(query.text, chosen, site=site))[: query.top_k]
        chunks = [replace(chunk, n=n) for n, chunk in enumerate(chosen, 1)]
        if query.grounded:
            return await self._grounded(query, chunks, confidence, bases, site)
        return Retrieved(
            chunks=chunks, context=context_of(chunks), citations=citations_of(chunks), confidence=confidence
        )

    async def _search(
        self,
        resource: Resource,
        base: KnowledgeBase,
        query: Query,
        passes: Callable[[KbDocument], bool] | None,
        site: CallSite,
    ) -> list[tuple[Found, np.ndarray]]:
        index = await self._index(resource)
        vector = None
        if query.mode != "text" and index.documents:
            model = str(index.generation.settings["embedding"])
            vector = (await self._embedders.vectors([query.text], model=model, site=site))[0]
        hits = await asyncio.to_thread(
            index.search, query.text, vector, mode=query.mode, fusion=base.fusion, limit=_POOL, allowed=passes
        )
        hits = [hit for hit in hits if hit.score >= query.min_score]
        return await self._texts(resource, index, hits, base.duplicates, max(query.top_k, _RERANKED))

    async def _texts(
        self, resource: Resource, index: Index, hits: Sequence[Hit], duplicates: float, most: int
    ) -> list[tuple[Found, np.ndarray]]:
        candidates = list(hits[: most * 3])
        texts = await self._store.knowledge.texts(
            index.generation.id, [(hit.document_id, hit.seq) for hit in candidates]
        )
        there = [  # one may have been removed a moment ago
            (hit, text, document)
            for hit in candidates
            if (text := texts.get((hit.document_id, hit.seq))) is not None
            and (document := index.documents.get(hit.document_id)) is not None
        ]
        if duplicates < 1:
            same = saying_nothing_new(
                [text[0] for _, text, _ in there], [hit.vector for hit, _, _ in there], duplicates
            )
            there = [entry for entry, is_same in zip(there, same, strict=True) if not is_same]
        found = []
        for hit, text, document in there[:most]:
            metadata = {
                **metadata_of(document), "knowledge_base": resource.name, "document_id": document.id,
            }  # fmt: skip
            chunk = Found(
                text=text[0], score=round(hit.score, 4), source=document.source, position=text[1], metadata=metadata,
                dense=round(hit.dense, 4), words=round(hit.text, 4),
            )  # fmt: skip
            found.append((chunk, hit.vector))
        return found

    async def _grounded(
        self,
        query: Query,
        chunks: list[Found],
        confidence: float,
        bases: Sequence[KnowledgeBase],
        site: CallSite,
    ) -> Retrieved:
        least = max((base.refuse_below for base in bases), default=0.0)
        if not chunks or confidence < least:
            said = "nothing was found" if not chunks else f"confidence {confidence:.2f} is below {least:.2f}"
            return Retrieved(
                chunks=[], confidence=confidence, refused=f"{said}: the documents do not seem to answer this"
            )

        async def embed(texts: Sequence[str]) -> np.ndarray:
            return await self._embedders.vectors(texts, model=bases[0].embedding, site=site)

        quotes = await quotes_of(query.text, chunks, embed)
        citations = citations_of(chunks)
        for citation in citations:
            citation["quotes"] = [quote.text for quote in quotes if quote.n == citation["n"]]
        return Retrieved(
            chunks=chunks, context=context_of(chunks), citations=citations, confidence=confidence, quotes=quotes,
            conflicts=await conflicts_of(quotes, chunks, embed),
        )  # fmt: skip

    async def _index(self, resource: Resource) -> Index:
        from interlace.resources.knowledge.index import Index  # noqa: PLC0415 - numpy, only where something is searched

        generation = await self._current(resource)
        index = self._indexes.get(resource.id)
        if index is None or index.generation.id != generation.id:
            index = self._indexes[resource.id] = Index(self._store.knowledge, generation)
        self._indexes.move_to_end(resource.id)
        await index.refresh(generation)
        while len(self._indexes) > 1 and sum(one.size for one in self._indexes.values()) > self._memory:
            self._indexes.popitem(last=False)
        return index

    async def _current(self, resource: Resource) -> Generation:
        found = await self._store.knowledge.generations(resource.id)
        current = next((generation for generation in found if generation.status == "current"), None)
        if current is None:  # it was made elsewhere than by `add`
            settings = read_definition(resource.definition).index_settings()
            await self._store.knowledge.begin(resource.id, settings, current=True)
            return await self._current(resource)
        return current

    async def _writable(self, name: str, by: Principal) -> Resource:
        found = await self._store.resources.find(KIND, name, by=by)
        return await self._store.resources.writable(found.id, by=by)

    def _notify(self) -> None:
        for tell in self.changed:
            tell()


def _check(query: Query) -> None:
    if not query.text.strip():
        raise NodeError("the query is empty", kind="knowledge_query", retryable=False)
    if not 1 <= query.top_k <= MAX_TOP_K:
        raise NodeError(f"top_k is 1 to {MAX_TOP_K}", kind="knowledge_query", retryable=False)
