"""The store of a home: one object that opens, and closes, all that is kept."""

from __future__ import annotations

import asyncio
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import select

from interlace.store.announcing import AnnouncementRepository, AnnouncingStatements
from interlace.store.answers import AnswerRepository
from interlace.store.audit import AuditRepository
from interlace.store.connectors import ConnectorRepository
from interlace.store.counters import CounterRepository
from interlace.store.database import Database, locate, open_database
from interlace.store.deliveries import DeliveryRepository
from interlace.store.drafts import DraftRepository
from interlace.store.errors import NotFoundError
from interlace.store.events import EventRepository
from interlace.store.expired import ExpiredRepository
from interlace.store.files import FileStore
from interlace.store.firings import FiringRepository
from interlace.store.forms import FormRepository
from interlace.store.home import make_home
from interlace.store.hosts import HostRepository
from interlace.store.identities import IdentityRepository
from interlace.store.invitations import InvitationRepository
from interlace.store.journal import RunJournal
from interlace.store.keys import KeyRepository
from interlace.store.knowledge import KnowledgeRepository
from interlace.store.links import Links
from interlace.store.logins import LoginRepository
from interlace.store.market import MarketRepository
from interlace.store.mcp_tools import McpToolRepository
from interlace.store.numbers import NumberRepository
from interlace.store.organisations import OrganisationRepository
from interlace.store.payloads import FilePayloads
from interlace.store.pins import PinRepository
from interlace.store.places import PlaceRepository
from interlace.store.resources import ResourceRepository
from interlace.store.run_files import RunFileRepository
from interlace.store.runs import RunRepository
from interlace.store.secrets import SecretRepository
from interlace.store.sessions import SessionRepository
from interlace.store.settings import SettingRepository
from interlace.store.sqlite_writer import Durability
from interlace.store.subscriptions import SubscriptionRepository
from interlace.store.tables import payloads, run_payloads
from interlace.store.tickets import TicketRepository
from interlace.store.transitions import Transitions
from interlace.store.triggers import TriggerRepository
from interlace.store.uploads import UploadRepository
from interlace.store.usage import UsageRepository
from interlace.store.users import UserRepository
from interlace.store.variables import VariableRepository
from interlace.store.wait_statements import WaitStatements
from interlace.store.waits import WaitRepository
from interlace.store.watch import Watch
from interlace.store.workflows import WorkflowRepository
from interlace.store.writer import Batch, Lane

_ORPHAN_SECONDS = 3600.0
_SWEPT_AT_ONCE = 500


class Store:
    """What is kept, by kind. Made by `Store.open`; belongs to the event loop that opened it."""

    def __init__(
        self, database: Database, home: Path, durability: Durability, payloads: Path | None = None
    ) -> None:
        self.database = database
        self.payloads = FilePayloads(payloads or home / "payloads", fsync=durability == "full")
        links = Links(database.compile)
        self._links = links
        self._transitions = Transitions(database.compile)
        self._waits = WaitStatements(database.compile)
        self._announcing = AnnouncingStatements(database.compile)
        self._watch = Watch(database)
        self.runs = RunRepository(database, self.payloads, links)
        self.events = EventRepository(database, self.payloads, self._watch)
        self.waits = WaitRepository(database)
        self.hosts = HostRepository(database)
        self.workflows = WorkflowRepository(database)
        self.triggers = TriggerRepository(database)
        self.firings = FiringRepository(database)
        self.deliveries = DeliveryRepository(database, self.payloads, links)
        self.announcements = AnnouncementRepository(database)
        self.subscriptions = SubscriptionRepository(database)
        self.pins = PinRepository(database)
        self.drafts = DraftRepository(database)
        self.keys = KeyRepository(database)
        self.logins, self.tickets = LoginRepository(database), TicketRepository(database)
        self.identities = IdentityRepository(database)
        self.counters = CounterRepository(database)
        self.numbers = NumberRepository(database)
        self.answers = AnswerRepository(database)
        self.expired = ExpiredRepository(database)
        self.variables = VariableRepository(database)
        self.settings = SettingRepository(database)
        self.usage = UsageRepository(database)
        self.audit = AuditRepository(database)
        self.users = UserRepository(database, self.audit)
        self.organisations = OrganisationRepository(database, self.audit)
        self.invitations = InvitationRepository(database, self.audit, self.users, self.organisations)
        self.mcp_tools = McpToolRepository(database)
        self.resources = ResourceRepository(database, self.audit)
        self.market = MarketRepository(database, self.audit)
        self.sessions = SessionRepository(database)
        self.places, self.forms = PlaceRepository(database), FormRepository(database)
        self.secrets = SecretRepository(database, self.audit)
        self.connectors = ConnectorRepository(database)
        self.knowledge = KnowledgeRepository(database, self.payloads, links)
        self.files = FileStore(database, self.payloads, links)
        self.uploads = UploadRepository(database, self.payloads, links)
        self.run_files = RunFileRepository(database)

    @classmethod
    async def open(
        cls, url: str | None, home: Path, *, durability: Durability = "normal", payloads: Path | None = None
    ) -> Store:
        """Open the store of a home, making or updating its tables.

        `url` is a database URL; None is the SQLite file `interlace.db` of the home. Several processes may open it.
        Durability `normal` survives the end of every process, `full` also a loss of power, at the cost of waiting for
        the disk. PostgreSQL's own settings rule there; payload files follow this one.

        Raises:
            StoreError: the database cannot be opened; what to do stands in the message.
        """
        await asyncio.to_thread(make_home, home)
        return cls(await open_database(locate(url, home), durability=durability), home, durability, payloads)

    def journal(
        self, run_id: str, epoch: int | None, first_seq: int = 1, *, keeps: str | None = None
    ) -> RunJournal:
        """The journal of a run, to be written under a lease; `first_seq` follows the last event there is.

        `keeps` says whose kept variables it may change.
        """
        return RunJournal(
            run_id, epoch, first_seq,
            writer=self.database.writer, payloads=self.payloads, links=self._links, transitions=self._transitions,
            waits=self._waits, announcing=self._announcing, now=self.database.now, keeps=keeps,
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

        The folders are read in a thread, and looked up some hundreds at once. Gives the number of payloads looked at
        that no row knows.
        """
        found, orphans = self.payloads.refs(older_than), 0
        while refs := await asyncio.to_thread(lambda: list(islice(found, _SWEPT_AT_ONCE))):
            rows = await self.database.rows(select(payloads.c.ref).where(payloads.c.ref.in_(refs)))
            for ref in sorted(set(refs) - {row.ref for row in rows}):
                batch = Batch(Lane())
                batch.slow = True
                self._links.sweep(batch, ref, self.payloads)
                await self.database.writer.submit(batch)
                orphans += 1
        return orphans

    async def close(self) -> None:
        """Commit what is queued and let go of the database."""
        await self._watch.close()
        await self.database.close()
