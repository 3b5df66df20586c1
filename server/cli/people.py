"""`interlace user create/list/…` and `interlace audit …`: people, for the owner of the installation."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from interlace.server.cli.operate import user
from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, table

audit = typer.Typer(help="Who did what.", no_args_is_help=True)
UserName = Annotated[str, typer.Argument(metavar="USER", help="Name or id of the user.")]


@user.command("create")
def create_user(
    name: Annotated[str, typer.Argument(help="Name of the user.")],
    email: Annotated[str | None, typer.Option(help="Address of the user.")] = None,
    operator: Annotated[bool, typer.Option(help="The user runs this installation.")] = False,
    password: Annotated[bool, typer.Option("--password", help="Ask for a password.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Make a user with a first API key, which is printed once."""
    given = typer.prompt("password", hide_input=True, confirmation_prompt=True) if password else None

    async def work() -> dict[str, Any]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform
        from interlace.server.passwords import hash_password

        hashed = None if given is None else await hash_password(given)
        async with platform() as opened:
            made = await opened.store.users.create(
                name, by=LOCAL, email=email, password_hash=hashed, operator=operator
            )
            key, plain = await opened.store.keys.create("first", owner=made.id)
            await opened.store.audit.record(
                LOCAL, "key.create", "key", key.id, name=key.name, detail={"user": made.id}
            )
            return {**asdict(made), "key": plain}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        say(found["key"])
        note(f"✓ user {found['name']} ({found['id']}); keep the key: it is not shown again")


@user.command("list")
def list_users(as_json: JsonFlag = False) -> None:
    """The users of this installation."""

    async def work() -> list[dict[str, Any]]:
        from dataclasses import asdict

        from interlace.server.cli.session import platform

        async with platform() as opened:
            return [asdict(found) for found in await opened.store.users.list()]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (u["id"], u["name"], u["email"], "operator" if u["operator"] else "", at(u["disabled_at"]))
        for u in found
    ]
    table(["id", "name", "email", "", "disabled"], rows, empty="No users.")


@user.command("disable")
def disable_user(name: UserName, as_json: JsonFlag = False) -> None:
    """End a user's access: keys count no more; what is theirs stays."""

    async def work() -> str:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await opened.store.users.get(name)
            await opened.store.users.disable(found.id, by=LOCAL)
            return found.id

    found = run_async(work(), as_json=as_json)
    emit_json({"id": found}) if as_json else note(f"✓ {name} has no access any more")


@user.command("password")
def set_password(name: UserName, as_json: JsonFlag = False) -> None:
    """Ask for a user's new password; every browser of the user is signed out."""
    given = typer.prompt("password", hide_input=True, confirmation_prompt=True)

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform
        from interlace.server.passwords import hash_password

        async with platform() as opened:
            found = await opened.store.users.get(name)
            await opened.store.users.set_password(found.id, await hash_password(given), by=LOCAL)
            return {"id": found.id, "signed_out": await opened.store.logins.end_all(found.id)}

    found = run_async(work(), as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {name} has a new password")


@user.command("link")
def make_link(
    name: Annotated[str, typer.Argument(metavar="USER", help="Name or id of the user.")] = "owner",
    as_json: JsonFlag = False,
) -> None:
    """Print a link that signs a user in, once, within an hour."""

    async def work() -> tuple[dict[str, Any], Path | None]:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import is_shared, platform
        from interlace.server.client import base_of
        from interlace.server.lock import is_held
        from interlace.server.signing import new_link

        async with platform() as opened:
            found = await opened.store.users.get(name)
            base = base_of(opened.settings)
            url = await new_link(opened, found.id, base)
            await opened.store.audit.record(LOCAL, "user.link", "user", found.id, name=found.name)
            home = opened.settings.home.resolve()
            served = is_shared(opened) or await asyncio.to_thread(is_held, home)
            return {"url": url, "user_id": found.id}, None if served else home

    found, unserved = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        say(found["url"])
        note("it is good once, within an hour, while a server of this home runs")
        if unserved is not None:
            note(
                f"! none runs now; start it with `interlace serve`, or set INTERLACE_HOME, which is {unserved}"
            )


@user.command("change")
def change_user(
    name: UserName,
    email: Annotated[str | None, typer.Option(help="New address; an empty text takes it away.")] = None,
    operator: Annotated[
        bool | None, typer.Option("--operator/--no-operator", help="Whether the user runs this installation.")
    ] = None,
    active: Annotated[
        bool | None, typer.Option("--active/--disabled", help="Whether the user has access.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Change a user's address, and what they may do."""

    async def work() -> dict[str, Any]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform
        from interlace.store.users import UNCHANGED

        async with platform() as opened:
            found = await opened.store.users.get(name)
            address = UNCHANGED if email is None else email or None
            changed = await opened.store.users.change(
                found.id, by=LOCAL, email=address, operator=operator, active=active
            )
            return asdict(changed)

    found = run_async(work(), as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {found['name']} is changed")


@user.command("logins")
def list_logins(
    name: UserName,
    end: Annotated[bool, typer.Option("--end", help="Sign the user out everywhere.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Where a user is signed in."""

    async def work() -> list[dict[str, Any]]:
        from dataclasses import asdict

        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await opened.store.users.get(name)
            if end:
                await opened.store.logins.end_all(found.id)
            return [asdict(login) for login in await opened.store.logins.list(found.id)]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [(v["id"], v["method"], at(v["seen_at"]), v["address"], v["agent"][:60]) for v in found]
    table(["id", "by", "last seen", "from", "browser"], rows, empty="Not signed in anywhere.")


@audit.command("list")
def list_audit(
    action: Annotated[str | None, typer.Option(help="Only this action, or the part before its dot.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the newest first.")] = 100,
    as_json: JsonFlag = False,
) -> None:
    """Who did what to which object, when, and from where."""

    async def work() -> list[dict[str, Any]]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            page = await opened.store.audit.list(by=LOCAL, action=action, limit=limit)
            return [asdict(line) for line in page.items]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [(at(a["at"]), a["user_id"], a["action"], a["name"] or a["object_id"], a["source"]) for a in found]
    table(["when", "user", "did", "to", "from"], rows, empty="Nothing was done yet.")


def at(seconds: float | None) -> str:
    """A time as tables show it."""
    return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
