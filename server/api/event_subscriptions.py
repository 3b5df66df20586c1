"""`/api/v1/event-subscriptions`: addresses that are told of events of runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query
from pydantic import Field

from interlace.flows.platform import Platform
from interlace.flows.triggers.outgoing import EVENTS
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs
from interlace.store.subscriptions import Message, Subscription

router = APIRouter(prefix="/api/v1/event-subscriptions", tags=["event subscriptions"])


class NewSubscription(Body):
    """An address, and what it is told of."""

    url: str = Field(max_length=2000, description="Where messages are posted to.")
    events: list[str] = Field(min_length=1, description=f"Some of {', '.join(EVENTS)}.")
    org: str | None = Field(
        None, description="Name or id of the organisation whose runs it is told of; one's own if not given."
    )
    secret: str | None = Field(None, description="A secret of Standard Webhooks; one is made if not given.")


class ChangedSubscription(Body):
    """What may be changed of a subscription."""

    url: str | None = Field(None, max_length=2000)
    events: list[str] | None = Field(None, min_length=1)
    active: bool | None = None


class NewSubscriptionSecret(Body):
    """A secret in place of the one before."""

    secret: str | None = Field(None, description="A secret of Standard Webhooks; one is made if not given.")


class MessageAgain(Body):
    """A message that is sent once more."""

    delivery: str = Field(description="Id of the message.")


@router.get("", dependencies=[needs("triggers:read")])
async def list_subscriptions(
    platform: PlatformOf, by: By, limit: Annotated[int, Query(ge=1, le=200)] = 50, cursor: str | None = None
) -> dict[str, Any]:
    """The caller's subscriptions, and those of organisations that the caller is an admin of."""
    page = await platform.store.subscriptions.list(by=by, limit=limit, cursor=cursor)
    return {"items": [subscription_json(item) for item in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("triggers:write")])
async def subscribe(body: NewSubscription, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Tell an address of events; the secret that messages are signed with is shown this once."""
    org_id = None if body.org is None else (await platform.store.organisations.get(body.org, by=by)).id
    made, secret = await platform.triggers.outgoing.subscribe(
        body.url, body.events, by=by, org_id=org_id, secret=body.secret
    )
    return {**subscription_json(made), "secret": secret}


@router.get("/{subscription}", dependencies=[needs("triggers:read")])
async def get_subscription(subscription: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One subscription."""
    return subscription_json(await _subscription(platform, subscription, by))


@router.patch("/{subscription}", dependencies=[needs("triggers:write")])
async def change_subscription(
    subscription: str, body: ChangedSubscription, platform: PlatformOf, by: By
) -> dict[str, Any]:
    """Change address or events, or switch the subscription off and on."""
    found = await _subscription(platform, subscription, by)
    changed = await platform.triggers.outgoing.change(
        found, by=by, url=body.url, events=body.events, active=body.active
    )
    return subscription_json(changed)


@router.delete("/{subscription}", status_code=204, dependencies=[needs("triggers:write")])
async def unsubscribe(subscription: str, platform: PlatformOf, by: By) -> None:
    """Remove a subscription with its messages."""
    await platform.triggers.outgoing.remove(await _subscription(platform, subscription, by), by=by)


@router.post("/{subscription}/rotate-secret", dependencies=[needs("triggers:write")])
async def rotate_subscription_secret(
    subscription: str, body: NewSubscriptionSecret, platform: PlatformOf, by: By
) -> dict[str, Any]:
    """Sign with a new secret; for a day messages carry a signature with the one before as well."""
    found = await _subscription(platform, subscription, by)
    return {"secret": await platform.triggers.outgoing.rotate(found, by=by, secret=body.secret)}


@router.get("/{subscription}/deliveries", dependencies=[needs("triggers:read")])
async def list_messages(
    subscription: str, platform: PlatformOf, by: By, *, status: Literal["pending", "delivered", "dead"] | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50, cursor: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The messages, the newest first; `dead` are those that were given up."""
    found = await _subscription(platform, subscription, by)
    page = await platform.store.subscriptions.messages(found.id, status=status, limit=limit, cursor=cursor)
    return {"items": [message_json(item) for item in page.items], "next_cursor": page.cursor}


@router.post("/{subscription}/redeliver", status_code=202, dependencies=[needs("triggers:write")])
async def redeliver_message(
    subscription: str, body: MessageAgain, platform: PlatformOf, by: By
) -> dict[str, Any]:
    """Send a message once more, under its id."""
    found = await _subscription(platform, subscription, by)
    await platform.store.subscriptions.send_again(found.id, body.delivery, platform.runner.clock.now())
    return {"delivery": body.delivery, "status": "pending"}


async def _subscription(platform: Platform, subscription: str, by: By) -> Subscription:
    return await platform.store.subscriptions.get(subscription, by=by)


def subscription_json(found: Subscription) -> dict[str, Any]:
    """A subscription as lists show it."""
    return asdict(found)


def message_json(message: Message) -> dict[str, Any]:
    """A message as lists show it."""
    return {**asdict(message), "body": orjson.loads(message.body)}
