"""Invitations into organisations: a link each, good once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Double, Row, Text, bindparam, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.principal import Principal, Role
from interlace.store.audit import AuditRepository
from interlace.store.database import Database
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.organisations import OrganisationRepository
from interlace.store.tables import invitations, memberships
from interlace.store.tokens import hash_token, new_token
from interlace.store.users import UserRepository

InvitationStatus = Literal["pending", "accepted", "revoked", "expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation; times in Unix seconds."""

    id: str
    org_id: str
    role: Role
    email: str | None
    created_by: str
    created_at: float
    expires_at: float
    accepted_by: str | None
    accepted_at: float | None
    revoked_at: float | None

    def status(self, now: float | None = None) -> InvitationStatus:
        """What has become of it."""
        if self.accepted_at is not None:
            return "accepted"
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at <= (time.time() if now is None else now) else "pending"


class InvitationRepository:
    """Invitations of all organisations; their admins make and revoke them."""

    def __init__(
        self,
        database: Database,
        audit: AuditRepository,
        users: UserRepository,
        organisations: OrganisationRepository,
    ) -> None:
        self._database = database
        self._audit = audit
        self._users = users
        self._organisations = organisations
        compiler = database.compile
        self._insert = compiler(insert(invitations))
        now, user = bindparam("now", type_=Double), bindparam("user", type_=Text)
        open_ = (
            invitations.c.id == bindparam("invitation", type_=Text),
            invitations.c.accepted_at.is_(None),
            invitations.c.revoked_at.is_(None),
        )
        self._revoke = compiler(
            update(invitations).where(*open_).values(revoked_at=now).returning(invitations.c.id), returns=True
        )
        self._accept = compiler(
            update(invitations)
            .where(*open_, invitations.c.expires_at > now)
            .values(accepted_at=now, accepted_by=user)
            .returning(invitations.c.id),
            returns=True,
        )
        mine = select(
            invitations.c.org_id, user.label("who"), invitations.c.role,
            invitations.c.accepted_at,
        ).where(
            invitations.c.id == bindparam("invitation", type_=Text), invitations.c.accepted_by == user,
            invitations.c.accepted_at == now,
        )  # fmt: skip
        joined = insert(memberships).from_select(["org_id", "user_id", "role", "created_at"], mine)
        # Whoever belongs to the organisation already loses nothing by an invitation.
        self._join = compiler(
            joined.on_conflict_do_update(
                index_elements=["org_id", "user_id"],
                set_={"role": joined.excluded.role},
                where=or_(memberships.c.role == "member", joined.excluded.role == "owner"),
            )
        )

    async def create(
        self, org_id: str, role: Role, *, by: Principal, lasts: float, email: str | None = None
    ) -> tuple[Invitation, str]:
        """Invite somebody, for `lasts` seconds; gives the invitation and its token, which nobody can read again.

        Raises:
            NotFoundError: `by` does not know the organisation.
            ForbiddenError: `by` is no admin of it, or makes an owner without being one.
        """
        org = await self._organisations.led(org_id, by)
        self._organisations.guard_owners(org, by, None, role)
        plain, now = new_token(), time.time()
        made = Invitation(
            id=uuid7(), org_id=org.id, role=role, email=email, created_by=by.user_id, created_at=now,
            expires_at=now + lasts, accepted_by=None, accepted_at=None, revoked_at=None,
        )  # fmt: skip
        await self._database.write(
            self._insert(
                id=made.id, org_id=org.id, role=role, email=email, hash=hash_token(plain), created_by=by.user_id,
                created_at=now, expires_at=made.expires_at, accepted_by=None, accepted_at=None, revoked_at=None,
            ),
            self._audit.entry(
                by, "org.invite", "invitation", made.id, name=org.name, org_id=org.id, detail={"role": role, "email": email}
            ),
        )  # fmt: skip
        return made, plain

    async def list(self, org_id: str, *, by: Principal) -> Sequence[Invitation]:
        """The invitations of an organisation, the newest first, also those that are over.

        Raises:
            NotFoundError: `by` does not know the organisation.
            ForbiddenError: `by` is no admin of it.
        """
        org = await self._organisations.led(org_id, by)
        statement = (
            select(invitations).where(invitations.c.org_id == org.id).order_by(invitations.c.id.desc())
        )
        return [_invitation(row) for row in await self._database.rows(statement)]

    async def revoke(self, org_id: str, invitation_id: str, *, by: Principal) -> None:
        """Let an invitation count no more.

        Raises:
            NotFoundError: `by` does not know the organisation, or it has no such invitation.
            ForbiddenError: `by` is no admin of it.
            ConflictError: it was accepted or revoked already.
        """
        found = next((each for each in await self.list(org_id, by=by) if each.id == invitation_id), None)
        if found is None:
            raise NotFoundError(f"no invitation {invitation_id!r}")
        if not await self._database.write(self._revoke(invitation=found.id, now=time.time())):
            raise ConflictError(f"invitation {invitation_id!r} was accepted or revoked already")
        await self._audit.record(by, "org.uninvite", "invitation", found.id, org_id=found.org_id)

    async def find(self, token: str) -> Invitation:
        """The invitation of a token, if it can be accepted.

        Raises:
            NotFoundError: there is none, it is over, or who invited may not do so any more.
        """
        row = await self._database.first(select(invitations).where(invitations.c.hash == hash_token(token)))
        found = None if row is None else _invitation(row)
        if found is None or found.status() != "pending" or not await self._still_stands(found):
            raise NotFoundError("this invitation is used up, revoked, too old or none; ask for a new one")
        return found

    async def _still_stands(self, found: Invitation) -> bool:
        by = await self._users.principal(found.created_by)
        try:
            org = await self._organisations.led(found.org_id, by)
            self._organisations.guard_owners(org, by, None, found.role)
        except (NotFoundError, ForbiddenError):
            return False
        return True

    async def accept(self, token: str, user_id: str) -> Invitation:
        """Take a user into the organisation; of several at once one does.

        Raises:
            NotFoundError: as `find`.
        """
        found, now = await self.find(token), time.time()
        accepted = self._accept(invitation=found.id, user=user_id, now=now)
        by = await self._users.principal(user_id)
        await self._database.write(accepted, self._join(invitation=found.id, user=user_id, now=now))
        if not accepted.rows:
            raise NotFoundError("this invitation was accepted just now")
        await self._audit.record(
            by,
            "org.join",
            "org",
            found.org_id,
            org_id=found.org_id,
            detail={"invitation": found.id, "role": found.role},
        )
        return found


def _invitation(row: Row[*tuple[Any, ...]]) -> Invitation:
    values = dict(row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
    del values["hash"]
    return Invitation(**values)
