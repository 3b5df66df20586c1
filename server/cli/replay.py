"""`interlace runs replay`, `diff` and `check`: runs done again, compared, and used as tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.engine.errors import InterlaceError
from interlace.server.cli.output import FAILED, OK, JsonFlag, emit_json, note, run_async, say
from interlace.server.cli.run import InputsFile, Pairs, not_run, show_report
from interlace.server.cli.runs import RunId, find_run

if TYPE_CHECKING:
    from interlace.flows.documents import Pinned
    from interlace.flows.platform import Platform
    from interlace.flows.replay import Replay, Wish
    from interlace.server.cli.watching import Display

Version = Annotated[
    str, typer.Option(help="pinned (the run's own), published, latest, a number, or a workflow file.")
]


def replay(  # noqa: PLR0917 - one parameter an option
    run_id: RunId,
    from_node: Annotated[
        str | None,
        typer.Option("--from", help="Run this node again with all that follows it; reuse the rest."),
    ] = None,
    edits: Annotated[
        list[str] | None,
        typer.Option("--set", help="A new value of a reused output: node.path=JSON or =@file."),
    ] = None,
    inputs: Pairs = None,
    inputs_file: InputsFile = None,
    version: Version = "pinned",
    offline: Annotated[
        bool, typer.Option("--offline", help="Answer everything from the record of the run; reach nothing.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Record the outside answers of the new run.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be reused and what would run again.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet/--watch", "-q", help="Show no progress.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Keep waiting when the run is suspended.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Start a new run that reuses what a run had before a node, and does the rest again.

    Exit code: as `interlace run`.
    """
    from interlace.server.cli.watching import Display

    display = Display(show=not (quiet or as_json), wait=wait)

    async def work() -> dict[str, Any] | InterlaceError:
        from interlace.flows.replay import Wish
        from interlace.server.cli.given import given_values
        from interlace.server.cli.inputs import read_inputs
        from interlace.server.cli.session import platform

        try:
            async with platform() as opened:
                found = await find_run(opened.store, run_id)
                pinned = await _version(opened, found, version)
                given = await read_inputs(
                    pinned.document.inputs, inputs or [], inputs_file, opened.store.files
                )
                wish = Wish(
                    from_node=from_node, edits=given_values(edits or [], "--set"), inputs=given, offline=offline,
                    record=record, by="owner",
                )  # fmt: skip
                plan = await _plan(opened, found, pinned, wish)
                if dry_run:
                    return plan.as_json()
                if not as_json:
                    _announce(plan)
                return await _start(opened, plan, wish, version, display)
        except InterlaceError as error:
            return error

    result = run_async(work())
    if isinstance(result, InterlaceError):
        not_run(result, as_json=as_json)
    if not dry_run:
        show_report(result, quiet=quiet, as_json=as_json)
    if as_json:
        emit_json(result)
    else:
        for name in ("reused", "again", "once", "changed"):
            say(f"{name}: {', '.join(result[name]) or 'nothing'}")


def diff(
    first: RunId,
    second: Annotated[str, typer.Argument(help="The other run.")],
    as_json: JsonFlag = False,
) -> None:
    """What differs between two runs, node by node; durations make no difference.

    Exit code: 0 nothing, 1 something.
    """

    async def work() -> dict[str, Any]:
        from interlace.flows.run_diff import diff_runs
        from interlace.server.cli.session import runs

        async with runs() as opened:
            pair = [await find_run(opened.store, text) for text in (first, second)]
            return await diff_runs(opened.store, opened.documents, *pair)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        say("\n".join(lines_of(found)) or "no difference")
    raise typer.Exit(OK if found["equal"] else FAILED)


