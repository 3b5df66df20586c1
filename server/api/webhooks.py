"""`/api/v1/webhooks`: the addresses that start workflows, and what came to them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from interlace.engine.durations import Seconds
from interlace.engine.triggers import Idempotency, Signature, WebhookResponse, WebhookTrigger
from interlace.flows.platform import Platform
from interlace.flows.triggers.own import Own, read
from interlace.server.api.hooks import PATH
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs
from interlace.store.trigger_row import Delivery, Trigger

router = APIRouter(prefix="/api/v1/webhooks", tags=["webhooks"])
_DOWNLOAD = {
    "content-disposition": 'attachment; filename="body"', "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
}  # fmt: skip


class WebhookFields(Body):
    """What may be changed of a webhook; see the guide on triggers."""

    methods: list[str] | None = Field(None, description="Methods that are taken; POST by default.")
    content_types: list[str] | None = Field(
        None, description="Media types that are taken; all of them if empty."
    )
    signature: Signature | None = Field(None, description="How the sender proves itself.")
    idempotency: Idempotency | None = Field(None, description="What tells that a delivery comes again.")
    response: WebhookResponse | None = Field(None, description="What is answered.")
    max_size: int | None = Field(None, description="Largest body in bytes.")
    inputs: dict[str, Any] | None = Field(None, description="Inputs of the runs; values may read `trigger`.")

    def given(self) -> dict[str, Any]:
        """The fields that were given."""
        return self.model_dump(mode="json", exclude_none=True, include=set(WebhookFields.model_fields))


class NewWebhook(WebhookFields):
    """A webhook of a published workflow."""

    workflow: str = Field(description="Name or id of the workflow.")
    name: str | None = Field(None, max_length=100, description="A name for people; unique in the workflow.")
    secret: str | None = Field(
        None, description="The secret that requests are signed with, if it is the webhook's own."
    )


class NewSecret(Body):
    """A secret in place of the one before."""

    secret: str | None = Field(None, description="The new secret; one is made if not given.")
    keep_previous: Seconds = Field(
        86_400.0, le=30 * 86_400.0, description="How long the one before counts as well."
    )


class Redelivery(Body):
    """A delivery that is done again."""

    delivery: str = Field(description="Id of the delivery.")


@router.get("", dependencies=[needs("triggers:read")])
async def list_webhooks(
    platform: PlatformOf, by: By, workflow: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50, cursor: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The caller's webhooks, the newest first; with `workflow` those of one."""
    found = None if workflow is None else (await platform.store.workflows.get(workflow, owner=by)).id
    page = await platform.store.triggers.list(
        "webhook", owner=by, workflow_id=found, limit=limit, cursor=cursor
    )
    return {"items": [await webhook_json(platform, item) for item in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("triggers:write")])
