"""`/api/v1/users`: who uses this installation, their passwords, and where they are signed in."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from interlace.flows.platform import Platform
from interlace.server.api.listing import Wanted, part
from interlace.server.attempts import Attempts
from interlace.server.auth import By, Caller, PlatformOf, login_of
from interlace.server.bodies import Body
from interlace.server.oidc import links_by_address
from interlace.server.passwords import MAX_CHARACTERS, fits, hash_password
from interlace.server.problems import ApiError
from interlace.server.scopes import ALL, needs
from interlace.server.signing import LINK_SECONDS, new_link
from interlace.store.errors import NotFoundError
from interlace.store.keys import Key
from interlace.store.logins import Login
from interlace.store.users import User

Active = Annotated[bool | None, Query(description="Only those that count, or only those that do not.")]
router = APIRouter(prefix="/api/v1/users", tags=["people"])


class NewUser(Body):
    """A user to be made."""

    name: str = Field(max_length=100)
    email: str | None = Field(None, max_length=320)
    password: str | None = Field(
        None, description="10 to 128 characters; without one only keys and links work."
    )
    operator: bool = Field(False, description="Whether the user runs this installation.")


class UserChange(BaseModel):
    """What changes of a user; what is not given stays."""

    model_config = ConfigDict(extra="forbid")

    email: str | None = Field(None, max_length=320, description="An empty text takes the address away.")
    operator: bool | None = None
    active: bool | None = Field(
        None, description="`true` gives a disabled user access again; operators only."
    )


class NewPassword(Body):
    """A password to be set."""

    password: str = Field(max_length=4 * MAX_CHARACTERS, description="10 to 128 characters.")
    current: str | None = Field(
        None,
        max_length=4 * MAX_CHARACTERS,
        description="The password until now, where you change your own; not needed after signing in with a link.",
    )


@router.get("", dependencies=[needs("admin")])
async def list_users(platform: PlatformOf, by: By, wanted: Wanted, active: Active = None) -> dict[str, Any]:
    """All users by name, for operators; others see themselves."""
    found = [user for user in await platform.store.users.list() if by.operator or user.id == by.user_id]
    if active is not None:
        found = [user for user in found if (user.disabled_at is None) == active]
    return part(found, lambda user: user.name, wanted, asdict)


@router.post("", status_code=201, dependencies=[needs("admin")])
async def create_user(body: NewUser, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Make a user; operators only."""
    hashed = None if body.password is None else await hash_password(body.password)
    return asdict(
        await platform.store.users.create(
            body.name, by=by, email=body.email, password_hash=hashed, operator=body.operator
        )
    )


