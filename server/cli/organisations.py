"""`interlace org …`: organisations, their members and invitations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, table
from interlace.server.cli.people import UserName, at

if TYPE_CHECKING:
    from interlace.engine.principal import Role

org = typer.Typer(help="Organisations and who belongs to them.", no_args_is_help=True)
OrgName = Annotated[str, typer.Argument(metavar="ORG", help="Name or id of the organisation.")]


def _role(text: str) -> Role:
    from interlace.engine.principal import Role

    roles: tuple[Role, ...] = get_args(Role)
    for role in roles:
        if role == text:
            return role
    raise typer.BadParameter(f"{text!r} is no role; there are owner, admin and member")


@org.command("create")
def create_org(
    name: Annotated[str, typer.Argument(help="Name of the organisation.")],
    owner: Annotated[str | None, typer.Option(help="User who owns it; you, if not given.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make an organisation."""

    async def work() -> dict[str, Any]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            user_id = None if owner is None else (await opened.store.users.get(owner)).id
            return asdict(await opened.store.organisations.create(name, by=LOCAL, owner=user_id))

    found = run_async(work(), as_json=as_json)
    emit_json(found) if as_json else note(f"✓ organisation {found['name']} ({found['id']})")


@org.command("list")
def list_orgs(as_json: JsonFlag = False) -> None:
    """The organisations and their members."""

    async def work() -> list[dict[str, Any]]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await opened.store.organisations.list(by=LOCAL)
            return [
                {
                    **asdict(entry),
                    "members": [
                        asdict(m) for m in await opened.store.organisations.members(entry.id, by=LOCAL)
                    ],
                }
                for entry in found
            ]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (o["id"], o["name"], ", ".join(f"{m['name']} ({m['role']})" for m in o["members"])) for o in found
    ]
    table(["id", "name", "members"], rows, empty="No organisations.")


@org.command("add")
def add_member(
    name: OrgName,
    member: UserName,
    role: Annotated[str, typer.Option(help="owner, admin or member.")] = "member",
    as_json: JsonFlag = False,
) -> None:
    """Take a user into an organisation, or change their role."""
    wanted = _role(role)

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await opened.store.organisations.get(name, by=LOCAL)
            person = await opened.store.users.get(member)
            await opened.store.organisations.add(found.id, person.id, wanted, by=LOCAL)
            return {"org_id": found.id, "user_id": person.id, "role": role}

    found = run_async(work(), as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {member} is {role} of {name}")


@org.command("remove")
def remove_member(name: OrgName, member: UserName, as_json: JsonFlag = False) -> None:
    """Let a user leave an organisation; what they made in it goes to one of its owners."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await opened.store.organisations.get(name, by=LOCAL)
            person = await opened.store.users.get(member)
            await opened.store.organisations.remove(found.id, person.id, by=LOCAL)
            return {"org_id": found.id, "user_id": person.id}

    found = run_async(work(), as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {member} has left {name}")


@org.command("invite")
def invite(
    name: OrgName,
    role: Annotated[str, typer.Option(help="owner, admin or member.")] = "member",
    email: Annotated[str | None, typer.Option(help="Whom the link is for.")] = None,
    expires: Annotated[str, typer.Option(help="How long the link is good.")] = "7d",
    as_json: JsonFlag = False,
) -> None:
    """Print a link into an organisation, which is good once."""
    from interlace.engine.durations import parse_duration

    wanted = _role(role)
    try:
        lasts = float(parse_duration(expires))
    except ValueError as error:
        raise typer.BadParameter(f"--expires: {error}") from error

    async def work() -> dict[str, Any]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform
        from interlace.server.client import base_of

        async with platform() as opened:
            made, token = await opened.store.invitations.create(
                name, wanted, by=LOCAL, lasts=lasts, email=email
            )
            base = base_of(opened.settings)
            return {**asdict(made), "token": token, "url": f"{base.rstrip('/')}/invitations/{token}"}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        say(found["url"])
        note(f"✓ good once, until {at(found['expires_at'])}")


@org.command("invitations")
def list_invitations(name: OrgName, as_json: JsonFlag = False) -> None:
    """The invitations into an organisation, the newest first."""

    async def work() -> list[dict[str, Any]]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return [
                {**asdict(v), "status": v.status()}
                for v in await opened.store.invitations.list(name, by=LOCAL)
            ]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [(v["id"], v["role"], v["email"], v["status"], at(v["expires_at"])) for v in found]
    table(["id", "role", "for", "status", "until"], rows, empty="No invitations.")


@org.command("uninvite")
def revoke_invitation(
    name: OrgName,
    invitation: Annotated[str, typer.Argument(metavar="ID", help="Id of the invitation.")],
    as_json: JsonFlag = False,
) -> None:
    """Let an invitation count no more."""

    async def work() -> str:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            await opened.store.invitations.revoke(name, invitation, by=LOCAL)
            return invitation

    found = run_async(work(), as_json=as_json)
    emit_json({"id": found, "revoked": True}) if as_json else note(f"✓ invitation {found} is revoked")


@org.command("rename")
def rename_org(
    name: OrgName,
    to: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    as_json: JsonFlag = False,
) -> None:
    """Give an organisation another name."""

    async def work() -> dict[str, Any]:
        from dataclasses import asdict

        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return asdict(await opened.store.organisations.rename(name, to, by=LOCAL))

    found = run_async(work(), as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {name} is called {to} now")
