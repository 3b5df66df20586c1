"""How `interlace run` runs: on the server of the same home when one is there, else in this process."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlace.engine.errors import InvalidDocument
from interlace.engine.events import FINAL_EVENTS
from interlace.flows.documents import Pinned
from interlace.flows.node_test import test_node
from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.report import run_report
from interlace.flows.runner import Request
from interlace.server.cli.inputs import read_inputs
from interlace.server.cli.output import note, problem_json
from interlace.server.cli.progress import Progress
from interlace.server.cli.session import platform
from interlace.server.client import ServerClient, find_server


@dataclass(frozen=True, slots=True)
class Job:
    """What the command line asks for."""

    workflow: str
    pairs: list[str]
    inputs_file: Path | None
    version: str
    show: bool
    wait: bool

    @property
    def file(self) -> Path | None:
        """The workflow file, None for the name of a stored workflow."""
        path = Path(self.workflow)
        return path if path.suffix in (".yaml", ".yml", ".json") or path.is_file() else None


async def execute(job: Job) -> dict[str, Any]:
    """Run the job and give the report of `interlace run --json`."""
    async with platform() as opened:
        try:
            pinned = await _pinned(opened, job)
            inputs = await read_inputs(pinned.document.inputs, job.pairs, job.inputs_file, opened.store.files)
            server = await find_server(opened.settings)
            if server is not None:
                return await _on_server(server, opened, pinned, inputs, job)
            return await _in_process(opened, pinned, inputs, job)
        except InvalidDocument as error:
            return invalid(error)


def invalid(error: InvalidDocument) -> dict[str, Any]:
    """The report of a bad document or bad inputs."""
    problems = list(error.problems)
    detail = {"type": "validation", "message": str(error), "problems": [problem_json(p) for p in problems]}
    return {
        "run_id": None, "status": "invalid", "outputs": None, "error": {**detail, "node": None, "path": None},
        "nodes": {}, "problems": problems,
    }  # fmt: skip


async def _pinned(opened: Platform, job: Job) -> Pinned:
    if job.file is not None:
        return await opened.documents.from_file(job.file)
    return await opened.documents.stored(job.workflow, job.version)


async def _in_process(opened: Platform, pinned: Pinned, inputs: dict[str, Any], job: Job) -> dict[str, Any]:
    runner = opened.runner
    resumed = await take_over(opened.store, runner)
    for run_id in resumed:
        note(f"» going on with run {run_id}, which a crash had interrupted")
    request = Request(inputs=inputs, environment=opened.settings.environment)
    run_id = await runner.start(pinned, request)
    with _cancel_on_interrupt(lambda: runner.cancel(run_id)):
        await _watch(opened, run_id, job)
    await runner.wait(run_id)
    for other in resumed:
        await runner.wait(other)
    return await run_report(opened.store, opened.documents, run_id)


async def _on_server(
    server: ServerClient, opened: Platform, pinned: Pinned, inputs: dict[str, Any], job: Job
) -> dict[str, Any]:
    async with server:
        run_id = await server.start(pinned, inputs, version=job.version)
        with _cancel_on_interrupt(lambda: server.cancel(run_id)):
            await _watch(opened, run_id, job)
    return await run_report(opened.store, opened.documents, run_id)


async def _watch(opened: Platform, run_id: str, job: Job) -> None:
    progress = Progress(enabled=job.show)
    with progress:
        async for event in opened.store.events.follow(run_id):
            progress.show(event)
            if event.type in FINAL_EVENTS or (event.type == "run.suspended" and not job.wait):
                return


class _cancel_on_interrupt:  # noqa: N801 - a context manager, used like a function
    """Ctrl-C cancels the run properly; a second one gives up at once."""

    def __init__(self, cancel: Any) -> None:
        self._cancel = cancel
        self._asked = False
        self._tasks: list[asyncio.Task[Any]] = []

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, self._interrupt)

    def __exit__(self, *_exception: object) -> None:
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(name)

    def _interrupt(self) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        note("» cancelling the run (once more to give up at once)")
        self._tasks.append(asyncio.get_running_loop().create_task(self._cancel()))


async def run_one_node(file: Path, node: str, pairs: list[str], inputs_file: Path | None) -> dict[str, Any]:
    """The report of `interlace test-node`."""
    from interlace.engine.source import load_file  # noqa: PLC0415 - one of two ways to read a document here

    async with platform() as opened:
        document = load_file(file).require()
        given = await read_inputs(document.inputs, pairs, inputs_file, opened.store.files)
        return await test_node(opened, document, node, given)
