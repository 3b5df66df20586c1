"""How commands start a run and watch it to its end, in this process or on the server of the same home."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from interlace.engine.errors import InterlaceError
from interlace.engine.events import FINAL_EVENTS
from interlace.flows.orphans import taking_over
from interlace.flows.pauses import only_pauses
from interlace.flows.platform import Platform
from interlace.flows.report import run_report, waits_for
from interlace.server.cli.output import note
from interlace.server.cli.progress import Progress
from interlace.server.cli.session import is_shared
from interlace.server.client import ServerClient
from interlace.server.lock import is_held

_LOOK_SECONDS = 2.0
_PATIENCE_SECONDS = 60.0
"""A pause up to so long is waited for even without --wait."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """Whether progress is shown, and whether a suspended run is waited for."""

    show: bool
    wait: bool


async def run_here(opened: Platform, start: Callable[[], Awaitable[str]], display: Display) -> dict[str, Any]:
    """Start a run in this process and give its report when it has ended, or is suspended."""
    runner = opened.runner
    async with taking_over(opened.store, runner, local=is_shared(opened)) as resumed, opened.waits.watching():
        for run_id in resumed:
            note(f"» going on with run {run_id}, which was interrupted")
        with CancelOnInterrupt() as interrupt:
            run_id = await start()
            interrupt.arm(lambda: runner.cancel(run_id))
            if await _watch(opened, run_id, display):
                await runner.idle()
    return await run_report(opened.store, opened.documents, run_id)


async def run_there(
    server: ServerClient, opened: Platform, start: Callable[[], Awaitable[dict[str, Any]]], display: Display
) -> dict[str, Any]:
    """The same for a run that the server executes."""
    with CancelOnInterrupt() as interrupt:
        started = await start()
        run_id = str(started["run_id"])
        interrupt.arm(lambda: server.cancel(run_id))
        if "reason" in started:
            note(f"! not in Prefect's work pool: {started['reason']}")
        await _watch_elsewhere(opened, run_id, display)
    return await run_report(opened.store, opened.documents, run_id)


async def _watch_elsewhere(opened: Platform, run_id: str, display: Display) -> None:
    """Watch a run as long as the server that executes it lives."""
    home = opened.settings.home.resolve()
    watching = asyncio.create_task(_watch(opened, run_id, display))
    while not (await asyncio.wait([watching], timeout=_LOOK_SECONDS))[0]:
        if not await asyncio.to_thread(is_held, home):
            watching.cancel()
            note(f"✗ the server has ended; run {run_id} goes on when it starts again")
            return
    await watching


async def _watch(opened: Platform, run_id: str, display: Display) -> bool:
    """Show the run until it ends, or until it is suspended and nobody wants to wait; whether it ended."""
    if queued := await _why_queued(opened, run_id):
        note(f"» run {run_id} is queued: {queued}")
    with Progress(run_id, enabled=display.show) as progress:
        async for event in opened.store.events.follow(run_id):
            progress.show(event)
            if event.type == "run.suspended":
                if not display.wait and not await _goes_on_soon(opened, run_id):
                    return False
                await _note_places(opened, run_id)
            if event.type in FINAL_EVENTS:
                break
    return True


async def _why_queued(opened: Platform, run_id: str) -> str | None:
    """Why the run does not start now, in words; None when somebody has it, or will."""
    run = await opened.store.runs.get(run_id)
    return None if run.lease_owner is not None else await opened.runner.admission.why_queued(run)


async def _note_places(opened: Platform, run_id: str) -> None:
    """Say for which pools' hosts a suspended run waits that nobody serves."""
    served = await opened.store.hosts.pools()
    for wait in await opened.store.waits.of_run(run_id):
        if wait.kind == "place" and wait.ref not in served:
            note(f"» {wait.path}: {waits_for(wait, served)}")


async def _goes_on_soon(opened: Platform, run_id: str) -> bool:
    """Whether a suspended run only pauses, and not for long."""
    return await only_pauses(opened.store, run_id, opened.runner.clock.now() + _PATIENCE_SECONDS)


class CancelOnInterrupt:
    """Ctrl-C and SIGTERM cancel a run properly; a second one gives up at once."""

    def __init__(self) -> None:
        self._cancel: Callable[[], Coroutine[Any, Any, Any]] | None = None
        self._asked = False
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    def arm(self, cancel: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Say how the run is cancelled, now that it exists."""
        self._cancel = cancel
        if self._asked:
            self._task = asyncio.get_running_loop().create_task(self._ask())

    def _interrupt(self) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        note("» cancelling the run (once more to give up at once)")
        if self._cancel is not None:
            self._task = asyncio.get_running_loop().create_task(self._ask())

    async def _ask(self) -> None:
        assert self._cancel is not None
        try:
            await self._cancel()
        except InterlaceError as error:
            note(f"✗ {error}")
