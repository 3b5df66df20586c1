"""How `interlace run` runs: on the server of the same home when one is there, else in this process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from interlace.engine.errors import InterlaceError, InvalidDocument
from interlace.engine.events import FINAL_EVENTS
from interlace.engine.problems import Problem
from interlace.engine.source import load_file
from interlace.flows.documents import Pinned
from interlace.flows.node_test import test_node
from interlace.flows.orphans import taking_over
from interlace.flows.pauses import only_pauses
from interlace.flows.platform import Platform
from interlace.flows.report import run_report
from interlace.flows.request import Request
from interlace.server.cli.inputs import read_inputs, unknown_inputs
from interlace.server.cli.output import note
from interlace.server.cli.progress import Progress
from interlace.server.cli.session import is_shared, platform
from interlace.server.client import ServerClient, find_server
from interlace.server.lock import is_held
from interlace.store.errors import ConflictError, NotFoundError

_LOOK_SECONDS = 2.0
_PATIENCE_SECONDS = 60.0
"""A pause up to so long is waited for even without --wait."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the command line asks for."""

    workflow: str
    pairs: list[str]
    inputs_file: Path | None
    version: str
    via: str | None
    show: bool
    wait: bool

    @property
    def file(self) -> Path | None:
        """The workflow file, None for the name of a stored workflow."""
        path = Path(self.workflow)
        return path if path.suffix in (".yaml", ".yml", ".json") or path.is_file() else None


async def execute(job: Job) -> dict[str, Any]:
    """Run the job and give the report of `interlace run --json`.

    Raises:
        InvalidDocument: the workflow or the inputs are no good; nothing has started.
        InterlaceError: nothing has started for another reason.
    """
    async with platform() as opened:
        pinned = await _pinned(opened, job)
        inputs = await read_inputs(pinned.document.inputs, job.pairs, job.inputs_file, opened.store.files)
        for hint in unknown_inputs(pinned.document.inputs, inputs):
            note(f"! {hint}")
        server = await find_server(opened.settings)
        if server is not None:
            return await _on_server(server, opened, pinned, inputs, job)
        return await _in_process(opened, pinned, inputs, job)


async def _pinned(opened: Platform, job: Job) -> Pinned:
    if job.file is not None:
        return await opened.documents.from_file(job.file)
    try:
        return await opened.documents.stored(job.workflow, job.version)
    except (NotFoundError, ConflictError) as error:
        raise InvalidDocument([Problem(code="unknown_workflow", message=str(error))]) from None


async def _in_process(opened: Platform, pinned: Pinned, inputs: dict[str, Any], job: Job) -> dict[str, Any]:
    runner = opened.runner
    if job.via is not None:
        note("! no server of this home runs, so the run starts here and not in Prefect's work pool")
    async with taking_over(opened.store, runner, local=is_shared(opened)) as resumed, opened.waits.watching():
        for run_id in resumed:
            note(f"» going on with run {run_id}, which was interrupted")
        trigger = {"kind": "manual", "by": "owner"}
        request = Request(inputs=inputs, trigger=trigger, environment=opened.settings.environment)
        with CancelOnInterrupt() as interrupt:
            run_id = await runner.start(pinned, request)
            interrupt.arm(lambda: runner.cancel(run_id))
            if await _watch(opened, run_id, job):
                await runner.idle()
    return await run_report(opened.store, opened.documents, run_id)


async def _on_server(
    server: ServerClient, opened: Platform, pinned: Pinned, inputs: dict[str, Any], job: Job
) -> dict[str, Any]:
    async with server:
        with CancelOnInterrupt() as interrupt:
            started = await server.start(pinned, inputs, via=job.via)
            run_id = str(started["run_id"])
            interrupt.arm(lambda: server.cancel(run_id))
            if "reason" in started:
                note(f"! not in Prefect's work pool: {started['reason']}")
            await _watch_elsewhere(opened, run_id, job)
    return await run_report(opened.store, opened.documents, run_id)


async def _watch_elsewhere(opened: Platform, run_id: str, job: Job) -> None:
    """Watch a run as long as the server that executes it lives."""
    home = opened.settings.home.resolve()
    watching = asyncio.create_task(_watch(opened, run_id, job))
    while not (await asyncio.wait([watching], timeout=_LOOK_SECONDS))[0]:
        if not await asyncio.to_thread(is_held, home):
            watching.cancel()
            note(f"✗ the server has ended; run {run_id} goes on when it starts again")
            return
    await watching


async def _watch(opened: Platform, run_id: str, job: Job) -> bool:
    """Show the run until it ends, or until it is suspended and nobody wants to wait; whether it ended."""
    with Progress(run_id, enabled=job.show) as progress:
        async for event in opened.store.events.follow(run_id):
            progress.show(event)
            if event.type == "run.suspended" and not job.wait and not await _goes_on_soon(opened, run_id):
                return False
            if event.type in FINAL_EVENTS:
                break
    return True


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


async def run_one_node(file: Path, node: str, pairs: list[str], inputs_file: Path | None) -> dict[str, Any]:
    """The report of `interlace test-node`."""
    async with platform() as opened:
        document = load_file(file).require()
        given = await read_inputs(document.inputs, pairs, inputs_file, opened.store.files)
        return await test_node(opened, document, node, given)
