"""Events of runs told to their listeners: workflows that start then, and subscribers outside.

An event is noted in the commit that makes it. It is forgotten when all its listeners were told; a process that dies in
between leaves it to the next one, and what was told already is known by its key.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import structlog
from pydantic import ValidationError

from interlace.engine.errors import InvalidDocument
from interlace.engine.triggers import EventTrigger
from interlace.flows.pool import start_queued
from interlace.flows.triggers.starting import LostAccessError, mapped, ready, request_of
from interlace.store.announcing import Announcement
from interlace.store.errors import NotFoundError
from interlace.store.run_row import Run
from interlace.store.trigger_row import Trigger

if TYPE_CHECKING:
    from interlace.flows.link import PrefectLink
    from interlace.flows.platform import Platform

MAX_DEPTH: Final = 10
"""Runs that may start each other in a row by their ends."""

log = structlog.get_logger("interlace.triggers")


class Events:
    """Tells what was announced."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.link: PrefectLink | None = None

    async def look(self) -> None:
        """Tell everything that is to be told now."""
        store = self._platform.store
        while not self._platform.runner.closing:
            claimed = await store.announcements.claim_due(self._platform.runner.clock.now())
            if not claimed:
                return
            for announcement in claimed:
                await self._tell(announcement)

    async def _tell(self, announcement: Announcement) -> None:
        store = self._platform.store
        try:
            run = await store.runs.resolve(await store.runs.get(announcement.run_id))
        except NotFoundError:
            await store.announcements.done(announcement)
            return
        if not run.test and not run.options.get("offline"):
            names = [run.name] if run.workflow_id is None else [run.name, run.workflow_id]
            for trigger in await store.triggers.events_of(names, announcement.event):
                await self._start(trigger, run, announcement.event)
            await self._platform.triggers.outgoing.enqueue(announcement, run)
        await store.announcements.done(announcement)

    async def _start(self, trigger: Trigger, run: Run, event: str) -> None:
        """Start a trigger's run, once for the ended run; what keeps it from starting is noted at the trigger."""
        try:
            if not await self._is_meant(trigger, run):
                return
            await self._begin(trigger, run, event)
        except (LostAccessError, InvalidDocument, ValidationError) as error:
            log.warning("an event trigger started nothing", trigger=trigger.id, run=run.id, reason=str(error))
            await self._platform.store.triggers.fail(
                trigger.id, str(error), self._platform.runner.clock.now()
            )
        else:
            if trigger.error is not None:
                await self._platform.store.triggers.fail(trigger.id, None, 0.0)

    async def _is_meant(self, trigger: Trigger, run: Run) -> bool:
        """Whether the run is one of the workflow that the trigger's owner named, and one that the owner may see."""
        store, spec = self._platform.store, EventTrigger.model_validate(trigger.definition)
        principal = await store.users.principal(trigger.owner)
        try:
            named = await store.workflows.get(spec.workflow, owner=principal)
            await store.runs.get(run.id, owner=principal)
        except NotFoundError:
            return False
        return named.id == run.workflow_id

    async def _begin(self, trigger: Trigger, run: Run, event: str) -> None:
        platform, depth = self._platform, int(run.trigger.get("depth", 0)) + 1
        if depth > MAX_DEPTH:
            raise LostAccessError(
                f"the chain of workflows that start each other by their ends is cut after {MAX_DEPTH} runs"
            )
        spec = EventTrigger.model_validate(trigger.definition)
        found = await ready(platform, trigger)
        ended = {"id": run.id, "status": run.status, "outputs": run.outputs, "error": run.error}
        data: dict[str, Any] = {
            "kind": "event", "event": event, "trigger": trigger.id, "name": trigger.key.removeprefix("own:"), "workflow": run.name, "run": ended,
            "depth": depth,
        }  # fmt: skip
        request = request_of(
            platform, found, trigger=data, inputs=mapped(platform, spec.inputs, data), also=None
        )
        request = replace(request, idempotency_key=f"event:{trigger.id}:{run.id}")
        await start_queued(platform, self.link, found.pinned, request)
