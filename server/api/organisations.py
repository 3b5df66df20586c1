"""`/api/v1/orgs`: who belongs together."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from interlace.engine.principal import Role
from interlace.server.api.listing import Wanted, part
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1", tags=["people"])


class NewOrg(Body):
    """An organisation to be made."""

    name: str = Field(max_length=100)
    owner: str | None = Field(
        None, description="Name or id of the user who owns it; the caller, if not given."
    )


class OrgChange(Body):
    """What changes of an organisation."""

    name: str = Field(max_length=100)


class Membership(Body):
    """What a user is in an organisation."""

    role: Role = "member"


@router.get("/orgs", dependencies=[needs("admin")])
async def list_orgs(platform: PlatformOf, by: By, wanted: Wanted) -> dict[str, Any]:
    """The organisations that the caller belongs to, by name; an operator sees all."""
    return part(await platform.store.organisations.list(by=by), lambda org: org.name, wanted, asdict)


@router.post("/orgs", status_code=201, dependencies=[needs("admin")])
async def create_org(body: NewOrg, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Make an organisation; operators only."""
    owner = None if body.owner is None else (await platform.store.users.get(body.owner)).id
    return asdict(await platform.store.organisations.create(body.name, by=by, owner=owner))


@router.get("/orgs/{org}", dependencies=[needs("admin")])
async def get_org(org: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One organisation."""
    return asdict(await platform.store.organisations.get(org, by=by))


@router.patch("/orgs/{org}", dependencies=[needs("admin")])
async def rename_org(org: str, body: OrgChange, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Give an organisation another name; for its owners."""
    return asdict(await platform.store.organisations.rename(org, body.name, by=by))


@router.get("/orgs/{org}/members", dependencies=[needs("admin")])
async def list_members(
    org: str, platform: PlatformOf, by: By, wanted: Wanted, role: Role | None = None
) -> dict[str, Any]:
    """Who belongs to an organisation, and as what, by name."""
    found = await platform.store.organisations.members(org, by=by)
    return part([m for m in found if role in (None, m.role)], lambda member: member.name, wanted, asdict)


@router.put("/orgs/{org}/members/{user}", status_code=204, dependencies=[needs("admin")])
async def add_member(org: str, user: str, body: Membership, platform: PlatformOf, by: By) -> None:
    """Take a user into an organisation, or change their role; for its admins."""
    found = await platform.store.organisations.get(org, by=by)
    member = await platform.store.users.get(user)
    await platform.store.organisations.add(found.id, member.id, body.role, by=by)


@router.delete("/orgs/{org}/members/{user}", status_code=204, dependencies=[needs("admin")])
async def remove_member(org: str, user: str, platform: PlatformOf, by: By) -> None:
    """Let a user leave an organisation; what they made in it goes to one of its owners."""
    found = await platform.store.organisations.get(org, by=by)
    member = await platform.store.users.get(user)
    await platform.store.organisations.remove(found.id, member.id, by=by)
