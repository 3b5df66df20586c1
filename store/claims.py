"""Taking a run: its lease, and where there is a limit a slot, in one commit.

A slot is no object that could be lost: it is a run of the same key whose lease is in force. A run that ends or is
suspended gives its lease up, and that of a process that died runs out.
"""

from __future__ import annotations

from sqlalchemy import (
    ColumnElement,
    Double,
    FromClause,
    Integer,
    Text,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.store.run_row import UNFINISHED_SQL, WAITING_SQL
from interlace.store.statements import Compiler, Now, Operation
from interlace.store.tables import runs, slots

_LONGEST_SECONDS = 900.0
"""Longer than any lease: one that ends later was taken before the database's clock was set back."""
_EVERYBODY = "*"


def free(table: FromClause) -> ColumnElement[bool]:
    """Whether nobody holds the lease of a run."""
    until = table.c.lease_until
    return or_(until.is_(None), until <= Now(), until > Now() + literal_column(str(_LONGEST_SECONDS), Double))


class Claims:
    """The statements, compiled once per open store."""

    def __init__(self, compiler: Compiler) -> None:
        wanted = (
            runs.c.id == bindparam("run", type_=Text),
            runs.c.status.in_(UNFINISHED_SQL),
            free(runs),
        )
        taken = {
            "lease_owner": bindparam("claimant", type_=Text),
            "lease_epoch": runs.c.lease_epoch + 1,
            "lease_until": Now() + bindparam("ttl", type_=Double),
        }
        most = bindparam("most", type_=Integer)
        self._plain = compiler(
            update(runs).where(*wanted).values(taken).returning(runs.c.lease_epoch), returns=True
        )
        self._limited = compiler(
            update(runs)
            .where(*wanted, _has_slot(), or_(most.is_(None), _has_place(most)))
            .values(taken)
            .returning(runs.c.lease_epoch),
            returns=True,
        )
        grant = insert(slots).values(key=bindparam("slot", type_=Text), grants=literal_column("1", Integer))
        self._lock = compiler(
            grant.on_conflict_do_update(index_elements=["key"], set_={"grants": slots.c.grants + 1})
        )

    def of(
        self, run_id: str, claimant: str, ttl: float, *, key: str | None, most: int | None
    ) -> list[Operation]:
        """What takes a run; the last operation gives the number of its lease."""
        if key is None and most is None:
            return [self._plain(run=run_id, claimant=claimant, ttl=ttl)]
        # The row of the limit is held until the commit, so that whoever counts next sees this run.
        keys = [name for name in (None if most is None else _EVERYBODY, key) if name is not None]
        locks = [self._lock(slot=name) for name in keys]
        return [*locks, self._limited(run=run_id, claimant=claimant, ttl=ttl, most=most)]


def _has_slot() -> ColumnElement[bool]:
    """Whether a slot of the run's key is left, and no earlier run waits for it; a suspended run does not queue anew."""
    other, earlier = runs.alias("other"), runs.alias("earlier")
    held = select(func.count()).where(
        other.c.slot_key == runs.c.slot_key,
        other.c.status.in_(UNFINISHED_SQL),
        other.c.lease_owner.is_not(None),
        not_(free(other)),
    )
    waits = exists(
        select(earlier.c.id).where(
            earlier.c.slot_key == runs.c.slot_key,
            earlier.c.status.in_(WAITING_SQL),
            earlier.c.id < runs.c.id,
            func.coalesce(earlier.c.pool, "") == func.coalesce(runs.c.pool, ""),
            free(earlier),
        )
    )
    in_turn = or_(runs.c.status == "suspended", not_(waits))
    return or_(runs.c.slot_key.is_(None), and_(held.scalar_subquery() < runs.c.slot_limit, in_turn))


def _has_place(most: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether fewer than `most` runs are held; a child runs in its parent's place, which would wait for it for ever."""
    any_run = runs.alias("any_run")
    held = select(func.count()).where(
        any_run.c.lease_owner.is_not(None),
        any_run.c.status.in_(UNFINISHED_SQL),
        any_run.c.depth == 0,
        not_(free(any_run)),
    )
    return or_(runs.c.depth > 0, held.scalar_subquery() < most)
