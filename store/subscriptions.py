"""Who outside is told of events, and the messages on their way there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Double,
    Integer,
    Row,
    Text,
    bindparam,
    delete,
    func,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.principal import Principal
from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import NotFoundError
from interlace.store.ids import uuid7
from interlace.store.paging import Page, page
from interlace.store.statements import Operation
from interlace.store.tables import event_subscriptions, listeners, outbox, secrets
from interlace.store.triggers import listener
from interlace.store.visibility import scope_of

MessageStatus: TypeAlias = Literal["pending", "delivered", "dead"]
_HELD_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """An address that is told of events of a user's runs, or of an organisation's. Times in Unix seconds."""

    id: str
    owner: str
    org_id: str | None
    url: str
    events: tuple[str, ...]
    active: bool
    created_at: float
    updated_at: float

    @property
    def scope(self) -> str:
        """Whose runs it hears of."""
        return scope_of(self.owner, self.org_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message to a subscriber; `answer` is the status of the last answer. Times in Unix seconds."""

    id: str
    subscription_id: str
    event: str
    run_id: str
    body: str
    status: MessageStatus
    created_at: float
    attempts: int
    next_at: float | None
    delivered_at: float | None
    answer: int | None
    error: str | None


class SubscriptionRepository:
    """Subscriptions of all owners, and the outbox."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        one = event_subscriptions.c.id == bindparam("subscription", type_=Text)
        now = bindparam("now", type_=Double)
        self._insert = compiler(insert(event_subscriptions))
        self._update = compiler(
            update(event_subscriptions)
            .where(one)
            .values(
                url=bindparam("address", type_=Text), events=bindparam("names", type_=Text),
                active=bindparam("on", type_=Boolean), updated_at=now,
            )
        )  # fmt: skip
        self._listen = compiler(insert(listeners).on_conflict_do_nothing())
        self._removal = [
            compiler(delete(table).where(column == bindparam("subscription", type_=Text)))
            for table, column in (
                (event_subscriptions, event_subscriptions.c.id), (outbox, outbox.c.subscription_id),
                (listeners, listeners.c.holder), (secrets, secrets.c.resource_id),
            )
        ]  # fmt: skip
        self._enqueue = compiler(insert(outbox).on_conflict_do_nothing())
        some = select(outbox.c.id).where(outbox.c.next_at <= now).order_by(outbox.c.next_at)
        self._claim = compiler(
            update(outbox)
            .where(outbox.c.id.in_(some.limit(bindparam("most", type_=Integer))), outbox.c.next_at <= now)
            .values(next_at=now + _HELD_SECONDS, attempts=outbox.c.attempts + 1)
            .returning(outbox.c.id),
            returns=True,
        )
        message = outbox.c.id == bindparam("message", type_=Text)
        self._settle = compiler(
            update(outbox)
            .where(message)
            .values(
                status=bindparam("what", type_=Text), next_at=bindparam("again", type_=Double),
                delivered_at=bindparam("delivered", type_=Double), answer=bindparam("code", type_=Integer),
                error=bindparam("why", type_=Text),
            )
        )  # fmt: skip
        self._again = compiler(
            update(outbox)
            .where(message, outbox.c.subscription_id == bindparam("of", type_=Text))
            .values(status="pending", next_at=now, attempts=0, delivered_at=null(), error=null())
            .returning(outbox.c.id),
            returns=True,
        )
        self._prune = compiler(
            delete(outbox).where(
                outbox.c.status != "pending", outbox.c.created_at < bindparam("before", type_=Double)
            )
        )

    # -- subscriptions -----------------------------------------------------------------------------------------

    async def add(
        self, url: str, events: Sequence[str], *, owner: str, org_id: str | None, now: float
    ) -> Subscription:
        """A new subscription; whoever calls has checked that the owner may."""
        made = Subscription(
            id=uuid7(),
            owner=owner,
            org_id=org_id,
            url=url,
            events=tuple(events),
            active=True,
            created_at=now,
            updated_at=now,
        )
        await self._database.write(
            self._insert(
                id=made.id, owner=owner, org_id=org_id, url=url, events=encode(list(events)).decode(), active=True,
                created_at=now, updated_at=now,
            ),
            *self._listening(made),
        )  # fmt: skip
        return made

    async def change(self, found: Subscription, now: float) -> None:
        """Write address, events and whether it is active."""
        names = encode(list(found.events)).decode()
        changed = self._update(
            subscription=found.id, address=found.url, names=names, on=found.active, now=now
        )
        await self._database.write(changed, *self._listening(found))

    async def remove(self, found: Subscription) -> None:
        """Remove a subscription with its messages."""
        await self._database.write(*(statement(subscription=found.id) for statement in self._removal))

    async def get(self, subscription_id: str, *, by: Principal | None = None) -> Subscription:
        """One subscription: one's own, or one of an organisation that one is an admin of.

        Raises:
            NotFoundError: there is none that `by` sees.
        """
        statement = select(event_subscriptions).where(event_subscriptions.c.id == subscription_id)
        row = await self._database.first(statement if by is None else statement.where(_seen(by)))
        if row is None:
            raise NotFoundError(f"no event subscription {subscription_id!r}")
        return _subscription(row)

    async def list(self, *, by: Principal, limit: int = 50, cursor: str | None = None) -> Page[Subscription]:
        """The subscriptions that `by` sees, the newest first."""
        statement = select(event_subscriptions).where(_seen(by)).order_by(event_subscriptions.c.id.desc())
        if cursor is not None:
            statement = statement.where(event_subscriptions.c.id < cursor)
        found = [_subscription(row) for row in await self._database.rows(statement.limit(limit + 1))]
        return page(found, limit, [one.id for one in found])

    async def hearing(self, event: str, scopes: Sequence[str]) -> Sequence[Subscription]:
        """The active subscriptions that hear of an event of these scopes."""
        wanted = [listener(event, scope) for scope in scopes]
        holders = select(listeners.c.holder).where(listeners.c.event.in_(wanted))
        statement = select(event_subscriptions).where(
            event_subscriptions.c.id.in_(holders), event_subscriptions.c.active
        )
        return [
            _subscription(row)
            for row in await self._database.rows(statement.order_by(event_subscriptions.c.id))
        ]

    def _listening(self, found: Subscription) -> Sequence[Operation]:
        forget = self._removal[2](subscription=found.id)
        names = [listener(event, found.scope) for event in found.events] if found.active else []
        return [forget, *(self._listen(event=name, holder=found.id) for name in names)]

    # -- messages ----------------------------------------------------------------------------------------------

    async def enqueue(self, messages: Sequence[Message]) -> None:
        """Put messages into the outbox; those that are there already stay as they are."""
        operations = [
            self._enqueue(
                id=one.id, subscription_id=one.subscription_id, event=one.event, run_id=one.run_id, body=one.body,
                status=one.status, created_at=one.created_at, attempts=0, next_at=one.next_at, delivered_at=None, answer=None,
                error=None,
            )
            for one in messages
        ]  # fmt: skip
        if operations:
            await self._database.write(*operations)

    async def claim_due(self, now: float, most: int = 50) -> Sequence[Message]:
        """Take messages that are to be sent, for a minute."""
        operation = self._claim(now=now, most=most)
        await self._database.write(operation)
        ids = [row[0] for row in operation.rows]
        if not ids:
            return []
        return await self._messages(
            select(outbox).where(outbox.c.id.in_(ids)).order_by(outbox.c.created_at, outbox.c.id)
        )

    async def next_due(self) -> float | None:
        """When the next message is to be sent."""
        row = await self._database.first(
            select(func.min(outbox.c.next_at).label("at")).where(outbox.c.next_at.is_not(None))
        )
        return None if row is None else row.at

    async def settle(
        self,
        message: Message,
        status: MessageStatus,
        *,
        at: float | None,
        answer: int | None,
        error: str | None,
    ) -> None:
        """Note how an attempt went: `at` is when it was delivered, or when it is tried again."""
        delivered = at if status == "delivered" else None
        await self._database.write(
            self._settle(
                message=message.id, what=status, again=at if status == "pending" else None, delivered=delivered, code=answer,
                why=error,
            )
        )  # fmt: skip

    async def send_again(self, subscription_id: str, message_id: str, now: float) -> None:
        """Have a message sent once more, under its id.

        Raises:
            NotFoundError: the subscription has no such message.
        """
        if not await self._database.write(self._again(message=message_id, of=subscription_id, now=now)):
            raise NotFoundError(f"the subscription has no delivery {message_id!r}")

    async def messages(
        self,
        subscription_id: str,
        *,
        status: MessageStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Message]:
        """The messages of a subscription, the newest first."""
        key = outbox.c.id
        statement = select(outbox).where(outbox.c.subscription_id == subscription_id).order_by(key.desc())
        if status is not None:
            statement = statement.where(outbox.c.status == status)
        if cursor is not None:
            statement = statement.where(key < cursor)
        found = await self._messages(statement.limit(limit + 1))
        return page(found, limit, [one.id for one in found])

    async def prune(self, before: float) -> None:
        """Forget messages of a time before, but those that are still to be sent."""
        await self._database.write(self._prune(before=before))

    async def _messages(self, statement: Any) -> Sequence[Message]:
        return [Message(**dict(row._mapping)) for row in await self._database.rows(statement)]  # noqa: SLF001


def _seen(by: Principal) -> ColumnElement[bool]:
    led = sorted(org_id for org_id in by.org_ids if by.is_admin(org_id))
    mine = (event_subscriptions.c.owner == by.user_id) & event_subscriptions.c.org_id.is_(None)
    return or_(mine, event_subscriptions.c.org_id.in_(led))


def _subscription(row: Row[*tuple[Any, ...]]) -> Subscription:
    return Subscription(
        id=row.id, owner=row.owner, org_id=row.org_id, url=row.url, events=tuple(decode(row.events)), active=bool(row.active),
        created_at=row.created_at, updated_at=row.updated_at,
    )  # fmt: skip
