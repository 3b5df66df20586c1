"""Rate limits: a token bucket for each connector of this process; calls above it wait in turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from interlace.engine.errors import NodeError
from interlace.resources.connectors.definition import RateLimit

_MOST_BUCKETS = 10_000


class Limiter:
    """The buckets of this process. What a bucket holds is in debt while calls wait for it."""

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._buckets: dict[str, tuple[float, float]] = {}

    async def take(self, key: str, limit: RateLimit, patience: float) -> None:
        """Take a token, waiting for it at most `patience` seconds.

        Raises:
            NodeError: `rate_limit`: it would take longer; nothing was sent.
        """
        rate = limit.requests / limit.per
        most = float(limit.burst or limit.requests)
        now = self._now()
        tokens, at = self._buckets.get(key, (most, now))
        tokens = min(most, tokens + (now - at) * rate) - 1
        wait = -tokens / rate if tokens < 0 else 0.0
        if wait > patience:
            raise NodeError(
                f"the limit of {limit.requests} requests in {limit.per:g} s is reached; the next one could go in {wait:.0f} s.",
                kind="rate_limit", retry_after=wait,
            )  # fmt: skip
        if len(self._buckets) >= _MOST_BUCKETS and key not in self._buckets:
            self._buckets.pop(next(iter(self._buckets)))
        self._buckets[key] = (tokens, now)
        if wait:
            await self._sleep(wait)
