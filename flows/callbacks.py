"""The URLs that other systems call back to: their tokens are signed, so that a made-up one is refused at once."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from interlace.flows.settings import Settings
from interlace.resources.http.callback_setting import PATH

_NONCE_BYTES = 16


class CallbackUrls:
    """Implements `Callbacks`. `base` is set by the server once it knows where it listens, `key` by the platform."""

    def __init__(self, settings: Settings) -> None:
        self.base = settings.public_url or f"http://{settings.host}:{settings.port}"
        self.key = secrets.token_hex(32)
        """The key of all processes that share the database."""

    def of(self, key: str) -> tuple[str, str]:
        """The token `<name>.<signature>` of a node's idempotency key, and its URL."""
        nonce = self._signature(f"callback {key}")[: 2 * _NONCE_BYTES]
        token = f"{nonce}.{self._signature(nonce)}"
        return token, f"{self.base.rstrip('/')}{PATH}{token}"

    def is_ours(self, token: str) -> bool:
        """Whether a token was made here."""
        nonce, _, signature = token.partition(".")
        return hmac.compare_digest(signature.encode(), self._signature(nonce).encode())

    def sign(self, what: str) -> str:
        """A text that only this installation can have made of another one."""
        return self._signature(f"signed {what}")[: 2 * _NONCE_BYTES]

    def signed(self, what: str, signature: str) -> bool:
        """Whether it was."""
        return hmac.compare_digest(signature.encode(), self.sign(what).encode())

    def _signature(self, nonce: str) -> str:
        return hmac.new(self.key.encode(), nonce.encode(), hashlib.sha256).hexdigest()
