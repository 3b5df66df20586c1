"""Runs: created durably, claimed by lease, listed, deleted with all that is theirs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Select, and_, or_, select

from interlace.store.database import Database
from interlace.store.encoding import encode
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.links import Links
from interlace.store.paging import Page, page
from interlace.store.payloads import Payloads
from interlace.store.references import Externalizer, resolve_map
from interlace.store.run_row import FINAL, WAITING_SQL, Created, NewRun, Run, run_of
from interlace.store.run_statements import RunStatements
from interlace.store.statements import Now
from interlace.store.tables import documents, runs
from interlace.store.writer import Batch, Lane


class RunRepository:
    """The runs of all owners; methods that take an `owner` see only that owner's."""

    def __init__(self, database: Database, payloads: Payloads, links: Links) -> None:
        self._database = database
        self._payloads = payloads
        self._links = links
        self._sql = RunStatements(database.compile)

    # -- creating and reading ------------------------------------------------------------------------------

    async def create(self, new: NewRun) -> Created:
        """Create a run with its `run.queued` event (number 1), durably; runs created at once share a commit.

        Raises:
            NotJsonError: inputs or trigger are not JSON.
            StoreError: neither document nor hash is given, or the commit failed.
        """
        batch, run_id, inserted = self._creation(new, time.time())
        await self._database.writer.submit(batch)
        if inserted:
            return Created(run_id=run_id, created=True, epoch=1 if new.lease_owner else None)
        earlier = await self._database.first(
            select(runs.c.id).where(runs.c.owner == new.owner, runs.c.idempotency_key == new.idempotency_key)
        )
        if earlier is None:
            raise ConflictError(
                f"the earlier run of idempotency key {new.idempotency_key!r} was deleted just now; try again"
            )
        return Created(run_id=earlier.id, created=False, epoch=None)

    async def get(self, run_id: str, *, owner: str | None = None) -> Run:
        """One run.

        Raises:
            NotFoundError: there is none of that id, or it is another owner's.
        """
        statement = select(runs).where(runs.c.id == run_id)
        row = await self._database.first(
            statement if owner is None else statement.where(runs.c.owner == owner)
        )
        if row is None:
            raise NotFoundError(f"no run {run_id!r}; `interlace runs list` shows those there are")
        return run_of(row)

    async def resolve(self, run: Run) -> Run:
        """The run with the references in its inputs, outputs and error resolved."""
        return replace(
            run,
            inputs=await self._resolve(run.inputs),
            outputs=None if run.outputs is None else await self._resolve(run.outputs),
            error=None if run.error is None else await self._resolve(run.error),
        )

    async def document(self, document_hash: str) -> str:
        """The text of a document that runs are pinned to.

        Raises:
            NotFoundError: there is none of that hash.
        """
        row = await self._database.first(select(documents.c.text).where(documents.c.hash == document_hash))
        if row is None:
            raise NotFoundError(f"no document with the hash {document_hash!r}")
        text: str = row.text
        return text

    async def list(
        self, *, owner: str | None = None, status: Collection[str] | None = None, workflow_id: str | None = None,
        since: float | None = None, parent_run_id: str | None = None, limit: int = 50, cursor: str | None = None,
    ) -> Page[Run]:  # fmt: skip
        """The newest runs first; `since` is the earliest creation time."""
        statement = select(runs).order_by(runs.c.id.desc()).limit(limit + 1)
        filters = {
            runs.c.owner: owner, runs.c.workflow_id: workflow_id, runs.c.parent_run_id: parent_run_id,
        }  # fmt: skip
        statement = statement.where(
            *(column == value for column, value in filters.items() if value is not None)
        )
        if status is not None:
            statement = statement.where(runs.c.status.in_(sorted(status)))
        if since is not None:
            statement = statement.where(runs.c.created_at >= since)
        if cursor is not None:
            statement = statement.where(runs.c.id < cursor)
        found = await self._runs(statement)
        return page(found, limit, [run.id for run in found])

    async def children(self, run_id: str, path: str | None = None) -> Sequence[Run]:
        """The runs that a run started, oldest first; with `path` those of one node."""
        statement = select(runs).where(runs.c.parent_run_id == run_id).order_by(runs.c.id)
        return await self._runs(statement if path is None else statement.where(runs.c.parent_path == path))

    # -- leases ---------------------------------------------------------------------------------------------

    async def claim(self, run_id: str, owner: str, ttl: float) -> int | None:
        """Become the one owner of an unfinished run for `ttl` seconds.

        `owner` names this process and no other one, also not an earlier one of the same machine. Gives the number of
        the lease, to write the journal under; None when the run is finished, unknown, or somebody's.
        """
        rows = await self._database.write(self._sql.claim(run=run_id, claimant=owner, ttl=float(ttl)))
        return rows[0][0] if rows else None

    async def renew(self, owner: str, ttl: float) -> dict[str, bool]:
        """Extend all leases of an owner; gives its runs and whether each should be cancelled."""
        rows = await self._database.write(self._sql.renew(claimant=owner, ttl=float(ttl)))
        return {run_id: bool(cancel) for run_id, cancel in rows}

    async def release(self, run_id: str, epoch: int) -> None:
        """Give up a lease early, so that another process can go on at once."""
        await self._database.write(self._sql.release(run=run_id, epoch=epoch))

    async def unfinished(self, limit: int = 1000) -> Sequence[Run]:
        """Queued and running runs that nobody works on: new ones, and those whose owner died. Oldest first."""
        statement = select(runs).where(
            runs.c.status.in_(WAITING_SQL), or_(runs.c.lease_until.is_(None), runs.c.lease_until <= Now())
        )
        return await self._runs(statement.order_by(runs.c.id).limit(limit))

    async def request_cancel(self, run_id: str) -> bool:
        """Ask whoever runs it to cancel a run; False when it has ended already.

        Raises:
            NotFoundError: there is no such run.
        """
        if await self._database.write(self._sql.cancel(run=run_id)):
            return True
        await self.get(run_id)
        return False

    async def cancel_requests(self, owner: str) -> Sequence[str]:
        """The runs of a lease owner that should be cancelled."""
        statement = select(runs.c.id).where(runs.c.lease_owner == owner, runs.c.cancel_requested)
        return [row.id for row in await self._database.rows(statement)]

    # -- Prefect's picture ---------------------------------------------------------------------------------

    async def to_mirror(self, limit: int = 200, *, after: str = "") -> Sequence[Run]:
        """Runs that have begun whose status differs from what Prefect was told last, oldest first, `after` an id."""
        untold = select(runs).where(runs.c.mirror_state != runs.c.status, runs.c.status != "queued")
        return await self._runs(untold.where(runs.c.id > after).order_by(runs.c.id).limit(limit))

    async def mirrored(self, told: Iterable[tuple[str, str, str | None]]) -> None:
        """Note what Prefect was told: run id, status, and the flow run's id where it is new."""
        operations = [self._sql.mirrored(run=run_id, told=status, flow=flow) for run_id, status, flow in told]
        if operations:
            await self._database.write(*operations)

    async def by_flow_run(self, flow_run_id: str) -> Run | None:
        """The run of a flow run."""
        row = await self._database.first(select(runs).where(runs.c.flow_run_id == flow_run_id))
        return None if row is None else run_of(row)

    # -- removing -------------------------------------------------------------------------------------------

    async def delete(self, run_id: str, *, owner: str | None = None) -> None:
        """Delete a finished run with its events, files and the payloads that nothing else refers to.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: it has not ended.
        """
        run = await self.get(run_id, owner=owner)
        if run.status not in FINAL:
            raise ConflictError(f"run {run_id!r} is {run.status}; cancel it before deleting it")
        batch = Batch(Lane())
        batch.slow = True
        batch.execute(self._sql.delete_events(run=run_id))
        batch.execute(self._sql.delete_waits(run=run_id))
        self._links.cut(batch, run_id, self._payloads)
        batch.execute(self._sql.delete_run(run=run_id))
        await self._database.writer.submit(batch)

    async def prunable(
        self,
        workflow_id: str | None,
        *,
        before: float | None = None,
        keep: int | None = None,
        limit: int = 1000,
    ) -> Sequence[str]:
        """Ended runs of a workflow (None: of none) that retention no longer holds: ended before, or beyond the newest `keep`."""
        of_workflow = (
            runs.c.workflow_id.is_(None) if workflow_id is None else runs.c.workflow_id == workflow_id
        )
        ended = and_(of_workflow, runs.c.status.in_(sorted(FINAL)))
        rules = [] if before is None else [runs.c.finished_at < before]
        if keep is not None:
            newest = select(runs.c.id).where(ended).order_by(runs.c.id.desc()).limit(keep).subquery()
            rules.append(runs.c.id.not_in(select(newest.c.id)))
        if not rules:
            return []
        statement = select(runs.c.id).where(ended, or_(*rules)).order_by(runs.c.id).limit(limit)
        return [row.id for row in await self._database.rows(statement)]

    # -- inside ---------------------------------------------------------------------------------------------

    def _creation(self, new: NewRun, now: float) -> tuple[Batch, str, Sequence[tuple[Any, ...]]]:
        document_hash = new.document_hash
        batch = Batch(Lane(), independent=True)
        if new.document is not None:
            document_hash = hash_document(new.document)
            batch.execute(self._sql.document(hash=document_hash, text=new.document, created_at=now))
        if document_hash is None:
            raise ConflictError(f"a run of {new.name!r} needs its document, or the hash of a stored one")
        run_id = new.run_id or uuid7()
        encoder = Externalizer(self._payloads)
        values = asdict(replace(new, inputs={}, trigger={}))
        for name in ("document", "run_id", "lease_seconds"):
            del values[name]
        values |= {
            "id": run_id, "document_hash": document_hash, "status": "queued", "created_at": now,
            "inputs": encoder.map(new.inputs).decode(), "trigger": encode(dict(new.trigger)).decode(),
            "tags": encode(list(new.tags)).decode(), "lease_epoch": 1 if new.lease_owner else 0,
            "ttl": float(new.lease_seconds) if new.lease_owner else None,
        }  # fmt: skip
        inserted = batch.execute(self._sql.create(**values))
        batch.execute(self._sql.queued(run=run_id, now=now))
        for stored in encoder.fresh:
            batch.operations.extend(self._links.of(run_id, stored, now))
            batch.hooks.append(stored.secure)
        return batch, run_id, inserted

    async def _resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        return await resolve_map(values, lambda reference: self._payloads.load(reference["$payload"]))

    async def _runs(self, statement: Select[Any]) -> Sequence[Run]:
        return [run_of(row) for row in await self._database.rows(statement)]


def hash_document(text: str) -> str:
    """The key of a canonical document."""
    return hashlib.sha256(text.encode()).hexdigest()
