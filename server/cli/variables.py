"""`interlace workflows variables`: what a workflow's runs hand to later runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, run_async, table

if TYPE_CHECKING:
    from interlace.flows.kept import Holder
    from interlace.flows.platform import Platform

_SHOWN = 80


def variables(
    workflow: Annotated[
        str, typer.Argument(help="Name or id of a stored workflow; a file for those of its runs.")
    ],
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=JSON or NAME=@file; of a text variable also NAME=text."),
    ] = None,
    forget: Annotated[
        list[str] | None, typer.Option(help="Let a variable begin anew with its initial value.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show or set the variables that a workflow keeps from run to run (`scope: workflow`)."""

    async def work() -> list[dict[str, Any]]:
        from interlace.engine.principal import LOCAL
        from interlace.flows.kept import kept_list, set_kept
        from interlace.server.cli.session import platform

        async with platform() as opened:
            changes = bool(given or forget)
            holder = await _holder(opened, workflow, write=changes)
            if changes:
                await set_kept(opened.store, holder, _values(given or [], holder), forget or [], by=LOCAL)
            return await kept_list(opened.store, holder)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    from interlace.server.encoding import to_json

    rows = [
        (entry["name"], to_json(entry["value"]).decode()[:_SHOWN], entry["type"] or "not declared", _written(entry))
        for entry in found
    ]  # fmt: skip
    table(["variable", "value", "type", "written"], rows, empty="The workflow keeps no variables.")


def _written(entry: dict[str, Any]) -> str:
    version = entry["version"]
    return "never" if not version else "once" if version == 1 else f"{version} times"


async def _holder(opened: Platform, workflow: str, *, write: bool) -> Holder:
    from interlace.engine.principal import LOCAL
    from interlace.engine.source import load_file
    from interlace.flows.kept import holder_of, holder_of_file

    path = Path(workflow)
    if await asyncio.to_thread(path.is_file):
        return holder_of_file(load_file(path).require(), by=LOCAL)
    return await holder_of(opened.store, opened.documents, workflow, by=LOCAL, write=write)


def _values(texts: list[str], holder: Holder) -> dict[str, Any]:
    """The values as they are given; a text variable takes what is no JSON text as it stands."""
    from interlace.server.cli.given import given_values

    declared = {} if holder.document is None else holder.document.variables
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        plain = sign and name in declared and declared[name].type == "string" and value[:1] not in ('"', "@")
        found |= {name: value} if plain and value != "null" else given_values([text], "--set")
    return found
