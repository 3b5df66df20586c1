"""`interlace connectors …`: APIs for workflows and agents."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, stop, table

if TYPE_CHECKING:
    from interlace.resources.connectors.report import Imported

app = typer.Typer(help="APIs for workflows and agents.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name or id of the connector.")]
ActionName = Annotated[str, typer.Argument(help="Name of the action.")]
_SHOWN = 20


@app.command()
def add(  # noqa: PLR0917 - one parameter an option
    file: Annotated[
        Path | None, typer.Argument(help="OpenAPI description (JSON, YAML) or an exported connector.")
    ] = None,
    openapi: Annotated[Path | None, typer.Option(help="The same, said clearly.")] = None,
    curl: Annotated[str | None, typer.Option(help="A curl command: a connector with one action.")] = None,
    url: Annotated[str | None, typer.Option(help="Fetch the description from here.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the connector.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Where the API is, if the description does not say.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be made, and store nothing.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Make a connector. Nothing is called or connected, but with --url the description is fetched."""
    given = [one for one in (file, openapi, curl, url) if one is not None]
    if len(given) != 1:
        stop("give one of FILE, --openapi, --curl and --url", 2)

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.server.api.connectors import connector_json, definition_json, report_json
        from interlace.server.cli.session import platform

        source_url, text = None, curl
        if url is not None:
            text, source_url = await _fetch(url)
        elif curl is None:
            text = await asyncio.to_thread(_text, file or openapi)
        made = await asyncio.to_thread(
            _made, text or "", name, base_url, source_url, is_curl=curl is not None
        )
        if dry_run:
            return {"definition": definition_json(made.connector), **report_json(made)}
        async with platform() as opened:
            return {
                **connector_json(await opened.connectors.add(made.connector, by=LOCAL)),
                **report_json(made),
            }

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    shown = [entry for entry in found["report"] if entry["level"] != "info"]
    for entry in shown[:_SHOWN]:
        note(
            f"{'✗' if entry['level'] == 'error' else '!'} {entry['place']}: {entry['message']} [{entry['code']}]"
        )
    if len(shown) > _SHOWN:
        note(f"  … and {len(shown) - _SHOWN} more; --json shows all")
    what = found["definition"]["name"] if dry_run else found["name"]
    note(
        f"✓ {what}: {found['imported']} of {found['operations']} operations are actions"
        + (", not stored" if dry_run else "")
    )


def _text(path: Path | None) -> str:
    import gzip

    assert path is not None
    try:
        raw = path.expanduser().read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except OSError as error:
        stop(f"cannot read {str(path)!r}: {error.strerror or error}", 2)
    except UnicodeDecodeError as error:
        stop(f"{str(path)!r} is not UTF-8 text (byte {error.start})", 2)


