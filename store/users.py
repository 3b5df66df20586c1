"""The users of the installation."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Boolean, Double, Row, Text, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.principal import LOCAL, Principal
from interlace.store.audit import AuditRepository
from interlace.store.database import Database
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.tables import memberships, users
from interlace.store.together import Together

MAX_NAME: Final = 100
_EMAIL: Final = re.compile(r"[^\s@\x00-\x1f]{1,64}@[^\s@\x00-\x1f]{1,255}")


class Unchanged:
    """The type of `UNCHANGED`."""


UNCHANGED: Final = Unchanged()
"""Stands for a value that stays as it is, where None is a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user; times in Unix seconds."""

    id: str
    name: str
    email: str | None
    operator: bool
    has_password: bool
    created_at: float
    disabled_at: float | None


class UserRepository:
    """Users, and the principals they act as."""

    def __init__(self, database: Database, audit: AuditRepository) -> None:
        self._database = database
        self._audit = audit
        self._principals = Together(self._principal)
        compiler = database.compile
        self._insert = compiler(insert(users).on_conflict_do_nothing().returning(users.c.id), returns=True)
        one = update(users).where(users.c.id == bindparam("user"))
        self._password = compiler(one.values(password_hash=bindparam("hashed", type_=Text)))
        self._disable = compiler(one.values(disabled_at=func.coalesce(users.c.disabled_at, bindparam("now"))))
        self._change = compiler(
            one.values(
                email=bindparam("address", type_=Text), operator=bindparam("runs", type_=Boolean),
                disabled_at=bindparam("ended", type_=Double),
            )
        )  # fmt: skip
        self._leave = compiler(delete(memberships).where(memberships.c.user_id == bindparam("user")))

    async def principal(self, user_id: str) -> Principal:
        """A user as rights are decided by, as of now; a user that is unknown or disabled has no rights but to what is theirs."""
        return await self._principals.get(user_id)

    async def _principal(self, user_id: str) -> Principal:
        statement = select(memberships.c.org_id, memberships.c.role).where(memberships.c.user_id == user_id)
        roles = {row.org_id: row.role for row in await self._database.rows(statement)}
        if user_id == LOCAL.user_id:
            return Principal(user_id, frozenset(roles), roles, operator=True) if roles else LOCAL
        row = await self._database.first(
            select(users.c.operator, users.c.disabled_at).where(users.c.id == user_id)
        )
        if row is None or row.disabled_at is not None:
            return Principal(user_id)
        return Principal(user_id, frozenset(roles), roles, operator=bool(row.operator))

    async def is_disabled(self, user_id: str) -> bool:
        """Whether a user's access was ended."""
        statement = select(users.c.id).where(users.c.id == user_id, users.c.disabled_at.is_not(None))
        return await self._database.first(statement) is not None

    async def create(
        self,
        name: str,
        *,
        by: Principal,
        email: str | None = None,
        password_hash: str | None = None,
        operator: bool = False,
    ) -> User:
        """A new user.

        Raises:
            ForbiddenError: `by` does not run the installation.
            ConflictError: name or address is taken, or cannot be used.
        """
        require_operator(by, "make users")
        if not name.strip() or name != name.strip() or len(name) > MAX_NAME or not name.isprintable():
            raise ConflictError(
                f"{name!r} cannot be the name of a user: 1 to {MAX_NAME} printable characters"
            )
        await self._check_email(email)
        made = User(
            id=uuid7(), name=name, email=email, operator=operator, has_password=password_hash is not None,
            created_at=time.time(), disabled_at=None,
        )  # fmt: skip
        inserted = self._insert(
            id=made.id, name=name, email=email, password_hash=password_hash, operator=operator,
            created_at=made.created_at, disabled_at=None,
        )  # fmt: skip
        await self._database.write(inserted)
        if not inserted.rows:
            raise ConflictError(f"there is a user {name!r} already")
        await self._audit.record(by, "user.create", "user", made.id, name=name, detail={"operator": operator})
        return made

    async def get(self, name_or_id: str) -> User:
        """A user by id or name.

        Raises:
            NotFoundError: there is none.
        """
        wanted = or_(users.c.id == name_or_id, users.c.name == name_or_id)
        found = {row.id: row for row in await self._database.rows(select(users).where(wanted))}
        row = found.get(name_or_id) or next(iter(found.values()), None)
        if row is None:
            raise NotFoundError(f"no user {name_or_id!r}")
        return _user(row)

    async def name_of(self, user_id: str) -> str | None:
        """The name of a user; None where there is none of that id."""
        row = await self._database.first(select(users.c.name).where(users.c.id == user_id))
        return None if row is None else row.name

    async def password_hash(self, name: str) -> tuple[str, str] | None:
        """Id and password hash of a user who may log in, by e-mail address or name; None without one.

        A name wins over an address, and an address that several users have is nobody's.
        """
        statement = select(users.c.id, users.c.name, users.c.password_hash).where(
            or_(users.c.name == name, func.lower(users.c.email) == name.lower()),
            users.c.password_hash.is_not(None),
            users.c.disabled_at.is_(None),
        )
        rows = await self._database.rows(statement)
        named = [row for row in rows if row.name == name]
        if len(named or rows) != 1:
            return None
        (row,) = named or rows
        return row.id, row.password_hash

    async def hash_of(self, user_id: str) -> str | None:
        """The password hash of a user; None without one."""
        row = await self._database.first(select(users.c.password_hash).where(users.c.id == user_id))
        return None if row is None else row.password_hash

    async def by_email(self, email: str) -> User | None:
        """The one user with an e-mail address, upper and lower case alike; None where there is none, or several."""
        rows = await self._database.rows(select(users).where(func.lower(users.c.email) == email.lower()))
        return _user(rows[0]) if len(rows) == 1 else None

    async def list(self) -> Sequence[User]:
        """All users by name."""
        return [_user(row) for row in await self._database.rows(select(users).order_by(users.c.name))]

    async def set_password(self, user_id: str, password_hash: str, *, by: Principal) -> None:
        """Give a user a password: their own, or as who runs the installation.

        Raises:
            NotFoundError: there is no such user.
            ForbiddenError: it is somebody else's.
        """
        found = await self.get(user_id)
        if found.id != by.user_id:
            require_operator(by, "set the passwords of others")
        await self._database.write(
            self._password(user=found.id, hashed=password_hash),
            self._audit.entry(by, "user.password", "user", found.id, name=found.name),
        )

    async def change(
        self,
        user_id: str,
        *,
        by: Principal,
        email: str | Unchanged | None = UNCHANGED,
        operator: bool | None = None,
        active: bool | None = None,
    ) -> User:
        """Change what is kept of a user: their address oneself, the rest as who runs the installation.

        Raises:
            NotFoundError: there is no such user.
            ForbiddenError: `by` may not change it.
            ConflictError: the address is another user's, or the installation would have no operator.
        """
        found = await self.get(user_id)
        if found.id != by.user_id or operator is not None or active is not None:
            require_operator(by, "change what users may do")
        if found.id in (LOCAL.user_id, by.user_id) and (operator is False or active is False):
            raise ConflictError(f"user {found.name!r} stays an operator: the installation needs one")
        if active is False:
            await self.disable(found.id, by=by)
        address = found.email if isinstance(email, Unchanged) else email
        if address != found.email:
            await self._check_email(address)
        changed = {
            "email": address, "operator": found.operator if operator is None else operator,
            "disabled_at": None if active else (await self.get(found.id)).disabled_at,
        }  # fmt: skip
        await self._database.write(
            self._change(user=found.id, address=changed["email"], runs=changed["operator"], ended=changed["disabled_at"]),
            self._audit.entry(by, "user.change", "user", found.id, name=found.name, detail={
                name: changed[name] for name, given in (("operator", operator), ("disabled_at", active)) if given is not None
            }),
        )  # fmt: skip
        return await self.get(found.id)

    async def _check_email(self, email: str | None) -> None:
        """Raise unless it may be somebody's address: with it they sign in."""
        if email is None:
            return
        if not _EMAIL.fullmatch(email):
            raise ConflictError(f"{email!r} is no e-mail address")
        taken = select(users.c.id).where(func.lower(users.c.email) == email.lower())
        if await self._database.first(taken) is not None:
            raise ConflictError(f"there is a user with the address {email!r} already")

    async def disable(self, user_id: str, *, by: Principal) -> None:
        """End a user's access: keys and passwords count no more, memberships end; what is theirs stays.

        Raises:
            NotFoundError: there is no such user.
            ForbiddenError: `by` does not run the installation.
            ConflictError: it is the installation's owner, or `by` itself.
        """
        require_operator(by, "disable users")
        found = await self.get(user_id)
        if found.id in (LOCAL.user_id, by.user_id):
            raise ConflictError(f"user {found.name!r} cannot be disabled: the installation needs an operator")
        await self._database.write(
            self._disable(user=found.id, now=time.time()),
            self._leave(user=found.id),
            self._audit.entry(by, "user.disable", "user", found.id, name=found.name),
        )


def require_operator(by: Principal, what: str) -> None:
    """Raise unless a principal runs the installation.

    Raises:
        ForbiddenError: it does not.
    """
    if not by.operator:
        raise ForbiddenError(f"only an operator of this installation may {what}")


def _user(row: Row[*tuple[Any, ...]]) -> User:
    return User(
        id=row.id, name=row.name, email=row.email, operator=bool(row.operator), created_at=row.created_at,
        has_password=row.password_hash is not None, disabled_at=row.disabled_at,
    )  # fmt: skip
