"""`interlace run`, `validate` and `test-node`: what works on a document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import (
    FAILED,
    OK,
    SUSPENDED,
    USAGE,
    JsonFlag,
    emit_json,
    note,
    print_problems,
    problem_json,
    run_async,
)

if TYPE_CHECKING:
    from interlace.engine.problems import Problem

Pairs = Annotated[list[str] | None, typer.Option("--input", "-i", help="An input: name=value, or name=@file.")]
InputsFile = Annotated[Path | None, typer.Option("--inputs", help="JSON or YAML file of all inputs; - reads standard input.")]


def run(
    workflow: Annotated[str, typer.Argument(help="A file, or the name or id of a stored workflow.")],
    inputs: Pairs = None,
    inputs_file: InputsFile = None,
    version: Annotated[str, typer.Option(help="Of a stored workflow: published, latest or a number.")] = "published",
    quiet: Annotated[bool, typer.Option("--quiet/--watch", "-q", help="Show no progress.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Keep waiting when the run is suspended.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run a workflow to its end, with live progress; the outputs come at the end."""
    from interlace.server.cli.execute import Job, execute

    job = Job(workflow, inputs or [], inputs_file, version, show=not (quiet or as_json), wait=wait)
    report = run_async(execute(job))
    if as_json:
        emit_json({key: report.get(key) for key in ("run_id", "status", "outputs", "error", "nodes") if key in report})
    else:
        _show(report, quiet=quiet)
    raise typer.Exit(_exit_code(report["status"]))


def _exit_code(status: str) -> int:
    return {"succeeded": OK, "invalid": USAGE, "suspended": SUSPENDED}.get(status, FAILED)


def _show(report: dict[str, Any], *, quiet: bool) -> None:
    from interlace.server.cli.progress import show_outputs

    error = report.get("error")
    if report["status"] == "invalid":
        print_problems(report["problems"])
        return
    if error:
        where = f" at {error['path']}" if error.get("path") else ""
        note(f"✗ run {report['run_id']} {report['status']}{where}: {error['message']} [{error['type']}]")
    elif not quiet:
        note(f"✓ run {report['run_id']} {report['status']}")
    if report.get("outputs"):
        show_outputs(report["outputs"])


def validate(
    files: Annotated[list[Path], typer.Argument(help="Workflow files.")],
    as_json: JsonFlag = False,
) -> None:
    """Find every problem of workflow files; nothing is run, started or connected."""
    results = run_async(_validate(files))
    if as_json:
        shown = [{**result, "problems": [problem_json(p) for p in result["problems"]]} for result in results]
        emit_json(shown[0] if len(shown) == 1 else {"results": shown})
    else:
        for result in results:
            print_problems(result["problems"], file=result["file"])
            note(f"{'✓' if result['valid'] else '✗'} {result['file']}: {_count(result['problems'])}")
    raise typer.Exit(OK if all(result["valid"] for result in results) else FAILED)


async def _validate(files: list[Path]) -> list[dict[str, Any]]:
    from interlace.engine.source import load_file
    from interlace.engine.validate import check
    from interlace.flows.callees import calls
    from interlace.flows.platform import node_types
    from interlace.server.cli.session import platform

    registry = node_types()
    results = []
    for file in files:
        source = load_file(file)
        document = source.document or source.salvaged
        if document is not None and calls(document):
            async with platform() as opened:
                found = await opened.documents.check(source, folder=str(file.resolve().parent))
        else:
            found = check(source, registry)
        results.append({"file": str(file), "valid": found.valid, "problems": list(found.problems)})
    return results


def _count(problems: list[Problem]) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    return f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"


def test_node(
    file: Annotated[Path, typer.Argument(help="The workflow file.")],
    node: Annotated[str, typer.Argument(help="Id of the node.")],
    inputs: Pairs = None,
    inputs_file: Annotated[
        Path | None,
        typer.Option("--inputs", help="JSON or YAML: what the node reads, by name: inputs, vars, item and earlier nodes."),
    ] = None,
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
    else:
        note(f"✗ {node} {report['status']}: {report['error']['message']} [{report['error']['type']}]")
    raise typer.Exit(OK if report["status"] == "succeeded" else FAILED)
