"""How `interlace run` runs: on the server of the same home when one is there, else in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem
from interlace.engine.source import load_file
from interlace.flows.documents import Pinned
from interlace.flows.node_test import test_node
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.run_options import Asked, with_options
from interlace.server.cli.inputs import read_inputs, unknown_inputs
from interlace.server.cli.output import note
from interlace.server.cli.session import platform
from interlace.server.cli.watching import Display, run_here, run_there
from interlace.server.client import ServerClient, find_server
from interlace.store.errors import ConflictError, NotFoundError


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the command line asks for."""

    workflow: str
    pairs: list[str]
    inputs_file: Path | None
    version: str
    via: str | None
    display: Display
    asked: Asked = field(default_factory=Asked)

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
    if job.via is not None:
        note("! no server of this home runs, so the run starts here and not in Prefect's work pool")
    trigger = {"kind": "manual", "by": "owner"}
    request = Request(inputs=inputs, trigger=trigger, environment=opened.settings.environment)
    request = await with_options(opened.store, opened.documents, pinned, request, job.asked)
    return await run_here(opened, lambda: opened.runner.start(pinned, request), job.display)


async def _on_server(
    server: ServerClient, opened: Platform, pinned: Pinned, inputs: dict[str, Any], job: Job
) -> dict[str, Any]:
    asked = job.asked
    options = {"test": asked.test, "record": asked.record, "pins": dict(asked.pins)}
    async with server:
        return await run_there(
            server, opened, lambda: server.start(pinned, inputs, via=job.via, options=options), job.display
        )


async def run_one_node(file: Path, node: str, pairs: list[str], inputs_file: Path | None) -> dict[str, Any]:
    """The report of `interlace test-node`."""
    async with platform() as opened:
        document = load_file(file).require()
        given = await read_inputs(document.inputs, pairs, inputs_file, opened.store.files)
        return await test_node(opened, document, node, given)
