"""`interlace run`, `validate` and `test-node`: what works on a document."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from interlace.engine.errors import InterlaceError
from interlace.server.cli.output import (
    FAILED,
    OK,
    SUSPENDED,
    UNREACHABLE,
    USAGE,
    JsonFlag,
    emit_json,
    error_json,
    exit_code,
    note,
    print_problems,
    run_async,
)
from interlace.server.cli.output import report as print_error

if TYPE_CHECKING:
    from interlace.engine.problems import Problem

Pairs = Annotated[
    list[str] | None, typer.Option("--input", "-i", help="An input: name=value, or name=@file.")
]
InputsFile = Annotated[
    Path | None, typer.Option("--inputs", help="JSON or YAML file of all inputs; - reads standard input.")
]
NodeInputs = Annotated[
    Path | None,
    typer.Option(
        "--inputs", help="JSON or YAML: what the node reads, by name: inputs, vars, item, earlier nodes."
    ),
]

_EXIT = {"succeeded": OK, "suspended": SUSPENDED, "queued": UNREACHABLE, "running": UNREACHABLE}
"""By the run's status; one that still runs is on a server that has gone away."""

_IF_SET = ("waiting", "replayed_from", "test")
_UNREAD = frozenset({"unreadable_file", "encoding"})


class Via(StrEnum):
    """Other ways for a run to start than at once."""

    POOL = "pool"


