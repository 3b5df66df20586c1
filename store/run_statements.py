"""The writing statements on runs."""

from __future__ import annotations

from sqlalchemy import (
    Double,
    Integer,
    Text,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    null,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.store.run_row import UNFINISHED_SQL
from interlace.store.statements import Compiler, Now
from interlace.store.tables import documents, events, runs, waits


class RunStatements:
    """Compiled once per open store."""

    def __init__(self, compiler: Compiler) -> None:
        run = bindparam("run", type_=Text)
        ttl = bindparam("ttl", type_=Double)
        claimant = bindparam("claimant", type_=Text)
        one = runs.c.id == run
        unfinished = runs.c.status.in_(UNFINISHED_SQL)

        self.document = compiler(insert(documents).on_conflict_do_nothing())
        given = (
            "id", "owner", "status", "lease_owner", "lease_epoch", "workflow_id", "version", "name", "document_hash",
            "environment", "idempotency_key", "parent_run_id", "parent_path", "depth", "node_count", "created_at",
            "scheduled_for", "tags", "trigger", "inputs",
        )  # fmt: skip
        self.create = compiler(
            insert(runs)
            .values(lease_until=Now() + ttl, **{name: bindparam(name) for name in given})
            .on_conflict_do_nothing(
                index_elements=["owner", "idempotency_key"], index_where=runs.c.idempotency_key.is_not(None)
            )
            .returning(runs.c.id),
            returns=True,
        )
        # Not for a run that an earlier one of the same idempotency key stands for.
        self.queued = compiler(
            insert(events).from_select(
                ["run_id", "seq", "at", "type", "path", "attempt", "data"],
                select(
                    run,
                    literal_column("1", Integer),
                    bindparam("now", type_=Double),
                    literal_column("'run.queued'", Text),
                    literal_column("''", Text),
                    literal_column("0", Integer),
                    literal_column("'{}'", Text),
                ).where(exists(select(runs.c.id).where(one))),
            )
        )
        self.claim = compiler(
            update(runs)
            .where(one, unfinished, (runs.c.lease_until.is_(None)) | (runs.c.lease_until <= Now()))
            .values(lease_owner=claimant, lease_epoch=runs.c.lease_epoch + 1, lease_until=Now() + ttl)
            .returning(runs.c.lease_epoch),
            returns=True,
        )
        self.renew = compiler(
            update(runs)
            .where(runs.c.lease_owner == claimant, unfinished)
            .values(lease_until=Now() + ttl)
            .returning(runs.c.id, runs.c.cancel_requested),
            returns=True,
        )
        self.release = compiler(
            update(runs)
            .where(one, runs.c.lease_epoch == bindparam("epoch", type_=Integer))
            .values(lease_owner=null(), lease_until=null())
        )
        self.cancel = compiler(
            update(runs).where(one, unfinished).values(cancel_requested=true()).returning(runs.c.id),
            returns=True,
        )
        self.mirrored = compiler(
            update(runs)
            .where(one)
            .values(
                mirror_state=bindparam("told", type_=Text),
                flow_run_id=func.coalesce(bindparam("flow", type_=Text), runs.c.flow_run_id),
            )
        )
        self.delete_events = compiler(delete(events).where(events.c.run_id == run))
        self.delete_waits = compiler(delete(waits).where(waits.c.run_id == run))
        self.delete_run = compiler(delete(runs).where(one))
