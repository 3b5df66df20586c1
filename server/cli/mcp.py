"""`interlace mcp …`: MCP servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, table

if TYPE_CHECKING:
    from interlace.engine.principal import Principal
    from interlace.flows.platform import Platform
    from interlace.resources.mcp.catalog import Entry

app = typer.Typer(help="MCP servers: kept, looked at, called.", no_args_is_help=True)
Server = Annotated[str, typer.Argument(help="Name or id of an MCP server.")]


def _work(work: Callable[[Platform, Principal], Awaitable[Any]], *, as_json: bool) -> Any:
    """Do something with the platform, as the owner of the installation."""

    async def done() -> Any:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return await work(opened, await opened.store.users.principal(LOCAL.user_id))

    return run_async(done(), as_json=as_json)


@app.command("add")
def add(  # noqa: PLR0917 - one for each option
    name: Annotated[str, typer.Argument(help="How it is called.")],
    url: Annotated[str | None, typer.Option(help="Endpoint of a server over HTTP.")] = None,
    catalog: Annotated[
        str | None, typer.Option(help="Entry of the operator's catalogue of programs.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="name=value: an argument of the catalogue's entry. May be repeated."),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A definition in YAML or JSON.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Keep an MCP server; nothing is started or connected."""
    definition = _definition(url, catalog, file)
    if given:
        if catalog is None:
            raise typer.BadParameter("--set goes with --catalog")
        definition["arguments"] = dict(_pair(entry) for entry in given)

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.server.resources import resource_json

        return resource_json(await opened.mcp.add(name, definition, by=by))

    added = _work(work, as_json=as_json)
    emit_json(added) if as_json else note(
        f"✓ {name} is kept; `interlace mcp connect {name}` looks at its tools"
    )


def _pair(entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"--set {entry!r}: write name=value")
    return name, value


def _definition(url: str | None, catalog: str | None, file: Path | None) -> dict[str, Any]:
    if sum(given is not None for given in (url, catalog, file)) != 1:
        raise typer.BadParameter("give one of --url, --catalog and --file")
    if url is not None:
        return {"transport": "http", "url": url}
    if catalog is not None:
        return {"transport": "stdio", "catalog": catalog}
    import yaml

    assert file is not None
    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise typer.BadParameter(f"{file}: {error}") from error
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{file} holds no definition")
    return found


@app.command("list")
def list_servers(as_json: JsonFlag = False) -> None:
    """The MCP servers."""

    async def work(opened: Platform, by: Principal) -> list[dict[str, Any]]:
        from interlace.server.resources import resource_json

        return [
            resource_json(found) for found in (await opened.store.resources.list("mcp_server", by=by)).items
        ]

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (
            s["name"],
            s["definition"]["transport"],
            s["definition"].get("url") or s["definition"].get("catalog"),
        )
        for s in found
    ]
    table(["name", "transport", "where"], rows, empty="No MCP servers.")


@app.command("catalog")
def catalog(as_json: JsonFlag = False) -> None:
    """The programs that the operator's catalogue offers."""

    async def work(opened: Platform, _: Principal) -> dict[str, Entry]:
        return dict(opened.mcp.catalog.servers)

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json({name: entry.description for name, entry in found.items()})
        return
    rows = [
        (name, "; ".join(f"{key}: {argument.allowed}" for key, argument in entry.arguments.items()), entry.description)
        for name, entry in sorted(found.items())
    ]  # fmt: skip
    table(["name", "arguments", "description"], rows, empty="No programs.")


@app.command("connect")
def connect(server: Server, as_json: JsonFlag = False) -> None:
    """Connect now, and show the tools; those that are new or changed are marked. The first time accepts them."""

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.resources.concealing import concealing
        from interlace.server.api.mcp import info_json

        with concealing() as secrets:
            found = info_json(await opened.mcp.connect(server, by=by, hide=secrets.hide))
        return secrets.redact(found)  # type: ignore[no-any-return]

    _show(_work(work, as_json=as_json), as_json=as_json)


@app.command("tools")
def tools(server: Server, as_json: JsonFlag = False) -> None:
    """The tools as the server describes them now, beside what was accepted; the same as `connect`."""
    connect(server, as_json)


@app.command("accept")
def accept(
    server: Server,
    names: Annotated[list[str] | None, typer.Argument(help="Tools; all if none is named.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Accept tools as the server describes them now."""

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.resources.concealing import concealing
        from interlace.server.api.mcp import info_json

        with concealing() as secrets:
            found = info_json(await opened.mcp.accept(server, by=by, tools=names or None, hide=secrets.hide))
        return secrets.redact(found)  # type: ignore[no-any-return]

    _show(_work(work, as_json=as_json), as_json=as_json)


@app.command("call")
def call(
    server: Server,
    tool: Annotated[str, typer.Argument(help="Name of the tool.")],
    arguments: Annotated[str, typer.Argument(help="Its arguments as a JSON object.")] = "{}",
    as_json: JsonFlag = False,
) -> None:
    """Call a tool."""
    import json

    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise typer.BadParameter(f"the arguments are not JSON: {error}") from error

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from dataclasses import asdict

        from interlace.resources.concealing import concealing

        with concealing() as secrets:
            result = await opened.mcp.call(server, tool, given, by=by, hide=secrets.hide)
        return secrets.redact({**asdict(result), "text": result.text})  # type: ignore[no-any-return]

    result = _work(work, as_json=as_json)
    if as_json:
        emit_json(result)
    else:
        typer.echo(result["text"])
    if result["is_error"]:
        raise typer.Exit(1)


@app.command("remove")
def remove(server: Server, as_json: JsonFlag = False) -> None:
    """Remove an MCP server and its secrets."""

    async def work(opened: Platform, by: Principal) -> None:
        await opened.mcp.remove(server, by=by)

    _work(work, as_json=as_json)
    emit_json({"name": server}) if as_json else note(f"✓ {server} is removed")


def _show(info: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        emit_json(info)
        return
    note(f"{info['name']} {info['version']}, protocol {info['protocol']}")
    rows = []
    for tool in info["tools"]:
        text = tool.get("description", "").strip().partition("\n")[0]
        rows.append((tool["name"], tool["trust"], text))
        if tool["trust"] == "changed":
            rows.append(("", "was", tool["accepted"]["description"].strip().partition("\n")[0]))
    table(["tool", "state", "description"], rows, empty="It offers no tools.")
