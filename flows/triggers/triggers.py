"""All triggers of a process: what is looked at, and when."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

import structlog

from interlace.engine.errors import InterlaceError
from interlace.engine.run import RunResult
from interlace.flows.triggers.events import Events
from interlace.flows.triggers.outgoing import Outgoing
from interlace.flows.triggers.publishing import Publishing
from interlace.flows.triggers.schedules import Schedules
from interlace.flows.triggers.webhooks import Webhooks

if TYPE_CHECKING:
    from interlace.flows.link import PrefectLink
    from interlace.flows.platform import Platform

_LOOK_SECONDS = 2.0
"""Between two looks for what other processes have changed."""
_SOON_SECONDS = 0.01
_PRUNE_SECONDS = 3600.0
_KEPT_SECONDS, _DEAD_SECONDS = 7 * 86_400.0, 30 * 86_400.0
"""How long deliveries, and those that could start nothing, are kept; their idempotency keys are known so long."""

log = structlog.get_logger("interlace.triggers")


class Triggers:
    """Starts runs by the clock, by requests, and by the ends of other runs; tells subscribers of events."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.publishing = Publishing(platform)
        self.schedules = Schedules(platform)
        self.webhooks = Webhooks(platform)
        self.events = Events(platform)
        self.outgoing = Outgoing(platform)
        self._announced = asyncio.Event()
        platform.runner.ended.append(self._ended)

    async def published(self, workflow_id: str) -> None:
        """Let a workflow's triggers follow what was just published, unpublished or deleted."""
        await self.publishing.look(workflow_id)
        await self.webhooks.secrets.ensure_tokens()
        self.schedules.woken.set()

    async def look(self) -> None:
        """Do everything that is due now."""
        await self._look_at_schedules()
        await self._look_at_events()
        await self.outgoing.look()

    async def prune(self) -> None:
        """Forget what is too old to be of use."""
        now = self._platform.runner.clock.now()
        await self._platform.store.firings.prune()
        await self._platform.store.deliveries.prune(now - _KEPT_SECONDS, now - _DEAD_SECONDS)
        await self._platform.store.subscriptions.prune(now - _DEAD_SECONDS)

    @contextlib.asynccontextmanager
    async def watching(self, link: PrefectLink | None = None) -> AsyncIterator[None]:
        """Look again and again while the block runs."""
        self.schedules.link = self.webhooks.link = self.events.link = link
        store = self._platform.store
        loops = {
            "schedules": self._watch(self._look_at_schedules, store.firings.next_due, self.schedules.woken),
            "events": self._watch(self._look_at_events, store.announcements.next_due, self._announced),
            "outgoing": self._watch(self.outgoing.look, store.subscriptions.next_due, asyncio.Event()),
            "old": self._watch(self.prune, _never, asyncio.Event(), _PRUNE_SECONDS),
        }
        tasks = [asyncio.create_task(loop, name=f"interlace-{name}") for name, loop in loops.items()]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_at_schedules(self) -> None:
        await self.publishing.look()
        await self.webhooks.secrets.ensure_tokens()
        await self.schedules.look()
        await self.webhooks.look()

    async def _look_at_events(self) -> None:
        await self.events.look()

    async def _ended(self, _run_id: str, _result: RunResult) -> None:
        """After a run: what its end starts is looked for at once."""
        self._announced.set()

    async def _watch(
        self, look: Callable[[], Awaitable[None]], next_due: Callable[[], Awaitable[float | None]], woken: asyncio.Event,
        longest: float = _LOOK_SECONDS,
    ) -> None:  # fmt: skip
        clock = self._platform.runner.clock
        while True:
            pause = longest
            try:
                await look()
                due = await next_due()
                if due is not None:
                    pause = min(max(due - clock.now(), _SOON_SECONDS), longest)
            except InterlaceError as error:
                log.warning("what is due could not be looked through", error=str(error))
            except Exception:  # a fault in one look does not end all the others
                log.exception("what is due could not be looked through")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await woken.wait()
            woken.clear()


async def _never() -> None:
    return None
