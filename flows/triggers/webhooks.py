"""Webhooks: a request that is proved becomes a run, and both are durable before the sender is told so.

A delivery and its run are one commit. What cannot start a run at this moment waits in the inbox and is tried again;
what cannot start one at all is a dead letter, to be sent again by hand.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import structlog
from pydantic import ValidationError

from interlace.engine.errors import ExpressionError, InterlaceError, InvalidDocument
from interlace.engine.protocols import FileValue
from interlace.engine.triggers import WebhookTrigger
from interlace.flows.pool import start_queued
from interlace.flows.runner import ClosingError
from interlace.flows.triggers.hook_secrets import HookSecrets, token_hash
from interlace.flows.triggers.received import Received, inputs_of, parse_body
from interlace.flows.triggers.signatures import verify
from interlace.flows.triggers.starting import LostAccessError, Ready, evaluated, mapped, ready, request_of
from interlace.store.deliveries import RepeatedError
from interlace.store.errors import NotFoundError, NotJsonError
from interlace.store.ids import uuid7
from interlace.store.payloads import Stored
from interlace.store.runs import Also
from interlace.store.trigger_row import Delivery, Trigger
from interlace.store.triggers import Called
from interlace.store.writer import Batch

if TYPE_CHECKING:
    from interlace.flows.link import PrefectLink
    from interlace.flows.platform import Platform

_MOST_KEY: Final = 500
_AGAIN: Final = (5.0, 30.0, 300.0, 1800.0, 7200.0)
"""Pauses before a delivery that could not start a run is tried again; after the last one it is a dead letter."""
_SAID_SECONDS: Final = 60.0
"""A webhook's refused requests are noted once a minute."""

log = structlog.get_logger("interlace.triggers")


class RefusedError(InterlaceError):
    """A request that proves nothing, or that comes to nowhere: the sender hears no more than that."""

    code = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A webhook that is called, and what it takes."""

    called: Called
    spec: WebhookTrigger

    @property
    def trigger(self) -> Trigger:
        """The webhook."""
        return self.called.trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What became of a request: a run, or with `waiting` a place in the inbox; `challenge` is what Slack asks for once."""

    delivery_id: str = ""
    run_id: str | None = None
    repeated: bool = False
    challenge: str | None = None


