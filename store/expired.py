"""What nobody needs any more because its time is over."""

from __future__ import annotations

import time
from typing import Final

from sqlalchemy import Double, bindparam, delete

from interlace.store.database import Database
from interlace.store.tables import answers, counters, invitations, logins, tickets

_INVITATION_SECONDS: Final = 30 * 86_400.0
"""How long an invitation that ended is still listed."""


class ExpiredRepository:
    """Rows that end by themselves."""

    def __init__(self, database: Database) -> None:
        self._database = database
        now = bindparam("now", type_=Double)
        self._removals = [
            database.compile(delete(table).where(column <= now))
            for table, column in (
                (logins, logins.c.expires_at),
                (tickets, tickets.c.expires_at),
                (counters, counters.c.until),
                (answers, answers.c.expires_at),
                (invitations, invitations.c.expires_at + _INVITATION_SECONDS),
            )
        ]

    async def remove(self) -> None:
        """Delete them."""
        now = time.time()
        for removal in self._removals:
            await self._database.write(removal(now=now))