@router.get("/{user}", dependencies=[needs("admin")])
async def get_user(user: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One user: yourself (`me`), or for operators anybody."""
    return asdict(await looked_after(platform, user, by))


@router.patch("/{user}", dependencies=[needs("admin")])
async def change_user(user: str, body: UserChange, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Change a user's address: your own, or as an operator anybody's and what they may do."""
    found = await looked_after(platform, user, by)
    changed = body.model_dump(exclude_unset=True)
    if "email" in changed:
        changed["email"] = (changed["email"] or "").strip() or None
        if changed["email"] not in (None, found.email) and not by.operator and links_by_address(platform):
            raise ApiError(
                403,
                "forbidden",
                "who has an address signs in with it here: only an operator may say whose it is",
            )
    return asdict(await platform.store.users.change(found.id, by=by, **changed))


@router.delete("/{user}", status_code=204, dependencies=[needs("admin")])
async def disable_user(user: str, platform: PlatformOf, by: By) -> None:
    """End a user's access; what is theirs stays. Operators only."""
    found = await looked_after(platform, user, by)
    await platform.store.users.disable(found.id, by=by)
    await platform.store.logins.end_all(found.id)


@router.put("/{user}/password", status_code=204, dependencies=[needs("admin")])
async def set_password(  # noqa: PLR0917 - a route
    user: str, body: NewPassword, request: Request, platform: PlatformOf, by: By, caller: Caller
) -> None:
    """Set a password: your own, or as an operator anybody's. Every other browser of the user is signed out."""
    found, login = await looked_after(platform, user, by), login_of(request)
    await _check_lasting(request, platform, caller)
    came_by_link = login is not None and login.method == "link"
    if found.id == by.user_id and found.has_password and not came_by_link:
        await _check(request, platform, found, body.current)
    await platform.store.users.set_password(found.id, await hash_password(body.password), by=by)
    kept = login.id if login is not None and login.user_id == found.id else ""
    await platform.store.logins.end_all(found.id, but=kept)


async def _check(request: Request, platform: PlatformOf, user: User, current: str | None) -> None:
    if current is None:
        raise ApiError(422, "bad_request", "give the password until now as `current`")
    attempts = Attempts(platform.store, user.id, "" if request.client is None else request.client.host)
    await attempts.begin()
    if not await fits(platform.store, user.id, current):
        raise ApiError(403, "wrong_credentials", "`current` is not the password until now")
    await attempts.succeed()


async def _check_lasting(request: Request, platform: Platform, caller: Key) -> None:
    """Raise unless whoever asks may do everything, and without end: what signs in gives just that."""
    login, until = login_of(request), caller.expires_at
    if login is not None:
        keys = await platform.store.keys.list(owner=login.user_id) if login.key_id is not None else ()
        until = next((key.expires_at for key in keys if key.id == login.key_id), None)
    if ALL not in caller.scopes or until is not None:
        raise ApiError(
            403,
            "missing_scope",
            "passwords and links sign in for everything and for days: send a key with the scope `*` that does not expire,"
            " or sign in yourself",
        )


@router.post("/{user}/link", status_code=201, dependencies=[needs("admin")])
async def create_link(
    user: str, request: Request, platform: PlatformOf, by: By, caller: Caller
) -> dict[str, Any]:
    """Make a link that signs a user in once, within an hour, as for somebody who forgot their password; operators only."""
    found = await looked_after(platform, user, by)
    if not by.operator:
        raise ApiError(
            403, "forbidden", "only an operator of this installation may make links that sign users in"
        )
    await _check_lasting(request, platform, caller)
    base = platform.settings.public_url or str(request.base_url)
    link = await new_link(platform, found.id, base)
    await platform.store.audit.record(by, "user.link", "user", found.id, name=found.name)
    return {"url": link, "expires_at": time.time() + LINK_SECONDS}


@router.get("/{user}/logins", dependencies=[needs("admin")])
async def list_logins(
    user: str, request: Request, platform: PlatformOf, by: By, wanted: Wanted
) -> dict[str, Any]:
    """Where a user is signed in, the newest first; `current` is the browser that asks."""
    found, here = await looked_after(platform, user, by), login_of(request)
    logins = await platform.store.logins.list(found.id)

    def shown(login: Login) -> dict[str, Any]:
        return {
            **asdict(login),
            "scopes": list(login.scopes),
            "current": here is not None and here.id == login.id,
        }

    return part(logins, lambda login: login.id, wanted, shown, newest=True)


@router.delete("/{user}/logins", status_code=204, dependencies=[needs("admin")])
async def end_logins(user: str, request: Request, platform: PlatformOf, by: By) -> None:
    """Sign a user out everywhere but in the browser that asks."""
    found, here = await looked_after(platform, user, by), login_of(request)
    await platform.store.logins.end_all(found.id, but="" if here is None else here.id)
    await platform.store.audit.record(by, "login.end", "login", "*", detail={"user": found.id})


@router.delete("/{user}/logins/{login}", status_code=204, dependencies=[needs("admin")])
async def end_login(user: str, login: str, platform: PlatformOf, by: By) -> None:
    """Sign a user out in one browser."""
    found = await looked_after(platform, user, by)
    await platform.store.logins.end(login, user_id=found.id)
    await platform.store.audit.record(by, "login.end", "login", login, detail={"user": found.id})


async def looked_after(platform: PlatformOf, user: str, by: By) -> User:
    """A user that the caller may look after: themselves, or as an operator anybody.

    Raises:
        NotFoundError: there is none, or it is another one.
    """
    if user in ("me", by.user_id):
        return await platform.store.users.get(by.user_id)
    if by.operator or await platform.store.users.name_of(by.user_id) == user:
        return await platform.store.users.get(user)
    raise NotFoundError(f"no user {user!r}")
