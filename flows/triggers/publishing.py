"""Triggers follow what is published: with a new version they begin, change or end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import structlog

from interlace.engine.cron.firings import cron_of
from interlace.engine.errors import InterlaceError
from interlace.engine.triggers import Automatic, CronTrigger, EventTrigger, automatic
from interlace.store.trigger_row import Trigger, TriggerKind
from interlace.store.triggers import Planned, Unsynced, listener

if TYPE_CHECKING:
    from interlace.flows.platform import Platform

log = structlog.get_logger("interlace.triggers")


class Publishing:
    """Brings the triggers of stored workflows in line with their published versions.

    Whoever publishes asks for it at once; a process that dies in between, or publishes otherwise, is made up for by the
    next look of any process.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def look(self, workflow_id: str | None = None) -> int:
        """Sync what is not in line; with an id that workflow in any case. Gives how many were synced."""
        store, done = self._platform.store, 0
        for of in await store.triggers.unsynced(workflow_id):
            try:
                await store.triggers.sync(of, await self._plan(of), self._platform.runner.clock.now())
                for gone in (
                    await store.triggers.of_workflow(of.workflow_id, ended=True) if of.deleted else ()
                ):
                    await store.deliveries.remove(gone.id)
                    await store.triggers.remove(gone)
                done += 1
            except InterlaceError as error:
                log.warning(
                    "triggers could not be brought in line", workflow=of.workflow_id, error=str(error)
                )
        return done

    async def _plan(self, of: Unsynced) -> list[Planned]:
        if of.document_hash is None or of.deleted:
            return []
        document = await self._platform.documents.read(of.document_hash)
        wanted = automatic(document.triggers)
        before = {row.key: row for row in await self._platform.store.triggers.of_workflow(of.workflow_id)}
        now = self._platform.runner.clock.now()
        return [planned(key, trigger, now, before.get(key)) for key, trigger in wanted.items()]


def planned(key: str, trigger: Automatic, now: float, before: Trigger | None = None) -> Planned:
    """A trigger as it is stored, when it is due first, and what it listens to."""
    definition = definition_of(trigger)
    kind: TriggerKind = trigger.type
    if isinstance(trigger, CronTrigger):
        same = before is not None and _times(before.definition) == _times(definition)
        due = cron_of(trigger.cron, trigger.timezone).next(now)
        return Planned(kind=kind, key=key, definition=definition, next_at=due, same=same)
    events = (
        [listener(f"run.{status}", trigger.workflow) for status in trigger.on]
        if isinstance(trigger, EventTrigger)
        else []
    )
    return Planned(kind=kind, key=key, definition=definition, events=events)


def definition_of(trigger: Automatic) -> dict[str, Any]:
    """A trigger as it is stored."""
    return trigger.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _times(definition: Mapping[str, Any]) -> Any:
    """What of a schedule says when it fires."""
    return definition.get("type"), definition.get("cron"), definition.get("timezone", "UTC")
