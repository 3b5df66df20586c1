"""The inbox of webhooks: what was acknowledged is in it, and what could not start a run stays in it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Double, Integer, Text, bindparam, delete, null, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import encode
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.links import Links
from interlace.store.paging import Page, page
from interlace.store.payloads import Payloads, Stored
from interlace.store.tables import deliveries, files
from interlace.store.trigger_row import Delivery, DeliveryStatus, delivery_of
from interlace.store.writer import Batch, Lane

_HELD_SECONDS = 30.0
_INLINE_BYTES = 256 * 1024


class RepeatedError(ConflictError):
    """A delivery of that key is there already."""


class DeliveryRepository:
    """Deliveries of all webhooks, with their raw bodies."""

    def __init__(self, database: Database, payloads: Payloads, links: Links) -> None:
        self._database = database
        self._payloads = payloads
        self._links = links
        compiler = database.compile
        one = deliveries.c.id == bindparam("delivery", type_=Text)
        waiting = deliveries.c.status == "received"
        self._insert = compiler(
            insert(deliveries).on_conflict_do_nothing().returning(deliveries.c.id), returns=True
        )
        self._file = compiler(insert(files))
        self._start = compiler(
            update(deliveries)
            .where(one, waiting)
            .values(status="started", run_id=bindparam("run", type_=Text), next_at=null(), error=null())
            .returning(deliveries.c.id),
            returns=True,
        )
        now = bindparam("now", type_=Double)
        some = select(deliveries.c.id).where(deliveries.c.next_at <= now).order_by(deliveries.c.next_at)
        self._claim = compiler(
            update(deliveries)
            .where(
                deliveries.c.id.in_(some.limit(bindparam("most", type_=Integer))),
                deliveries.c.next_at <= now,
                waiting,
            )
            .values(next_at=now + _HELD_SECONDS, attempts=deliveries.c.attempts + 1)
            .returning(deliveries.c.id),
            returns=True,
        )
        self._fail = compiler(
            update(deliveries)
            .where(one, waiting)
            .values(
                status=bindparam("what", type_=Text), error=bindparam("why", type_=Text), next_at=bindparam("again", type_=Double)
            )
        )  # fmt: skip
        self._forget_file = compiler(delete(files).where(files.c.id == bindparam("delivery", type_=Text)))
        self._forget = compiler(delete(deliveries).where(one))

    async def put_body(self, body: bytes) -> Stored:
        """Put a raw body in its place; it is kept when a delivery refers to it."""
        put = self._payloads.put_bytes
        return put(body) if len(body) < _INLINE_BYTES else await asyncio.to_thread(put, body)

    def add(
        self, batch: Batch, delivery: Delivery, stored: Stored, owner: str, *, name: str, media_type: str
    ) -> None:
        """Add a delivery to a batch; the batch fails with `RepeatedError` when one of its key is there."""
        batch.execute(self._links.note(stored, delivery.received_at))
        inserted = batch.execute(
            self._insert(
                id=delivery.id, trigger_id=delivery.trigger_id, status=delivery.status, received_at=delivery.received_at,
                key=delivery.key, run_id=delivery.run_id, redelivers=delivery.redelivers, ref=delivery.ref,
                size=delivery.size, request=encode(delivery.request).decode(), attempts=delivery.attempts,
                next_at=delivery.next_at, error=delivery.error,
            )
        )  # fmt: skip
        batch.execute(
            self._file(
                id=delivery.id, ref=stored.ref, name=name, media_type=media_type, size=stored.size, owner=owner, run_id=None,
                created_at=delivery.received_at, used_at=delivery.received_at,
            )
        )  # fmt: skip
        if delivery.run_id is not None:
            self._give(batch, delivery, delivery.run_id, stored, owner, name=name, media_type=media_type)

        def check() -> None:
            if not inserted:
                raise RepeatedError(f"a delivery of the key {delivery.key!r} is there already")

        batch.hooks += [check, stored.secure]

    async def keep(
        self, delivery: Delivery, stored: Stored, owner: str, *, name: str, media_type: str
    ) -> None:
        """Keep a delivery without a run, durably.

        Raises:
            RepeatedError: one of its key is there.
        """
        batch = Batch(Lane())
        self.add(batch, delivery, stored, owner, name=name, media_type=media_type)
        await self._database.writer.submit(batch)

    def _give(
        self,
        batch: Batch,
        delivery: Delivery,
        run_id: str,
        stored: Stored,
        owner: str,
        *,
        name: str,
        media_type: str,
    ) -> None:
        """Make the raw body a file of the run, which has it for as long as it is kept itself."""
        batch.operations.extend(self._links.of(run_id, stored, delivery.received_at))
        batch.execute(
            self._file(
                id=f"{run_id}-{delivery.id}", ref=stored.ref, name=name, media_type=media_type, size=stored.size, owner=owner,
                run_id=run_id, created_at=delivery.received_at, used_at=None,
            )
        )  # fmt: skip

    def started(
        self, batch: Batch, delivery: Delivery, run_id: str, owner: str, *, name: str, media_type: str
    ) -> None:
        """Note in the batch that creates a run which delivery it is for; the batch fails when another run is."""
        stored = self._payloads.kept(delivery.ref, delivery.size)
        noted = batch.execute(self._start(delivery=delivery.id, run=run_id))
        self._give(batch, delivery, run_id, stored, owner, name=name, media_type=media_type)

        def check() -> None:
            if not noted:
                raise RepeatedError(f"delivery {delivery.id!r} has started a run already")

        batch.hooks += [check, stored.secure]

    async def claim_due(self, now: float, most: int = 50) -> Sequence[Delivery]:
        """Take deliveries that wait for their run, for half a minute."""
        operation = self._claim(now=now, most=most)
        await self._database.write(operation)
        ids = [row[0] for row in operation.rows]
        if not ids:
            return []
        statement = select(deliveries).where(deliveries.c.id.in_(ids)).order_by(deliveries.c.id)
        return [delivery_of(row) for row in await self._database.rows(statement)]

    async def fail(self, delivery: Delivery, why: str, again: float | None) -> None:
        """Note why a delivery started no run: it is tried again, or with None it is a dead letter."""
        status: DeliveryStatus = "dead" if again is None else "received"
        await self._database.write(self._fail(delivery=delivery.id, what=status, why=why, again=again))

    async def get(self, delivery_id: str, trigger_id: str) -> Delivery:
        """One delivery of a webhook.

        Raises:
            NotFoundError: the webhook has none of that id.
        """
        row = await self._database.first(
            select(deliveries).where(deliveries.c.id == delivery_id, deliveries.c.trigger_id == trigger_id)
        )
        if row is None:
            raise NotFoundError(f"the webhook has no delivery {delivery_id!r}")
        return delivery_of(row)

    async def body(self, delivery: Delivery) -> bytes:
        """The raw body of a delivery as it came."""
        return await self._payloads.get(delivery.ref)

    async def by_key(self, trigger_id: str, key: str) -> Delivery | None:
        """The delivery of a key."""
        row = await self._database.first(
            select(deliveries).where(deliveries.c.trigger_id == trigger_id, deliveries.c.key == key)
        )
        return None if row is None else delivery_of(row)

    async def list(
        self,
        trigger_id: str,
        *,
        status: DeliveryStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Delivery]:
        """The deliveries of a webhook, the newest first."""
        statement = (
            select(deliveries).where(deliveries.c.trigger_id == trigger_id).order_by(deliveries.c.id.desc())
        )
        if status is not None:
            statement = statement.where(deliveries.c.status == status)
        if cursor is not None:
            statement = statement.where(deliveries.c.id < cursor)
        found = [delivery_of(row) for row in await self._database.rows(statement.limit(limit + 1))]
        return page(found, limit, [one.id for one in found])

    async def prune(self, before: float, dead_before: float) -> int:
        """Forget deliveries that came before a time, dead letters before another one; those that wait stay."""
        return await self._remove(
            or_(
                (deliveries.c.status == "started") & (deliveries.c.received_at < before),
                (deliveries.c.status == "dead") & (deliveries.c.received_at < dead_before),
            )
        )

    async def remove(self, trigger_id: str) -> int:
        """Forget all deliveries of a webhook."""
        return await self._remove(deliveries.c.trigger_id == trigger_id)

    async def _remove(self, old: ColumnElement[bool]) -> int:
        forgotten = 0
        while rows := await self._database.rows(
            select(deliveries.c.id, deliveries.c.ref).where(old).limit(200)
        ):
            for row in rows:
                batch = Batch(Lane())
                batch.slow = True
                batch.execute(self._forget(delivery=row.id))
                batch.execute(self._forget_file(delivery=row.id))
                self._links.sweep(batch, row.ref, self._payloads)
                await self._database.writer.submit(batch)
            forgotten += len(rows)
        return forgotten
