"""`interlace workflows pin`, `unpin` and `pins`: outputs that stand in for nodes in test runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, table
from interlace.server.cli.workflows import Name

NodeId = Annotated[str, typer.Argument(help="Id of the node.")]


def pin(  # noqa: PLR0917 - one parameter an option
    workflow: Name,
    node: NodeId,
    outputs: Annotated[str | None, typer.Argument(help="The outputs as JSON, or @file.")] = None,
    handle: Annotated[
        str | None, typer.Option(help="The handle the node takes, where the outputs do not tell it.")
    ] = None,
    run: Annotated[str | None, typer.Option("--run", help="Take what the node gave in this run.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Pin a node's outputs: test runs take them instead of running the node."""
    if (outputs is None) == (run is None):
        raise typer.BadParameter("give the outputs, or a run to take them from with --run")

    async def work() -> dict[str, Any]:
        from interlace.flows.run_options import store_pin
        from interlace.server.cli.given import value_of
        from interlace.server.cli.runs import find_run
        from interlace.server.cli.session import platform

        async with platform() as opened:
            given = None if outputs is None else value_of(outputs, node)
            run_id = None if run is None else await find_run(opened.store, run)
            return await store_pin(
                opened.store, opened.documents, workflow, node, outputs=given, handle=handle, run_id=run_id
            )

    found = run_async(work(), as_json=as_json)
    _print(found, as_json=as_json)


def unpin(workflow: Name, node: NodeId, as_json: JsonFlag = False) -> None:
    """Let a node run again in test runs."""

    async def work() -> dict[str, Any]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await opened.store.workflows.get(workflow)
            await opened.store.pins.remove(found.id, node)
            return await opened.store.pins.of(found.id)

    _print(run_async(work(), as_json=as_json), as_json=as_json)


def pins(workflow: Name, as_json: JsonFlag = False) -> None:
    """The pinned outputs of a workflow."""

    async def work() -> dict[str, Any]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return await opened.store.pins.of((await opened.store.workflows.get(workflow)).id)

    _print(run_async(work(), as_json=as_json), as_json=as_json)


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        emit_json({"pins": found})
        return
    from interlace.server.encoding import to_json

    rows = [(key, to_json(outputs).decode()[:100]) for key, outputs in found.items()]
    table(["node", "outputs"], rows, empty="Nothing is pinned.")
    if rows:
        note("used by test runs only: interlace run NAME --test")
