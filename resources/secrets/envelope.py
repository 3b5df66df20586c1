"""Envelope encryption with AES-256-GCM: master keys wrap data keys, data keys encrypt values.

What a ciphertext is for is authenticated with it (scope, name, resource): a row that is copied to another organisation
or another name cannot be opened there. Encrypted text is base64 of version, 12 bytes of nonce and the ciphertext.
"""

from __future__ import annotations

import binascii
import os
from base64 import b64decode, b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from interlace.resources.secrets.keys import MasterKey, SecretKeyError

_VERSION = b"\x01"
_NONCE = 12


def new_data_key() -> bytes:
    """A random data key."""
    return AESGCM.generate_key(bit_length=256)


def wrap(master: MasterKey, data_key: bytes, *, scope: str, key_id: str) -> str:
    """A data key under a master key."""
    return _seal(master.key, data_key, _bound("data key", scope, key_id, master.id))


def unwrap(master: MasterKey, wrapped: str, *, scope: str, key_id: str) -> bytes:
    """The data key again.

    Raises:
        SecretKeyError: it was not wrapped by this key for this scope.
    """
    return _open(master.key, wrapped, _bound("data key", scope, key_id, master.id))


def encrypt(data_key: bytes, value: str, *, scope: str, name: str, resource_id: str | None) -> str:
    """A value under a data key."""
    return _seal(data_key, value.encode(), _bound("value", scope, name, resource_id or ""))


def decrypt(data_key: bytes, ciphertext: str, *, scope: str, name: str, resource_id: str | None) -> str:
    """The value again.

    Raises:
        SecretKeyError: it was encrypted for something else, or changed.
    """
    return _open(data_key, ciphertext, _bound("value", scope, name, resource_id or "")).decode()


def _bound(*parts: str) -> bytes:
    """Parts as bytes that no other parts give."""
    return b"".join(len(raw).to_bytes(4, "big") + raw for raw in (part.encode() for part in parts))


def _seal(key: bytes, value: bytes, bound: bytes) -> str:
    nonce = os.urandom(_NONCE)
    return b64encode(_VERSION + nonce + AESGCM(key).encrypt(nonce, value, bound)).decode()


def _open(key: bytes, text: str, bound: bytes) -> bytes:
    try:
        raw = b64decode(text, validate=True)
        if raw[:1] != _VERSION:
            raise SecretKeyError("a secret was encrypted by another version of the product")
        return AESGCM(key).decrypt(raw[1 : 1 + _NONCE], raw[1 + _NONCE :], bound)
    except (InvalidTag, binascii.Error, ValueError):
        raise SecretKeyError(
            "a secret cannot be decrypted: its row was changed, or moved from where it belongs; set it again"
        ) from None
