"""Workflows with schedules, and a platform whose clock stands where a test puts it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, TypeVar

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.store.run_row import Run
from interlace.store.trigger_row import Firing, Trigger

T = TypeVar("T")


class SetClock:
    """The time that a test sets; sleeping is real."""

    def __init__(self, at: str = "2026-01-01T00:00:00Z") -> None:
        self.at = datetime.fromisoformat(at).timestamp()

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def flow(
    *triggers: dict[str, Any], name: str = "job", inputs: dict[str, Any] | None = None, ask: bool = False
) -> str:
    """A workflow that gives back what it is started with; with `ask` it waits for a person."""
    nodes: list[dict[str, Any]] = [{"id": "start", "type": "START"}]
    edges = ["start -> done"]
    if ask:
        nodes.append({"id": "ask", "type": "HUMAN", "config": {"title": "?", "actions": ["go"]}})
        edges = ["start -> ask", "ask.go -> done", "ask.timeout -> done"]
    nodes.append(
        {
            "id": "done",
            "type": "END",
            "config": {"outputs": {"all": "{{ inputs }}", "trigger": "{{ trigger }}"}},
        }
    )
    document = {
        "name": name,
        "inputs": inputs or {"type": "object"},
        "triggers": list(triggers),
        "nodes": nodes,
        "edges": edges,
    }
    return json.dumps(document)


class Scheduled:
    """A platform with a clock of its own."""

    def __init__(self, settings: Settings, clock: SetClock) -> None:
        self.settings = settings
        self.clock = clock
        self.platform: Platform

    async def open(self) -> Platform:
        self.platform = await Platform.open(self.settings, clock=self.clock)
        return self.platform

    async def publish(self, text: str, *, owner: str = "local") -> str:
        """Store and publish a document; gives the workflow's id."""
        pinned = await self.platform.documents.from_text(text)
        pushed = await self.platform.store.workflows.push(pinned.document.name, pinned.text, owner=owner)
        await self.platform.store.workflows.publish(pushed.workflow_id, owner=owner)
        await self.platform.triggers.published(pushed.workflow_id)
        return pushed.workflow_id

    async def to(self, text: str) -> None:
        """Set the clock, do what is due then, and let the runs end."""
        self.clock.at = at(text)
        await self.platform.triggers.look()
        await self.platform.runner.idle()

    async def runs(self, name: str = "job") -> list[Run]:
        """The runs of a workflow, oldest first, with their values."""
        store = self.platform.store
        page = await store.runs.list(limit=1000)
        return [await store.runs.resolve(run) for run in reversed(page.items) if run.name == name]

    async def scheduled(self, name: str = "job") -> list[str]:
        """The nominal times for which runs were started, as UTC texts, in the order of the runs."""
        return [run.trigger["scheduled_for"].removesuffix(":00Z") for run in await self.runs(name)]

    async def trigger(self, workflow_id: str, key: str = "cron-1") -> Trigger:
        found = await self.platform.store.triggers.of_workflow(workflow_id, ended=True)
        return next(trigger for trigger in found if trigger.key == key)

    async def decided(self, workflow_id: str, key: str = "cron-1") -> list[Firing]:
        """What was decided of a schedule, oldest first."""
        trigger = await self.trigger(workflow_id, key)
        return list(reversed((await self.platform.store.firings.list(trigger.id, limit=500)).items))


async def eventually(look: Callable[[], Awaitable[T]], fits: Callable[[T], bool], seconds: float = 20.0) -> T:
    """What a look gives as soon as it fits."""
    async with asyncio.timeout(seconds):
        while not fits(found := await look()):  # noqa: ASYNC110 - what other processes do sets no event here
            await asyncio.sleep(0.01)
    return found
