"""`interlace runs …`: look at and act on runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, stop, table
from interlace.server.encoding import to_json

if TYPE_CHECKING:
    from interlace.engine.events import Event

_LONG_SECONDS = 10
_SHORTEST = 4
"""Shorter ends of an id are chance."""
_SPECIAL = {"test": "test run", "recorded": "recorded"}

app = typer.Typer(help="Look at and act on runs.", no_args_is_help=True)
RunId = Annotated[str, typer.Argument(help="Id of the run, or enough of its end to be the only one.")]


async def find_run(store: Any, text: str) -> str:
    """The full id of a run given whole or by its last characters."""
    from interlace.store.errors import NotFoundError

    try:
        return str((await store.runs.get(text)).id)
    except NotFoundError:
        page = await store.runs.list(limit=1000)
        found = [run.id for run in page.items if run.id.endswith(text)]
        if len(found) == 1 and len(text) >= _SHORTEST:
            return str(found[0])
        raise


@app.command("list")
def list_runs(
    status: Annotated[list[str] | None, typer.Option(help="Only runs of this status.")] = None,
    workflow: Annotated[str | None, typer.Option(help="Only runs of this stored workflow.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the newest first.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="Where an earlier list ended.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """The newest runs."""

    async def work() -> dict[str, Any]:
        from interlace.flows.report import summary
        from interlace.server.cli.session import runs

        async with runs() as opened:
            workflow_id = None if workflow is None else (await opened.store.workflows.get(workflow)).id
            page = await opened.store.runs.list(
                status=set(status) if status else None, workflow_id=workflow_id, limit=limit, cursor=cursor
            )
            return {"items": [summary(run) for run in page.items], "next_cursor": page.cursor}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    rows = [
        (run["id"], run["status"], run["workflow"], _when(run["created_at"]), _took(run))
        for run in found["items"]
    ]
    table(
        ["run", "status", "workflow", "started", "took"],
        rows,
        empty="No runs yet; start one with: interlace run FILE",
    )


@app.command()
def show(run_id: RunId, as_json: JsonFlag = False) -> None:
    """One run with its nodes, outputs and error."""

    async def work() -> dict[str, Any]:
        from interlace.flows.report import run_report
        from interlace.server.cli.session import runs

        async with runs() as opened:
            return await run_report(opened.store, opened.documents, await find_run(opened.store, run_id))

    report = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(report)
        return
    say(f"{report['workflow']}  {report['run_id']}  {report['status']}  {_took(report)}")
    if marks := _marks(report):
        say(marks)
    if report["reason"]:
        note(f"  {report['reason']}")
    rows = [
        (
            path,
            node["status"],
            node["attempts"] or "",
            "" if node["elapsed_ms"] is None else f"{node['elapsed_ms']:.0f}",
            _reason(node),
        )
        for path, node in report["nodes"].items()
    ]
    table(["node", "status", "attempts", "ms", "reason"], rows, empty="No node has started.")
    if report["error"]:
        note(f"✗ {report['error']['message']} [{report['error']['type']}]")
    if report["outputs"]:
        from interlace.server.cli.progress import show_outputs

        show_outputs(report["outputs"])


@app.command()
def events(
    run_id: RunId,
    after: Annotated[int, typer.Option(help="Only events with a greater number.")] = 0,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for new events until the run ends.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """The journal of a run; with --json one object, with --follow one object an event and line."""

    async def work() -> list[Event]:
        from interlace.server.cli.session import runs

        found: list[Event] = []
        async with runs() as opened:
            run = await find_run(opened.store, run_id)
            if follow:
                async for event in opened.store.events.follow(run, after):
                    say(to_json(event_json(event)).decode() if as_json else _line(event))
                return []
            while batch := await opened.store.events.read(run, found[-1].seq if found else after):
                found.extend(batch)
        return found

    from interlace.flows.report import event_json

    found = run_async(work(), as_json=as_json)
    if follow:
        return
    if as_json:
        emit_json({"items": [event_json(event) for event in found]})
    else:
        say("\n".join(_line(event) for event in found) or "No events after that.")


def _line(event: Event) -> str:

    data = to_json(event.data).decode() if event.data else ""
    return f"{event.seq:>5} {_when(event.at)} {event.type:<16} {event.path:<24} {data[:160]}"


@app.command()
def why(
    run_id: RunId, node: Annotated[str, typer.Argument(help="Path of the node.")], as_json: JsonFlag = False
) -> None:
    """Why a node ran, failed, was skipped or not reached."""

    async def work() -> dict[str, Any]:
        from interlace.flows.report import why as reason
        from interlace.server.cli.session import runs

        async with runs() as opened:
            return await reason(opened.store, opened.documents, await find_run(opened.store, run_id), node)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        say(f"{found['node']}: {found['why']}")


@app.command()
def cancel(run_id: RunId, as_json: JsonFlag = False) -> None:
    """Cancel a run; what runs is interrupted within a second."""

    async def work() -> dict[str, Any]:
        from interlace.flows.orphans import expire_dead
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await find_run(opened.store, run_id)
            await expire_dead(opened.store, opened.runner)
            asked = await opened.runner.cancel(found)
            result = await opened.runner.wait(found, 10.0)
            status = result.status if result is not None else "running"
            return {"run_id": found, "status": status, "cancelled": asked and status == "cancelled"}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        say(f"{found['run_id']} {found['status']}")
    if not found["cancelled"]:
        stop(f"the run is {found['status']}")


@app.command()
def export(
    run_id: RunId,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Everything about a run as one JSON object, with or without --json: document, report, events with their values."""

    async def work() -> dict[str, Any]:
        from interlace.flows.export import export_run
        from interlace.server.cli.session import runs

        async with runs() as opened:
            return await export_run(opened.store, opened.documents, await find_run(opened.store, run_id))

    found = run_async(work(), as_json=as_json)
    if output is None:
        emit_json(found)
    else:
        output.write_bytes(to_json(found, indent=True))
        note(f"✓ wrote {output}")


def _marks(run: dict[str, Any]) -> str:
    """What is special about a run, in one line; empty for a usual one."""
    marks = [text for name, text in _SPECIAL.items() if run[name]]
    if run["replayed_from"]:
        marks.insert(0, f"{'offline ' if run['offline'] else ''}replay of {run['replayed_from']}")
    return ", ".join(marks)


def _reason(node: dict[str, Any]) -> str | None:
    if node.get("reused"):
        return f"reused from run {node['reused']}" + (f": {node['reason']}" if node["reason"] else "")
    reason: str | None = "pinned outputs" if node.get("pinned") else node["reason"]
    return reason


def _when(at: float | None) -> str:
    return "" if at is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def _took(run: dict[str, Any]) -> str:
    if run["started_at"] is None or run["finished_at"] is None:
        return ""
    seconds = run["finished_at"] - run["started_at"]
    return f"{seconds * 1000:.0f} ms" if seconds < _LONG_SECONDS else f"{seconds:.1f} s"