def run(  # noqa: PLR0917 - one parameter an option
    workflow: Annotated[str, typer.Argument(help="A file, or the name or id of a stored workflow.")],
    inputs: Pairs = None,
    inputs_file: InputsFile = None,
    version: Annotated[
        str, typer.Option(help="Of a stored workflow: published, latest or a number.")
    ] = "published",
    quiet: Annotated[bool, typer.Option("--quiet/--watch", "-q", help="Show no progress.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Keep waiting when the run is suspended.")] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Record every answer from outside, for offline replays.")
    ] = False,
    test: Annotated[
        bool, typer.Option("--test", help="A test run: pinned outputs stand in for their nodes.")
    ] = False,
    pin: Annotated[
        list[str] | None,
        typer.Option(
            "--pin", help="A test run with outputs for a node: node=JSON, node:handle=JSON or node=@file."
        ),
    ] = None,
    pins: Annotated[
        Path | None, typer.Option("--pins", help="A test run with a JSON or YAML file of outputs by node.")
    ] = None,
    via: Annotated[
        Via | None, typer.Option(help="Let Prefect's work pool start the run; needs a running server.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Run a workflow to its end, with live progress; the outputs come at the end.

    Exit code: 0 succeeded, 1 failed or cancelled, 2 bad workflow or inputs, 3 suspended or not reachable.
    """
    from interlace.flows.run_options import Asked
    from interlace.server.cli.execute import Job, execute
    from interlace.server.cli.given import given_pins
    from interlace.server.cli.watching import Display

    display = Display(show=not (quiet or as_json), wait=wait)

    async def work() -> dict[str, Any] | InterlaceError:
        try:
            given = given_pins(pin or [], pins)
            job = Job(
                workflow=workflow, pairs=inputs or [], inputs_file=inputs_file, version=version,
                via=None if via is None else via.value, display=display,
                asked=Asked(test=test or bool(given), record=record, pins=given),
            )  # fmt: skip
            return await execute(job)
        except InterlaceError as error:
            return error

    found = run_async(work())
    if isinstance(found, InterlaceError):
        not_run(found, as_json=as_json)
    show_report(found, quiet=quiet, as_json=as_json)


def show_report(found: dict[str, Any], *, quiet: bool, as_json: bool) -> NoReturn:
    """Print how a run ended, and end with the exit code of its status."""
    if as_json:
        keys = ("run_id", "status", "outputs", "error", "nodes", *(key for key in _IF_SET if found[key]))
        emit_json({key: found[key] for key in keys})
    else:
        _show(found, quiet=quiet)
    raise typer.Exit(_EXIT.get(found["status"], FAILED))


def not_run(error: InterlaceError, *, as_json: bool) -> NoReturn:
    """Print why no run was started, and end."""
    code = exit_code(error)
    status = {USAGE: "invalid", UNREACHABLE: "unreachable"}.get(code, "failed")
    if as_json:
        emit_json({"run_id": None, "status": status, "outputs": None, "error": error_json(error)})
    else:
        print_error(error)
    raise typer.Exit(code)


def _show(report: dict[str, Any], *, quiet: bool) -> None:
    from interlace.server.cli.progress import show_outputs

    error = report["error"]
    if error:
        where = f" at {error['path']}" if error.get("path") else ""
        note(f"✗ run {report['run_id']} {report['status']}{where}: {error['message']} [{error['type']}]")
    elif report["status"] == "suspended":
        _show_waiting(report)
    elif not quiet:
        note(f"✓ run {report['run_id']} {report['status']}")
    if report["test"]:
        pinned = [path for path, node in report["nodes"].items() if node.get("pinned")]
        note(f"  test run; pinned: {', '.join(pinned) or 'nothing'}")
    if report["outputs"]:
        show_outputs(report["outputs"])


def _show_waiting(report: dict[str, Any]) -> None:
    note(f"⏸ run {report['run_id']} is suspended")
    for wait in report["waiting"]:
        note(f"  {wait['path']}: {wait['title']}")
        if wait["kind"] == "human":
            note(f"    → interlace approvals show {wait['id']}")


def validate(
    files: Annotated[list[Path], typer.Argument(help="Workflow files.")],
    as_json: JsonFlag = False,
) -> None:
    """Find every problem of workflow files; nothing is run, started or connected.

    Exit code: 0 all are valid (warnings allowed), 1 one is not, 2 a file cannot be read or is not UTF-8.
    """
    results = run_async(_validate(files), as_json=as_json)
    if as_json:
        shown = [{**result, "problems": [p.as_json() for p in result["problems"]]} for result in results]
        emit_json(shown[0] if len(shown) == 1 else {"results": shown})
    else:
        for result in results:
            print_problems(result["problems"], file=result["file"])
            note(f"{'✓' if result['valid'] else '✗'} {result['file']}: {_count(result['problems'])}")
    if any(problem.code in _UNREAD for result in results for problem in result["problems"]):
        raise typer.Exit(USAGE)
    raise typer.Exit(OK if all(result["valid"] for result in results) else FAILED)


async def _validate(files: list[Path]) -> list[dict[str, Any]]:
    from interlace.engine.source import load_file
    from interlace.flows.callees import check_all
    from interlace.flows.node_types import node_types
    from interlace.server.cli.session import stored_workflows

    registry = node_types()
    results = []
    async with stored_workflows() as store:
        for file in files:
            folder = str(file.parent)
            found = await check_all(load_file(file), registry, store=store, folder=folder)
            results.append({"file": str(file), "valid": found.valid, "problems": list(found.problems)})
    return results


def _count(problems: list[Problem]) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    return f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"


def run_node(
    file: Annotated[Path, typer.Argument(help="The workflow file.")],
    node: Annotated[str, typer.Argument(help="Id of the node.")],
    inputs: Pairs = None,
    inputs_file: NodeInputs = None,
    as_json: JsonFlag = False,
) -> None:
    """Run one node alone, with given outputs of the nodes before it."""
    from interlace.server.cli.execute import run_one_node

    report = run_async(run_one_node(file, node, inputs or [], inputs_file), as_json=as_json)
    if as_json:
        emit_json(report)
    elif report["status"] == "succeeded":
        from interlace.server.cli.progress import show_outputs

        show_outputs(report["outputs"])
        note(f"✓ {node} succeeded, handles: {', '.join(report['handles']) or 'none'}")
    elif report["status"] == "suspended":
        note(f"⏸ {node} asks: {(report['request'] or {}).get('title', node)}")
    else:
        note(f"✗ {node} {report['status']}: {report['error']['message']} [{report['error']['type']}]")
    raise typer.Exit(_EXIT.get(report["status"], FAILED))
