"""`interlace secrets …`: values go in and never come out."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, table

app = typer.Typer(help="Secrets: set, listed by name, removed; never shown.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name of the secret, as in {{ secrets.NAME }}.")]
Org = Annotated[str | None, typer.Option(help="The organisation it belongs to; yours, if not given.")]


@app.command("set")
def set_secret(name: Name, org: Org = None, as_json: JsonFlag = False) -> None:
    """Set a secret: its value is asked for, or read from standard input; an earlier one is gone."""
    if sys.stdin.isatty():
        value = typer.prompt(f"value of {name}", hide_input=True)
    else:
        value = sys.stdin.read().removesuffix("\n").removesuffix("\r")

    async def work() -> None:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            by, org_id = await _place(opened, org)
            await opened.secrets.put(name, value, by=by, org_id=org_id)

    run_async(work(), as_json=as_json)
    emit_json({"name": name, "org": org}) if as_json else note(f"✓ secret {name} is set")


@app.command("list")
def list_secrets(as_json: JsonFlag = False) -> None:
    """The names of the secrets."""

    async def work() -> list[dict[str, Any]]:
        from dataclasses import asdict

        from interlace.server.cli.session import platform

        async with platform() as opened:
            by, _ = await _place(opened, None)
            return [asdict(found) for found in await opened.secrets.names(by=by)]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    table(["name", "organisation"], [(s["name"], s["org_id"]) for s in found], empty="No secrets.")


@app.command("remove")
def remove_secret(name: Name, org: Org = None, as_json: JsonFlag = False) -> None:
    """Remove a secret for good."""

    async def work() -> None:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            by, org_id = await _place(opened, org)
            await opened.secrets.remove(name, by=by, org_id=org_id)

    run_async(work(), as_json=as_json)
    emit_json({"name": name, "org": org}) if as_json else note(f"✓ secret {name} is removed")


@app.command("rotate")
def rotate(as_json: JsonFlag = False) -> None:
    """Put all secrets under a new master key; nothing stops meanwhile.

    A key made in the home is replaced by a new one. Otherwise set INTERLACE_SECRET_KEY to the new key and
    INTERLACE_SECRET_KEY_PREVIOUS to the one before, restart what runs, and call this once.
    """

    async def work() -> int:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            by, _ = await _place(opened, None)
            return await opened.secrets.rotate(by=by)

    count = run_async(work(), as_json=as_json)
    emit_json({"keys": count}) if as_json else note(f"✓ {count} data keys are under the new master key")


async def _place(opened: Any, org: str | None) -> tuple[Any, str | None]:
    """The owner of the installation, and the id of an organisation."""
    from interlace.engine.principal import LOCAL

    by = await opened.store.users.principal(LOCAL.user_id)
    return by, None if org is None else (await opened.store.organisations.get(org, by=by)).id
