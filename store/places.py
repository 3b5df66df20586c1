"""Where conversations stand, by keys of clients that know no sessions.

A client of the OpenAI wire format sends the whole conversation with each question, or the id of a response. Both are
keys here: they lead to the answer in a session after which it goes on. Equal conversations of one user are one place.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, Text, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.tables import places


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An answer in a session, and what whoever comes back to it has to know."""

    key: str
    session_id: str
    message_id: str
    data: dict[str, Any] = field(default_factory=dict)
    at: float = 0.0


class PlaceRepository:
    """The places of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database
        new = insert(places)
        self._put = database.compile(
            new.on_conflict_do_update(
                index_elements=["owner", "key"],
                set_={name: new.excluded[name] for name in ("session_id", "message_id", "data", "at")},
            )
        )
        self._remove = database.compile(
            delete(places).where(
                places.c.owner == bindparam("user", type_=Text), places.c.key == bindparam("name", type_=Text)
            )
        )

    async def put(self, owner: str, *found: Place) -> None:
        """Note places; what was noted by the same key is forgotten."""
        now = time.time()
        await self._database.write(
            *(
                self._put(
                    owner=owner, key=place.key, session_id=place.session_id, message_id=place.message_id,
                    data=encode(place.data).decode(), at=now,
                )
                for place in found
            )
        )  # fmt: skip

    async def remove(self, owner: str, key: str) -> None:
        """Forget a place; its session stays."""
        await self._database.write(self._remove(user=owner, name=key))

    async def find(self, owner: str, keys: Sequence[str]) -> Mapping[str, Place]:
        """The places of a user by those of the keys that lead to one."""
        found: dict[str, Place] = {}
        for start in range(0, len(keys), _BATCH):
            some = keys[start : start + _BATCH]
            rows = await self._database.rows(
                select(places).where(places.c.owner == owner, places.c.key.in_(some))
            )
            found.update((row.key, _place(row)) for row in rows)
        return found


_BATCH = 500


def _place(row: Row[*tuple[Any, ...]]) -> Place:
    return Place(
        key=row.key, session_id=row.session_id, message_id=row.message_id, data=decode(row.data), at=row.at
    )
