"""Events told to addresses outside, signed by Standard Webhooks: kept until they are delivered, tried for some days."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import secrets as random
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import structlog

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.flows.triggers.signatures import sign_standard, standard_key
from interlace.flows.triggers.starting import utc_text
from interlace.resources.http import HttpRequest
from interlace.store.announcing import Announcement
from interlace.store.encoding import encode
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.run_row import Run
from interlace.store.subscriptions import Message, Subscription

if TYPE_CHECKING:
    from interlace.flows.platform import Platform

EVENTS: Final = ("run.succeeded", "run.failed", "run.cancelled", "run.suspended", "approval.requested")
_AGAIN: Final = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Pauses before a message is sent again; after the last one it is given up."""
_SECONDS: Final = 15.0
_AT_ONCE: Final = 20
_GOOD: Final = range(200, 300)
_GONE: Final = 410
_LARGEST: Final = 64 * 1024
_PREVIOUS_SECONDS: Final = 86_400.0

log = structlog.get_logger("interlace.triggers")


class Outgoing:
    """Subscriptions to events, and their messages."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._slots = asyncio.Semaphore(_AT_ONCE)

    # -- subscriptions -----------------------------------------------------------------------------------------

    async def subscribe(
        self,
        url: str,
        events: Sequence[str],
        *,
        by: Principal,
        org_id: str | None = None,
        secret: str | None = None,
    ) -> tuple[Subscription, str]:
        """Tell an address of events of the runs of `by`, or of an organisation that `by` is an admin of.

        Gives the subscription and its secret, which is not shown again.

        Raises:
            ConflictError: the address, an event or the secret cannot be used.
            NotFoundError: `by` does not belong to the organisation.
            ForbiddenError: `by` is no admin of it.
        """
        if org_id is not None and not by.is_admin(org_id):
            if org_id in by.org_ids:
                raise ForbiddenError("only admins of an organisation subscribe to its events")
            raise NotFoundError(f"no organisation {org_id!r}")
        _check(url, events)
        secret = _secret(secret)
        made = await self._platform.store.subscriptions.add(
            url, list(dict.fromkeys(events)), owner=by.user_id, org_id=org_id, now=self._now()
        )
        await self._keep(made, [(secret, None)])
        await self._record(by, "add", made)
        return made, secret

    async def change(
        self, found: Subscription, *, by: Principal, url: str | None = None, events: Sequence[str] | None = None,
        active: bool | None = None,
    ) -> Subscription:  # fmt: skip
        """Change a subscription.

        Raises:
            ConflictError: the address or an event cannot be used.
        """
        changed = replace(
            found, url=url or found.url, events=tuple(events or found.events),
            active=found.active if active is None else active,
        )  # fmt: skip
        _check(changed.url, changed.events)
        await self._platform.store.subscriptions.change(changed, self._now())
        await self._record(by, "change", changed)
        return await self._platform.store.subscriptions.get(found.id)

    async def remove(self, found: Subscription, *, by: Principal) -> None:
        """Remove a subscription with its messages."""
        await self._platform.store.subscriptions.remove(found)
        await self._record(by, "remove", found)

    async def rotate(self, found: Subscription, *, by: Principal, secret: str | None = None) -> str:
        """Give a subscription a new secret; for a day messages are signed with the one before as well.

        Raises:
            ConflictError: it is no secret of Standard Webhooks.
        """
        secret = _secret(secret)
        until = self._now() + _PREVIOUS_SECONDS
        before = [(value, until) for value, end in await self._secrets(found) if end is None]
        await self._keep(found, [(secret, None), *before])
        await self._record(by, "rotate_secret", found)
        return secret

    # -- messages ----------------------------------------------------------------------------------------------

    async def enqueue(self, announcement: Announcement, run: Run) -> None:
        """Put the messages about an event into the outbox, each once."""
        scopes = [f"user:{run.owner}", *([] if run.org_id is None else [f"org:{run.org_id}"])]
        hearing = await self._platform.store.subscriptions.hearing(announcement.event, scopes)
        now = self._now()
        await self._platform.store.subscriptions.enqueue(
            [
                Message(
                    id=_message_id(announcement, found), subscription_id=found.id, event=announcement.event, run_id=run.id,
                    body=encode(_body(announcement, run, found)).decode(), status="pending", created_at=now, attempts=0,
                    next_at=now, delivered_at=None, answer=None, error=None,
                )
                for found in hearing
            ]
        )  # fmt: skip

    async def look(self) -> None:
        """Send what is to be sent now."""
        store = self._platform.store
        while not self._platform.runner.closing:
            claimed = await store.subscriptions.claim_due(self._now())
            if not claimed:
                return
            await asyncio.gather(*(self._send(message) for message in claimed))

    async def _send(self, message: Message) -> None:
        subscriptions = self._platform.store.subscriptions
        try:
            found = await subscriptions.get(message.subscription_id)
        except NotFoundError:
            return
        if not found.active:
            await subscriptions.settle(
                message, "dead", at=None, answer=None, error="the subscription is switched off"
            )
            return
        async with self._slots:
            answer, error, pause = await self._attempt(found, message)
        if error is None:
            await subscriptions.settle(message, "delivered", at=self._now(), answer=answer, error=None)
        elif answer == _GONE:
            await subscriptions.settle(message, "dead", at=None, answer=answer, error=error)
            await subscriptions.change(replace(found, active=False), self._now())
        else:
            tries = message.attempts - 1
            again = self._now() + max(_AGAIN[tries], pause) if tries < len(_AGAIN) else None
            await subscriptions.settle(
                message, "dead" if again is None else "pending", at=again, answer=answer, error=error
            )

    async def _attempt(self, found: Subscription, message: Message) -> tuple[int | None, str | None, float]:
        """Send a message; gives the answer's status, why it does not count, and how long the other side wants to rest."""
        body, at = message.body.encode(), int(time.time())
        now = self._now()
        values = [value for value, until in await self._secrets(found) if until is None or until > now]
        request = HttpRequest(
            method="POST", url=found.url, body=body, timeout=_SECONDS,
            headers=[
                ("content-type", "application/json"), ("webhook-id", message.id), ("webhook-timestamp", str(at)),
                ("webhook-signature", " ".join(sign_standard(value, message.id, at, body) for value in values)),
            ],
        )  # fmt: skip
        try:
            answer = await self._platform.http.send(request)
        except NodeError as error:
            return None, f"{error.kind}: {_without(error.message, found.url)}", 0.0
        pause = 0.0
        with contextlib.suppress(ValueError):
            pause = min(float(str(answer.headers().get("retry-after", "0"))), _AGAIN[-1])
        if answer.status in _GOOD:
            return answer.status, None, 0.0
        return answer.status, f"the address answered {answer.status}", pause

    # -- inside ------------------------------------------------------------------------------------------------

    def _now(self) -> float:
        return self._platform.runner.clock.now()

    async def _secrets(self, found: Subscription) -> list[tuple[str, float | None]]:
        name = f"subscription/{found.id}/signing"
        kept = await self._platform.secrets.kept(found.scope, [name], resource_id=found.id)
        return [(value, until) for value, until in json.loads(kept[name])] if name in kept else []

    async def _keep(self, found: Subscription, values: Sequence[tuple[str, float | None]]) -> None:
        await self._platform.secrets.put(
            f"subscription/{found.id}/signing", json.dumps(values), by=Principal(found.owner), resource_id=found.id,
            scope=found.scope,
        )  # fmt: skip

    async def _record(self, by: Principal, what: str, found: Subscription) -> None:
        await self._platform.store.audit.record(
            by, f"event_subscription.{what}", "event_subscription", found.id, name=urlsplit(found.url).hostname or "",
            org_id=found.org_id, detail={"events": list(found.events)},
        )  # fmt: skip


