"""Schedules when they are due: claimed for a moment, one nominal time decided after the other.

Whatever is decided about a nominal time is one commit: the run or the reason why there is none, and the schedule's
cursor. Only who holds the schedule's claim may do so, and the nominal time is a key, so that with any number of
processes it is decided once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import (
    BigInteger,
    Double,
    Integer,
    Text,
    and_,
    bindparam,
    delete,
    func,
    not_,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.errors import ConflictError
from interlace.store.paging import Page, page
from interlace.store.run_row import UNFINISHED_SQL
from interlace.store.statements import Now
from interlace.store.tables import firings, runs, triggers
from interlace.store.trigger_row import Firing, FiringStatus, Trigger, firing_of, trigger_of
from interlace.store.writer import Batch, Lane

_CLAIM_SECONDS = 10.0


class DecidedError(ConflictError):
    """Another process decides about this schedule, or has decided about this time."""


class FiringRepository:
    """The nominal times of all schedules."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        one = triggers.c.id == bindparam("trigger", type_=Text)
        me = triggers.c.lease_owner == bindparam("claimant", type_=Text)
        until = Now() + bindparam("ttl", type_=Double)
        free = or_(
            triggers.c.lease_owner.is_(None),
            triggers.c.lease_until.is_(None),
            triggers.c.lease_until <= Now(),
        )
        due = triggers.c.next_at <= bindparam("now", type_=Double)
        some = (
            select(triggers.c.id)
            .where(due, free)
            .order_by(triggers.c.next_at)
            .limit(bindparam("most", type_=Integer))
        )
        self._claim = compiler(
            update(triggers)
            .where(triggers.c.id.in_(some), due, free)
            .values(lease_owner=bindparam("claimant", type_=Text), lease_until=until)
            .returning(triggers.c.id),
            returns=True,
        )
        nominal = bindparam("nominal", type_=BigInteger)
        self._advance = compiler(
            update(triggers)
            .where(one, me, or_(triggers.c.cursor.is_(None), triggers.c.cursor < nominal))
            .values(cursor=nominal, lease_until=until)
            .returning(triggers.c.id),
            returns=True,
        )
        self._hold = compiler(
            update(triggers).where(one, me).values(lease_until=until).returning(triggers.c.id), returns=True
        )
        self._decide = compiler(
            insert(firings).on_conflict_do_nothing().returning(firings.c.nominal), returns=True
        )
        self._dequeue = compiler(
            update(firings)
            .where(firings.c.trigger_id == bindparam("of", type_=Text), firings.c.nominal == nominal, firings.c.status == "queued")
            .values(
                status=bindparam("what", type_=Text), run_id=bindparam("run", type_=Text),
                note=bindparam("why", type_=Text), at=bindparam("now", type_=Double),
            )
            .returning(firings.c.nominal),
            returns=True,
        )  # fmt: skip
        self._release = compiler(
            update(triggers)
            .where(one, me)
            .values(next_at=bindparam("due", type_=Double), lease_owner=null(), lease_until=null())
        )
        self._wake = compiler(
            update(triggers)
            .where(one, triggers.c.next_at.is_not(None))
            .values(next_at=bindparam("due", type_=Double))
        )
        self._expire = compiler(update(triggers).where(me).values(lease_owner=null(), lease_until=null()))
        old = select(firings.c.nominal).where(firings.c.trigger_id == bindparam("of", type_=Text))
        newest = old.order_by(firings.c.nominal.desc()).limit(bindparam("most", type_=Integer)).subquery()
        self._prune = compiler(
            delete(firings).where(
                firings.c.trigger_id == bindparam("of", type_=Text), firings.c.status != "queued",
                firings.c.nominal < select(func.min(newest.c.nominal)).scalar_subquery(),
            )
        )  # fmt: skip

    async def claim_due(self, claimant: str, now: float, most: int = 50) -> Sequence[Trigger]:
        """Take the schedules that are due and that nobody has, for a few seconds each."""
        operation = self._claim(claimant=claimant, now=now, ttl=_CLAIM_SECONDS, most=most)
        await self._database.write(operation)
        ids = [row[0] for row in operation.rows]
        if not ids:
            return []
        found = await self._database.rows(
            select(triggers)
            .where(triggers.c.id.in_(ids), triggers.c.lease_owner == claimant)
            .order_by(triggers.c.next_at)
        )
        return [trigger_of(row) for row in found]

    async def claimants(self) -> Sequence[str]:
        """Who has schedules in hand."""
        held = select(triggers.c.lease_owner).where(triggers.c.lease_owner.is_not(None)).distinct()
        return [row.lease_owner for row in await self._database.rows(held)]

    async def expire(self, claimant: str) -> None:
        """Take everything from a claimant that is gone."""
        await self._database.write(self._expire(claimant=claimant))

    async def next_due(self) -> float | None:
        """When the next schedule that nobody has in hand is due."""
        held = and_(triggers.c.lease_owner.is_not(None), triggers.c.lease_until > Now())
        row = await self._database.first(
            select(func.min(triggers.c.next_at).label("at")).where(
                triggers.c.next_at.is_not(None), not_(held)
            )
        )
        return None if row is None else row.at

    def decide(self, batch: Batch, claimant: str, firing: Firing, *, queued: bool = False) -> None:
        """Add to a batch what is decided of a nominal time; the batch fails when somebody else decides, or has decided.

        With `queued` it is one that waited for an earlier run to end.
        """
        if queued:
            held = batch.execute(self._hold(trigger=firing.trigger_id, claimant=claimant, ttl=_CLAIM_SECONDS))
            noted = batch.execute(
                self._dequeue(
                    of=firing.trigger_id, nominal=firing.nominal, what=firing.status, run=firing.run_id, why=firing.note,
                    now=firing.at,
                )
            )  # fmt: skip
        else:
            held = batch.execute(
                self._advance(
                    trigger=firing.trigger_id, claimant=claimant, nominal=firing.nominal, ttl=_CLAIM_SECONDS
                )
            )
            noted = batch.execute(
                self._decide(
                    trigger_id=firing.trigger_id, nominal=firing.nominal, status=firing.status, run_id=firing.run_id,
                    note=firing.note, at=firing.at,
                )
            )  # fmt: skip

        def check() -> None:
            if not held or not noted:
                raise DecidedError(
                    f"the time {firing.nominal} of schedule {firing.trigger_id!r} is decided by another process"
                )

        batch.hooks.append(check)

    async def note(self, claimant: str, firing: Firing, *, queued: bool = False) -> None:
        """Decide a nominal time for which no run is started now.

        Raises:
            DecidedError: another process decides.
        """
        batch = Batch(Lane())
        self.decide(batch, claimant, firing, queued=queued)
        await self._database.writer.submit(batch)

    async def release(self, trigger: Trigger, claimant: str, due: float | None) -> None:
        """Give a schedule back, to be looked at when it is due."""
        await self._database.write(self._release(trigger=trigger.id, claimant=claimant, due=due))

    async def wake(self, trigger_id: str, now: float) -> None:
        """Have a schedule looked at now."""
        await self._database.write(self._wake(trigger=trigger_id, due=now))

    async def queued(self, trigger_id: str, limit: int = 1000) -> Sequence[Firing]:
        """The nominal times that wait for an earlier run to end, oldest first."""
        statement = select(firings).where(firings.c.trigger_id == trigger_id, firings.c.status == "queued")
        return [
            firing_of(row)
            for row in await self._database.rows(statement.order_by(firings.c.nominal).limit(limit))
        ]

    async def unfinished(self, trigger_id: str) -> Sequence[str]:
        """The runs of a schedule that have not ended, oldest first."""
        statement = (
            select(firings.c.run_id)
            .join(runs, runs.c.id == firings.c.run_id)
            .where(firings.c.trigger_id == trigger_id, runs.c.status.in_(UNFINISHED_SQL))
            .order_by(firings.c.nominal)
        )
        return [row.run_id for row in await self._database.rows(statement)]

    async def list(
        self,
        trigger_id: str,
        *,
        status: FiringStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Firing]:
        """What was decided, the newest nominal time first."""
        statement = (
            select(firings).where(firings.c.trigger_id == trigger_id).order_by(firings.c.nominal.desc())
        )
        if status is not None:
            statement = statement.where(firings.c.status == status)
        if cursor is not None and cursor.isdecimal():
            statement = statement.where(firings.c.nominal < int(cursor))
        found = [firing_of(row) for row in await self._database.rows(statement.limit(limit + 1))]
        return page(found, limit, [str(one.nominal) for one in found])

    async def prune(self, keep: int = 2000) -> None:
        """Forget all but the newest nominal times of every schedule."""
        for row in await self._database.rows(select(triggers.c.id).where(triggers.c.kind == "cron")):
            await self._database.write(self._prune(of=row.id, most=keep))
