"""Which run refers to which payload: what keeps a payload, and what is removed with its last reference."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Integer, bindparam, delete, exists, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.payloads import Payloads, Stored
from interlace.store.statements import Compiler, Operation
from interlace.store.tables import files, payloads, run_payloads
from interlace.store.writer import Batch


class Links:
    """Operations on the references to payloads, to be added to a batch."""

    AT_ONCE: Final = 200

    def __init__(self, compiler: Compiler) -> None:
        upsert = insert(payloads)
        # The update locks the row, so that nobody can remove the payload before this reference is committed.
        self._payload = compiler(
            upsert.on_conflict_do_update(index_elements=["ref"], set_={"size": upsert.excluded.size})
        )
        self._link = compiler(insert(run_payloads).on_conflict_do_nothing())
        some = select(run_payloads.c.ref).where(run_payloads.c.run_id == bindparam("run"))
        of_run = some.order_by(run_payloads.c.ref).limit(literal_column(str(self.AT_ONCE), Integer))
        self._lock = compiler(
            select(payloads.c.ref)
            .where(payloads.c.ref.in_(of_run))
            .order_by(payloads.c.ref)
            .with_for_update(),
            returns=True,
        )
        # A row that is not there cannot be locked: one is made, so that a reference in the making is waited for.
        self._lock_one = compiler(
            insert(payloads).on_conflict_do_update(index_elements=["ref"], set_={"size": payloads.c.size})
        )
        self._files = compiler(delete(files).where(files.c.run_id == bindparam("run")))
        kept_by_other = exists().where(
            run_payloads.c.ref == payloads.c.ref, run_payloads.c.run_id != bindparam("run")
        )
        kept_by_file = exists().where(files.c.ref == payloads.c.ref)
        self._drop = compiler(
            delete(payloads)
            .where(payloads.c.ref.in_(of_run), ~kept_by_other, ~kept_by_file)
            .returning(payloads.c.ref),
            returns=True,
        )
        kept = exists().where(run_payloads.c.ref == payloads.c.ref)
        self._drop_one = compiler(
            delete(payloads)
            .where(payloads.c.ref == bindparam("ref"), ~kept, ~kept_by_file)
            .returning(payloads.c.ref),
            returns=True,
        )
        self._known = compiler(select(payloads.c.ref).where(payloads.c.ref == bindparam("ref")), returns=True)
        self._unlink = compiler(
            delete(run_payloads).where(
                run_payloads.c.run_id == bindparam("run"), run_payloads.c.ref.in_(of_run)
            )
        )

    def of(self, run_id: str, stored: Stored, now: float) -> list[Operation]:
        """Link a payload to a run."""
        return [
            self._payload(ref=stored.ref, size=stored.size, created_at=now),
            self._link(run_id=run_id, ref=stored.ref),
        ]

    def note(self, stored: Stored, now: float) -> Operation:
        """Note a payload that a file's row, not a run, refers to."""
        return self._payload(ref=stored.ref, size=stored.size, created_at=now)

    def cut(self, batch: Batch, run_id: str, store: Payloads) -> None:
        """Remove a run's files and the first `AT_ONCE` of its references, with the payloads that nothing else refers to."""
        batch.execute(self._lock(run=run_id))
        batch.execute(self._files(run=run_id))
        dropped = batch.execute(self._drop(run=run_id))
        batch.execute(self._unlink(run=run_id))

        def remove() -> None:
            for (ref,) in dropped:
                store.remove(ref)

        batch.hooks.append(remove)

    def sweep(self, batch: Batch, ref: str, store: Payloads) -> None:
        """Remove a payload unless something refers to it, or is about to; also one that no row knows."""
        batch.execute(self._lock_one(ref=ref, size=0, created_at=0.0))
        batch.execute(self._drop_one(ref=ref))
        known = batch.execute(self._known(ref=ref))
        batch.hooks.append(lambda: None if known else store.remove(ref))
