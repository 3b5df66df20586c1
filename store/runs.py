"""Runs: created durably, claimed by lease, listed, deleted with all that is theirs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlalchemy import Select, and_, case, exists, func, not_, or_, select

from interlace.store.claims import Claims, free
from interlace.store.database import Database
from interlace.store.encoding import encode
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.links import Links
from interlace.store.paging import Page, page
from interlace.store.payloads import Payloads
from interlace.store.references import resolve_map
from interlace.store.removal import Removal
from interlace.store.run_creation import Creation, hash_document
from interlace.store.run_row import FINAL, UNFINISHED_SQL, WAITING_SQL, Created, NewRun, Run, run_of
from interlace.store.run_statements import RunStatements
from interlace.store.statements import Now
from interlace.store.tables import documents, runs, waits
from interlace.store.uploads import Uses
from interlace.store.visibility import Asker, seen_by
from interlace.store.writer import Batch

Also: TypeAlias = Callable[[Batch, str], None]
"""Adds operations and hooks to the batch that creates the run of an id."""

_REMEMBERED = 24 * 3600.0
"""Seconds for which an idempotency key is known at least."""

__all__ = ["Also", "RunRepository", "hash_document"]


class RunRepository:
    """The runs of all owners; methods that take an `owner` see only that owner's."""

    def __init__(self, database: Database, payloads: Payloads, links: Links) -> None:
        self._database = database
        self._payloads = payloads
        self.removal = Removal(database, payloads, links)
        self._sql = RunStatements(database.compile)
        self._creation = Creation(self._sql, payloads, links, Uses(database.compile))
        self._claims = Claims(database.compile)

    # -- creating and reading ------------------------------------------------------------------------------

    async def create(self, new: NewRun, also: Also | None = None) -> Created:
        """Create a run with its `run.queued` event (number 1), durably; runs created at once share a commit.

        `also` adds to that commit what goes with the run, and may keep it from being made by a hook that raises.

        Raises:
            NotJsonError: inputs or trigger are not JSON.
            StoreError: neither document nor hash is given, or the commit failed.
        """
        batch, run_id, inserted = self._creation.of(new, self._database.now())
        if also is not None:
            also(batch, run_id)
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

    async def get(self, run_id: str, *, owner: Asker | None = None) -> Run:
        """One run.

        Raises:
            NotFoundError: there is none of that id, or it is another owner's.
        """
        statement = select(runs).where(runs.c.id == run_id)
        row = await self._database.first(
            statement if owner is None else statement.where(seen_by(runs, owner))
        )
        if row is None:
            raise NotFoundError(f"no run {run_id!r}; `interlace runs list` shows those there are")
        return run_of(row)

    async def resolve(self, run: Run) -> Run:
        """The run with the references in its inputs, trigger, outputs, error and options resolved."""
        return replace(
            run,
            inputs=await self._resolve(run.inputs),
            trigger=await self._resolve(run.trigger),
            outputs=None if run.outputs is None else await self._resolve(run.outputs),
            error=None if run.error is None else await self._resolve(run.error),
            options=await self._resolve(run.options),
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
        self, *, owner: Asker | None = None, status: Collection[str] | None = None, workflow_id: str | None = None,
        since: float | None = None, until: float | None = None, parent_run_id: str | None = None,
        replayed_from: str | None = None, trigger: str | None = None, limit: int = 50, cursor: str | None = None,
    ) -> Page[Run]:  # fmt: skip
        """The newest runs first; `since` and `until` bound the creation time, `trigger` is the kind of what started them."""
        statement = select(runs).order_by(runs.c.id.desc()).limit(limit + 1)
        filters = {
            runs.c.workflow_id: workflow_id, runs.c.parent_run_id: parent_run_id, runs.c.replayed_from: replayed_from,
        }  # fmt: skip
        statement = statement.where(
            *(column == value for column, value in filters.items() if value is not None)
        )
        if owner is not None:
            statement = statement.where(seen_by(runs, owner))
        if status is not None:
            statement = statement.where(runs.c.status.in_(sorted(status)))
        if since is not None:
            statement = statement.where(runs.c.created_at >= since)
        if until is not None:
            statement = statement.where(runs.c.created_at <= until)
        if trigger is not None:  # whoever starts a run writes its kind first
            statement = statement.where(
                runs.c.trigger.startswith(f'{{"kind":{encode(trigger).decode()}', autoescape=True)
            )
        if cursor is not None:
            statement = statement.where(runs.c.id < cursor)
        found = await self._runs(statement)
        return page(found, limit, [run.id for run in found])

    async def children(self, run_id: str, path: str | None = None) -> Sequence[Run]:
        """The runs that a run started, oldest first; with `path` those of one node."""
        statement = select(runs).where(runs.c.parent_run_id == run_id).order_by(runs.c.id)
        return await self._runs(statement if path is None else statement.where(runs.c.parent_path == path))

    # -- leases ---------------------------------------------------------------------------------------------

    async def claim(
        self, run_id: str, owner: str, ttl: float, *, key: str | None = None, most: int | None = None
    ) -> int | None:
        """Become the one owner of an unfinished run for `ttl` seconds.

        `owner` names this process and no other one, also not an earlier one of the same machine. With the run's slot
        `key` its limit is kept, with `most` that of all runs together. Gives the number of the lease, to write the
        journal under; None when the run is finished, unknown, somebody's, or has to wait for a slot.
        """
        operations = self._claims.of(run_id, owner, float(ttl), key=key, most=most)
        rows = await self._database.write(*operations)
        return rows[0][0] if rows else None

    async def renew(self, owner: str, ttl: float) -> dict[str, bool]:
        """Extend all leases of an owner; gives its runs and whether each should be cancelled."""
        rows = await self._database.write(self._sql.renew(claimant=owner, ttl=float(ttl)))
        return {run_id: bool(cancel) for run_id, cancel in rows}

    async def release(self, run_id: str, epoch: int) -> None:
        """Give up a lease early, so that another process can go on at once."""
        await self._database.write(self._sql.release(run=run_id, epoch=epoch))

    async def rest(self, run_id: str, epoch: int, seconds: float) -> None:
        """Give up a lease, and let nobody take the run for so long: it cannot be read here, or not yet."""
        await self._database.write(self._sql.rest(run=run_id, epoch=epoch, ttl=float(seconds)))

    async def is_held(self, run_id: str) -> bool:
        """Whether somebody holds the lease of a run, by the database's clock."""
        held = and_(runs.c.id == run_id, runs.c.lease_owner.is_not(None), not_(free(runs)))
        return await self._database.first(select(runs.c.id).where(held)) is not None

    async def unfinished(
        self, limit: int = 1000, *, pools: Collection[str] | None = None, default: str = "", after: str = ""
    ) -> Sequence[Run]:
        """Queued and running runs that nobody works on: new ones, and those whose owner died. Oldest first.

        With `pools` only theirs; a run that names none belongs to the pool `default`.
        """
        statement = select(runs).where(runs.c.status.in_(WAITING_SQL), free(runs), runs.c.id > after)
        if pools is not None:
            statement = statement.where(func.coalesce(runs.c.pool, default).in_(sorted(pools)))
        return await self._runs(statement.order_by(runs.c.id).limit(limit))

    async def stranded(self, served: Collection[str], default: str, limit: int = 200) -> Sequence[Run]:
        """Begun runs that nobody works on, of pools that are not `served`; the oldest first."""
        pool = func.coalesce(runs.c.pool, default)
        statement = select(runs).where(runs.c.status == "running", free(runs), pool.not_in(sorted(served)))
        return await self._runs(statement.order_by(runs.c.id).limit(limit))

    async def of_slot(self, key: str, limit: int = 1000, *, waiting: bool = False) -> Sequence[Run]:
        """The runs of a slot key that are running or about to, oldest first; suspended ones hold no slot.

        Those `waiting` have not begun, and nobody has them.
        """
        statement = select(runs).where(runs.c.slot_key == key, runs.c.status.in_(WAITING_SQL))
        if waiting:
            statement = statement.where(runs.c.status == "queued", free(runs))
        return await self._runs(statement.order_by(runs.c.id).limit(limit))

    async def slots(self) -> Sequence[tuple[str, str, int, int]]:
        """Limits in use: slot key, a workflow's name, the limit, and how many runs hold a slot now."""
        held = case((and_(runs.c.lease_owner.is_not(None), not_(free(runs))), 1), else_=0)
        statement = (
            select(runs.c.slot_key, func.max(runs.c.name), func.max(runs.c.slot_limit), func.sum(held))
            .where(runs.c.slot_key.is_not(None), runs.c.status.in_(UNFINISHED_SQL))
            .group_by(runs.c.slot_key)
        )
        return [
            (key, name, limit, int(count)) for key, name, limit, count in await self._database.rows(statement)
        ]

    async def wanted_pools(self) -> dict[str | None, int]:
        """How many runs wait for each pool: to start, or to go on at a node of it."""
        queued = (
            select(runs.c.pool, func.count())
            .where(runs.c.status == "queued", free(runs))
            .group_by(runs.c.pool)
        )
        moved = (
            select(waits.c.ref, func.count())
            .where(waits.c.kind == "place", waits.c.status == "pending")
            .group_by(waits.c.ref)
        )
        found: dict[str | None, int] = {}
        for statement in (queued, moved):
            for pool, count in await self._database.rows(statement):
                found[pool] = found.get(pool, 0) + count
        return found

    async def late(self, owner: str, limit: int = 100) -> Sequence[Run]:
        """Queued runs whose time to start is over, and that nobody but a lease owner has taken."""
        theirs = or_(free(runs), runs.c.lease_owner == owner)
        statement = select(runs).where(runs.c.status == "queued", runs.c.start_by <= Now(), theirs)
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

    async def linked(self, placed: Iterable[tuple[str, str]]) -> None:
        """Note the flow runs of runs: run id, flow run's id. What Prefect was told of their state stays as it is."""
        operations = [self._sql.linked(run=run_id, flow=flow) for run_id, flow in placed]
        if operations:
            await self._database.write(*operations)

    async def forget_flow_run(self, run_id: str) -> None:
        """Note that Prefect has no flow run of a run any more, and was told nothing of it."""
        await self._database.write(self._sql.forget_flow_run(run=run_id))

    async def tell_again(self, since: float) -> int:
        """Have Prefect told again of all runs that have not ended, or ended since then; how many those are."""
        return len(await self._database.write(self._sql.tell_again(since=since)))

    async def live_in_prefect(self, limit: int = 200, *, after: str = "") -> Sequence[Run]:
        """Runs that have a flow run and have not ended, oldest first, `after` an id."""
        live = select(runs).where(runs.c.flow_run_id.is_not(None), runs.c.status.not_in(sorted(FINAL)))
        return await self._runs(live.where(runs.c.id > after).order_by(runs.c.id).limit(limit))

    async def by_flow_run(self, flow_run_id: str) -> Run | None:
        """The run of a flow run."""
        row = await self._database.first(select(runs).where(runs.c.flow_run_id == flow_run_id))
        return None if row is None else run_of(row)

    # -- removing -------------------------------------------------------------------------------------------

    async def delete(self, run_id: str, *, owner: Asker | None = None, force: bool = False) -> None:
        """Delete a run with its events, waits, files and the payloads that nothing else refers to.

        One that has not ended only with `force`: whoever works on it cannot commit any more.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: it has not ended.
        """
        run = await self.get(run_id, owner=owner)
        if run.status not in FINAL:
            if not force:
                raise ConflictError(f"run {run_id!r} is {run.status}; cancel it before deleting it")
            await self.removal.seize(run_id)
        await self.removal.remove(run_id)

    async def prunable(
        self,
        workflow_id: str | None,
        *,
        before: float | None = None,
        keep: int | None = None,
        limit: int = 1000,
        after: str = "",
    ) -> Sequence[str]:
        """Ended runs of a workflow (None: of none) that retention no longer holds: ended before, or beyond the newest `keep`.

        Runs that another run started are left out, as they go with it, and runs with an idempotency key of the last
        day, which would be started again. `after` is the last id of the page before.
        """
        of_workflow = (
            runs.c.workflow_id.is_(None) if workflow_id is None else runs.c.workflow_id == workflow_id
        )
        parent = runs.alias("parent")
        has_parent = exists(select(parent.c.id).where(parent.c.id == runs.c.parent_run_id))
        remembered = and_(runs.c.idempotency_key.is_not(None), runs.c.created_at > Now() - _REMEMBERED)
        ended = and_(of_workflow, runs.c.status.in_(sorted(FINAL)), ~has_parent)
        rules = [] if before is None else [runs.c.finished_at < before]
        if keep is not None:
            newest = select(runs.c.id).where(ended).order_by(runs.c.id.desc()).limit(keep).subquery()
            rules.append(runs.c.id.not_in(select(newest.c.id)))
        if not rules:
            return []
        statement = (
            select(runs.c.id)
            .where(ended, or_(*rules), not_(remembered), runs.c.id > after)
            .order_by(runs.c.id)
            .limit(limit)
        )
        return [row.id for row in await self._database.rows(statement)]

    async def workflows_with_runs(self) -> Sequence[tuple[str | None, str]]:
        """The stored workflows that have runs, with a name; None stands for all runs of documents that are not stored."""
        statement = select(runs.c.workflow_id, func.max(runs.c.name).label("name")).group_by(
            runs.c.workflow_id
        )
        return [(row.workflow_id, row.name) for row in await self._database.rows(statement)]

    # -- inside ---------------------------------------------------------------------------------------------

    async def _resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        return await resolve_map(values, lambda reference: self._payloads.load(reference["$payload"]))

    async def _runs(self, statement: Select[Any]) -> Sequence[Run]:
        return [run_of(row) for row in await self._database.rows(statement)]
