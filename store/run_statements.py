"""The writing statements on runs."""

from __future__ import annotations

from sqlalchemy import (
    Double,
    Integer,
    Text,
    bindparam,
    exists,
    func,
    literal_column,
    null,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.store.run_row import UNFINISHED_SQL
from interlace.store.statements import Compiler, Now
from interlace.store.tables import documents, events, files, run_files, runs


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
            "id", "owner", "org_id", "status", "lease_owner", "lease_epoch", "workflow_id", "version", "name", "document_hash",
            "environment", "idempotency_key", "parent_run_id", "parent_path", "depth", "node_count", "created_at",
            "scheduled_for", "tags", "trigger", "inputs", "replayed_from", "test", "options", "pool", "slot_key",
            "slot_limit",
        )  # fmt: skip
        start_by = Now() + bindparam("within", type_=Double)
        self.create = compiler(
            insert(runs)
            .values(lease_until=Now() + ttl, start_by=start_by, **{name: bindparam(name) for name in given})
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
        self.seed = compiler(
            insert(events).from_select(
                ["run_id", "seq", "at", "type", "path", "attempt", "data"],
                select(
                    run,
                    bindparam("seq", type_=Integer),
                    bindparam("now", type_=Double),
                    bindparam("type", type_=Text),
                    bindparam("path", type_=Text),
                    bindparam("attempt", type_=Integer),
                    bindparam("data", type_=Text),
                ).where(exists(select(runs.c.id).where(one))),
            )
        )
        self.share_files = compiler(
            insert(files).from_select(
                ["id", "ref", "name", "media_type", "size", "owner", "run_id", "created_at"],
                select(
                    run + literal_column("'-'", Text) + files.c.id,
                    files.c.ref,
                    files.c.name,
                    files.c.media_type,
                    files.c.size,
                    files.c.owner,
                    run,
                    files.c.created_at,
                ).where(
                    files.c.run_id == bindparam("source", type_=Text), exists(select(runs.c.id).where(one))
                ),
            )
        )
        # What the nodes whose results are taken had written: each version knows its node.
        self.share_folder = compiler(
            insert(run_files).from_select(
                [column.name for column in run_files.c],
                select(*(run if column is run_files.c.run_id else column for column in run_files.c)).where(
                    run_files.c.run_id == bindparam("source", type_=Text),
                    run_files.c.node == bindparam("node", type_=Text),
                    exists(select(runs.c.id).where(one)),
                ),
            )
        )
        self.exists = compiler(select(runs.c.id).where(one), returns=True)
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
        # Nobody's for a while: the run is left to others before it is tried here again.
        self.rest = compiler(
            update(runs)
            .where(one, runs.c.lease_epoch == bindparam("epoch", type_=Integer))
            .values(lease_owner=null(), lease_until=Now() + ttl)
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
        self.linked = compiler(update(runs).where(one).values(flow_run_id=bindparam("flow", type_=Text)))
        self.forget_flow_run = compiler(update(runs).where(one).values(flow_run_id=null(), mirror_state=""))
        self.tell_again = compiler(
            update(runs)
            .where(
                runs.c.mirror_state != "",
                or_(runs.c.finished_at.is_(None), runs.c.finished_at >= bindparam("since", type_=Double)),
            )
            .values(mirror_state="")
            .returning(runs.c.id),
            returns=True,
        )