async def add_webhook(body: NewWebhook, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Make a webhook beside those of the document; its runs have the caller's rights."""
    made = await Own(platform).add(body.workflow, read("webhook", body.given()), by=by, name=body.name)
    if body.secret is not None:
        await platform.triggers.webhooks.secrets.set_signing(made, body.secret, 0)
    await platform.triggers.webhooks.secrets.ensure_tokens()
    return await webhook_json(platform, await _webhook(platform, made.id, by))


@router.get("/{webhook}", dependencies=[needs("triggers:read")])
async def get_webhook(webhook: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One webhook with its address, and why it started nothing the last time, if so."""
    return await webhook_json(platform, await _webhook(platform, webhook, by))


@router.patch("/{webhook}", dependencies=[needs("triggers:write")])
async def change_webhook(webhook: str, body: WebhookFields, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Change a webhook that does not stand in a document."""
    changed = await Own(platform).change(await _webhook(platform, webhook, by), body.given(), by=by)
    return await webhook_json(platform, changed)


@router.delete("/{webhook}", status_code=204, dependencies=[needs("triggers:write")])
async def remove_webhook(webhook: str, platform: PlatformOf, by: By) -> None:
    """Remove a webhook that does not stand in a document, with its deliveries; its runs stay."""
    await Own(platform).remove(await _webhook(platform, webhook, by), by=by)


@router.post("/{webhook}/pause", dependencies=[needs("triggers:write")])
async def pause_webhook(webhook: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Answer 503 until the webhook is resumed."""
    found = await Own(platform).pause(await _webhook(platform, webhook, by), paused=True, by=by)
    return await webhook_json(platform, found)


@router.post("/{webhook}/resume", dependencies=[needs("triggers:write")])
async def resume_webhook(webhook: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Take requests again."""
    found = await Own(platform).pause(await _webhook(platform, webhook, by), paused=False, by=by)
    return await webhook_json(platform, found)


@router.post("/{webhook}/rotate-token", dependencies=[needs("triggers:write")])
async def rotate_token(webhook: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Give the webhook a new address; the one before takes nothing any more."""
    found = await _webhook(platform, webhook, by)
    await platform.triggers.webhooks.secrets.new_token(found)
    await platform.store.audit.record(by, "webhook.rotate_token", "webhook", found.id, name=found.key)
    return await webhook_json(platform, await _webhook(platform, webhook, by))


@router.post("/{webhook}/rotate-secret", dependencies=[needs("triggers:write")])
async def rotate_secret(webhook: str, body: NewSecret, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Set the secret that requests are signed with; the one before counts for a while. The secret is shown once."""
    found = await _webhook(platform, webhook, by)
    secret = await platform.triggers.webhooks.secrets.set_signing(found, body.secret, body.keep_previous)
    await platform.store.audit.record(by, "webhook.rotate_secret", "webhook", found.id, name=found.key)
    return {"secret": secret, "keep_previous": body.keep_previous}


@router.get("/{webhook}/deliveries", dependencies=[needs("triggers:read")])
async def list_deliveries(
    webhook: str, platform: PlatformOf, by: By, *, status: Literal["received", "started", "dead"] | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50, cursor: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What came, the newest first; `dead` are those that could start no run."""
    found = await _webhook(platform, webhook, by)
    page = await platform.store.deliveries.list(found.id, status=status, limit=limit, cursor=cursor)
    return {"items": [delivery_json(item) for item in page.items], "next_cursor": page.cursor}


@router.get("/{webhook}/deliveries/{delivery}/body", dependencies=[needs("triggers:read")])
async def get_body(webhook: str, delivery: str, platform: PlatformOf, by: By) -> Response:
    """The raw body of a delivery as it came; always as a download, never shown by the browser."""
    found = await platform.store.deliveries.get(delivery, (await _webhook(platform, webhook, by)).id)
    body = await platform.store.deliveries.body(found)
    return Response(body, media_type="application/octet-stream", headers=_DOWNLOAD)


@router.post(
    "/{webhook}/redeliver", status_code=202, dependencies=[needs("triggers:write"), needs("runs:write")]
)
async def redeliver(webhook: str, body: Redelivery, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Start a run with a delivery's request again, whatever became of it the first time."""
    found = await _webhook(platform, webhook, by)
    accepted = await platform.triggers.webhooks.redeliver(found, body.delivery)
    return {"delivery": accepted.delivery_id, "redelivers": body.delivery, "run_id": accepted.run_id}


async def _webhook(platform: Platform, webhook: str, by: By) -> Trigger:
    return await platform.store.triggers.get(webhook, owner=by, kind="webhook")


async def webhook_json(platform: Platform, trigger: Trigger) -> dict[str, Any]:
    """A webhook as its owner sees it, the address included."""
    spec = WebhookTrigger.model_validate(trigger.definition)
    secrets = platform.triggers.webhooks.secrets
    token = await secrets.token(trigger)
    fields = spec.model_dump(mode="json", exclude={"type", "id"})
    return {
        "id": trigger.id, "name": trigger.key.removeprefix("own:"), "workflow_id": trigger.workflow_id,
        "source": trigger.source, "owner": trigger.owner, "path": None if token is None else f"{PATH}{token}",
        "url": None if token is None else f"{platform.callbacks.base.rstrip('/')}{PATH}{token}", **fields,
        "secret_set": await secrets.is_set(trigger), "paused": trigger.paused, "error": trigger.error,
        "error_at": trigger.error_at, "created_at": trigger.created_at, "updated_at": trigger.updated_at,
    }  # fmt: skip


def delivery_json(delivery: Delivery) -> dict[str, Any]:
    """A delivery as lists and commands show it."""
    return asdict(delivery)
