"""Who users are at identity providers."""

from __future__ import annotations

import time

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.tables import identities


class IdentityRepository:
    """Identities by issuer and subject, which a provider never gives to another."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._link = database.compile(
            insert(identities).on_conflict_do_nothing().returning(identities.c.user_id), returns=True
        )

    async def find(self, issuer: str, subject: str) -> str | None:
        """The user of an identity; None where nobody has it."""
        row = await self._database.first(
            select(identities.c.user_id).where(identities.c.issuer == issuer, identities.c.subject == subject)
        )
        return None if row is None else row.user_id

    async def link(self, issuer: str, subject: str, user_id: str) -> str:
        """Give an identity to a user; gives whose it is: one that somebody has already stays theirs."""
        rows = await self._database.write(
            self._link(issuer=issuer, subject=subject, user_id=user_id, created_at=time.time())
        )
        found = user_id if rows else await self.find(issuer, subject)
        assert found is not None, "identities are never removed"
        return found

    async def issuers(self, user_id: str) -> list[str]:
        """The providers that a user is known at."""
        statement = select(identities.c.issuer).where(identities.c.user_id == user_id)
        return sorted(row.issuer for row in await self._database.rows(statement))
