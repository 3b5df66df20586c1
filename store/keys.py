"""API keys: shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, bindparam, func, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import NotFoundError
from interlace.store.ids import uuid7
from interlace.store.tables import api_keys, users

_LETTERS = string.ascii_lowercase + string.digits
_PREFIX_LETTERS = 10
_SECRET_BYTES = 32
_USE_SECONDS = 60.0
"""The last use is noted once a minute, not at every request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is kept of a key; times in Unix seconds."""

    id: str
    owner: str
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created_at: float
    expires_at: float | None
    last_used_at: float | None
    revoked_at: float | None


class KeyRepository:
    """API keys of all owners."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._insert = database.compile(insert(api_keys))
        one = update(api_keys).where(api_keys.c.id == bindparam("key"))
        self._used = database.compile(one.values(last_used_at=bindparam("now")))
        self._revoke = database.compile(
            one.where(api_keys.c.owner == bindparam("of"))
            .values(revoked_at=func.coalesce(api_keys.c.revoked_at, bindparam("now")))
            .returning(api_keys.c.id),
            returns=True,
        )

    async def create(
        self,
        name: str,
        *,
        owner: str = "local",
        scopes: Sequence[str] = ("*",),
        expires_at: float | None = None,
    ) -> tuple[Key, str]:
        """A new key and its plain text `il_<prefix>_<secret>`, which nobody can read again."""
        prefix = "".join(secrets.choice(_LETTERS) for _ in range(_PREFIX_LETTERS))
        plain = f"il_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
        key = Key(
            id=uuid7(), owner=owner, name=name, prefix=prefix, scopes=tuple(scopes), created_at=time.time(),
            expires_at=expires_at, last_used_at=None, revoked_at=None,
        )  # fmt: skip
        await self._database.write(
            self._insert(
                id=key.id, owner=owner, name=name, prefix=prefix, hash=_hash(plain),
                scopes=encode(list(scopes)).decode(), created_at=key.created_at, expires_at=expires_at,
                last_used_at=None, revoked_at=None,
            )
        )  # fmt: skip
        return key, plain

    async def verify(self, plain: str) -> Key | None:
        """The key of a plain text; None when it is unknown, revoked or expired, or its user disabled."""
        parts = plain.split("_", 2)
        if len(parts) != 3 or parts[0] != "il":  # noqa: PLR2004 - il, prefix, secret
            return None
        disabled = select(users.c.id).where(users.c.id == api_keys.c.owner, users.c.disabled_at.is_not(None))
        statement = select(api_keys).where(api_keys.c.prefix == parts[1], ~disabled.exists())
        row = await self._database.first(statement)
        # The secret has 256 random bits: a plain hash cannot be reversed, and a slow one would cost every request.
        if row is None or not hmac.compare_digest(row.hash, _hash(plain)):
            return None
        key, now = _key(row), time.time()
        if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
            return None
        if key.last_used_at is None or now - key.last_used_at > _USE_SECONDS:
            await self._database.write(self._used(key=key.id, now=now))
        return key

    async def list(self, *, owner: str = "local") -> list[Key]:
        """An owner's keys, the newest first, revoked ones included."""
        statement = select(api_keys).where(api_keys.c.owner == owner).order_by(api_keys.c.id.desc())
        return [_key(row) for row in await self._database.rows(statement)]

    async def revoke(self, key_id: str, *, owner: str = "local") -> None:
        """End a key for good.

        Raises:
            NotFoundError: the owner has no such key.
        """
        if not await self._database.write(self._revoke(key=key_id, of=owner, now=time.time())):
            raise NotFoundError(f"no API key {key_id!r} of {owner!r}")


def _hash(plain: str) -> str:
    return hashlib.sha256(plain.encode()).hexdigest()


def _key(row: Row[*tuple[Any, ...]]) -> Key:
    return Key(
        id=row.id, owner=row.owner, name=row.name, prefix=row.prefix, scopes=tuple(decode(row.scopes)),
        created_at=row.created_at, expires_at=row.expires_at, last_used_at=row.last_used_at, revoked_at=row.revoked_at,
    )  # fmt: skip