class Webhooks:
    """Takes requests, and starts what waits in the inbox."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.secrets = HookSecrets(platform)
        self.link: PrefectLink | None = None
        self.woken = asyncio.Event()
        self._said: dict[str, float] = {}

    async def find(self, token: str) -> Hook:
        """The webhook of a token.

        Raises:
            RefusedError: there is none.
        """
        called = await self._platform.store.triggers.by_token(token_hash(token))
        if called is None:
            raise RefusedError("there is nothing here")
        try:
            return Hook(called=called, spec=WebhookTrigger.model_validate(called.trigger.definition))
        except ValidationError as error:
            log.warning("a webhook cannot be read", webhook=called.trigger.id, error=str(error))
            raise RefusedError("there is nothing here") from None

    async def receive(self, hook: Hook, request: Received) -> Accepted:
        """Take a request whose size, method and content type are right; durable when this returns.

        Raises:
            RefusedError: it is not signed as it should be.
            InvalidDocument: the inputs do not fit the workflow; the request is kept as a dead letter.
            LostAccessError: the webhook's owner may not run the workflow any more.
            StoreError: nothing was kept.
        """
        await self._prove(hook, request)
        body = request.parsed()
        if hook.spec.signature is not None and hook.spec.signature.type == "slack" and _is_challenge(body):
            return Accepted(challenge=str(body["challenge"]))
        stored = await self._platform.store.deliveries.put_body(request.body)
        delivery = Delivery(
            id=uuid7(), trigger_id=hook.trigger.id, status="started", received_at=self._platform.runner.clock.now(), key=None,
            run_id=None, redelivers=None, ref=stored.ref, size=stored.size, request=request.told(hook.spec), attempts=0,
            next_at=None, error=None,
        )  # fmt: skip
        delivery = replace(delivery, key=self._key(hook.spec, request, delivery, body))
        if delivery.key is not None:
            earlier = await self._platform.store.deliveries.by_key(hook.trigger.id, delivery.key)
            if earlier is not None:
                return Accepted(delivery_id=earlier.id, run_id=earlier.run_id, repeated=True)
        return await self._take(hook, delivery, stored, body)

    async def redeliver(self, trigger: Trigger, delivery_id: str) -> Accepted:
        """Start a run with a delivery's request again, whatever became of it the first time.

        Raises:
            NotFoundError: the webhook has no such delivery, or its body is gone.
            InvalidDocument: the inputs do not fit the workflow.
            LostAccessError: the webhook's owner may not run the workflow any more.
        """
        store = self._platform.store
        old = await store.deliveries.get(delivery_id, trigger.id)
        raw = await store.payloads.get(old.ref)
        stored = await store.deliveries.put_body(raw)
        media_type = str(old.request.get("content_type", "")).partition(";")[0].strip().lower()
        new = replace(
            old, id=uuid7(), status="started", received_at=self._platform.runner.clock.now(), key=None, run_id=None,
            redelivers=old.id, attempts=0, next_at=None, error=None,
        )  # fmt: skip
        spec = WebhookTrigger.model_validate(trigger.definition)
        found = await ready(self._platform, trigger)
        run_id = await self._start(
            found, trigger, spec, new, parse_body(raw, media_type), lambda batch, run: self._add(batch, new, stored, trigger, run)
        )  # fmt: skip
        return Accepted(delivery_id=new.id, run_id=run_id)

    async def look(self) -> None:
        """Start what waits in the inbox."""
        store = self._platform.store
        while not self._platform.runner.closing:
            claimed = await store.deliveries.claim_due(self._platform.runner.clock.now())
            if not claimed:
                return
            for delivery in claimed:
                await self._again(delivery)

    # -- one request -------------------------------------------------------------------------------------------

    async def _prove(self, hook: Hook, request: Received) -> None:
        rule = hook.spec.signature
        if rule is None:
            return
        owner = await self._platform.store.users.principal(hook.trigger.owner)
        secrets = await self.secrets.of_sender(hook.trigger, rule, owner)
        # Senders go by true time, whatever time schedules are tested with.
        if not verify(rule, request.signed, secrets, time.time()):
            await self._refused(
                hook.trigger, "no secret is set" if not secrets else "the signature is not right"
            )
            raise RefusedError("this request is not accepted")

    async def _refused(self, trigger: Trigger, why: str) -> None:
        now = time.monotonic()
        if now - self._said.get(trigger.id, -_SAID_SECONDS) < _SAID_SECONDS:
            return
        self._said[trigger.id] = now
        log.warning("a request to a webhook was refused", webhook=trigger.id, reason=why)
        said = f"a request was refused: {why}"
        await self._platform.store.triggers.fail(trigger.id, said, self._platform.runner.clock.now())

    def _key(self, spec: WebhookTrigger, request: Received, delivery: Delivery, body: Any) -> str | None:
        """What tells two deliveries of the same thing; None where the request has no key."""
        rule = spec.idempotency
        if rule is None:
            return None
        found: Any = request.headers.get(rule.header.lower()) if rule.header is not None else None
        if rule.key is not None:
            try:
                found = evaluated(self._platform, rule.key, self._told(delivery, body))
            except ExpressionError:
                found = None
        return None if found in (None, "") else _short(str(found))

    async def _take(self, hook: Hook, delivery: Delivery, stored: Stored, body: Any) -> Accepted:
        trigger = hook.trigger
        try:
            found = await self._ready(hook)
            run_id = await self._start(
                found, trigger, hook.spec, delivery, body, lambda batch, run: self._add(batch, delivery, stored, trigger, run)
            )  # fmt: skip
        except RepeatedError:
            assert delivery.key is not None
            earlier = await self._platform.store.deliveries.by_key(trigger.id, delivery.key)
            if earlier is None:
                raise
            return Accepted(delivery_id=earlier.id, run_id=earlier.run_id, repeated=True)
        except ClosingError:
            waiting = replace(delivery, status="received", next_at=delivery.received_at)
            await self._keep(waiting, stored, trigger)
            return Accepted(delivery_id=delivery.id)
        except (InvalidDocument, NotJsonError) as error:
            await self._keep(replace(delivery, status="dead", key=None, error=str(error)), stored, trigger)
            raise
        except LostAccessError as error:
            await self._platform.store.triggers.fail(
                trigger.id, str(error), self._platform.runner.clock.now()
            )
            raise
        return Accepted(delivery_id=delivery.id, run_id=run_id)

    async def _ready(self, hook: Hook) -> Ready:
        called = hook.called
        if called.document_hash is None:
            return await ready(self._platform, called.trigger)
        pinned = await self._platform.documents.from_hash(
            called.document_hash, workflow_id=called.trigger.workflow_id, version=called.version
        )
        principal = await self._platform.store.users.principal(called.trigger.owner)
        return Ready(principal=principal, pinned=pinned, org_id=called.org_id)

    async def _start(  # noqa: PLR0917 - everything that a run is made of
        self, found: Ready, trigger: Trigger, spec: WebhookTrigger, delivery: Delivery, body: Any, also: Also
    ) -> str:
        platform = self._platform
        data = {
            "kind": "webhook",
            "webhook": trigger.id,
            "name": trigger.key.removeprefix("own:"),
            **self._told(delivery, body),
        }
        schema = found.pinned.document.inputs
        _, media_type = _file_of(delivery)
        # Beside a mapping, which may take anything from the body, only what the workflow declares counts.
        inputs = inputs_of(body, media_type, schema, declared=bool(spec.inputs))
        if spec.inputs:
            inputs = {**inputs, **mapped(platform, spec.inputs, data)}
        request = request_of(platform, found, trigger=data, inputs=inputs, also=also)
        if spec.response.mode == "wait":
            return await platform.runner.start(found.pinned, request)
        return (await start_queued(platform, self.link, found.pinned, request)).run_id

    @staticmethod
    def _told(delivery: Delivery, body: Any) -> dict[str, Any]:
        """What runs and expressions read of a request."""
        name, media_type = _file_of(delivery)
        raw = FileValue(
            name=name,
            media_type=media_type,
            size=delivery.size,
            sha256=delivery.ref.removeprefix("sha256-"),
            ref=delivery.ref,
        )
        return {"delivery": delivery.id, **delivery.request, "body": body, "raw": asdict(raw)}

    def _add(self, batch: Batch, delivery: Delivery, stored: Stored, trigger: Trigger, run_id: str) -> None:
        name, media_type = _file_of(delivery)
        self._platform.store.deliveries.add(
            batch, replace(delivery, run_id=run_id), stored, trigger.owner, name=name, media_type=media_type
        )

    async def _keep(self, delivery: Delivery, stored: Stored, trigger: Trigger) -> None:
        name, media_type = _file_of(delivery)
        await self._platform.store.deliveries.keep(
            delivery, stored, trigger.owner, name=name, media_type=media_type
        )

    # -- the inbox ---------------------------------------------------------------------------------------------

    async def _again(self, delivery: Delivery) -> None:
        store = self._platform.store
        try:
            trigger = await store.triggers.get(delivery.trigger_id)
            spec = WebhookTrigger.model_validate(trigger.definition)
            found = await ready(self._platform, trigger)
            name, media_type = _file_of(delivery)
            body = parse_body(await store.payloads.get(delivery.ref), media_type)

            def also(batch: Batch, run_id: str) -> None:
                store.deliveries.started(
                    batch, delivery, run_id, trigger.owner, name=name, media_type=media_type
                )

            await self._start(found, trigger, spec, delivery, body, also)
        except RepeatedError:
            return
        except ClosingError:
            await store.deliveries.fail(delivery, "", self._platform.runner.clock.now())
        except (InvalidDocument, NotJsonError, NotFoundError, ValidationError) as error:
            await store.deliveries.fail(delivery, str(error), None)
        except InterlaceError as error:
            tries = delivery.attempts - 1
            pause = _AGAIN[tries] if tries < len(_AGAIN) else None
            again = None if pause is None else self._platform.runner.clock.now() + pause
            await store.deliveries.fail(delivery, str(error), again)


def _is_challenge(body: Any) -> bool:
    return (
        isinstance(body, Mapping)
        and body.get("type") == "url_verification"
        and isinstance(body.get("challenge"), str)
    )


def _file_of(delivery: Delivery) -> tuple[str, str]:
    """Name and media type of a raw body."""
    media_type = (
        str(delivery.request.get("content_type", "")).partition(";")[0].strip().lower()
        or "application/octet-stream"
    )
    known: Mapping[str, Literal["json", "txt", "xml"]] = {
        "application/json": "json", "text/plain": "txt", "application/xml": "xml", "text/xml": "xml",
    }  # fmt: skip
    return f"body.{known.get(media_type, 'bin')}", media_type


def _short(key: str) -> str:
    """A key of bounded length; two that differ anywhere stay two."""
    if len(key) <= _MOST_KEY:
        return key
    return f"{key[:_MOST_KEY]}…{hashlib.sha256(key.encode()).hexdigest()}"
