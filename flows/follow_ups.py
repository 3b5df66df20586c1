"""`settings.on_failure`: a workflow that is started when a run of another one has failed."""

from __future__ import annotations

import time

import structlog

from interlace.engine.errors import InterlaceError
from interlace.engine.run import RunResult
from interlace.flows.request import Request
from interlace.flows.runner import Runner
from interlace.store.run_row import Run

_REMEMBERED_SECONDS = 24 * 3600.0

log = structlog.get_logger("interlace.runner")


class FollowUps:
    """Starts them once each: the failed run's id is their idempotency key.

    A run that was started so starts none itself: a broken handler would call itself for ever.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        runner.ended.append(self._ended)

    async def catch_up(self) -> None:
        """Start those of runs whose process died between the failure and the start."""
        runs, cursor = self._runner.store.runs, None
        while True:
            page = await runs.list(status={"failed"}, since=time.time() - _REMEMBERED_SECONDS, cursor=cursor)
            for run in page.items:
                await self._try(run)
            cursor = page.cursor
            if cursor is None:
                return

    async def _ended(self, run_id: str, result: RunResult) -> None:
        if result.status != "failed":
            return
        try:
            run = await self._runner.store.runs.get(run_id)
        except InterlaceError as error:
            log.warning("the failure's workflow is started later", run=run_id, error=str(error))
        else:
            await self._try(run)

    async def _try(self, run: Run) -> None:
        try:
            await self._start(run)
        except InterlaceError as error:
            log.warning("the failure's workflow is started later", run=run.id, error=str(error))

    async def _start(self, run: Run) -> None:
        runner = self._runner
        wanted = (await runner.documents.read(run.document_hash)).settings.on_failure
        if (
            wanted is None
            or run.test
            or run.options.get("offline")
            or run.trigger.get("event") == "on_failure"
        ):
            return
        full = await runner.store.runs.resolve(run)
        ended = {"id": run.id, "status": run.status, "outputs": full.outputs, "error": full.error}
        try:
            pinned = await runner.documents.stored(wanted, owner=await runner.principal(None, run.owner))
            request = Request(
                trigger={
                    "kind": "event", "event": "on_failure", "workflow": run.name, "run": ended,
                    "depth": int(run.trigger.get("depth", 0)) + 1,
                },
                environment=run.environment, owner=run.owner, idempotency_key=f"on_failure:{run.id}",
            )  # fmt: skip
            await runner.start(pinned, request)
        except InterlaceError as error:
            log.warning(
                "the workflow of on_failure was not started", run=run.id, workflow=wanted, error=str(error)
            )
