"""`/api/v1/api-keys` and `/api/v1/users/{user}/keys`: keys for programs, shown once and kept as hashes."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from interlace.engine.durations import Seconds
from interlace.server.api.listing import Paging, Wanted, part
from interlace.server.api.users import looked_after
from interlace.server.auth import By, Caller, PlatformOf, login_of
from interlace.server.problems import ApiError
from interlace.server.scopes import checked, holds, needs
from interlace.store.errors import NotFoundError
from interlace.store.keys import Key

Active = Annotated[bool | None, Query(description="Only those that count, or only those that do not.")]
router = APIRouter(prefix="/api/v1", tags=["keys"])


class NewKey(BaseModel):
    """A key to be made."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field("api", min_length=1, max_length=100)
    scopes: list[str] | None = Field(
        None,
        max_length=100,
        description="What it may be used for, such as `runs:read`; all that the caller may, if not given.",
    )
    expires_at: float | None = Field(None, description="Unix time in seconds at which it ends.")
    expires_in: Seconds | None = Field(None, description="Or how long it is valid, such as `90d`.")


@router.get("/api-keys", dependencies=[needs("admin")])
async def list_own_keys(
    platform: PlatformOf, by: By, wanted: Wanted, active: Active = None
) -> dict[str, Any]:
    """Your keys, the newest first, without what they are."""
    return await _list(platform, by.user_id, wanted, active)


@router.post("/api-keys", status_code=201, dependencies=[needs("admin")])
async def create_own_key(
    body: NewKey, request: Request, platform: PlatformOf, caller: Caller, by: By
) -> dict[str, Any]:
    """Make a key for yourself. `key` is shown this once. It may do no more, and lasts no longer, than what it is made with."""
    return await _create(body, request, platform, caller, by=by, owner=by.user_id)


@router.get("/api-keys/{key}", dependencies=[needs("admin")])
async def get_own_key(key: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One of your keys, without what it is."""
    for found in await platform.store.keys.list(owner=by.user_id):
        if found.id == key:
            return key_json(found)
    raise NotFoundError(f"no API key {key!r}")


@router.delete("/api-keys/{key}", status_code=204, dependencies=[needs("admin")])
async def revoke_own_key(key: str, platform: PlatformOf, by: By) -> None:
    """End one of your keys for good; browsers that signed in with it are signed out."""
    await _revoke(platform, by, key, by.user_id)


@router.post("/users/{user}/keys", status_code=201, dependencies=[needs("admin")])
async def create_key(  # noqa: PLR0917 - FastAPI gives them by name
    user: str,
    body: NewKey,
    request: Request,
    platform: PlatformOf,
    caller: Caller,
    by: By,
) -> dict[str, Any]:
    """Make an API key of a user, which is shown this once; one's own, or as an operator anybody's."""
    owner = (await looked_after(platform, user, by)).id
    return await _create(body, request, platform, caller, by=by, owner=owner)


@router.get("/users/{user}/keys", dependencies=[needs("admin")])
async def list_keys(
    user: str,
    platform: PlatformOf,
    by: By,
    wanted: Wanted,
    active: Active = None,
) -> dict[str, Any]:
    """The API keys of a user, without what they are."""
    return await _list(platform, (await looked_after(platform, user, by)).id, wanted, active)


@router.delete("/users/{user}/keys/{key}", status_code=204, dependencies=[needs("admin")])
async def revoke_key(user: str, key: str, platform: PlatformOf, by: By) -> None:
    """End a key for good."""
    await _revoke(platform, by, key, (await looked_after(platform, user, by)).id)


async def _list(platform: PlatformOf, owner: str, wanted: Paging, active: bool | None) -> dict[str, Any]:
    found = await platform.store.keys.list(owner=owner)
    if active is not None:
        now = time.time()
        found = [key for key in found if _counts(key, now) == active]
    return part(found, lambda key: key.id, wanted, key_json, newest=True)


def _counts(key: Key, now: float) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > now)


async def _create(
    body: NewKey, request: Request, platform: PlatformOf, caller: Key, *, by: By, owner: str
) -> dict[str, Any]:
    scopes = checked(caller.scopes if body.scopes is None else body.scopes)
    missing = [scope for scope in scopes if not holds(caller.scopes, scope)]
    if missing:
        raise ApiError(
            403,
            "missing_scope",
            f"a key cannot be given what its maker has not: {', '.join(missing)}",
            missing=missing,
        )
    made_by_key = login_of(request) is None
    ends = _end(body, latest=caller.expires_at if made_by_key else None)
    key, plain = await platform.store.keys.create(body.name, owner=owner, scopes=scopes, expires_at=ends)
    await platform.store.audit.record(by, "key.create", "key", key.id, name=key.name, detail={"user": owner})
    return {**key_json(key), "key": plain}


def _end(body: NewKey, *, latest: float | None) -> float | None:
    """When a new key ends: not later than the key that it is made with."""
    now = time.time()
    ends = body.expires_at if body.expires_in is None else now + body.expires_in
    if ends is not None and ends <= now:
        raise ApiError(
            422, "bad_request", "the key would have ended before it begins; give a later `expires_at`"
        )
    return min((at for at in (ends, latest) if at is not None), default=None)


async def _revoke(platform: PlatformOf, by: By, key: str, owner: str) -> None:
    await platform.store.keys.revoke(key, owner=owner)
    await platform.store.audit.record(by, "key.revoke", "key", key, detail={"user": owner})


def key_json(key: Key) -> dict[str, Any]:
    """What is shown of a key."""
    return {**asdict(key), "scopes": list(key.scopes)}
