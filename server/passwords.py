"""Passwords: hashed with Argon2id, in a thread, at most two at once."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from interlace.store import Store
from interlace.store.errors import ConflictError

MIN_CHARACTERS: Final = 10
MAX_CHARACTERS: Final = 128
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_threads = ThreadPoolExecutor(2, thread_name_prefix="interlace-password")
"""At most two at once: each takes 19 MiB and a core."""


async def hash_password(password: str) -> str:
    """The hash of a new password.

    Raises:
        ConflictError: it is too short or too long.
    """
    if not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS:
        raise ConflictError(f"a password has {MIN_CHARACTERS} to {MAX_CHARACTERS} characters")
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, password)


async def verify_password(store: Store, name: str, password: str) -> str | None:
    """The id of the user with this name and password; None else, after the same time whether the name exists or not."""
    found = await store.users.password_hash(name)
    user_id, hashed = (None, _nobody()) if found is None else found
    return user_id if await _fit(hashed, password) else None


async def fits(store: Store, user_id: str, password: str) -> bool:
    """Whether a user has this password."""
    hashed = await store.users.hash_of(user_id)
    if hashed is None:
        return False
    return await _fit(hashed, password)


async def _fit(hashed: str, password: str) -> bool:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads, _fits, hashed, password[: MAX_CHARACTERS + 1])


def _fits(hashed: str, password: str) -> bool:
    try:
        return _hasher.verify(hashed, password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobody() -> str:
    return _hasher.hash("nobody has this password")
