"""`interlace runs delete` and `interlace runs prune`: runs that are not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, table
from interlace.server.cli.runs import find_run

if TYPE_CHECKING:
    from interlace.flows.retention import Rule

RunIds = Annotated[list[str], typer.Argument(help="Ids of runs, or enough of their ends.")]


def delete(
    run_ids: RunIds,
    force: Annotated[bool, typer.Option("--force", help="Cancel runs that have not ended before.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Delete runs that have ended, with their values, files, and the runs that they started."""

    async def work() -> list[str]:
        from interlace.flows.retention import delete_run, end_run
        from interlace.server.cli.session import platform

        deleted = []
        async with platform() as opened:
            for text in run_ids:
                run_id = await find_run(opened.store, text)
                if force:
                    await end_run(opened.runner, run_id)
                await delete_run(opened.store, run_id, force=force)
                deleted.append(run_id)
                if not as_json:
                    say(f"{run_id} deleted")
        return deleted

    deleted = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"deleted": deleted})


def prune(
    older_than: Annotated[
        str | None,
        typer.Option(help="Delete ended runs that are older, such as 30d, whatever the rules say."),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(min=0, help="Keep the newest ended runs of each workflow, whatever the rules say."),
    ] = None,
    workflow: Annotated[str | None, typer.Option(help="Only runs of this stored workflow.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Delete the runs that need not be kept: by the rules of their workflows and of the settings, or as told."""
    rule = _rule(older_than, keep)

    async def work() -> dict[str, Any]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            workflow_id = None if workflow is None else (await opened.store.workflows.get(workflow)).id
            found = await opened.retention.prune(rule, workflow_id=workflow_id, dry_run=dry_run)
            return {
                "runs": found.runs, "total": found.total, "uploads": found.uploads, "payloads": found.payloads,
                "dry_run": dry_run,
            }  # fmt: skip

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    table(["workflow", "runs"], sorted(found["runs"].items()), empty="Nothing to delete.")
    unused = f" and {found['uploads']} unused uploads" if found["uploads"] else ""
    note(f"{'would delete' if dry_run else '✓ deleted'} {found['total']} runs{unused}")


def _rule(older_than: str | None, keep: int | None) -> Rule | None:
    from interlace.engine.durations import parse_duration
    from interlace.flows.retention import Rule

    if older_than is None and keep is None:
        return None
    try:
        seconds = None if older_than is None else parse_duration(older_than)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return Rule(seconds, keep)