def _check(url: str, events: Sequence[str]) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConflictError("the address of a subscription is an http or https URL")
    unknown = sorted(set(events) - set(EVENTS))
    if unknown or not events:
        raise ConflictError(
            f"no event {', '.join(map(repr, unknown)) or 'is named'}; there are {', '.join(EVENTS)}"
        )


def _secret(given: str | None) -> str:
    if given is None:
        return f"whsec_{base64.b64encode(random.token_bytes(24)).decode()}"
    if len(standard_key(given)) < 16:  # noqa: PLR2004 - bytes that Standard Webhooks asks for at least
        raise ConflictError("a secret of Standard Webhooks is `whsec_` and at least 16 bytes in base64")
    return given


def _message_id(announcement: Announcement, found: Subscription) -> str:
    """The same for one event and one subscriber, whoever makes it; newer ones sort behind older ones."""
    digest = hashlib.sha256(f"{announcement.id}/{found.id}".encode()).hexdigest()
    return f"msg_{int(announcement.at * 1000):012x}{digest[:20]}"


def _body(announcement: Announcement, run: Run, found: Subscription) -> Mapping[str, Any]:
    """The message: members of an organisation learn that and how a run ended, its owner also what it gave."""
    data: dict[str, Any] = {
        "run_id": run.id, "workflow": run.name, "workflow_id": run.workflow_id, "version": run.version, "status": run.status,
    }  # fmt: skip
    if announcement.ref is not None:
        data["request_id"] = announcement.ref
    if found.org_id is None:
        small = len(encode({"outputs": run.outputs, "error": run.error})) <= _LARGEST
        data |= (
            {"outputs": run.outputs, "error": run.error}
            if small
            else {"outputs": None, "error": None, "omitted": True}
        )
    elif run.error is not None:
        data["error"] = {"type": run.error.get("type"), "node": run.error.get("node")}
    return {"type": announcement.event, "timestamp": utc_text(announcement.at), "data": data}


def _without(text: str, url: str) -> str:
    """A message without an address's path, which may be a secret."""
    path = urlsplit(url).path
    return text.replace(path, "/…") if len(path) > 1 else text
