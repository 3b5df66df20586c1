"""Documents that wait, people who answer, and a clock that a test moves."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from interlace.engine.run import RunResult
from interlace.flows.answering import Given
from interlace.flows.people import Person
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.store.wait_row import Wait

ADA, BOB, EVE = (Person(name=name) for name in ("ada", "bob", "eve"))

ASK = """
name: Ask
inputs: {type: object, properties: {amount: {type: number, default: 5}}}
nodes:
  - {id: start, type: START}
  - id: ask
    type: HUMAN
    config:
      title: "Pay {{ inputs.amount }}?"
      form: {type: object, properties: {note: {type: string}}}
  - {id: done, type: END, config: {outputs: {action: "{{ ask.action }}", note: "{{ ask.form.note | default(none) }}", by: "{{ ask.by }}"}}}
edges: [start -> ask, ask.approve -> done, ask.reject -> done, ask.timeout -> done]
"""


class MovedClock:
    """Real time plus what a test adds; sleeping is real."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return time.time() + self.ahead

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def begin(platform: Platform, text: str, **request: Any) -> str:
    """Start a run and wait until its turn is over; gives its id."""
    run_id = await platform.runner.start(await platform.documents.from_text(text), Request(**request))
    await platform.runner.turn(run_id)
    return run_id


async def pending(platform: Platform, run_id: str | None = None) -> list[Wait]:
    """The requests that wait for an answer, oldest first."""
    return sorted((await platform.store.waits.list(run_id=run_id, limit=200)).items, key=lambda wait: wait.id)


async def answer(
    platform: Platform, wait: Wait | str, action: str = "approve", person: Person = ADA, **given: Any
) -> Wait:
    wait_id = wait if isinstance(wait, str) else wait.id
    return await platform.waits.answer(wait_id, Given(action=action, **given), person)


async def end_of(platform: Platform, run_id: str) -> RunResult:
    """How a run ends that waits for nobody any more."""
    result = await platform.runner.wait(run_id, 20)
    assert result is not None
    return result


class Home:
    """A home whose process can be ended and begun again, with a clock that can be moved."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = MovedClock()
        self.platform: Platform

    async def open(self) -> Platform:
        self.platform = await Platform.open(self.settings, clock=self.clock)
        return self.platform

    async def restart(self) -> Platform:
        await self.platform.close()
        return await self.open()

    async def later(self, seconds: float) -> None:
        """Let time pass and do what is due then."""
        self.clock.ahead += seconds
        await self.platform.waits.look()
        await self.platform.waits.look()
        await self.platform.runner.idle()
