"""Circuit breakers: an API that keeps failing is left alone for a while, by all workers of the installation."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from interlace.engine.errors import NodeError
from interlace.resources.connectors.definition import Breaking

_FRESH = 1.0
_PROBE = 60.0
_SERVER_ERROR = 500
_FAILURES = frozenset({"connection", "timeout"})


@dataclass(frozen=True, slots=True)
class BreakerState:
    """Failures in a row, and until when calls are refused (Unix time); None while they are let through."""

    failures: int = 0
    open_until: float | None = None


class BreakerStore(Protocol):
    """Where states are shared among workers."""

    async def read(self, key: str) -> BreakerState:
        """The state of a connector."""
        ...

    async def fail(self, key: str, *, limit: int, pause: float, now: float) -> BreakerState:
        """Count a failure; from `limit` on, refuse calls for `pause` seconds."""
        ...

    async def reset(self, key: str) -> None:
        """Let calls through again."""
        ...

    async def probe(self, key: str, *, now: float, seconds: float) -> bool:
        """Whether this call is the one that is let through for a try; no other is for so many seconds."""
        ...


class Breaker:
    """Decides whether a call is let through, and learns from how it ended."""

    def __init__(self, store: BreakerStore, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now
        self._known: dict[str, tuple[BreakerState, float]] = {}

    @asynccontextmanager
    async def guarded(self, key: str, name: str, settings: Breaking) -> AsyncIterator[Outcome]:
        """A call: set `status` of what is given, or raise; anything that answers below 500 closes the breaker.

        Raises:
            NodeError: `circuit_open`: the call is refused, nothing was sent.
        """
        outcome = Outcome()
        if settings.failures == 0:
            yield outcome
            return
        state = await self._enter(key, name)
        try:
            yield outcome
        except NodeError as error:
            failed = error.kind in _FAILURES or (outcome.status or 0) >= _SERVER_ERROR
            await self._note(key, state, settings, failed=failed, answered=outcome.status is not None)
            raise
        await self._note(key, state, settings, failed=(outcome.status or 0) >= _SERVER_ERROR, answered=True)

    async def _enter(self, key: str, name: str) -> BreakerState:
        now = self._now()
        state, read_at = self._known.get(key, (BreakerState(), 0.0))
        if state.open_until is not None or now - read_at > _FRESH:
            state = await self._store.read(key)
            self._known[key] = (state, now)
        if state.open_until is None:
            return state
        if state.open_until > now or not await self._store.probe(key, now=now, seconds=_PROBE):
            left = max(state.open_until - now, 1.0)
            raise NodeError(
                f"connector {name!r} failed {state.failures} times in a row and is left alone; it is tried again in {left:.0f} s.",
                kind="circuit_open", retryable=True, retry_after=left,
            )  # fmt: skip
        return state

    async def _note(
        self, key: str, state: BreakerState, settings: Breaking, *, failed: bool, answered: bool
    ) -> None:
        now = self._now()
        if failed:
            made = await self._store.fail(key, limit=settings.failures, pause=settings.pause, now=now)
            self._known[key] = (made, now)
        elif answered and (state.failures or state.open_until is not None or self._failures(key)):
            await self._store.reset(key)
            self._known[key] = (BreakerState(), now)

    def _failures(self, key: str) -> int:
        known = self._known.get(key)
        return known[0].failures if known else 0


@dataclass(slots=True)
class Outcome:
    """What became of a call."""

    status: int | None = None


class MemoryBreakers:
    """States of one process alone. Implements `BreakerStore`."""

    def __init__(self) -> None:
        self._states: dict[str, BreakerState] = {}
        self._probes: dict[str, float] = {}

    async def read(self, key: str) -> BreakerState:
        """The state of a connector."""
        return self._states.get(key, BreakerState())

    async def fail(self, key: str, *, limit: int, pause: float, now: float) -> BreakerState:
        """Count a failure."""
        failures = self._states.get(key, BreakerState()).failures + 1
        self._states[key] = BreakerState(failures, now + pause if failures >= limit else None)
        self._probes.pop(key, None)
        return self._states[key]

    async def reset(self, key: str) -> None:
        """Let calls through again."""
        self._states.pop(key, None)
        self._probes.pop(key, None)

    async def probe(self, key: str, *, now: float, seconds: float) -> bool:
        """Whether this call is the one try."""
        if self._probes.get(key, 0.0) > now:
            return False
        self._probes[key] = now + seconds
        return True
