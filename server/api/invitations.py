"""Invitations into organisations: made by admins, accepted by whoever has the link."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from interlace.engine.durations import Seconds
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL, Role
from interlace.flows.platform import Platform
from interlace.server.api.listing import Wanted, part
from interlace.server.auth import By, PlatformOf, check_page, identify
from interlace.server.oidc import links_by_address
from interlace.server.passwords import MAX_CHARACTERS, hash_password
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC, needs, require
from interlace.server.signing import sign_in
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.invitations import Invitation, InvitationStatus

LASTS: Final = 604_800.0
PATH: Final = "/api/v1/invitations"
router = APIRouter(prefix="/api/v1", tags=["people"])


class NewInvitation(BaseModel):
    """Who is invited, as what and for how long."""

    model_config = ConfigDict(extra="forbid")

    role: Role = "member"
    email: str | None = Field(
        None,
        max_length=320,
        pattern=r"^[^\s@]+@[^\s@]+$",
        description="Gets the link by mail, where mail is set up.",
    )
    expires_in: Seconds = Field(
        LASTS, gt=0, le=30 * 86_400.0, description="How long the link is good; 30 days at most."
    )


class Acceptance(BaseModel):
    """A user to be made for whoever accepts and is not signed in."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(None, max_length=100)
    password: str | None = Field(None, max_length=4 * MAX_CHARACTERS, description="10 to 128 characters.")


class Joined(BaseModel):
    """Who is in which organisation now, and as what."""

    org_id: str
    role: Role
    user_id: str


@router.post("/orgs/{org}/invitations", status_code=201, dependencies=[needs("admin")])
async def invite(
    org: str, body: NewInvitation, request: Request, platform: PlatformOf, by: By
) -> dict[str, Any]:
    """Make a link into an organisation, for its admins. `url` and `token` are shown this once, and good once."""
    made, token = await platform.store.invitations.create(
        org, body.role, by=by, lasts=body.expires_in, email=body.email
    )
    base = platform.settings.public_url or str(request.base_url)
    url = f"{base.rstrip('/')}/invitations/{token}"
    mailed = await _mail(platform, made, url, (await platform.store.organisations.get(org, by=by)).name)
    return {**invitation_json(made), "token": token, "url": url, "mailed": mailed}


@router.get("/orgs/{org}/invitations", dependencies=[needs("admin")])
async def list_invitations(
    org: str, platform: PlatformOf, by: By, wanted: Wanted, status: InvitationStatus | None = None
) -> dict[str, Any]:
    """The invitations into an organisation, the newest first; for its admins."""
    found = await platform.store.invitations.list(org, by=by)
    kept = [each for each in found if status in (None, each.status())]
    return part(kept, lambda each: each.id, wanted, invitation_json, newest=True)


@router.delete("/orgs/{org}/invitations/{invitation}", status_code=204, dependencies=[needs("admin")])
async def revoke_invitation(org: str, invitation: str, platform: PlatformOf, by: By) -> None:
    """Let an invitation count no more; for admins of the organisation."""
    await platform.store.invitations.revoke(org, invitation, by=by)


@router.get("/invitations/{token}", dependencies=[PUBLIC])
async def look_at_invitation(token: str, platform: PlatformOf) -> dict[str, Any]:
    """What a link invites to, for whoever has it."""
    found = await platform.store.invitations.find(token)
    org = await platform.store.organisations.get(found.org_id, by=LOCAL)
    inviter = await platform.store.users.name_of(found.created_by)
    return {
        "org": org.name, "role": found.role, "email": found.email, "invited_by": inviter, "expires_at": found.expires_at,
    }  # fmt: skip


@router.post(
    "/invitations/{token}/accept",
    dependencies=[PUBLIC],
    responses={
        200: {"model": Joined, "description": "Joined."},
        201: {"model": Joined, "description": "Joined as a new user."},
    },
)
async def accept_invitation(token: str, body: Acceptance, request: Request, platform: PlatformOf) -> Response:
    """Join an organisation: as who is signed in, else as a new user with name and password, who is signed in by that.

    A key, and a session that began with one, needs the scope `admin`.
    """
    key = await identify(request)
    check_page(request)
    if key is not None:
        require(key, "admin")  # a role is given, which a key for less must not take
        found = await platform.store.invitations.accept(token, key.owner)
        return JSONResponse({"org_id": found.org_id, "role": found.role, "user_id": key.owner})
    if body.name is None or body.password is None:
        raise ApiError(401, "unauthorized", "sign in first, or give `name` and `password` of a new user")
    found, user_id = await _join_as_new(platform, token, body.name, body.password)
    answer = JSONResponse({"org_id": found.org_id, "role": found.role, "user_id": user_id}, status_code=201)
    await sign_in(request, answer, platform, user_id, "invitation")
    return answer


async def _join_as_new(platform: Platform, token: str, name: str, password: str) -> tuple[Invitation, str]:
    store = platform.store
    if not platform.settings.password_login:
        raise ApiError(
            403, "password_login_off", "this installation signs people in through its provider; do that first"
        )
    invited = await store.invitations.find(token)
    hashed = await hash_password(password)
    try:
        # Whoever invites has the link too: it does not prove whose the address is.
        email = None if links_by_address(platform) else invited.email
        made = await store.users.create(name, by=LOCAL, email=email, password_hash=hashed)
    except ConflictError:
        if invited.email is None or await store.users.by_email(invited.email) is None:
            raise
        raise ConflictError(
            f"the user with the address {invited.email!r} is there already; sign in first"
        ) from None
    try:
        return await store.invitations.accept(token, made.id), made.id
    except NotFoundError:
        await store.users.disable(made.id, by=LOCAL)
        raise


async def _mail(platform: Platform, made: Invitation, url: str, org: str) -> bool:
    if made.email is None or not platform.mailer.is_set:
        return False
    text = f"You are invited to join {org} on Interlace as {made.role}:\n\n{url}\n\nThe link is good once.\n"
    try:
        await platform.mailer.send([made.email], subject=f"Invitation to {org}", text=text)
    except NodeError:
        return False  # whoever invites has the link, and sees that it was not sent
    return True


def invitation_json(found: Invitation) -> dict[str, Any]:
    """What is shown of an invitation."""
    return {**asdict(found), "status": found.status()}
