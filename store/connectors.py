"""What the workers of an installation share about connectors."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass, field

from sqlalchemy import Double, Integer, Text, bindparam, case, delete, null, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.tables.connectors import connector_authorizations, connector_breakers, connector_locks

_AUTHORIZATION_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class BreakerRow:
    """Failures in a row, and until when calls are refused (Unix time)."""

    failures: int = 0
    open_until: float | None = None


@dataclass(frozen=True, slots=True)
class Authorization:
    """An authorization that a person has begun; the salt makes the verifier out of the state."""

    connector_id: str
    user_id: str
    salt: bytes = field(repr=False)
    redirect_uri: str


class ConnectorRepository:
    """Breakers, locks and authorizations."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        breakers = connector_breakers
        first = insert(breakers).values(
            connector_id=bindparam("of", type_=Text), failures=1, open_until=bindparam("first_open", type_=Double),
        )  # fmt: skip
        failures = breakers.c.failures + 1
        opened = case(
            (failures >= bindparam("most", type_=Integer), bindparam("until", type_=Double)), else_=null()
        )
        self._fail = compiler(
            first.on_conflict_do_update(
                index_elements=["connector_id"],
                set_={"failures": failures, "open_until": opened, "probe_until": null()},
            ).returning(breakers.c.failures, breakers.c.open_until),
            returns=True,
        )
        self._reset = compiler(delete(breakers).where(breakers.c.connector_id == bindparam("of")))
        free = or_(breakers.c.probe_until.is_(None), breakers.c.probe_until < bindparam("now", type_=Double))
        self._probe = compiler(
            update(breakers)
            .where(breakers.c.connector_id == bindparam("of"), free)
            .values(probe_until=bindparam("until", type_=Double))
            .returning(breakers.c.connector_id),
            returns=True,
        )
        locks = connector_locks
        taken = insert(locks)
        self._lock = compiler(
            taken.on_conflict_do_update(
                index_elements=["key"],
                set_={"holder": taken.excluded.holder, "until": taken.excluded.until},
                where=locks.c.until < bindparam("now", type_=Double),
            ).returning(locks.c.key),
            returns=True,
        )
        self._unlock = compiler(
            delete(locks).where(locks.c.key == bindparam("of"), locks.c.holder == bindparam("by"))
        )
        states = connector_authorizations
        self._begin = compiler(insert(states))
        self._end = compiler(
            delete(states)
            .where(states.c.state_hash == bindparam("of"))
            .returning(
                states.c.connector_id, states.c.user_id, states.c.salt, states.c.redirect_uri, states.c.until
            ),
            returns=True,
        )
        self._forget = compiler(delete(states).where(states.c.until < bindparam("now", type_=Double)))

    async def breaker(self, connector_id: str) -> BreakerRow:
        """The state of a connector's breaker."""
        wanted = select(connector_breakers).where(connector_breakers.c.connector_id == connector_id)
        row = await self._database.first(wanted)
        return BreakerRow() if row is None else BreakerRow(row.failures, row.open_until)

    async def fail(self, connector_id: str, *, limit: int, pause: float, now: float) -> BreakerRow:
        """Count a failure; from `limit` on calls are refused for `pause` seconds."""
        until = now + pause
        rows = await self._database.write(
            self._fail(of=connector_id, most=limit, until=until, first_open=until if limit <= 1 else None)
        )
        return BreakerRow(int(rows[0][0]), rows[0][1])

    async def reset(self, connector_id: str) -> None:
        """Let calls through again."""
        await self._database.write(self._reset(of=connector_id))

    async def probe(self, connector_id: str, *, now: float, seconds: float) -> bool:
        """Whether the caller is the one that tries; nobody else does for so many seconds."""
        return bool(await self._database.write(self._probe(of=connector_id, now=now, until=now + seconds)))

    async def lock(self, key: str, holder: str, seconds: float) -> bool:
        """Take a lock for at most so many seconds; whether it was free."""
        now = time.time()
        return bool(
            await self._database.write(self._lock(key=key, holder=holder, until=now + seconds, now=now))
        )

    async def unlock(self, key: str, holder: str) -> None:
        """Give a lock back."""
        await self._database.write(self._unlock(of=key, by=holder))

    async def begin_authorization(
        self, connector_id: str, user_id: str, redirect_uri: str
    ) -> tuple[str, Authorization]:
        """A new state for an authorization; only its hash is kept, for ten minutes."""
        state, now = secrets.token_urlsafe(32), time.time()
        made = Authorization(connector_id, user_id, secrets.token_bytes(32), redirect_uri)
        await self._database.write(
            self._forget(now=now),
            self._begin(
                state_hash=_hash(state), connector_id=connector_id, user_id=user_id, salt=made.salt,
                redirect_uri=redirect_uri, until=now + _AUTHORIZATION_SECONDS,
            ),
        )  # fmt: skip
        return state, made

    async def end_authorization(self, state: str) -> Authorization | None:
        """The authorization of a state, which is good only once; None where there is none or it is too old."""
        rows = await self._database.write(self._end(of=_hash(state)))
        if not rows or rows[0][4] < time.time():
            return None
        connector_id, user_id, salt, redirect_uri, _ = rows[0]
        return Authorization(connector_id, user_id, bytes(salt), redirect_uri)


def _hash(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
