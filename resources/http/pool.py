"""Open connections, kept by route: a connection only ever serves the origin, trust and proxy it was checked for."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from interlace.resources.http.connection import Connection
from interlace.resources.http.dialer import Dialer, Route

PER_ROUTE = 200
IDLE_SECONDS = 30.0
MOST_IDLE = 256


@dataclass(slots=True)
class _Place:
    """The connections of one route: `slots` bounds those open, `idle` holds those free, newest last."""

    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PER_ROUTE))
    idle: list[Connection] = field(default_factory=list)
    users: int = 0


class Pool:
    """Gives out connections and takes them back; belongs to one event loop at a time.

    Args:
        dialer: opens new ones.
        idle_seconds: how long a free connection is kept.
    """

    def __init__(self, dialer: Dialer, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._dialer = dialer
        self._idle_seconds = idle_seconds
        self._places: dict[Route, _Place] = {}
        self._taken: dict[Connection, _Place] = {}
        self._idle = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sweeper: asyncio.TimerHandle | None = None

    async def acquire(self, route: Route, *, fresh: bool = False) -> Connection:
        """A free connection of the route, or a new one; waits while too many are open. Give it back by `release`.

        Raises:
            NodeError, WireError: as `Dialer.connect`.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # connections of a loop that has ended are dead
            self._loop, self._places, self._idle, self._sweeper = loop, {}, 0, None
        place = self._places.get(route)
        if place is None:
            place = self._places[route] = _Place()
        place.users += 1
        try:
            await place.slots.acquire()
        except BaseException:
            self._leave(route, place)
            raise
        try:
            connection = None if fresh else self._free(place)
            connection = connection or await self._dialer.connect(route)
        except BaseException:
            place.slots.release()
            self._leave(route, place)
            raise
        self._taken[connection] = place
        return connection

    def release(self, route: Route, connection: Connection) -> None:
        """Give a connection back; it is kept when its last answer was read to the end, else closed."""
        place = self._taken.pop(connection)
        if connection.idle and self._idle < MOST_IDLE and self._places.get(route) is place:
            connection.idle_since = time.monotonic()
            place.idle.append(connection)
            self._idle += 1
            self._sweep_later()
        else:
            connection.close()
        place.slots.release()
        self._leave(route, place)

    async def close(self) -> None:
        """Close what is idle; what is in use is closed when it is given back."""
        places, self._places, self._idle = self._places, {}, 0
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        if self._loop is asyncio.get_running_loop():
            for place in places.values():
                for connection in place.idle:
                    connection.close()
            await asyncio.sleep(0)  # the transports close their sockets in the next turn of the loop

    def _leave(self, route: Route, place: _Place) -> None:
        place.users -= 1
        if not place.users and not place.idle and self._places.get(route) is place:
            del self._places[route]

    def _free(self, place: _Place) -> Connection | None:
        while place.idle:
            connection = place.idle.pop()
            self._idle -= 1
            if time.monotonic() - connection.idle_since < self._idle_seconds and not connection.is_stale:
                return connection
            connection.close()
        return None

    def _sweep_later(self) -> None:
        if self._sweeper is None and self._loop is not None:
            self._sweeper = self._loop.call_later(self._idle_seconds, self._sweep)

    def _sweep(self) -> None:
        """Close what has been idle for too long."""
        self._sweeper = None
        oldest = time.monotonic() - self._idle_seconds
        for route, place in list(self._places.items()):
            gone = [c for c in place.idle if c.idle_since <= oldest or c.is_stale]
            place.idle = [c for c in place.idle if c not in gone]
            self._idle -= len(gone)
            if not place.idle and not place.users:
                self._places.pop(route, None)
            for connection in gone:
                connection.close()
        if self._idle:
            self._sweep_later()
