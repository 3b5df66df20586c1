"""How much may be asked: requests a minute of each user, and of each address that sends no valid key."""

from __future__ import annotations

import math
import time
from typing import Any, Final, Protocol

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interlace.engine.errors import StoreError
from interlace.flows.settings import Settings
from interlace.server.attempts import network
from interlace.server.auth import identify
from interlace.server.problems import problem
from interlace.store import Store
from interlace.store.counters import Count

WINDOW_SECONDS: Final = 60.0
_LIMITED: Final = ("/api/", "/v1/", "/mcp", "/login", "/openapi.json", "/forms/")
_MOST_KEYS: Final = 10_000
_REDIS_SECONDS: Final = 0.5
_AWAY_SECONDS: Final = 5.0
"""So long Redis is not asked after it did not answer."""
_SCRIPT: Final = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
"""

log = structlog.get_logger("interlace.limits")


class Counters(Protocol):
    """Counts over windows of time."""

    async def add(self, key: str, *, seconds: float) -> Count:
        """Count one more; gives the count with it, and when its window ends."""
        ...

    async def close(self) -> None:
        """Let go of what is open."""
        ...


class ProcessCounters:
    """Counts of this process alone."""

    def __init__(self) -> None:
        self._counts: dict[str, Count] = {}

    async def add(self, key: str, *, seconds: float) -> Count:
        """Count one more."""
        now = time.time()
        found = self._counts.get(key)
        if found is None or found.until <= now:
            if len(self._counts) >= _MOST_KEYS:
                self._counts = {k: count for k, count in self._counts.items() if count.until > now}
            found = Count(0, now + seconds)
        self._counts[key] = found = Count(found.count + 1, found.until)
        return found

    async def close(self) -> None:
        """Nothing is open."""


class StoreCounters:
    """Counts of all servers of a database: one commit a request."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, key: str, *, seconds: float) -> Count:
        """Count one more."""
        return await self._store.counters.add(key, seconds=seconds)

    async def close(self) -> None:
        """The store is closed by who opened it."""


class RedisCounters:
    """Counts of all servers that share a Redis server."""

    def __init__(self, url: str) -> None:
        from redis.asyncio import Redis  # noqa: PLC0415 - only where it is asked for
        from redis.asyncio.retry import Retry  # noqa: PLC0415
        from redis.backoff import NoBackoff  # noqa: PLC0415

        # Every request waits for this: a limit that cannot be asked is passed, not tried again.
        self._redis: Any = Redis.from_url(
            url, retry=Retry(NoBackoff(), 0), socket_timeout=_REDIS_SECONDS, socket_connect_timeout=_REDIS_SECONDS
        )  # fmt: skip
        self._script = self._redis.register_script(_SCRIPT)
        self._away_until = 0.0

    async def add(self, key: str, *, seconds: float) -> Count:
        """Count one more.

        Raises:
            StoreError: Redis does not answer.
        """
        from redis.exceptions import RedisError  # noqa: PLC0415 - see above

        if time.monotonic() < self._away_until:
            raise StoreError("Redis did not answer a moment ago; check INTERLACE_RATE_STORE")
        try:
            count, left = await self._script(keys=[f"interlace:{key}"], args=[int(seconds * 1000)])
        except (RedisError, OSError) as error:
            self._away_until = time.monotonic() + _AWAY_SECONDS
            raise StoreError(f"Redis does not answer: {error}; check INTERLACE_RATE_STORE") from None
        return Count(int(count), time.time() + max(int(left), 0) / 1000)

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()


def counters_of(settings: Settings, store: Store) -> Counters:
    """Where requests are counted."""
    if settings.rate_store is None:
        return ProcessCounters()
    where = settings.rate_store.get_secret_value()
    return StoreCounters(store) if where == "database" else RedisCounters(where)


class Limits:
    """ASGI middleware. Answers say what is left in `RateLimit`, as the IETF's draft on rate limit headers has it.

    Where the counts cannot be reached, requests pass: a limit must not be what stops the service.
    """

    def __init__(self, app: ASGIApp, settings: Settings, counters: Counters) -> None:
        self._app = app
        self._counters = counters
        self._user, self._address = settings.rate_limit, settings.rate_limit_anonymous

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what is too much, pass the rest on."""
        if scope["type"] != "http" or not scope["path"].startswith(_LIMITED):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        caller = await identify(request)
        if caller is not None:
            policy, most, key = "user", self._user, f"rate:{caller.owner}"
        else:
            address = "" if request.client is None else request.client.host
            policy, most, key = "address", self._address, f"rate@{network(address)}"
        count = await self._count(key) if most else None
        if count is None:
            await self._app(scope, receive, send)
            return
        seconds = max(1, math.ceil(count.until - time.time()))
        told = {
            "ratelimit-policy": f'"{policy}";q={most};w={WINDOW_SECONDS:.0f}',
            "ratelimit": f'"{policy}";r={max(0, most - count.count)};t={seconds}',
        }
        if count.count > most:
            answer = problem(429, "rate_limited", f"more than {most} requests a minute; go on in {seconds} s")
            answer.headers.update({**told, "retry-after": str(seconds)})
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, _telling(send, told))

    async def _count(self, key: str) -> Count | None:
        try:
            return await self._counters.add(key, seconds=WINDOW_SECONDS)
        except StoreError as error:
            log.warning("requests could not be counted", error=str(error))
            return None


def _telling(send: Send, told: dict[str, str]) -> Send:
    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(told)
        await send(message)

    return tell
