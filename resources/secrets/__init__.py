"""Secrets of users and organisations: encrypted at rest, revealed only to those they belong to.

`keys` holds the master keys, `envelope` the encryption, `secrets` the store, `binding` the secret fields of stored
resources.
"""

from __future__ import annotations

from interlace.resources.secrets.binding import (
    SecretField,
    SecretRef,
    add_resource,
    reveal_in,
    update_resource,
)
from interlace.resources.secrets.keys import MasterKeys, SecretKeyError
from interlace.resources.secrets.secrets import Secrets, Snapshot

__all__ = [
    "MasterKeys",
    "SecretField",
    "SecretKeyError",
    "SecretRef",
    "Secrets",
    "Snapshot",
    "add_resource",
    "reveal_in",
    "update_resource",
]
