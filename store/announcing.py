"""Events of runs that somebody listens to: noted in the commit that makes them, told afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Double,
    Integer,
    Text,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.statements import Compiler, Operation
from interlace.store.tables import announcements, listeners, runs

ANNOUNCED: Final[Mapping[str, str]] = {
    **{event: event for event in ("run.succeeded", "run.failed", "run.cancelled", "run.suspended")},
    "node.suspended": "approval.requested",
}
"""The events of a journal that may be announced, and what they are called then."""
_HELD_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """An event that its listeners have not been told of; `ref` is the request to people that it is about."""

    id: str
    run_id: str
    event: str
    ref: str | None
    at: float
    attempts: int


class AnnouncingStatements:
    """What the journal of a run writes; compiled once per open store."""

    def __init__(self, compiler: Compiler) -> None:
        run, event = bindparam("run", type_=Text), bindparam("event", type_=Text)
        now, zero = bindparam("now", type_=Double), literal_column("0", Integer)
        of = event.concat(literal_column("'/'", Text))
        scopes = (runs.c.name, runs.c.workflow_id, "user:" + runs.c.owner, "org:" + runs.c.org_id)
        heard = exists(
            select(listeners.c.holder).where(or_(*(listeners.c.event == of.concat(name) for name in scopes)))
        )
        chosen = select(
            bindparam("announcement", type_=Text),
            runs.c.id,
            event,
            bindparam("ref", type_=Text),
            now,
            zero,
            now,
        ).where(runs.c.id == run, ~runs.c.test, heard)
        self._announce = compiler(
            insert(announcements)
            .from_select(["id", "run_id", "event", "ref", "at", "attempts", "next_at"], chosen)
            .on_conflict_do_nothing()
        )

    def of(
        self, run_id: str, seq: int, kind: str, data: Mapping[str, Any], now: float
    ) -> tuple[Operation, ...]:
        """The operations of one of the events that may be announced."""
        if kind == "node.suspended" and data.get("kind") != "human":
            return ()
        ref = data.get("id") if kind == "node.suspended" else None
        event = ANNOUNCED[kind]
        return (self._announce(announcement=f"{run_id}:{seq}", run=run_id, event=event, ref=ref, now=now),)


class AnnouncementRepository:
    """Events on their way to their listeners."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        now = bindparam("now", type_=Double)
        some = (
            select(announcements.c.id).where(announcements.c.next_at <= now).order_by(announcements.c.next_at)
        )
        self._claim = compiler(
            update(announcements)
            .where(
                announcements.c.id.in_(some.limit(bindparam("most", type_=Integer))), announcements.c.next_at <= now
            )
            .values(next_at=now + _HELD_SECONDS, attempts=announcements.c.attempts + 1)
            .returning(announcements.c.id),
            returns=True,
        )  # fmt: skip
        self._done = compiler(
            delete(announcements).where(announcements.c.id == bindparam("announcement", type_=Text))
        )

    async def claim_due(self, now: float, most: int = 100) -> Sequence[Announcement]:
        """Take events that are to be told, for half a minute; one that is not done by then is told again."""
        operation = self._claim(now=now, most=most)
        await self._database.write(operation)
        ids = [row[0] for row in operation.rows]
        if not ids:
            return []
        columns = [announcements.c[name] for name in ("id", "run_id", "event", "ref", "at", "attempts")]
        rows = await self._database.rows(
            select(*columns).where(announcements.c.id.in_(ids)).order_by(announcements.c.at)
        )
        return [Announcement(**row._mapping) for row in rows]  # noqa: SLF001 - the documented name of a row's mapping

    async def next_due(self) -> float | None:
        """When the next event is to be told."""
        row = await self._database.first(select(func.min(announcements.c.next_at).label("at")))
        return None if row is None else row.at

    async def done(self, announcement: Announcement) -> None:
        """Note that everybody was told."""
        await self._database.write(self._done(announcement=announcement.id))
