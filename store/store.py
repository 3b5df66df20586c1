"""The store of a home: one object that opens, and closes, all that is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from sqlalchemy import select

from interlace.store.database import Database, locate, open_database
from interlace.store.errors import NotFoundError
from interlace.store.events import EventRepository
from interlace.store.files import FileStore
from interlace.store.home import make_home
from interlace.store.journal import RunJournal
from interlace.store.keys import KeyRepository
from interlace.store.links import Links
from interlace.store.payloads import FilePayloads
from interlace.store.runs import RunRepository
from interlace.store.settings import SettingRepository
from interlace.store.sqlite_writer import Durability
from interlace.store.tables import payloads, run_payloads
from interlace.store.transitions import Transitions
from interlace.store.variables import VariableRepository
from interlace.store.wait_statements import WaitStatements
from interlace.store.waits import WaitRepository
from interlace.store.watch import Watch
from interlace.store.workflows import WorkflowRepository
from interlace.store.writer import Batch, Lane

_ORPHAN_SECONDS = 3600.0


class Store:
    """What is kept, by kind. Made by `Store.open`; belongs to the event loop that opened it."""

    def __init__(self, database: Database, home: Path, durability: Durability) -> None:
        self.database = database
        self.payloads = FilePayloads(home / "payloads", fsync=durability == "full")
        links = Links(database.compile)
        self._links = links
        self._transitions = Transitions(database.compile)
        self._waits = WaitStatements(database.compile)
        self._watch = Watch(database)
        self.runs = RunRepository(database, self.payloads, links)
        self.events = EventRepository(database, self.payloads, self._watch)
        self.waits = WaitRepository(database)
        self.workflows = WorkflowRepository(database)
        self.keys = KeyRepository(database)
        self.variables = VariableRepository(database)
        self.settings = SettingRepository(database)
        self.files = FileStore(database, self.payloads, links)

    @classmethod
    async def open(cls, url: str | None, home: Path, *, durability: Durability = "normal") -> Store:
        """Open the store of a home, making or updating its tables.

        `url` is a database URL; None is the SQLite file `interlace.db` of the home. Several processes may open it.
        Durability `normal` survives the end of every process, `full` also a loss of power, at the cost of waiting for
        the disk. PostgreSQL's own settings rule there; payload files follow this one.

        Raises:
            StoreError: the database cannot be opened; what to do stands in the message.
        """
        await asyncio.to_thread(make_home, home)
        return cls(await open_database(locate(url, home), durability=durability), home, durability)

    def journal(self, run_id: str, epoch: int | None, first_seq: int = 1) -> RunJournal:
        """The journal of a run, to be written under a lease; `first_seq` follows the last event there is."""
        return RunJournal(
            run_id, epoch, first_seq,
            writer=self.database.writer, payloads=self.payloads, links=self._links, transitions=self._transitions,
            waits=self._waits,
        )  # fmt: skip

    async def payload_of(self, run_id: str, ref: str) -> Any:
        """A value that a run's events give by reference.

        Raises:
            NotFoundError: the run has no such payload.
        """
        wanted = select(run_payloads.c.ref).where(run_payloads.c.run_id == run_id, run_payloads.c.ref == ref)
        if await self.database.first(wanted) is None:
            raise NotFoundError(f"run {run_id!r} has no payload {ref!r}")
        return await self.payloads.load(ref)

    async def sweep(self, older_than: float = _ORPHAN_SECONDS) -> int:
        """Remove payloads that nothing refers to, left behind by processes that died between file and commit.

        Gives the number of payloads looked at that no row knows.
        """
        orphans = 0
        for ref in self.payloads.refs(older_than):
            if await self.database.first(select(payloads.c.ref).where(payloads.c.ref == ref)) is None:
                batch = Batch(Lane())
                self._links.sweep(batch, ref, self.payloads)
                await self.database.writer.submit(batch)
                orphans += 1
        return orphans

    async def close(self) -> None:
        """Commit what is queued and let go of the database."""
        await self._watch.close()
        await self.database.close()
