"""Triggers of all owners: those of published documents, and those that somebody made beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Boolean,
    Double,
    Integer,
    Text,
    bindparam,
    case,
    delete,
    func,
    null,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import encode
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.paging import Page, page
from interlace.store.statements import Operation
from interlace.store.tables import firings, listeners, secrets, triggers, users, versions, workflows
from interlace.store.tables.core import UNSYNCED
from interlace.store.trigger_row import Trigger, TriggerKind, trigger_of
from interlace.store.uploads import Uses
from interlace.store.visibility import Asker, seen_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A trigger as a published document has it.

    `next_at` is when a schedule that begins now is due; one that stays as it was (`same`) keeps its place. `events` are
    those that it listens to.
    """

    kind: TriggerKind
    key: str
    definition: Mapping[str, Any]
    next_at: float | None = None
    same: bool = False
    events: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsynced:
    """A workflow whose triggers are not those of its published version; 0 is no version."""

    workflow_id: str
    owner: str
    version: int
    document_hash: str | None
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A webhook that is called.

    `document_hash` is the published version's where the webhook's owner has the workflow, and may act; None where that
    is to be looked at more closely. `org_id` is the organisation whose members see the runs' requests to people.
    """

    trigger: Trigger
    version: int
    document_hash: str | None
    org_id: str | None


class TriggerRepository:
    """The triggers of all owners; methods that take an `owner` see only that owner's."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        one = triggers.c.id == bindparam("trigger", type_=Text)
        now = bindparam("now", type_=Double)
        self._uses = Uses(database.compile)
        row = insert(triggers)
        kept = bindparam("same", type_=Boolean)
        anew = {
            name: case((kept, triggers.c[name]), else_=row.excluded[name])
            for name in ("cursor", "next_at", "lease_owner")
        }
        self._upsert = compiler(
            row.on_conflict_do_update(
                index_elements=["workflow_id", "key"],
                set_={
                    "kind": row.excluded.kind, "owner": row.excluded.owner, "definition": row.excluded.definition,
                    "updated_at": row.excluded.updated_at, "ended_at": null(), "error": null(), "error_at": null(), **anew,
                },
                where=triggers.c.source == row.excluded.source,
            ).returning(triggers.c.id),
            returns=True,
        )  # fmt: skip
        self._insert = compiler(row.on_conflict_do_nothing().returning(triggers.c.id), returns=True)
        over = {"ended_at": now, "next_at": null(), "lease_owner": null()}
        of_workflow = triggers.c.workflow_id == bindparam("workflow", type_=Text)
        self._end = compiler(update(triggers).where(one, triggers.c.ended_at.is_(None)).values(**over))
        self._end_all = compiler(
            update(triggers).where(of_workflow, triggers.c.ended_at.is_(None)).values(**over)
        )
        self._synced = compiler(
            update(workflows)
            .where(
                workflows.c.id == bindparam("workflow", type_=Text),
                _published() == bindparam("version", type_=Integer),
            )
            .values(triggers_of=bindparam("version", type_=Integer))
        )
        self._listen = compiler(insert(listeners).on_conflict_do_nothing())
        self._unlisten = compiler(
            delete(listeners).where(listeners.c.holder == bindparam("trigger", type_=Text))
        )
        self._pause = compiler(update(triggers).where(one).values(paused=bindparam("stopped", type_=Boolean), cursor=now,
            next_at=bindparam("due", type_=Double), lease_owner=null(), updated_at=now))  # fmt: skip
        self._define = compiler(update(triggers).where(one).values(definition=bindparam("text", type_=Text), updated_at=now,
            cursor=now, next_at=bindparam("due", type_=Double), lease_owner=null()))  # fmt: skip
        self._token = compiler(
            update(triggers)
            .where(one, func.coalesce(triggers.c.token_hash, "") == bindparam("before", type_=Text))
            .values(token_hash=bindparam("hash", type_=Text), updated_at=now)
            .returning(triggers.c.id),
            returns=True,
        )
        self._fail = compiler(
            update(triggers)
            .where(one)
            .values(error=bindparam("why", type_=Text), error_at=bindparam("failed_at", type_=Double))
        )
        self._removal = [
            compiler(delete(table).where(column == bindparam("trigger", type_=Text)))
            for table, column in (
                (triggers, triggers.c.id), (firings, firings.c.trigger_id), (listeners, listeners.c.holder),
                (secrets, secrets.c.resource_id),
            )
        ]  # fmt: skip

    # -- those of published documents ------------------------------------------------------------------------

    async def unsynced(self, workflow_id: str | None = None) -> Sequence[Unsynced]:
        """The workflows whose triggers are to be brought in line with what is published; with an id that one, in any case."""
        version = _published()
        statement = (
            select(
                workflows.c.id,
                workflows.c.owner,
                workflows.c.deleted_at,
                version.label("version"),
                versions.c.document_hash,
            )
            .outerjoin(versions, (versions.c.workflow_id == workflows.c.id) & (versions.c.number == version))
            .order_by(workflows.c.id)
        )
        wanted = text(UNSYNCED) if workflow_id is None else workflows.c.id == workflow_id
        return [
            Unsynced(
                workflow_id=row.id, owner=row.owner, version=row.version, document_hash=row.document_hash,
                deleted=row.deleted_at is not None,
            )
            for row in await self._database.rows(statement.where(wanted).limit(200))
        ]  # fmt: skip

    async def sync(self, of: Unsynced, planned: Sequence[Planned], now: float) -> None:
        """Give a workflow the triggers of its published version; the others of earlier versions end.

        A trigger of the same key stays the same one: it keeps its id, its address and whether it is paused.
        """
        known = {row.key: row for row in await self.of_workflow(of.workflow_id, ended=True)}
        operations: list[Operation] = []
        kept = {plan.key for plan in planned}
        if of.deleted:
            operations.append(self._end_all(workflow=of.workflow_id, now=now))
        for row in known.values():
            if of.deleted or (row.source == "document" and row.key not in kept):
                operations += [self._end(trigger=row.id, now=now), self._unlisten(trigger=row.id)]
        for plan in planned:
            before = known.get(plan.key)
            same = plan.same and before is not None and before.ended_at is None
            due = None if before is not None and before.paused else plan.next_at
            operations.append(self._upsert(**_values(of.workflow_id, of.owner, plan, now, due), same=same))
        await self._database.write(*operations, self._synced(workflow=of.workflow_id, version=of.version))
        heard = {plan.key: plan.events for plan in planned if plan.kind == "event"}
        for row in await self.of_workflow(of.workflow_id):
            if row.source == "document" and row.key in heard:
                await self.listen(row.id, heard[row.key])

    async def listen(self, holder: str, events: Sequence[str]) -> None:
        """Let a trigger or a subscription hear of these events, and of no others."""
        told = [self._listen(event=event, holder=holder) for event in events]
        await self._database.write(self._unlisten(trigger=holder), *told)

    # -- made by somebody ------------------------------------------------------------------------------------

    async def add(self, workflow_id: str, owner: str, plan: Planned, now: float) -> Trigger:
        """A trigger beside those of the document.

        Raises:
            ConflictError: the workflow has a trigger of that key.
        """
        inserted = self._insert(**{**_values(workflow_id, owner, plan, now, plan.next_at), "source": "own"})
        await self._database.write(*self._uses.of(encode(dict(plan.definition)).decode(), now), inserted)
        if not inserted.rows:
            raise ConflictError(f"the workflow has a trigger {plan.key!r} already; choose another name")
        found = await self.get(inserted.rows[0][0])
        if plan.events:
            await self.listen(found.id, plan.events)
        return found

    async def define(
        self, trigger: Trigger, definition: Mapping[str, Any], due: float | None, now: float
    ) -> None:
        """Change what somebody made; a schedule begins anew."""
        due, text = None if trigger.paused else due, encode(dict(definition)).decode()
        await self._database.write(
            *self._uses.of(text, now), self._define(trigger=trigger.id, text=text, due=due, now=now)
        )

    async def remove(self, trigger: Trigger) -> None:
        """Remove a trigger with everything that was noted of it; runs stay."""
        await self._database.write(*(statement(trigger=trigger.id) for statement in self._removal))

    # -- of both kinds ---------------------------------------------------------------------------------------

    async def get(
        self, trigger_id: str, *, owner: Asker | None = None, kind: TriggerKind | None = None
    ) -> Trigger:
        """One trigger that has not ended.

        Raises:
            NotFoundError: there is none, or it is another owner's.
        """
        statement = select(triggers).where(triggers.c.id == trigger_id, triggers.c.ended_at.is_(None))
        if owner is not None:
            statement = statement.where(seen_by(triggers, owner))
        if kind is not None:
            statement = statement.where(triggers.c.kind == kind)
        row = await self._database.first(statement)
        if row is None:
            raise NotFoundError(f"no {_NAMES[kind]} {trigger_id!r}{_LISTED.get(kind, '')}")
        return trigger_of(row)

    async def by_token(self, token_hash: str) -> Called | None:
        """The webhook of a token with what decides whether it may start a run."""
        version = _published()
        statement = (
            select(
                triggers, version.label("version"), versions.c.document_hash, workflows.c.owner.label("workflow_owner"),
                workflows.c.org_id, workflows.c.visibility, users.c.disabled_at.is_not(None).label("disabled"),
            )
            .join(workflows, workflows.c.id == triggers.c.workflow_id)
            .outerjoin(versions, (versions.c.workflow_id == workflows.c.id) & (versions.c.number == version))
            .outerjoin(users, users.c.id == triggers.c.owner)
            .where(triggers.c.token_hash == token_hash, triggers.c.ended_at.is_(None))
        )  # fmt: skip
        row = await self._database.first(statement)
        if row is None:
            return None
        own = row.workflow_owner == row.owner and not row.disabled and row.document_hash is not None
        return Called(
            trigger=trigger_of(row), version=row.version, document_hash=row.document_hash if own else None,
            org_id=row.org_id if row.visibility == "org" else None,
        )  # fmt: skip

    async def of_workflow(self, workflow_id: str, *, ended: bool = False) -> Sequence[Trigger]:
        """All triggers of a workflow, oldest first."""
        statement = select(triggers).where(triggers.c.workflow_id == workflow_id).order_by(triggers.c.id)
        if not ended:
            statement = statement.where(triggers.c.ended_at.is_(None))
        return [trigger_of(row) for row in await self._database.rows(statement)]

    async def list(
        self,
        kind: TriggerKind,
        *,
        owner: Asker,
        workflow_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Trigger]:
        """An owner's triggers of a kind, the newest first."""
        statement = (
            select(triggers)
            .where(triggers.c.kind == kind, seen_by(triggers, owner), triggers.c.ended_at.is_(None))
            .order_by(triggers.c.id.desc())
            .limit(limit + 1)
        )
        if workflow_id is not None:
            statement = statement.where(triggers.c.workflow_id == workflow_id)
        if cursor is not None:
            statement = statement.where(triggers.c.id < cursor)
        found = [trigger_of(row) for row in await self._database.rows(statement)]
        return page(found, limit, [one.id for one in found])

    async def events_of(self, workflows_named: Sequence[str], event: str) -> Sequence[Trigger]:
        """The event triggers that listen to an event of a workflow, called by any of these names."""
        wanted = [listener(event, name) for name in workflows_named]
        statement = (
            select(triggers)
            .where(
                triggers.c.id.in_(select(listeners.c.holder).where(listeners.c.event.in_(wanted))),
                triggers.c.ended_at.is_(None), ~triggers.c.paused,
            )
            .order_by(triggers.c.id)
        )  # fmt: skip
        return [trigger_of(row) for row in await self._database.rows(statement)]

    async def pause(self, trigger: Trigger, *, paused: bool, due: float | None, now: float) -> None:
        """Stop a trigger, or let it go on from now: what was due meanwhile is not made up for."""
        await self._database.write(
            self._pause(trigger=trigger.id, stopped=paused, due=None if paused else due, now=now)
        )

    async def set_token(self, trigger: Trigger, token_hash: str, now: float) -> bool:
        """Give a webhook its token in place of the one that it has; False when somebody else did so meanwhile."""
        return bool(
            await self._database.write(
                self._token(trigger=trigger.id, before=trigger.token_hash or "", hash=token_hash, now=now)
            )
        )

    async def without_token(self) -> Sequence[Trigger]:
        """The webhooks that have no token yet."""
        statement = select(triggers).where(
            triggers.c.kind == "webhook", triggers.c.token_hash.is_(None), triggers.c.ended_at.is_(None)
        )
        return [trigger_of(row) for row in await self._database.rows(statement)]

    async def fail(self, trigger_id: str, why: str | None, at: float) -> None:
        """Note why a trigger started nothing, or None when it does again."""
        await self._database.write(
            self._fail(trigger=trigger_id, why=why, failed_at=None if why is None else at)
        )


_NAMES = {"cron": "schedule", "webhook": "webhook", "event": "event trigger", None: "trigger"}
_LISTED: dict[TriggerKind | None, str] = {
    "cron": "; `interlace schedule list` shows the ids of those there are",
    "webhook": "; `interlace webhook list` shows the ids of those there are",
}


def listener(event: str, of: str) -> str:
    """What is listened to: an event (`run.succeeded`) of a workflow by name or id, or of a scope (`user:…`, `org:…`)."""
    return f"{event}/{of}"


def _published() -> Any:
    return case((workflows.c.deleted_at.is_(None), func.coalesce(workflows.c.published_version, 0)), else_=0)


def _values(workflow_id: str, owner: str, plan: Planned, now: float, due: float | None) -> dict[str, Any]:
    return {
        "id": uuid7(), "kind": plan.kind, "owner": owner, "workflow_id": workflow_id, "key": plan.key, "source": "document",
        "definition": encode(dict(plan.definition)).decode(), "paused": False, "created_at": now, "updated_at": now,
        "ended_at": None, "error": None, "error_at": None, "cursor": now if plan.kind == "cron" else None,
        "next_at": due, "lease_owner": None, "lease_until": None, "token_hash": None,
    }  # fmt: skip
