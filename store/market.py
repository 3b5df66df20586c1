"""Sharing: resources and workflows published in an organisation or the market, reviewed, subscribed to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    delete,
    false,
    literal,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.principal import ADMIN_ROLES, Principal
from interlace.store.audit import AuditRepository
from interlace.store.database import Database
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.tables import resources, subscriptions, users, workflows
from interlace.store.visibility import may_write, resolve_visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A resource or workflow as far as its sharing goes; of a workflow the kind is `workflow`."""

    id: str
    kind: str
    name: str
    owner: str
    org_id: str | None
    visibility: str
    publish_status: str | None


class MarketRepository:
    """Publications of all users."""

    def __init__(self, database: Database, audit: AuditRepository) -> None:
        self._database = database
        self._audit = audit
        compiler = database.compile
        self._share = {
            table.name: compiler(
                update(table)
                .where(table.c.id == bindparam("object"))
                .values(
                    visibility=bindparam("seen", type_=Text),
                    org_id=bindparam("org", type_=Text),
                    publish_status=bindparam("state", type_=Text),
                    updated_at=bindparam("now"),
                )
            )
            for table in (resources, workflows)
        }
        self._subscribe = compiler(insert(subscriptions).on_conflict_do_nothing())
        self._unsubscribe = compiler(
            delete(subscriptions)
            .where(
                subscriptions.c.user_id == bindparam("user"), subscriptions.c.object_id == bindparam("object")
            )
            .returning(subscriptions.c.object_id),
            returns=True,
        )

    async def publish(
        self, object_id: str, where: Literal["org", "market"], *, by: Principal, org_id: str | None = None
    ) -> Shared:
        """Share something in an organisation or offer it in the market.

        What an admin shares in their organisation, and an operator offers, is approved by that; else it waits for review.

        Raises:
            NotFoundError: there is no such object that `by` sees, or `by` does not belong to the organisation.
            ForbiddenError: `by` sees it, and may not change it.
            ConflictError: no organisation is named, or it belongs to another one.
        """
        found = await self._writable(object_id, by)
        org_id = org_id or found.org_id
        if where == "org":
            if org_id is None:
                raise ConflictError("name the organisation that it is to be shared in")
            if org_id not in by.org_ids:
                raise NotFoundError(f"no organisation {org_id!r}")
            if found.org_id not in (None, org_id):
                raise ConflictError(f"{found.name!r} belongs to another organisation")
            await self._alone(found, and_(resources.c.visibility == "org", resources.c.org_id == org_id))
        approved = by.is_admin(org_id) if where == "org" else by.operator
        status = "approved" if approved else "pending"
        return await self._set(
            found,
            by,
            "publish",
            visibility=where,
            org_id=org_id if where == "org" else found.org_id,
            status=status,
        )

    async def unpublish(self, object_id: str, *, by: Principal) -> Shared:
        """End all sharing at once; raises as `publish`."""
        found = await self._writable(object_id, by)
        return await self._set(found, by, "unpublish", visibility="private", org_id=found.org_id, status=None)

    async def review(self, object_id: str, *, approve: bool, by: Principal) -> Shared:
        """Approve or reject a publication, also one that was decided before; a rejection ends access at once.

        Raises:
            NotFoundError: there is no such publication that `by` may review.
        """
        found = await self._one(self._reviewed(by), object_id)
        if found is None:
            raise NotFoundError(f"no publication {object_id!r} that you review")
        action, status = ("approve", "approved") if approve else ("reject", "rejected")
        return await self._set(
            found, by, action, visibility=found.visibility, org_id=found.org_id, status=status
        )

    async def to_review(self, *, by: Principal) -> Sequence[Shared]:
        """What waits for the review of `by`."""
        return [found for found in await self._all(self._reviewed(by)) if found.publish_status == "pending"]

    async def offered(self, *, by: Principal) -> Sequence[tuple[Shared, bool]]:
        """What the market offers, and whether `by` subscribes to it."""
        rows = await self._database.rows(
            select(subscriptions.c.object_id).where(subscriptions.c.user_id == by.user_id)
        )
        mine = {row.object_id for row in rows}
        return [(found, found.id in mine) for found in await self._all(_offered)]

    async def subscribe(self, object_id: str, *, by: Principal) -> Shared:
        """Take something from the market: it is found like one's own from now on.

        Raises:
            NotFoundError: the market offers no such object.
        """
        found = await self._one(_offered, object_id)
        if found is None:
            raise NotFoundError(f"the market offers nothing with the id {object_id!r}")
        await self._alone(found, resolve_visibility(resources, by))
        await self._database.write(
            self._subscribe(user_id=by.user_id, object_id=object_id, created_at=time.time()),
            self._audit.entry(by, "market.subscribe", found.kind, object_id, name=found.name),
        )
        return found

    async def unsubscribe(self, object_id: str, *, by: Principal) -> None:
        """Give up a subscription; nothing happens without one."""
        ended = self._unsubscribe(user=by.user_id, object=object_id)
        if await self._database.write(ended):
            await self._audit.record(by, "market.unsubscribe", "object", object_id)

    # -- inside ---------------------------------------------------------------------------------------------

    async def _set(
        self,
        found: Shared,
        by: Principal,
        action: str,
        *,
        visibility: str,
        org_id: str | None,
        status: str | None,
    ) -> Shared:
        table = "workflows" if found.kind == "workflow" else "resources"
        await self._database.write(
            self._share[table](object=found.id, seen=visibility, org=org_id, state=status, now=time.time()),
            self._audit.entry(
                by, f"market.{action}", found.kind, found.id, name=found.name, org_id=org_id,
                detail={"visibility": visibility, "status": status},
            ),
        )  # fmt: skip
        return Shared(
            id=found.id, kind=found.kind, name=found.name, owner=found.owner, org_id=org_id, visibility=visibility,
            publish_status=status,
        )  # fmt: skip

    async def _writable(self, object_id: str, by: Principal) -> Shared:
        found = await self._one(lambda table: resolve_visibility(table, by), object_id)
        if found is None:
            raise NotFoundError(f"nothing has the id {object_id!r}")
        if not may_write(by, found.owner, found.org_id):
            raise ForbiddenError(
                f"{found.name!r} is shared with you; only its owner and admins of its organisation publish it"
            )
        return found

    async def _alone(self, found: Shared, beside: ColumnElement[bool]) -> None:
        """Agents read skills by name: no two of one name are to be seen by the same people.

        Raises:
            ConflictError: there is another one beside it.
        """
        if found.kind != "skill":
            return
        another = and_(
            resources.c.kind == "skill", resources.c.name == found.name, resources.c.id != found.id
        )
        if await self._database.first(select(resources.c.id).where(another, beside)) is not None:
            raise ConflictError(
                f"there is a skill {found.name!r} already where this one would be seen; rename one of them"
            )

    @staticmethod
    def _reviewed(by: Principal) -> Any:
        """The condition under which `by` reviews: an admin the organisation's, an operator the market."""
        led = sorted(org_id for org_id, role in by.roles.items() if role in ADMIN_ROLES)

        def condition(table: Any) -> ColumnElement[bool]:
            of_org = and_(
                table.c.visibility == "org", table.c.org_id.in_(led), table.c.publish_status.is_not(None)
            )
            return or_(of_org, table.c.visibility == "market" if by.operator else false())

        return condition

    async def _all(self, condition: Any) -> list[Shared]:
        statement = _both(condition)
        return [_shared(row) for row in await self._database.rows(statement)]

    async def _one(self, condition: Any, object_id: str) -> Shared | None:
        found = await self._all(lambda table: and_(table.c.id == object_id, condition(table)))
        return next(iter(found), None)

    async def owner_names(self, found: Sequence[Shared]) -> dict[str, str]:
        """The names of the owners of some objects."""
        wanted = sorted({shared.owner for shared in found})
        rows = await self._database.rows(select(users.c.id, users.c.name).where(users.c.id.in_(wanted)))
        return {row.id: row.name for row in rows}


def _offered(table: Any) -> ColumnElement[bool]:
    return and_(table.c.visibility == "market", table.c.publish_status == "approved")


def _both(condition: Any) -> Select[Any]:
    names = ("id", "name", "owner", "org_id", "visibility", "publish_status")
    one = select(*(resources.c[name] for name in names), resources.c.kind.label("kind"))
    other = select(*(workflows.c[name] for name in names), literal("workflow", Text).label("kind"))
    found = union_all(
        one.where(condition(resources)), other.where(condition(workflows), workflows.c.deleted_at.is_(None))
    ).subquery()
    return select(found).order_by(found.c.name, found.c.id)


def _shared(row: Row[*tuple[Any, ...]]) -> Shared:
    return Shared(**row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
