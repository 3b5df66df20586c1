"""Ingestion of documents into knowledge bases: each document a step, under a lease; what is left stands in the store.

A process that dies leaves its documents with a lease that ends by itself, and the next one takes them: nothing is
counted or remembered elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from interlace.engine.errors import InterlaceError
from interlace.resources.knowledge.ingest import Ingestor
from interlace.store import Store
from interlace.store.knowledge_rows import Work

LEASE_SECONDS = 20.0
_RENEWED_EVERY = 5.0
_LOOK_EVERY = 5.0
_PAUSE = 0.2
_TRIES = 5

log = structlog.get_logger("interlace.knowledge")


class Ingestion:
    """Works off what knowledge bases have to ingest.

    Args:
        store: what says what there is to do.
        ingestor: does one document.
        parallel: documents at the same time.
    """

    def __init__(self, store: Store, ingestor: Ingestor, *, parallel: int = 2) -> None:
        self._store = store
        self._ingestor = ingestor
        self._parallel = parallel
        self._holder = secrets.token_hex(8)
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._tries: Counter[tuple[str, str]] = Counter()

    def wake(self) -> None:
        """Look at once whether there is something to do."""
        self._wanted.set()

    def start(self) -> None:
        """Work in the background until `close`."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="ingestion")

    async def close(self) -> None:
        """Stop; what is half done is done again by whoever comes next."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def drain(self) -> None:
        """Work until nothing is left, here or in other processes."""
        while True:
            if await self._some():
                continue
            if not await self._left():
                return
            await asyncio.sleep(_PAUSE)

    async def _left(self) -> bool:
        """Whether others hold documents that are not done."""
        return bool(await self._store.knowledge.work(1, held=True))

    async def _run(self) -> None:
        while True:
            self._wanted.clear()
            try:
                if await self._some():
                    continue
            except InterlaceError as error:
                log.warning("ingestion goes on later", error=str(error))
            except Exception:  # a worker loop's boundary: whatever broke one round, there is a next one
                log.exception("ingestion goes on later")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY):
                    await self._wanted.wait()

    async def _some(self) -> bool:
        """Do what there is now; False where there was nothing."""
        work = await self._store.knowledge.work(self._parallel * 4)
        taken = asyncio.Semaphore(self._parallel)
        done: list[bool] = []

        async def one(entry: Work) -> None:
            async with taken:
                done.append(await self._one(entry))

        # Documents of several generations come one after the other: they share the document's lease.
        async with asyncio.TaskGroup() as group:
            for entry in {entry.document_id: entry for entry in reversed(work)}.values():
                group.create_task(one(entry))
        for kb_id in await self._store.knowledge.building():
            if await self._store.knowledge.switch(kb_id):
                log.info("a new index is in use", knowledge_base=kb_id)
        return any(done)

    async def _one(self, work: Work) -> bool:
        key = work.document_id, work.generation
        try:
            if not await self._store.knowledge.claim(work.document_id, self._holder, LEASE_SECONDS):
                return False
            self._tries[key] += 1
            async with self._renewed(work.document_id):
                state = await self._ingestor.ingest(work, last=self._tries[key] >= _TRIES)
        except InterlaceError as error:  # its lease ends by itself, and it is tried again
            log.warning("a document is ingested later", document=work.document_id, error=str(error))
            return False
        del self._tries[key]
        log.info("document ingested", document=work.document_id, state=state)
        return True

    @asynccontextmanager
    async def _renewed(self, document_id: str) -> AsyncIterator[None]:
        async def renew() -> None:
            while True:
                await asyncio.sleep(_RENEWED_EVERY)
                try:
                    await self._store.knowledge.claim(document_id, self._holder, LEASE_SECONDS)
                except InterlaceError as error:  # the next time may be early enough
                    log.warning(
                        "the lease of a document was not renewed", document=document_id, error=str(error)
                    )

        task = asyncio.create_task(renew())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, InterlaceError):
                await task
