"""`/api/v1/market` and `/api/v1/audit`: what is shared and reviewed, and who did what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from interlace.flows.platform import Platform
from interlace.server.api.listing import Wanted, part
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs
from interlace.store.errors import NotFoundError
from interlace.store.market import Shared

router = APIRouter(prefix="/api/v1", tags=["sharing"])


class Publication(Body):
    """Where something is shared."""

    where: Literal["org", "market"]
    org: str | None = Field(None, description="Name or id of the organisation.")


class Review(Body):
    """A decision about a publication."""

    approve: bool


@router.get("/market", dependencies=[needs("admin")])
async def list_market(
    platform: PlatformOf,
    by: By,
    wanted: Wanted,
    kind: Annotated[str | None, Query(description="Only this kind of thing.")] = None,
    subscribed: Annotated[
        bool | None, Query(description="Only what the caller subscribes to, or does not.")
    ] = None,
) -> dict[str, Any]:
    """What the market offers, and what of it the caller subscribes to."""
    found = await platform.store.market.offered(by=by)
    shown = await _named(platform, [shared for shared, _ in found])
    items = [{**item, "subscribed": mine} for item, (_, mine) in zip(shown, found, strict=True)]
    kept = [i for i in items if kind in (None, i["kind"]) and subscribed in (None, i["subscribed"])]
    return part(kept, _place, wanted, dict)


@router.get("/market/reviews", dependencies=[needs("admin")])
async def list_reviews(platform: PlatformOf, by: By, wanted: Wanted) -> dict[str, Any]:
    """What waits for the caller's review."""
    return part(await _named(platform, await platform.store.market.to_review(by=by)), _place, wanted, dict)


@router.post("/market/{object_id}/publish", dependencies=[needs("admin")])
async def publish(object_id: str, body: Publication, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Share a resource or workflow in an organisation, or offer it in the market; it may wait for review."""
    org_id = None if body.org is None else (await platform.store.organisations.get(body.org, by=by)).id
    return asdict(await platform.store.market.publish(object_id, body.where, by=by, org_id=org_id))


@router.post("/market/{object_id}/unpublish", dependencies=[needs("admin")])
async def unpublish(object_id: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """End all sharing at once."""
    return asdict(await platform.store.market.unpublish(object_id, by=by))


@router.post("/market/{object_id}/review", dependencies=[needs("admin")])
async def review(object_id: str, body: Review, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Approve or reject a publication: admins of an organisation its own, operators those of the market."""
    return asdict(await platform.store.market.review(object_id, approve=body.approve, by=by))


@router.put("/market/{object_id}/subscription", dependencies=[needs("admin")])
async def subscribe(object_id: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Take something from the market."""
    return asdict(await platform.store.market.subscribe(object_id, by=by))


@router.delete("/market/{object_id}/subscription", status_code=204, dependencies=[needs("admin")])
async def unsubscribe(object_id: str, platform: PlatformOf, by: By) -> None:
    """Give up a subscription."""
    await platform.store.market.unsubscribe(object_id, by=by)


class AuditWanted(BaseModel):
    """Which lines of the audit are wanted; times in Unix seconds."""

    action: str | None = Field(None, description="An action, or the part before its dot.")
    user: str | None = Field(None, description="Name or id of who did it.")
    object: str | None = Field(None, description="Id of what it was done to.")
    since: float | None = None
    until: float | None = None
    limit: int = Field(100, ge=1, le=1000)
    cursor: str | None = None


@router.get("/audit", dependencies=[needs("admin")])
async def list_audit(platform: PlatformOf, by: By, wanted: Annotated[AuditWanted, Query()]) -> dict[str, Any]:
    """Who did what, the newest first: an admin reads the organisation's lines, an operator all, others their own."""
    user_id = None if wanted.user is None else await _user_id(platform, wanted.user)
    page = await platform.store.audit.list(
        by=by, action=wanted.action, object_id=wanted.object, user_id=user_id, since=wanted.since, until=wanted.until,
        limit=wanted.limit, after=wanted.cursor,
    )  # fmt: skip
    authors = {line.user_id for line in page.items}
    names = {author: await platform.store.users.name_of(author) for author in authors}
    return {
        "items": [{**asdict(line), "user_name": names.get(line.user_id)} for line in page.items],
        "next_cursor": page.cursor,
    }


async def _user_id(platform: Platform, user: str) -> str:
    """The id behind a name; what is neither stays as it is, and finds nothing: no one learns who there is."""
    try:
        return (await platform.store.users.get(user)).id
    except NotFoundError:
        return user


def _place(item: dict[str, Any]) -> str:
    """Where something stands in a list: by name, and by id among those of a name."""
    return f"{item['name']} {item['id']}"


async def _named(platform: Platform, found: Sequence[Shared]) -> list[dict[str, Any]]:
    names = await platform.store.market.owner_names(found)
    return [{**asdict(shared), "owner_name": names.get(shared.owner)} for shared in found]
