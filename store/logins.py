"""Browsers that are signed in: the token stands in a cookie, the store keeps its hash."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Row, Text, bindparam, delete, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import NotFoundError
from interlace.store.ids import uuid7
from interlace.store.tables import api_keys, logins, users
from interlace.store.tokens import hash_token, new_token

Method = Literal["password", "oidc", "link", "key", "invitation"]
IDLE_SECONDS: Final = 12 * 3600.0
"""A login that is not used for so long has ended."""
_SEEN_SECONDS = 60.0
"""The last use is noted once a minute, not at every request."""
_MAX_AGENT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A browser that is signed in; times in Unix seconds."""

    id: str
    user_id: str
    method: Method
    scopes: tuple[str, ...]
    key_id: str | None
    address: str
    agent: str
    created_at: float
    seen_at: float
    expires_at: float


class LoginRepository:
    """The logins of all users. A row that is deleted is a login that has ended."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        self._insert = compiler(insert(logins))
        one, user = logins.c.id == bindparam("login", type_=Text), bindparam("user", type_=Text)
        self._seen = compiler(update(logins).where(one).values(seen_at=bindparam("now")))
        self._end = compiler(
            delete(logins).where(one, logins.c.user_id == user).returning(logins.c.id), returns=True
        )
        self._end_all = compiler(
            delete(logins)
            .where(logins.c.user_id == user, logins.c.id != bindparam("kept", type_=Text))
            .returning(logins.c.id),
            returns=True,
        )

    async def create(
        self,
        user_id: str,
        method: Method,
        *,
        lasts: float,
        scopes: Sequence[str] = ("*",),
        key_id: str | None = None,
        address: str = "",
        agent: str = "",
    ) -> tuple[Login, str]:
        """A new login that ends after `lasts` seconds in any case, and its token, which nobody can read again."""
        plain, now = new_token(), time.time()
        made = Login(
            id=uuid7(), user_id=user_id, method=method, scopes=tuple(scopes), key_id=key_id, address=address,
            agent=agent[:_MAX_AGENT], created_at=now, seen_at=now, expires_at=now + lasts,
        )  # fmt: skip
        await self._database.write(
            self._insert(
                id=made.id, hash=hash_token(plain), user_id=user_id, method=method, scopes=encode(list(scopes)).decode(),
                key_id=key_id, address=address, agent=made.agent, created_at=now, seen_at=now, expires_at=made.expires_at,
            )
        )  # fmt: skip
        return made, plain

    async def verify(self, plain: str) -> Login | None:
        """The login of a token; None when it has ended, its user is disabled, or the key it began with counts no more."""
        now = time.time()
        disabled = select(users.c.id).where(users.c.id == logins.c.user_id, users.c.disabled_at.is_not(None))
        key = select(api_keys.c.id).where(
            api_keys.c.id == logins.c.key_id,
            api_keys.c.revoked_at.is_(None),
            or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > now),
        )
        row = await self._database.first(
            select(logins).where(
                logins.c.hash == hash_token(plain),
                logins.c.expires_at > now,
                logins.c.seen_at > now - IDLE_SECONDS,
                ~disabled.exists(),
                or_(logins.c.key_id.is_(None), key.exists()),
            )
        )
        if row is None:
            return None
        found = _login(row)
        if now - found.seen_at > _SEEN_SECONDS:
            await self._database.write(self._seen(login=found.id, now=now))
        return found

    async def list(self, user_id: str) -> Sequence[Login]:
        """The logins of a user that have not ended, the newest first."""
        now = time.time()
        statement = select(logins).where(
            logins.c.user_id == user_id, logins.c.expires_at > now, logins.c.seen_at > now - IDLE_SECONDS
        )
        return [_login(row) for row in await self._database.rows(statement.order_by(logins.c.id.desc()))]

    async def end(self, login_id: str, *, user_id: str) -> None:
        """End a login of a user.

        Raises:
            NotFoundError: the user has none of that id.
        """
        if not await self._database.write(self._end(login=login_id, user=user_id)):
            raise NotFoundError(f"no login {login_id!r}")

    async def end_all(self, user_id: str, *, but: str = "") -> int:
        """End all logins of a user but one; gives how many."""
        return len(await self._database.write(self._end_all(user=user_id, kept=but)))


def _login(row: Row[*tuple[Any, ...]]) -> Login:
    return Login(
        id=row.id, user_id=row.user_id, method=row.method, scopes=tuple(decode(row.scopes)), key_id=row.key_id,
        address=row.address, agent=row.agent, created_at=row.created_at, seen_at=row.seen_at, expires_at=row.expires_at,
    )  # fmt: skip
