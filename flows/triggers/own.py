"""Triggers that people make beside those of documents, and what they may do with both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from interlace.engine.cron import Cron, Firing
from interlace.engine.cron.firings import cron_of
from interlace.engine.errors import InvalidDocument
from interlace.engine.principal import Principal
from interlace.engine.problems import Problem
from interlace.engine.source.wording import dotted, faults
from interlace.engine.triggers import (
    MODELS,
    Automatic,
    CronTrigger,
    EventTrigger,
    WebhookTrigger,
    input_problems,
    read_trigger,
)
from interlace.flows.triggers.publishing import planned
from interlace.store.errors import ConflictError
from interlace.store.ids import uuid7
from interlace.store.trigger_row import Trigger, TriggerKind

if TYPE_CHECKING:
    from interlace.flows.platform import Platform

_WORDS = {"cron": "schedule", "webhook": "webhook", "event": "event trigger"}


@dataclass(frozen=True, slots=True)
class Own:
    """Makes, changes, pauses and removes triggers for people."""

    platform: Platform

    async def add(
        self, workflow: str, trigger: Automatic, *, by: Principal, name: str | None = None
    ) -> Trigger:
        """A trigger of a published workflow that `by` sees; its runs have the rights of `by`.

        Raises:
            NotFoundError: `by` sees no such workflow.
            ConflictError: nothing of it is published, or it has a trigger of that name.
            InvalidDocument: the inputs do not fit the workflow.
        """
        store, now = self.platform.store, self.platform.runner.clock.now()
        found = await store.workflows.get(workflow, owner=by)
        await self._check(found.id, trigger, by)
        key = f"own:{name or uuid7()}"
        made = await store.triggers.add(found.id, by.user_id, planned(key, trigger, now), now)
        await self._record(by, "add", made, {"workflow": found.name})
        self.platform.triggers.schedules.woken.set()
        return made

    async def change(self, trigger: Trigger, changes: Mapping[str, Any], *, by: Principal) -> Trigger:
        """Change fields of what somebody made; a schedule begins anew from now.

        Raises:
            ConflictError: the trigger stands in the document.
            InvalidDocument: the fields cannot be read, or the inputs do not fit.
        """
        self._require_own(trigger)
        now = self.platform.runner.clock.now()
        changed = read(trigger.kind, {**trigger.definition, **changes})
        await self._check(trigger.workflow_id, changed, by)
        plan = planned(trigger.key, changed, now)
        await self.platform.store.triggers.define(trigger, plan.definition, plan.next_at, now)
        if trigger.kind == "event":
            await self.platform.store.triggers.listen(trigger.id, plan.events)
        await self._record(by, "change", trigger, {"fields": sorted(changes)})
        self.platform.triggers.schedules.woken.set()
        return await self.platform.store.triggers.get(trigger.id)

    async def remove(self, trigger: Trigger, *, by: Principal) -> None:
        """Remove what somebody made; its runs stay.

        Raises:
            ConflictError: the trigger stands in the document.
        """
        self._require_own(trigger)
        await self.platform.store.deliveries.remove(trigger.id)
        await self.platform.store.triggers.remove(trigger)
        await self._record(by, "remove", trigger, {})

    async def pause(self, trigger: Trigger, *, paused: bool, by: Principal) -> Trigger:
        """Stop a trigger, or let it go on from now on; nothing of the time between is made up for."""
        now, due = self.platform.runner.clock.now(), None
        if trigger.paused == paused:
            return trigger
        if trigger.kind == "cron" and not paused:
            spec = CronTrigger.model_validate(trigger.definition)
            due = cron_of(spec.cron, spec.timezone).next(now)
        await self.platform.store.triggers.pause(trigger, paused=paused, due=due, now=now)
        await self._record(by, "pause" if paused else "resume", trigger, {})
        self.platform.triggers.schedules.woken.set()
        return await self.platform.store.triggers.get(trigger.id)

    async def _check(self, workflow_id: str, trigger: Automatic, by: Principal) -> None:
        pinned = await self.platform.documents.stored(workflow_id, "published", owner=by)
        problems = (
            [] if isinstance(trigger, WebhookTrigger) else input_problems(trigger, pinned.document.inputs)
        )
        if problems:
            raise InvalidDocument(problems)

    def _require_own(self, trigger: Trigger) -> None:
        if trigger.source == "document":
            raise ConflictError(
                f"{_WORDS[trigger.kind]} {trigger.key!r} stands in the workflow's document; publish a version that has it"
                " otherwise, or pause it"
            )

    async def _record(self, by: Principal, what: str, trigger: Trigger, detail: Mapping[str, Any]) -> None:
        kind = _WORDS[trigger.kind].replace(" ", "_")
        await self.platform.store.audit.record(
            by, f"{kind}.{what}", kind, trigger.id, name=trigger.key, detail=detail
        )


def read(kind: TriggerKind, fields: Mapping[str, Any]) -> Automatic:
    """A trigger from fields that somebody gave.

    Raises:
        InvalidDocument: they cannot be read.
    """
    raw = {**fields, "type": kind}
    try:
        found = read_trigger(raw)
    except ValidationError as error:
        problems = [
            Problem(code=fault.code, field=dotted(fault.path), message=fault.message, fix=fault.fix)
            for fault in faults(error, MODELS[kind], raw, f"of a {_WORDS[kind]}")
        ]
        raise InvalidDocument(problems) from None
    assert isinstance(found, CronTrigger | WebhookTrigger | EventTrigger)
    return found


def preview(cron: str, timezone: str, after: float, count: int) -> list[Firing]:
    """The next nominal times of a schedule.

    Raises:
        CronError: the expression or the zone cannot be used.
    """
    schedule = Cron(cron, timezone)
    return [schedule.firing(at) for at in islice(schedule.after(after), count)]
