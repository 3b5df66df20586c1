"""How often somebody may try a password: counted before it is looked at, for all servers of a database together."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import time
from typing import Final

from interlace.server.problems import ApiError
from interlace.store import Store

WINDOW_SECONDS: Final = 900.0
PER_PAIR, PER_ACCOUNT, PER_ADDRESS = 10, 50, 50
"""Failed attempts in a window: of one address at one account, at one account, and of one address."""
_NETWORK_BITS = 64
"""Whoever has one IPv6 address has its whole network."""


class Attempts:
    """The attempts of one sign-in.

    Args:
        store: where they are counted.
        account: what was given as name or address; it need not exist, so that nobody learns which ones do.
        address: where the request comes from.
    """

    def __init__(self, store: Store, account: str, address: str) -> None:
        self._store = store
        who = hashlib.sha256(account.strip().lower().encode("utf-8", "replace")).hexdigest()[:32]
        where = network(address)
        self._limits = {
            f"login:{who}:{where}": PER_PAIR, f"login:{who}": PER_ACCOUNT, f"login@{where}": PER_ADDRESS,
        }  # fmt: skip

    async def begin(self) -> None:
        """Count one.

        Raises:
            ApiError: 429, there were too many.
        """
        for key, most in self._limits.items():
            found = await self._store.counters.add(key, seconds=WINDOW_SECONDS)
            if found.count > most:
                seconds = max(1, math.ceil(found.until - time.time()))
                raise ApiError(
                    429, "too_many_attempts", f"too many attempts to sign in; try again in {seconds} s",
                    headers={"retry-after": str(seconds)},
                )  # fmt: skip

    async def succeed(self) -> None:
        """This one does not count, and the address may try this account anew."""
        pair, *others = self._limits
        await self._store.counters.clear(pair)
        for key in others:
            await self._store.counters.add(key, seconds=WINDOW_SECONDS, number=-1)


def network(address: str) -> str:
    """What counts as one address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, _NETWORK_BITS), strict=False))
    return str(found)