def check(
    run_ids: Annotated[list[str], typer.Argument(help="Recorded runs.")],
    version: Version = "latest",
    as_json: JsonFlag = False,
) -> None:
    """Replay recorded runs offline with another version, and say which come out differently.

    Exit code: 0 all are equal, 1 one is not.
    """
    from interlace.server.cli.watching import Display

    async def work() -> list[dict[str, Any]]:
        from interlace.flows.replay import Wish
        from interlace.flows.run_diff import diff_runs
        from interlace.server.cli.session import platform

        found = []
        async with platform() as opened:
            for text in run_ids:
                run_id = await find_run(opened.store, text)
                pinned = await _version(opened, run_id, version)
                wish = Wish(offline=True, by="owner")
                plan = await _plan(opened, run_id, pinned, wish)
                report = await _start(opened, plan, wish, version, Display(show=False, wait=True))
                found.append(await diff_runs(opened.store, opened.documents, run_id, report["run_id"]))
        return found

    results = run_async(work(), as_json=as_json)
    equal = all(result["equal"] for result in results)
    if as_json:
        emit_json({"equal": equal, "results": results})
    else:
        for result in results:
            say(
                f"{'✓' if result['equal'] else '✗'} {result['a']} {'equal' if result['equal'] else 'different'}"
            )
            for line in lines_of(result):
                say(f"    {line}")
    raise typer.Exit(OK if equal else FAILED)


async def _version(opened: Platform, run_id: str, version: str) -> Pinned:
    from interlace.flows.replay import version_for

    path = Path(version)
    if path.suffix in (".yaml", ".yml", ".json"):
        return await opened.documents.from_file(path)
    return await version_for(opened.documents, await opened.store.runs.get(run_id), version)


async def _plan(opened: Platform, run_id: str, pinned: Pinned, wish: Wish) -> Replay:
    from interlace.flows.replay import plan_replay

    return await plan_replay(opened.runner, run_id, pinned, wish)


async def _start(
    opened: Platform, plan: Replay, wish: Wish, version: str, display: Display
) -> dict[str, Any]:
    """Run a replay on the server of the home, or here where there is none."""
    from interlace.flows.replay import start_replay
    from interlace.server.cli.watching import run_here, run_there
    from interlace.server.client import find_server

    server = await find_server(opened.settings)
    if server is None:
        return await run_here(opened, lambda: start_replay(opened.runner, plan), display)
    body: dict[str, Any] = {
        "from": wish.from_node, "set": dict(wish.edits), "inputs": dict(wish.inputs), "offline": wish.offline,
        "record": wish.record, "version": version,
    }  # fmt: skip
    if plan.pinned.workflow_id is None and version != "pinned":
        body |= {"version": "pinned", "document": plan.pinned.text, "folder": plan.pinned.folder}
    async with server:
        return await run_there(server, opened, lambda: server.replay(plan.source.id, body), display)


def _announce(plan: Replay) -> None:
    note(
        f"» replaying run {plan.source.id}: {len(plan.reused)} results reused, {len(plan.again)} nodes to run"
    )
    if plan.changed:
        note(f"  changed since: {', '.join(plan.changed)}")
    if plan.once:
        note(f"! done a second time, with new idempotency keys: {', '.join(plan.once)}")


def lines_of(found: dict[str, Any]) -> list[str]:
    """Differences as people read them, one a line."""
    lines = []
    if found["status"]:
        lines.append(_pair("status", found["status"]))
    for name in ("error", "inputs", "outputs"):
        lines += [_change(name, change) for change in found[name]]
    for path, node in found["nodes"].items():
        for name, value in node.items():
            changes = value if isinstance(value, list) else None
            if changes is None:
                lines.append(_pair(f"{path} {name}", value))
            else:
                lines += [
                    _change(path if name == "outputs" else f"{path} {name}", change) for change in changes
                ]
    return lines


def _pair(name: str, pair: dict[str, Any]) -> str:
    return f"{name}: {_text(pair['before'])} → {_text(pair['after'])}"


def _change(name: str, change: dict[str, Any]) -> str:
    if "more" in change:
        return f"{name}: {change['more']} more"
    where = f"{name}.{change['path']}" if change["path"] else name
    return _pair(where.replace(".[", "["), change)


def _text(value: Any) -> str:
    from interlace.server.encoding import to_json

    if isinstance(value, dict) and value == {"absent": True}:
        return "(absent)"
    if isinstance(value, dict) and value.keys() == {"sha256", "size"}:
        return f"{value['size']} bytes {value['sha256'][:12]}"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value) or "(none)"
    return to_json(value).decode()
