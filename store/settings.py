"""Settings that belong to the data, not to a process: facts about this home, by key."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.tables import meta


class SettingRepository:
    """JSON values by key."""

    def __init__(self, database: Database) -> None:
        self._database = database
        upsert = insert(meta)
        self._set = database.compile(
            upsert.on_conflict_do_update(index_elements=["key"], set_={"value": upsert.excluded.value})
        )
        self._add = database.compile(insert(meta).on_conflict_do_nothing())

    async def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default where there is none."""
        row = await self._database.first(select(meta.c.value).where(meta.c.key == key))
        return default if row is None else decode(row.value)

    async def set(self, key: str, value: Any) -> None:
        """Write a value durably.

        Raises:
            NotJsonError: it is not JSON.
        """
        await self._database.write(self._set(key=key, value=encode(value).decode()))

    async def setdefault(self, key: str, value: Any) -> Any:
        """The value of a key; where there is none the given one, which then is every process's."""
        found = await self.get(key)
        if found is None:
            await self._database.write(self._add(key=key, value=encode(value).decode()))
            found = await self.get(key)
        return found
