"""Organisations and who belongs to them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Text, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.principal import Principal, Role
from interlace.store.audit import AuditRepository
from interlace.store.database import Database
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.tables import memberships, organisations, resources, users, workflows
from interlace.store.users import require_operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """An organisation; times in Unix seconds."""

    id: str
    name: str
    created_by: str
    created_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A user in an organisation."""

    user_id: str
    name: str
    role: Role
    since: float


class OrganisationRepository:
    """Organisations; each is known to its members, and to who runs the installation."""

    def __init__(self, database: Database, audit: AuditRepository) -> None:
        self._database = database
        self._audit = audit
        compiler = database.compile
        self._insert = compiler(
            insert(organisations).on_conflict_do_nothing().returning(organisations.c.id), returns=True
        )
        joined = insert(memberships)
        self._join = compiler(
            joined.on_conflict_do_update(
                index_elements=["org_id", "user_id"], set_={"role": joined.excluded.role}
            )
        )
        org, user = bindparam("org", type_=Text), bindparam("user", type_=Text)
        others = organisations.alias()
        taken = select(others.c.id).where(
            others.c.name == bindparam("called", type_=Text), others.c.id != org
        )
        self._rename = compiler(
            update(organisations)
            .where(organisations.c.id == org, ~taken.exists())
            .values(name=bindparam("called", type_=Text))
            .returning(organisations.c.id),
            returns=True,
        )
        self._leave = compiler(
            delete(memberships).where(memberships.c.org_id == org, memberships.c.user_id == user)
        )
        self._hand_over = [
            compiler(
                update(table)
                .where(table.c.org_id == org, table.c.owner == user)
                .values(owner=bindparam("heir", type_=Text))
            )
            for table in (resources, workflows)
        ]

    async def create(self, name: str, *, by: Principal, owner: str | None = None) -> Organisation:
        """A new organisation; its owner is `by`, or the user that an operator names.

        Raises:
            ForbiddenError: `by` does not run the installation.
            ConflictError: the name is taken.
        """
        require_operator(by, "make organisations")
        _check_name(name)
        made = Organisation(id=uuid7(), name=name, created_by=by.user_id, created_at=time.time())
        inserted = self._insert(id=made.id, name=name, created_by=by.user_id, created_at=made.created_at)
        await self._database.write(inserted)
        if not inserted.rows:
            raise ConflictError(f"there is an organisation {name!r} already")
        await self._database.write(
            self._join(org_id=made.id, user_id=owner or by.user_id, role="owner", created_at=made.created_at),
            self._audit.entry(by, "org.create", "org", made.id, name=name, org_id=made.id),
        )
        return made

    async def rename(self, org_id: str, name: str, *, by: Principal) -> Organisation:
        """Give an organisation another name.

        Raises:
            NotFoundError: `by` does not know it.
            ForbiddenError: `by` is no owner of it.
            ConflictError: the name is taken, or cannot be used.
        """
        found = await self.led(org_id, by)
        self.guard_owners(found, by, "owner", "owner")
        _check_name(name)
        renamed = self._rename(org=found.id, called=name)
        await self._database.write(renamed)
        if not renamed.rows:
            raise ConflictError(f"there is an organisation {name!r} already")
        await self._audit.record(
            by, "org.rename", "org", found.id, name=name, org_id=found.id, detail={"before": found.name}
        )
        return await self.get(found.id, by=by)

    async def get(self, name_or_id: str, *, by: Principal) -> Organisation:
        """An organisation by id or name.

        Raises:
            NotFoundError: there is none that `by` knows.
        """
        wanted = or_(organisations.c.id == name_or_id, organisations.c.name == name_or_id)
        rows = await self._database.rows(select(organisations).where(wanted))
        for row in sorted(rows, key=lambda row: row.id != name_or_id):
            if by.operator or row.id in by.org_ids:
                return _organisation(row)
        raise NotFoundError(f"no organisation {name_or_id!r}")

    async def list(self, *, by: Principal) -> Sequence[Organisation]:
        """The organisations that `by` knows, by name."""
        statement = select(organisations).order_by(organisations.c.name)
        if not by.operator:
            statement = statement.where(organisations.c.id.in_(sorted(by.org_ids)))
        return [_organisation(row) for row in await self._database.rows(statement)]

    async def members(self, org_id: str, *, by: Principal) -> Sequence[Member]:
        """Who belongs to an organisation, by name.

        Raises:
            NotFoundError: `by` does not know it.
        """
        found = await self.get(org_id, by=by)
        statement = (
            select(memberships, users.c.name)
            .join(users, users.c.id == memberships.c.user_id)
            .where(memberships.c.org_id == found.id)
            .order_by(users.c.name)
        )
        return [
            Member(user_id=row.user_id, name=row.name, role=row.role, since=row.created_at)
            for row in await self._database.rows(statement)
        ]

    async def add(self, org_id: str, user_id: str, role: Role = "member", *, by: Principal) -> None:
        """Take a user into an organisation, or change their role.

        Raises:
            NotFoundError: `by` does not know the organisation.
            ForbiddenError: `by` is no admin of it, or makes an owner without being one.
            ConflictError: the organisation would have no owner.
        """
        found = await self.led(org_id, by)
        before = await self._role(found.id, user_id)
        self.guard_owners(found, by, before, role)
        if before == "owner" and role != "owner":
            await self._keep_an_owner(found, user_id)
        await self._database.write(
            self._join(org_id=found.id, user_id=user_id, role=role, created_at=time.time()),
            self._audit.entry(
                by, "org.add", "org", found.id, name=found.name, org_id=found.id, detail={"user": user_id, "role": role}
            ),
        )  # fmt: skip

    async def remove(self, org_id: str, user_id: str, *, by: Principal) -> None:
        """Let a user leave an organisation; what they made in it goes to one of its owners.

        Raises:
            NotFoundError: `by` does not know the organisation, or the user is no member.
            ForbiddenError: `by` is no admin of it.
            ConflictError: the organisation would have no owner.
        """
        found = await self.get(org_id, by=by)
        if user_id != by.user_id:
            found = await self.led(org_id, by)
        before = await self._role(found.id, user_id)
        if before is None:
            raise NotFoundError(f"user {user_id!r} does not belong to {found.name!r}")
        if user_id != by.user_id:
            self.guard_owners(found, by, before, "member")
        heir = await self._keep_an_owner(found, user_id)
        await self._database.write(
            self._leave(org=found.id, user=user_id),
            *(statement(org=found.id, user=user_id, heir=heir) for statement in self._hand_over),
            self._audit.entry(
                by, "org.remove", "org", found.id, name=found.name, org_id=found.id, detail={"user": user_id}
            ),
        )

    async def led(self, org_id: str, by: Principal) -> Organisation:
        """An organisation that `by` may decide for.

        Raises:
            NotFoundError: `by` does not know it.
            ForbiddenError: `by` is no admin of it.
        """
        found = await self.get(org_id, by=by)
        if not by.operator and not by.is_admin(found.id):
            raise ForbiddenError(f"only admins of {found.name!r} decide who belongs to it")
        return found

    @staticmethod
    def guard_owners(org: Organisation, by: Principal, before: Role | None, role: Role) -> None:
        """Raise where an owner is made or unmade by somebody who is none.

        Raises:
            ForbiddenError: that is so.
        """
        if "owner" in (before, role) and not by.operator and by.roles.get(org.id) != "owner":
            raise ForbiddenError(f"only owners of {org.name!r} make and unmake its owners")

    async def _role(self, org_id: str, user_id: str) -> Role | None:
        statement = select(memberships.c.role).where(
            memberships.c.org_id == org_id, memberships.c.user_id == user_id
        )
        row = await self._database.first(statement)
        if row is None:
            return None
        role: Role = row.role
        return role

    async def _keep_an_owner(self, org: Organisation, leaving: str) -> str:
        """Another owner than the one who leaves."""
        statement = select(func.min(memberships.c.user_id).label("heir")).where(
            memberships.c.org_id == org.id, memberships.c.role == "owner", memberships.c.user_id != leaving
        )
        row = await self._database.first(statement)
        if row is None or row.heir is None:
            raise ConflictError(f"{org.name!r} needs an owner; make another user its owner first")
        heir: str = row.heir
        return heir


def _check_name(name: str) -> None:
    if not name.strip() or name != name.strip() or not name.isprintable():
        raise ConflictError(f"{name!r} cannot be the name of an organisation")


def _organisation(row: Row[*tuple[Any, ...]]) -> Organisation:
    return Organisation(id=row.id, name=row.name, created_by=row.created_by, created_at=row.created_at)
