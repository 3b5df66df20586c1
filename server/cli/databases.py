"""`interlace databases …`: stored databases. Adding one opens no connection; only `test` and `tables` do."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, stop, table

app = typer.Typer(help="Stored databases, for DATABASE nodes and agents.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name or id of the database.")]


@app.command("add")
def add(  # noqa: PLR0917 - options of a command
    name: Annotated[str, typer.Argument(help="Name of the database.")],
    url: Annotated[str, typer.Argument(help="Address, as postgresql://reader@db.example.com/shop.")],
    ask: Annotated[
        bool, typer.Option("--password", help="Ask for the password, or read it from standard input.")
    ] = False,
    allow_writes: Annotated[bool, typer.Option(help="Let workflows change rows.")] = False,
    hide: Annotated[list[str] | None, typer.Option(help="A table to hide; repeat it.")] = None,
    hide_column: Annotated[
        list[str] | None, typer.Option(help="A column to hide, as table.column; repeat it.")
    ] = None,
    description: Annotated[str, typer.Option(help="What the database holds.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """Store a database under a name."""
    fields: dict[str, Any] = {
        "url": url, "allow_writes": allow_writes, "description": description, "hidden_tables": hide or [],
        "hidden_columns": _columns(hide_column or []),
    }  # fmt: skip
    if ask:
        fields["password"] = (
            typer.prompt("password", hide_input=True)
            if sys.stdin.isatty()
            else sys.stdin.read().rstrip("\r\n")
        )

    async def work() -> dict[str, Any]:
        from pydantic import ValidationError

        from interlace.engine.principal import LOCAL
        from interlace.resources.databases.stored import KIND, DatabaseDefinition
        from interlace.resources.secrets import add_resource
        from interlace.server.api.databases import database_json
        from interlace.server.cli.session import platform

        try:
            definition = DatabaseDefinition.model_validate(fields)
        except ValidationError as error:
            stop("; ".join(str(entry["msg"]).removeprefix("Value error, ") for entry in error.errors()), 2)
        async with platform() as opened:
            return database_json(
                await add_resource(opened.store, opened.secrets, KIND, name, definition, by=LOCAL)
            )

    found = run_async(work(), as_json=as_json)
    emit_json(found) if as_json else note(
        f"✓ database {name} is stored; try it with: interlace databases test {name}"
    )


def _columns(names: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in names:
        owner, dot, column = entry.rpartition(".")
        if not dot or not owner or not column:
            stop(f"--hide-column {entry!r}: write table.column", 2)
        found.setdefault(owner, []).append(column)
    return found


@app.command("list")
def list_databases(as_json: JsonFlag = False) -> None:
    """The stored databases."""

    async def work() -> list[dict[str, Any]]:
        from interlace.engine.principal import LOCAL
        from interlace.resources.databases.stored import KIND
        from interlace.server.api.databases import database_json
        from interlace.server.cli.session import platform

        async with platform() as opened:
            by = await opened.store.users.principal(LOCAL.user_id)
            page = await opened.store.resources.list(KIND, by=by, limit=1000)
            return [database_json(found) for found in page.items]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (d["name"], d["definition"]["dialect"], d["definition"]["host"], d["definition"]["database"], d["id"])
        for d in found
    ]
    table(
        ["name", "kind", "host", "database", "id"],
        rows,
        empty="No databases; store one with: interlace databases add",
    )


@app.command("show")
def show(name: Name, as_json: JsonFlag = False) -> None:
    """One database; of its password only the secret's name."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.resources.databases.stored import KIND
        from interlace.server.api.databases import database_json
        from interlace.server.cli.session import platform

        async with platform() as opened:
            by = await opened.store.users.principal(LOCAL.user_id)
            return database_json(await opened.store.resources.find(KIND, name, by=by))

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    table(["field", "value"], [*found.pop("definition").items(), *found.items()], empty="")


@app.command("test")
def try_database(name: Name, as_json: JsonFlag = False) -> None:
    """Try the connection, and say what its user may do beyond reading."""

    async def work() -> dict[str, Any]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            by = await opened.store.users.principal(LOCAL.user_id)
            return asdict(await opened.stored_databases.test(name, by=by))

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    elif found["reachable"]:
        say(f"✓ reachable, version {found['version']}")
        for warning in found["warnings"]:
            say(f"! {warning}")
    else:
        note(f"✗ {found['error']}")
    raise typer.Exit(0 if found["reachable"] else 1)


@app.command("tables")
def list_tables(name: Name, as_json: JsonFlag = False) -> None:
    """Visible tables with their visible columns."""

    async def work() -> list[dict[str, Any]]:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            by = await opened.store.users.principal(LOCAL.user_id)
            return await opened.stored_databases.tables(name, by=by)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (t["name"], t["kind"], ", ".join(f"{c['name']} {c['type']}" for c in t["columns"]), t["description"])
        for t in found
    ]
    table(["table", "kind", "columns", "description"], rows, empty="No tables.")


@app.command("remove")
def remove(name: Name, as_json: JsonFlag = False) -> None:
    """Forget a database with its password; the database itself is not touched."""

    async def work() -> str:
        from interlace.engine.principal import LOCAL
        from interlace.resources.databases.stored import KIND
        from interlace.server.cli.session import platform

        async with platform() as opened:
            by = await opened.store.users.principal(LOCAL.user_id)
            found = await opened.store.resources.find(KIND, name, by=by)
            await opened.store.resources.remove(found.id, by=by)
            return found.id

    found = run_async(work(), as_json=as_json)
    emit_json({"id": found}) if as_json else note(f"✓ database {name} is forgotten")