def _made(
    text: str, name: str | None, base_url: str | None, source_url: str | None, *, is_curl: bool
) -> Imported:
    import orjson
    from pydantic import ValidationError

    from interlace.resources.connectors.curl import import_curl
    from interlace.resources.connectors.definition import Connector
    from interlace.resources.connectors.openapi import import_openapi
    from interlace.resources.connectors.report import Imported, NotImported

    if is_curl:
        made = import_curl(text, name=name)
    else:
        try:
            own = orjson.loads(text)
        except orjson.JSONDecodeError:
            own = None
        if isinstance(own, dict) and "actions" in own and "openapi" not in own:
            try:
                connector = Connector.model_validate({**own, **({"name": name} if name else {})})
            except ValidationError as error:
                first = error.errors()[0]
                raise NotImported(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
            made = Imported(connector=connector, entries=[], operations=len(connector.actions))
        else:
            made = import_openapi(text, name=name, source_url=source_url)
    if base_url is None:
        return made
    try:
        connector = Connector.model_validate(
            {**made.connector.model_dump(by_alias=True), "base_url": base_url}
        )
    except ValidationError as error:
        raise NotImported(f"--base-url: {error.errors()[0]['msg']}") from None
    return Imported(
        connector=connector, entries=made.entries, operations=made.operations, secrets=made.secrets
    )


async def _fetch(url: str) -> tuple[str, str]:
    from interlace.resources.connectors.fetching import fetch_description
    from interlace.server.cli.session import platform

    async with platform() as opened:
        return await fetch_description(opened.http, url)


@app.command()
def fetch(
    url: Annotated[str, typer.Argument(help="Where the description is.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it to this file.")] = None,
) -> None:
    """Fetch a description, and store nothing."""
    text, _ = run_async(_fetch(url))
    if output is None:
        say(text)
    else:
        output.write_text(text, "utf-8")
        note(f"✓ {output}")


@app.command("list")
def list_connectors(as_json: JsonFlag = False) -> None:
    """The connectors."""

    async def work() -> list[dict[str, Any]]:
        from interlace.engine.principal import LOCAL
        from interlace.resources.connectors.connectors import KIND
        from interlace.server.api.connectors import connector_json
        from interlace.server.cli.session import platform

        async with platform() as opened:
            page = await opened.store.resources.list(KIND, by=LOCAL, limit=500)
            return [connector_json(resource) for resource in page.items]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [(one["name"], one["actions"], one["auth"], one["base_url"], one["title"]) for one in found]
    table(
        ["name", "actions", "auth", "base URL", "title"],
        rows,
        empty="There are no connectors; `interlace connectors add` makes one.",
    )


@app.command()
def show(connector: Name, as_json: JsonFlag = False) -> None:
    """One connector with its definition; secrets are never shown."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.resources.connectors.connectors import KIND
        from interlace.server.api.connectors import connector_json
        from interlace.server.cli.session import platform

        async with platform() as opened:
            resource = await opened.store.resources.find(KIND, connector, by=LOCAL)
            return {**connector_json(resource), "definition": resource.definition}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    say(
        f"{found['name']}: {found['title']}\n{found['base_url']}\nauth: {found['auth']} ({found['credentials']})"
    )
    say(f"{found['actions']} actions; `interlace connectors actions {found['name']}` lists them")


@app.command()
def actions(
    connector: Name,
    action: Annotated[str | None, typer.Argument(help="Show one action with its schemas.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """The actions of a connector, or one with the schemas of its parameters and answer."""

    async def work() -> list[dict[str, Any]]:
        from interlace.engine.principal import LOCAL
        from interlace.resources.connectors.arguments import find_action
        from interlace.resources.connectors.schemas import response_schema
        from interlace.server.api.connectors import action_json
        from interlace.server.cli.session import platform

        async with platform() as opened:
            _, loaded = await opened.connectors.find(connector, by=LOCAL)
        if action is None:
            return [action_json(loaded.connector, one.name) for one in loaded.connector.actions]
        found = find_action(loaded.connector, action)
        schemas = {
            "parameters": loaded.parameters(found),
            "response": response_schema(loaded.connector, found),
        }
        return [{**action_json(loaded.connector, found.name), **schemas}]

    found = run_async(work(), as_json=as_json)
    if action is not None:
        emit_json(found[0])
    elif as_json:
        emit_json({"items": found})
    else:
        rows = [
            (
                one["name"],
                one["method"],
                one["path"],
                "yes" if one["requires_confirmation"] else "",
                one["description"].partition("\n")[0][:80],
            )
            for one in found
        ]
        table(["action", "method", "path", "confirmed", "does"], rows, empty="It has no actions.")


@app.command("test")
def call(
    connector: Name,
    action: ActionName,
    parameters: Annotated[
        list[str] | None, typer.Option("-p", "--parameter", help="name=value; JSON where it reads as such.")
    ] = None,
    paginate: Annotated[bool, typer.Option(help="Fetch all pages.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Call an action now and show the answer."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.resources.concealing import concealing
        from interlace.resources.connectors.adapter import Options
        from interlace.server.cli.session import platform

        async with platform() as opened:
            options = Options(paginate=paginate, files=opened.store.files.of_owner(LOCAL.user_id))
            call, given = opened.connectors.call, _pairs(parameters or [])
            with concealing() as secrets:
                result = await call(connector, action, given, by=LOCAL, options=options, hide=secrets.hide)
            return secrets.redact(asdict(result))  # type: ignore[no-any-return]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    note(f"✓ {found['status_code']} in {found['elapsed_ms']:.0f} ms from {found['url'].partition('?')[0]}")
    if isinstance(found["body"], str):
        say(found["body"])
    else:
        emit_json(found["body"])


def _pairs(given: list[str]) -> dict[str, Any]:
    import orjson

    made: dict[str, Any] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals:
            stop(f"{pair!r} is no parameter; write name=value", 2)
        try:
            made[name] = orjson.loads(text)
        except orjson.JSONDecodeError:
            made[name] = text
    return made


@app.command()
def credentials(
    connector: Name,
    values: Annotated[
        list[str] | None, typer.Option("--set", help="name=value; without it each is asked for.")
    ] = None,
) -> None:
    """Set the credentials of a connector; they are encrypted and never shown again."""

    async def work() -> None:
        from interlace.engine.principal import LOCAL
        from interlace.resources.connectors.auth import SLOTS
        from interlace.server.cli.session import platform

        async with platform() as opened:
            _, loaded = await opened.connectors.find(connector, by=LOCAL)
            given = {
                name: str(value)
                for name, value in (pair.split("=", 1) for pair in values or [] if "=" in pair)
            }
            if not given:
                for slot in SLOTS[loaded.connector.auth.type]:
                    given[slot] = await asyncio.to_thread(
                        typer.prompt, slot, default="", hide_input=True, show_default=False
                    )
            kept = {name: value for name, value in given.items() if value}
            if not kept:
                stop(f"connector {connector!r} needs no credentials, or none were given", 2)
            await opened.connectors.set_credentials(connector, kept, by=LOCAL)

    run_async(work())
    note("✓ kept")


@app.command()
def connect(connector: Name, as_json: JsonFlag = False) -> None:
    """Begin an authorization: prints the page to open; the running server takes the answer."""

    async def work() -> str:
        from interlace.engine.principal import LOCAL
        from interlace.resources.connectors.connectors import CALLBACK_PATH
        from interlace.server.cli.session import platform

        async with platform() as opened:
            redirect = opened.callbacks.base.rstrip("/") + CALLBACK_PATH
            return await opened.connectors.begin(connector, by=LOCAL, redirect_uri=redirect)

    url = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"url": url})
    else:
        note("Open this page while `interlace serve` runs; it is good for ten minutes:")
        say(url)


@app.command()
def export(
    connector: Name,
    own: Annotated[bool, typer.Option("--own", help="In our own form instead of OpenAPI 3.1.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it to this file.")] = None,
) -> None:
    """A connector as an OpenAPI description, without secrets."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.resources.connectors.openapi import export_openapi
        from interlace.server.api.connectors import definition_json
        from interlace.server.cli.session import platform

        async with platform() as opened:
            _, loaded = await opened.connectors.find(connector, by=LOCAL)
            return definition_json(loaded.connector) if own else export_openapi(loaded.connector)

    found = run_async(work())
    if output is None:
        emit_json(found)
        return
    import json

    output.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", "utf-8")
    note(f"✓ {output}")


@app.command()
def remove(connector: Name) -> None:
    """Remove a connector with its secrets."""

    async def work() -> None:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            await opened.connectors.remove(connector, by=LOCAL)

    run_async(work())
    note(f"✓ {connector} is removed")
