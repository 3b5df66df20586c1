"""The first example: run through the server, its report shown on the terminal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import interlace
from interlace.flows.platform import Platform
from interlace.flows.report import run_report
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.server import webui
from interlace.server.cli.output import note
from interlace.server.cli.progress import Progress, show_outputs

FIRST = "storm_report.yaml"


def examples_folder() -> Path:
    """Where the examples are: in the checkout, else in the installed package."""
    package = Path(interlace.__file__).resolve().parent
    checkout = package.parent.parent / "examples"
    return checkout if checkout.is_dir() else package / "examples"


def with_examples(settings: Settings) -> Settings:
    """The settings with the examples' own database opened."""
    return settings.model_copy(
        update={"database_allow": [*settings.database_allow, str(examples_folder() / "data")]}
    )


async def run_demo(platform: Platform, url: str) -> bool:
    """Run the first example and print its report; whether it succeeded."""
    path = examples_folder() / FIRST
    given = await platform.documents.from_file(path)
    # Stored, so that it can be opened in the web UI with this very run on it.
    pushed = await platform.store.workflows.push(given.document.name, given.text)
    pinned = await platform.documents.stored(pushed.workflow_id, pushed.number)
    data = examples_folder() / "data" / "flights.sqlite"
    request = Request(inputs={"database": f"sqlite:///{data}"}, tags=("example",), trigger={"kind": "manual"})
    run_id = await platform.runner.start(pinned, request)
    note(f"» running {path.name}")
    with Progress(run_id, enabled=True) as progress:
        async for event in platform.store.events.follow(run_id):
            progress.show(event)
    await platform.runner.wait(run_id)
    report = await run_report(platform.store, platform.documents, run_id)
    if report["status"] != "succeeded":
        note(f"✗ {path.name} {report['status']}: {report['error']['message']}")
        return False
    await asyncio.to_thread(show_outputs, report["outputs"])
    note(f"✓ {path.name} succeeded: {url}{_shown_at(pushed.workflow_id, run_id)}")
    return True


def _shown_at(workflow_id: str, run_id: str) -> str:
    """Where a run can be looked at: on the canvas, or on its plain page where there is no web UI."""
    if (webui.BUNDLE / "index.html").is_file():
        return f"/workflows/{workflow_id}?run={run_id}"
    return f"/runs/{run_id}"
