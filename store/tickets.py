"""Tickets: what is good once, for a while. Links that sign somebody in, and ways to an identity provider and back or out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Double, Text, bindparam, delete
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.tables import tickets
from interlace.store.tokens import hash_token, new_token

Kind = Literal["link", "oidc", "oidc_end"]


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a ticket stood for."""

    user_id: str | None
    data: dict[str, Any]


class TicketRepository:
    """Tickets of all kinds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._insert = database.compile(insert(tickets))
        self._take = database.compile(
            delete(tickets)
            .where(
                tickets.c.hash == bindparam("of", type_=Text),
                tickets.c.kind == bindparam("wanted", type_=Text),
                tickets.c.expires_at > bindparam("now", type_=Double),
            )
            .returning(tickets.c.user_id, tickets.c.data),
            returns=True,
        )

    async def issue(
        self,
        kind: Kind,
        *,
        lasts: float,
        user_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> str:
        """A new ticket that is good for `lasts` seconds; gives its text, which is random if it is not given."""
        plain, now = text or new_token(), time.time()
        await self._database.write(
            self._insert(
                hash=hash_token(plain), kind=kind, user_id=user_id, data=encode(dict(data or {})).decode(), created_at=now,
                expires_at=now + lasts,
            )
        )  # fmt: skip
        return plain

    async def take(self, kind: Kind, plain: str) -> Ticket | None:
        """Use a ticket up; None when there is none, it is used up or it is too late. Of several at once one gets it."""
        rows = await self._database.write(self._take(of=hash_token(plain), wanted=kind, now=time.time()))
        return Ticket(rows[0][0], decode(rows[0][1])) if rows else None
