"""Answers that were given to requests with an Idempotency-Key, so that the same request gets the same answer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Double, LargeBinary, Text, bindparam, delete, null, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.tables import answers

CLAIM_SECONDS: Final = 60.0
"""A request whose process died is done anew after so long; one at work renews its claim."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a key: `status` and `content` are None while the first request is at work."""

    fingerprint: str
    status: int | None
    content: bytes | None


class AnswerRepository:
    """Answers by id; who asks makes the ids, and encrypts the content."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        now, until = bindparam("now", type_=Double), bindparam("until", type_=Double)
        one = answers.c.id == bindparam("answer", type_=Text)
        row = insert(answers).values(
            id=bindparam("answer", type_=Text), fingerprint=bindparam("asked", type_=Text), expires_at=until
        )
        self._claim = compiler(
            row.on_conflict_do_update(
                index_elements=["id"],
                set_={
                    "fingerprint": row.excluded.fingerprint,
                    "status": null(),
                    "content": null(),
                    "expires_at": until,
                },
                where=answers.c.expires_at <= now,
            ).returning(answers.c.id),
            returns=True,
        )
        self._renew = compiler(
            update(answers).where(one, answers.c.status.is_(None)).values(expires_at=until)
        )
        self._keep = compiler(
            update(answers)
            .where(one)
            .values(status=bindparam("code"), content=bindparam("body", type_=LargeBinary), expires_at=until)
        )
        self._forget = compiler(delete(answers).where(one, answers.c.status.is_(None)))

    async def claim(self, answer_id: str, fingerprint: str) -> Answer | None:
        """Begin with a request; None when it is this one's to do, else what is known of the one before it."""
        while True:
            now = time.time()
            claimed = await self._database.write(
                self._claim(answer=answer_id, asked=fingerprint, now=now, until=now + CLAIM_SECONDS)
            )
            if claimed:
                return None
            row = await self._database.first(select(answers).where(answers.c.id == answer_id))
            if row is not None:
                return Answer(row.fingerprint, row.status, row.content)

    async def renew(self, answer_id: str) -> None:
        """Hold on to a request that takes long."""
        await self._database.write(self._renew(answer=answer_id, until=time.time() + CLAIM_SECONDS))

    async def keep(self, answer_id: str, status: int, content: bytes, *, lasts: float) -> None:
        """Keep an answer for `lasts` seconds."""
        until = time.time() + lasts
        await self._database.write(self._keep(answer=answer_id, code=status, body=content, until=until))

    async def forget(self, answer_id: str) -> None:
        """Let the next request of this key begin anew."""
        await self._database.write(self._forget(answer=answer_id))
