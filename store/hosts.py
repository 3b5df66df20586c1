"""The processes that take runs: their names, their pools, and whether they live, by the database's clock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Double, Text, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.statements import Now
from interlace.store.tables import hosts

_KEPT_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A process that takes runs. `owner` is its name in leases."""

    owner: str
    name: str
    pools: tuple[str, ...]
    started_at: float


class HostRepository:
    """Hosts say every few seconds that they live; one that says nothing any more is not listed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        seen = {"seen_until": Now() + bindparam("ttl", type_=Double)}
        row = insert(hosts).values(
            owner=bindparam("host", type_=Text), name=bindparam("name", type_=Text),
            pools=bindparam("pools", type_=Text), started_at=Now(), **seen,
        )  # fmt: skip
        renewed = {"seen_until": row.excluded.seen_until, "pools": row.excluded.pools}
        self._beat = database.compile(row.on_conflict_do_update(index_elements=["owner"], set_=renewed))
        self._leave = database.compile(delete(hosts).where(hosts.c.owner == bindparam("host", type_=Text)))
        old = hosts.c.seen_until < Now() - bindparam("age", type_=Double)
        self._forget = database.compile(delete(hosts).where(old))

    async def beat(self, owner: str, name: str, pools: Collection[str], ttl: float) -> None:
        """Say that a host lives, for `ttl` seconds."""
        text = encode(sorted(pools)).decode()
        await self._database.write(
            self._forget(age=_KEPT_SECONDS), self._beat(host=owner, name=name, pools=text, ttl=float(ttl))
        )

    async def leave(self, owner: str) -> None:
        """Say that a host takes nothing any more."""
        await self._database.write(self._leave(host=owner))

    async def living(self) -> Sequence[Host]:
        """The hosts that live, by name."""
        statement = select(hosts).where(hosts.c.seen_until > Now()).order_by(hosts.c.name)
        return [
            Host(owner=row.owner, name=row.name, pools=tuple(decode(row.pools)), started_at=row.started_at)
            for row in await self._database.rows(statement)
        ]

    async def pools(self) -> frozenset[str]:
        """The pools that somebody serves now."""
        return frozenset(pool for host in await self.living() for pool in host.pools)
