"""`interlace nodes`, `doctor`, `version` and `user`: the catalogue and the operation of an installation."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from interlace.server.cli.output import FAILED, OK, JsonFlag, emit_json, note, run_async, say, stop, table

user = typer.Typer(help="People and their keys.", no_args_is_help=True)
key = typer.Typer(help="API keys.", no_args_is_help=True)
user.add_typer(key, name="key")


def nodes(
    kind: Annotated[str | None, typer.Argument(help="One type, in detail.")] = None, as_json: JsonFlag = False
) -> None:
    """The node types: config, outputs, handles, example."""
    from interlace.flows.node_types import node_types
    from interlace.ui_schema.catalogue import catalogue, describe

    registry = node_types()
    if kind is None:
        entries = catalogue(registry)
        if as_json:
            emit_json({"items": entries})
        else:
            table(["type", "group", "effects", "does"],
                  [(e["type"], e["group"], e["effects"], e["description"]) for e in entries], empty="No types.")  # fmt: skip
        return
    found = registry.get(kind.upper())
    if found is None:
        stop(registry.unknown(kind), 2)
    entry = describe(found)
    if as_json:
        emit_json(entry)
    else:
        _show_type(entry)


def _show_type(entry: dict[str, Any]) -> None:
    import yaml

    say(f"{entry['type']}: {entry['description']}")
    if entry["details"]:
        say(entry["details"])
    timeout = "none of its own" if entry["timeout_seconds"] is None else f"{entry['timeout_seconds']:g} s"
    say(f"handles: {', '.join(entry['handles'])} · effects: {entry['effects']} · time-out: {timeout}\n")
    required = set(entry["config"].get("required", ()))
    rows = [
        (
            name + ("*" if name in required else ""),
            _type(field),
            field.get("default", ""),
            field.get("description", ""),
        )
        for name, field in entry["config"].get("properties", {}).items()
    ]
    table(["config (* required)", "type", "default", "meaning"], rows, empty="No config.")
    outputs = entry["output"].get("properties", {})
    say("")
    table(["output", "type", "meaning"],
          [(name, _type(field), field.get("description", "")) for name, field in outputs.items()],
          empty="The outputs depend on the config.")  # fmt: skip
    example = yaml.safe_dump(
        {"id": entry["type"].lower(), "type": entry["type"], "config": entry["example"]}, sort_keys=False
    )
    say("\nexample:\n" + example)


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(option) for option in field["anyOf"]))
    if "enum" in field:
        return ", ".join(str(value) for value in field["enum"])
    if "const" in field:
        return str(field["const"])
    return str(field.get("type", field.get("$ref", "any").rpartition("/")[2]))


def version(as_json: JsonFlag = False) -> None:
    """The versions of Interlace, Python and Prefect."""
    import platform
    from importlib.metadata import version as installed

    import interlace

    found = {
        "interlace": interlace.__version__, "python": platform.python_version(), "prefect": installed("prefect"),
        "document_schema": "interlace/v1",
    }  # fmt: skip
    if as_json:
        emit_json(found)
    else:
        say(f"interlace {found['interlace']} (Python {found['python']}, Prefect {found['prefect']})")


def doctor(as_json: JsonFlag = False) -> None:
    """The effective settings, and whether everything that is needed works here."""

    async def work() -> dict[str, Any]:
        from interlace.server.doctor import diagnose

        return await diagnose()

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        for check in found["checks"]:
            mark = {"ok": "✓", "warning": "!", "failed": "✗"}[check["state"]]
            say(
                f"{mark} {check['name']}: {check['detail']}"
                + (f"\n    → {check['fix']}" if check["fix"] else "")
            )
        say("")
        table(["setting", "value"], found["settings"].items(), empty="")
    raise typer.Exit(OK if found["ok"] else FAILED)


@key.command("create")
def create_key(
    name: Annotated[str, typer.Option(help="What the key is for.")] = "cli",
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What the key may be used for, such as runs:read; repeat it. All by default."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="How long the key is valid, such as 90d; for ever if not given.")
    ] = None,
    for_user: Annotated[
        str | None,
        typer.Option("--user", help="The user whose key it is; the installation's owner if not given."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make an API key for the owner of this installation, or another user, and print it once."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform
        from interlace.server.scopes import checked

        scopes, until = checked(scope or ()), _end(expires)
        async with platform() as opened:
            owner = "local" if for_user is None else (await opened.store.users.get(for_user)).id
            created, plain = await opened.store.keys.create(
                name, owner=owner, scopes=scopes, expires_at=until
            )
            await opened.store.audit.record(
                LOCAL, "key.create", "key", created.id, name=name, detail={"user": owner}
            )
            return {
                "key": plain, "id": created.id, "name": created.name, "scopes": created.scopes, "expires_at": until,
            }  # fmt: skip

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        say(found["key"])
        note("keep it: it is stored as a hash and not shown again")


def _end(duration: str | None) -> float | None:
    """Unix time at which something that is made now ends."""
    from interlace.engine.durations import parse_duration

    if duration is None:
        return None
    try:
        return time.time() + float(parse_duration(duration))
    except ValueError as error:
        stop(f"--expires: {error}", 2)


OfUser = Annotated[
    str, typer.Option("--user", help="The user whose key it is; the installation's owner if not given.")
]


@key.command("list")
def list_keys(of: OfUser = "local", as_json: JsonFlag = False) -> None:
    """The keys of a user, the newest first; what they are is not shown again."""

    async def work() -> list[dict[str, Any]]:
        import dataclasses

        from interlace.server.cli.session import platform

        async with platform() as opened:
            owner = (await opened.store.users.get(of)).id
            return [dataclasses.asdict(found) for found in await opened.store.keys.list(owner=owner)]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (k["id"], k["name"], " ".join(k["scopes"]),
         *(_day(k[when]) for when in ("created_at", "last_used_at", "expires_at", "revoked_at")))
        for k in found
    ]  # fmt: skip
    table(["id", "name", "scopes", "made", "last used", "expires", "revoked"], rows, empty="No keys.")


def _day(seconds: float | None) -> str:
    return "" if seconds is None else time.strftime("%Y-%m-%d", time.localtime(seconds))


@key.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `user key list` shows it.")],
    of: OfUser = "local",
    as_json: JsonFlag = False,
) -> None:
    """End a key for good: no request with it is answered any more."""

    async def work() -> None:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            owner = (await opened.store.users.get(of)).id
            await opened.store.keys.revoke(key_id, owner=owner)
            await opened.store.audit.record(LOCAL, "key.revoke", "key", key_id, detail={"user": owner})

    run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"id": key_id, "revoked": True})
    else:
        say(f"✓ key {key_id} is revoked")
