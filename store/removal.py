"""Runs are removed with all that is theirs, in steps for which no other commit waits long."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from sqlalchemy import Integer, Text, bindparam, delete, func, literal_column, null, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.links import Links
from interlace.store.payloads import Payloads
from interlace.store.run_row import UNFINISHED_SQL
from interlace.store.statements import Now, Operation
from interlace.store.tables import events, meta, run_files, run_payloads, runs, waits
from interlace.store.writer import Batch, Lane

_EVENTS = 2000
"""Events that are deleted in one commit."""
_PAUSE = 0.01
"""Seconds between two of them: a process that waits for SQLite's lock looks only now and then."""
_GONE, _AFTER_GONE = "flow_run_gone:", "flow_run_gone;"
"""Keys of flow runs whose runs were deleted, until Prefect has deleted them too."""


class Removal:
    """Removes runs. A process that dies in between leaves a run with a part of its journal, to be removed again."""

    def __init__(self, database: Database, payloads: Payloads, links: Links) -> None:
        self._database = database
        self._payloads = payloads
        self._links = links
        compiler = database.compile
        run = bindparam("run", type_=Text)
        one = runs.c.id == run
        # The number of the lease goes up: whoever works on the run cannot commit any more.
        self._seize = compiler(
            update(runs)
            .where(one, runs.c.status.in_(UNFINISHED_SQL))
            .values(
                status="cancelled", lease_epoch=runs.c.lease_epoch + 1, lease_owner=null(), lease_until=null(),
                finished_at=Now(),
            )
        )  # fmt: skip
        of_run = events.c.run_id == run
        self._some_events = compiler(
            delete(events).where(of_run, events.c.seq <= bindparam("until", type_=Integer))
        )
        self._events = compiler(delete(events).where(of_run))
        self._waits = compiler(delete(waits).where(waits.c.run_id == run))
        self._folder = compiler(delete(run_files).where(run_files.c.run_id == run))
        key = literal_column(f"'{_GONE}'", Text) + runs.c.flow_run_id
        self._gone = compiler(
            insert(meta)
            .from_select(
                ["key", "value"],
                select(key, literal_column("'null'", Text)).where(one, runs.c.flow_run_id.is_not(None)),
            )
            .on_conflict_do_nothing()
        )
        self._run = compiler(delete(runs).where(one))
        self._forget = compiler(delete(meta).where(meta.c.key == bindparam("key", type_=Text)))

    async def seize(self, run_id: str) -> None:
        """End an unfinished run without asking who works on it; nothing happens to one that has ended."""
        await self._database.write(self._seize(run=run_id))

    async def remove(self, run_id: str) -> None:
        """Remove an ended run with its events, waits, files, and the payloads that nothing else refers to."""
        last = select(func.max(events.c.seq)).where(events.c.run_id == run_id).scalar_subquery()
        links = select(func.count()).where(run_payloads.c.run_id == run_id).scalar_subquery()
        row = await self._database.first(select(last.label("last"), links.label("links")))
        assert row is not None, "scalar subqueries always give a row"
        for until in range(_EVENTS, row.last or 0, _EVENTS):
            await self._submit([self._some_events(run=run_id, until=until)])
            await asyncio.sleep(_PAUSE)
        for _ in range(self._links.AT_ONCE, row.links, self._links.AT_ONCE):
            await self._submit([], cut=run_id)
            await asyncio.sleep(_PAUSE)
        last_step = [
            operation(run=run_id)
            for operation in (self._events, self._waits, self._folder, self._gone, self._run)
        ]
        await self._submit(last_step, cut=run_id)

    async def gone_flow_runs(self, limit: int = 200) -> Sequence[str]:
        """Flow runs of deleted runs, that Prefect has not deleted yet."""
        keys = select(meta.c.key).where(meta.c.key >= _GONE, meta.c.key < _AFTER_GONE)
        rows = await self._database.rows(keys.order_by(meta.c.key).limit(limit))
        return [row.key.removeprefix(_GONE) for row in rows]

    async def forget_gone(self, flow_run_ids: Iterable[str]) -> None:
        """Note that Prefect has none of these any more."""
        operations = [self._forget(key=_GONE + each) for each in flow_run_ids]
        if operations:
            await self._database.write(*operations)

    async def _submit(self, operations: Sequence[Operation], *, cut: str | None = None) -> None:
        batch = Batch(Lane())
        batch.slow = True
        if cut is not None:
            self._links.cut(batch, cut, self._payloads)
        batch.operations.extend(operations)
        await self._database.writer.submit(batch)
