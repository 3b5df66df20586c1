"""Runs are kept for a time and up to a number; what is beyond that is deleted in small steps, by the server or by hand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import structlog

from interlace.engine.protocols import Clock
from interlace.engine.source import load
from interlace.flows.going_on import apart
from interlace.flows.orphans import expire_dead
from interlace.flows.runner import Runner
from interlace.flows.settings import Settings
from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.run_row import FINAL

_ROUND_SECONDS = 600.0
_CANCEL_SECONDS = 10.0
_STEP = 200
"""Runs that are looked up at once; each is deleted in a commit of its own."""

log = structlog.get_logger("interlace.retention")


@dataclass(frozen=True, slots=True)
class Rule:
    """How long ended runs are kept, in seconds, and how many of a workflow; None is no limit."""

    keep_for: float | None = None
    keep_last: int | None = None

    def or_else(self, other: Rule) -> Rule:
        """This rule, with another one's limits where it has none."""
        return Rule(
            other.keep_for if self.keep_for is None else self.keep_for,
            other.keep_last if self.keep_last is None else self.keep_last,
        )


@dataclass(slots=True)
class Pruned:
    """What was deleted, or would be: runs by the name of their workflow, unused uploads, and orphaned payloads."""

    runs: dict[str, int] = field(default_factory=dict)
    uploads: int = 0
    payloads: int = 0

    @property
    def total(self) -> int:
        """All runs."""
        return sum(self.runs.values())


class Retention:
    """Keeps the runs of a store within their rules.

    Args:
        store: where they are.
        settings: the rule of workflows that have none of their own.
        clock: the time by which runs are old.
    """

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.default = Rule(settings.retention_keep_for, settings.retention_keep_last)
        self._uploads = settings.retention_uploads

    async def prune(
        self, rule: Rule | None = None, *, workflow_id: str | None = None, dry_run: bool = False
    ) -> Pruned:
        """Delete what the rules do not hold any more; a given rule stands for those of the workflows.

        Runs that have not ended stay whatever their age, and so does a sub-workflow's run as long as its parent. Uploads
        that nothing has used go by the settings, where no rule and no workflow is given.
        """
        found = Pruned()
        for workflow, name in await self._store.runs.workflows_with_runs():
            if workflow_id is not None and workflow != workflow_id:
                continue
            limits = rule or (await self._rule_of(workflow)).or_else(self.default)
            count = await self._prune_workflow(workflow, limits, dry_run=dry_run)
            if count:
                shown = name if workflow is not None else "(not stored)"
                found.runs[shown] = found.runs.get(shown, 0) + count
        if rule is None and workflow_id is None:
            found.uploads = await self._prune_uploads(dry_run=dry_run)
        if not dry_run:
            found.payloads = await self._store.sweep()
        return found

    async def _prune_uploads(self, *, dry_run: bool) -> int:
        if self._uploads is None:
            return 0
        before, count, after = self._clock.now() - self._uploads, 0, ""
        while due := await self._store.uploads.unused(before, limit=_STEP, after=after):
            for upload in due:
                count += dry_run or await self._store.uploads.remove(upload)
            after = due[-1]
        return count

    async def _prune_workflow(self, workflow: str | None, limits: Rule, *, dry_run: bool) -> int:
        before = None if limits.keep_for is None else self._clock.now() - limits.keep_for
        count, after = 0, ""
        while True:
            due = await self._store.runs.prunable(
                workflow, before=before, keep=limits.keep_last, limit=_STEP, after=after
            )
            for run_id in due:
                count += 1 if dry_run else await delete_run(self._store, run_id)
                await asyncio.sleep(0)  # commits of runs come in between
            if len(due) < _STEP:
                return count
            after = due[-1]

    async def _rule_of(self, workflow_id: str | None) -> Rule:
        """What the workflow's published version says, or the newest one where none is published."""
        if workflow_id is None:
            return Rule()
        try:
            owner = await self._store.workflows.owner(workflow_id)
            stored = await self._store.workflows.get(workflow_id, owner=owner)
            newest = stored.published_version is None
            _, text = await self._store.workflows.document(
                workflow_id, "latest" if newest else "published", owner=owner
            )
        except (NotFoundError, ConflictError):
            return Rule()
        document = load(text).document
        kept = None if document is None else document.settings.retention
        return Rule() if kept is None else Rule(kept.keep_for, kept.keep_last)

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Keep to the rules while the block runs."""
        task = asyncio.create_task(self._keep_pruning(), name="interlace-retention")
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _keep_pruning(self) -> None:
        while True:
            with apart("old runs could not be deleted"):
                await self._store.expired.remove()
                found = await self.prune()
                if found.total or found.uploads or found.payloads:
                    log.info(
                        "old runs were deleted",
                        runs=found.total,
                        uploads=found.uploads,
                        payloads=found.payloads,
                    )
            await asyncio.sleep(_ROUND_SECONDS)


async def delete_run(store: Store, run_id: str, *, force: bool = False) -> int:
    """Delete an ended run and the ended runs that it started, theirs too; gives how many. One that is gone is none.

    With `force` also one that has not ended, and the unfinished ones that it waited for: nobody can commit to them then.

    Raises:
        ConflictError: it has not ended, or the run that started it has not.
    """
    await _check_parent(store, run_id)
    doomed = await _with_children(store, run_id, force=force)
    count = 0
    for each in doomed:
        with contextlib.suppress(NotFoundError):
            await store.runs.delete(each, force=force)
            count += 1
    return count


async def _check_parent(store: Store, run_id: str) -> None:
    """Refuse to delete what an unfinished run started: resumed after a crash, it would start it a second time."""
    with contextlib.suppress(NotFoundError):
        parent_id = (await store.runs.get(run_id)).parent_run_id
        parent = None if parent_id is None else await store.runs.get(parent_id)
        if parent is not None and parent.status not in FINAL:
            raise ConflictError(
                f"run {run_id!r} was started by run {parent.id!r}, which is {parent.status}; delete it when that has ended"
            )


async def end_run(runner: Runner, run_id: str) -> None:
    """Cancel a run and wait some seconds until that is done; nothing happens to one that has ended."""
    await expire_dead(runner.store, runner)
    await runner.cancel(run_id)
    await runner.wait(run_id, _CANCEL_SECONDS)


async def _with_children(store: Store, run_id: str, *, force: bool) -> Sequence[str]:
    """A run and what it started, the innermost first; children that have not ended stay, unless force takes them too."""
    found: list[str] = []
    for child in await store.runs.children(run_id):
        if child.status in FINAL or (force and child.trigger.get("wait", True)):
            found += await _with_children(store, child.id, force=force)
    return [*found, run_id]
