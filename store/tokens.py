"""Tokens of 256 random bits: given out once, kept as a hash."""

from __future__ import annotations

import hashlib
import secrets

_BYTES = 32


def new_token() -> str:
    """A new token, which is safe in an address and in a cookie."""
    return secrets.token_urlsafe(_BYTES)


def hash_token(plain: str) -> str:
    """What is kept of a token. It is random, so a plain hash cannot be reversed, and a slow one would cost every request."""
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
