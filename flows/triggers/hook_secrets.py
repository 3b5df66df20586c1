"""What webhooks keep in the secret store: their tokens, and the secrets that their senders sign with."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets as random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import structlog

from interlace.engine.principal import Principal
from interlace.engine.triggers import Signature
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.trigger_row import Trigger
from interlace.store.visibility import scope_of

if TYPE_CHECKING:
    from interlace.flows.platform import Platform

_TOKEN_BYTES: Final = 32
_LEAST: Final = 8
_SIGNING: Final = "signing"

log = structlog.get_logger("interlace.triggers")


@dataclass(frozen=True, slots=True)
class HookSecrets:
    """Tokens are looked up by their hash; the token itself is encrypted, for its owner to see."""

    platform: Platform

    # -- tokens ------------------------------------------------------------------------------------------------

    async def ensure_tokens(self) -> None:
        """Give every webhook without a token one."""
        for trigger in await self.platform.store.triggers.without_token():
            with contextlib.suppress(ConflictError):  # another process, or the next look, has given it one
                await self.new_token(trigger)

    async def new_token(self, trigger: Trigger) -> str:
        """Give a webhook a new token; the one before is refused from now on.

        Raises:
            ConflictError: somebody else did so at the same moment.
            SecretKeyError: the master key is missing or wrong.
        """
        token = random.token_urlsafe(_TOKEN_BYTES)
        hashed = token_hash(token)
        await self._put(trigger, _token_name(trigger, hashed), token)
        if not await self.platform.store.triggers.set_token(
            trigger, hashed, self.platform.runner.clock.now()
        ):
            await self._drop(trigger, _token_name(trigger, hashed))
            raise ConflictError(
                f"webhook {trigger.key!r} got another token at the same moment; look at it again"
            )
        if trigger.token_hash is not None:
            await self._drop(trigger, _token_name(trigger, trigger.token_hash))
        return token

    async def token(self, trigger: Trigger) -> str | None:
        """The token of a webhook; None until it has one.

        Raises:
            SecretKeyError: the master key is missing or wrong.
        """
        if trigger.token_hash is None:
            return None
        name = _token_name(trigger, trigger.token_hash)
        found = await self.platform.secrets.kept(_scope(trigger), [name], resource_id=trigger.id)
        return found.get(name)

    # -- secrets of senders ------------------------------------------------------------------------------------

    async def set_signing(self, trigger: Trigger, value: str | None, keep_previous: float) -> str:
        """Give a webhook a secret of its own; the one before counts for so many seconds more. Gives the secret.

        Raises:
            ConflictError: it is too short.
        """
        if value is not None and len(value) < _LEAST:
            raise ConflictError(f"a secret that requests are signed with has at least {_LEAST} characters")
        value = value or f"whsec_{base64.b64encode(random.token_bytes(24)).decode()}"
        now = self.platform.runner.clock.now()
        before = [(old, until) for old, until in await self._signing(trigger) if until is None or until > now]
        kept = [(old, now + keep_previous) for old, until in before if until is None and keep_previous > 0]
        await self._put(trigger, f"webhook/{trigger.id}/{_SIGNING}", json.dumps([(value, None), *kept]))
        return value

    async def of_sender(self, trigger: Trigger, rule: Signature, owner: Principal) -> Sequence[str]:
        """The secrets that a request may be signed with now: the stored ones that the rule names, else the webhook's own.

        Raises:
            SecretKeyError: the master key is missing or wrong.
        """
        names = [name for name in (rule.secret, rule.previous_secret) if name is not None]
        if not names:
            now = self.platform.runner.clock.now()
            return [value for value, until in await self._signing(trigger) if until is None or until > now]
        found = []
        for name in names:
            try:
                found.append(await self.platform.secrets.reveal(name, by=owner))
            except (NotFoundError, ConflictError) as error:
                log.warning("the secret of a webhook cannot be used", webhook=trigger.id, error=str(error))
        return found

    async def is_set(self, trigger: Trigger) -> bool:
        """Whether a webhook has a secret of its own."""
        return bool(await self._signing(trigger))

    async def _signing(self, trigger: Trigger) -> list[tuple[str, float | None]]:
        name = f"webhook/{trigger.id}/{_SIGNING}"
        found = await self.platform.secrets.kept(_scope(trigger), [name], resource_id=trigger.id)
        return [(value, until) for value, until in json.loads(found[name])] if name in found else []

    async def _put(self, trigger: Trigger, name: str, value: str) -> None:
        await self.platform.secrets.put(
            name, value, by=Principal(trigger.owner), resource_id=trigger.id, scope=_scope(trigger)
        )

    async def _drop(self, trigger: Trigger, name: str) -> None:
        await self.platform.store.secrets.remove(_scope(trigger), name, by=Principal(trigger.owner))


def token_hash(token: str) -> str:
    """What is kept of a token to look it up by: it has 256 random bits, so that a plain hash cannot be reversed."""
    return hashlib.sha256(token.encode()).hexdigest()


def _token_name(trigger: Trigger, hashed: str) -> str:
    return f"webhook/{trigger.id}/token/{hashed[:16]}"


def _scope(trigger: Trigger) -> str:
    return scope_of(trigger.owner, None)
