"""The connections to all databases: each operation is sent to the driver of its dialect, with a pool where one is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from interlace.resources.databases import sqlite
from interlace.resources.databases.access import Place
from interlace.resources.databases.flight import Flight
from interlace.resources.databases.parameters import Bound
from interlace.resources.databases.pool import Pool
from interlace.resources.databases.result import Collector, WriteResult
from interlace.resources.databases.url import DatabaseUrl

if TYPE_CHECKING:
    from interlace.resources.databases import duck, mysql, policy, postgres
    from interlace.resources.databases.hiding import Hidden

POOL_SIZE = 4

_THREADS = 16
_LOOK_UP_S = 30.0

T = TypeVar("T")


class Servers:
    """Connections of one event loop, pooled by URL, credentials included. What is asked has passed the policy."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="interlace-database")
        self._postgres: dict[DatabaseUrl, Pool[postgres.Connection]] = {}
        self._mysql: dict[DatabaseUrl, Pool[mysql.Connection]] = {}
        self._duck: duck.Workers | None = None

    async def close(self) -> None:
        """Close every resting connection; operations on their way end by themselves."""
        for pool in self._postgres.values():
            pool.close()
        for other in self._mysql.values():
            other.close()
        if self._duck is not None:
            await self._duck.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def read(
        self,
        address: DatabaseUrl,
        place: Place,
        bound: Bound,
        collector: Collector,
        flight: Flight,
        *,
        hidden: Hidden | None = None,
    ) -> None:
        """Fill the collector from one statement that only reads; SQLite itself keeps to what is `hidden`."""
        if address.dialect == "postgresql":
            from interlace.resources.databases import postgres  # noqa: PLC0415 - a driver is loaded by the first who uses it

            await self._on_postgres(
                address,
                place,
                flight,
                lambda lease: postgres.read(lease, bound, collector, flight),
            )
        elif address.dialect == "mysql":
            from interlace.resources.databases import mysql  # noqa: PLC0415 - a driver is loaded by the first who uses it

            await self._on_mysql(
                address,
                place,
                flight,
                lambda lease: mysql.read(lease, bound, collector, flight),
            )
        elif address.dialect == "duckdb":
            await self._on_duck(flight, lambda worker: worker.read(_path(place), bound, collector, flight))
        else:
            work = partial(sqlite.read, _path(place), bound, collector, flight, hidden=hidden)
            await self._in_thread(work, flight, writes=False)

    async def write(
        self,
        address: DatabaseUrl,
        place: Place,
        statements: list[Bound],
        collector: Collector,
        seconds: float,
        *,
        found: policy.Statement,
        hidden: Hidden | None = None,
    ) -> WriteResult:
        """Do the statements in one transaction."""
        flight, ddl = Flight(seconds), found.purpose == "ddl"
        if address.dialect == "postgresql":
            from interlace.resources.databases import postgres  # noqa: PLC0415 - a driver is loaded by the first who uses it

            return await self._on_postgres(
                address,
                place,
                flight,
                lambda lease: postgres.write(lease, statements, collector, flight),
                writes=True,
            )
        if address.dialect == "mysql":
            from interlace.resources.databases import mysql  # noqa: PLC0415 - a driver is loaded by the first who uses it

            return await self._on_mysql(
                address,
                place,
                flight,
                lambda lease: mysql.write(lease, statements, collector, flight, reusable=not ddl),
                writes=True,
            )
        mode: sqlite.Mode = "rwc" if ddl else "rw"
        if address.dialect == "duckdb":
            return await self._on_duck(
                flight,
                lambda worker: worker.write(
                    _path(place), statements, collector, flight, mode=mode, returns=found.returns_rows
                ),
                writes=True,
            )
        work = partial(sqlite.write, _path(place), statements, collector, flight, mode, hidden=hidden)
        return await self._in_thread(work, flight, writes=True)

    async def look_up(
        self, address: DatabaseUrl, place: Place, sql: str, values: tuple[object, ...]
    ) -> list[dict[str, Any]]:
        """Rows of the platform's own question about what a database holds."""
        flight = Flight(_LOOK_UP_S)
        if address.dialect == "postgresql":
            from interlace.resources.databases import postgres  # noqa: PLC0415 - a driver is loaded by the first who uses it

            return await self._on_postgres(
                address, place, flight, lambda lease: postgres.look_up(lease, sql, values)
            )
        if address.dialect == "mysql":
            from interlace.resources.databases import mysql  # noqa: PLC0415 - a driver is loaded by the first who uses it

            return await self._on_mysql(
                address, place, flight, lambda lease: mysql.look_up(lease, flight, sql, values)
            )
        if address.dialect == "duckdb":
            return await self._on_duck(flight, lambda worker: worker.look_up(_path(place), sql, values))
        work = partial(sqlite.look_up, _path(place), sql, values)
        return await self._in_thread(work, flight, writes=False)

    async def _on_postgres(
        self,
        address: DatabaseUrl,
        place: Place,
        flight: Flight,
        work: Callable[[postgres.Lease], Awaitable[T]],
        *,
        writes: bool = False,
    ) -> T:
        from interlace.resources.databases import postgres  # noqa: PLC0415 - a driver is loaded by the first who uses it

        pool = self._postgres.setdefault(address, Pool(POOL_SIZE, postgres.close))

        async def run() -> T:
            async with pool:
                return await work(postgres.Lease(pool, address, place))

        task = asyncio.ensure_future(run())
        flight.on_stop(task.cancel)
        return await flight.land(task, writes=writes)

    async def _on_mysql(
        self,
        address: DatabaseUrl,
        place: Place,
        flight: Flight,
        work: Callable[[mysql.Lease], T],
        *,
        writes: bool = False,
    ) -> T:
        from interlace.resources.databases import mysql  # noqa: PLC0415 - a driver is loaded by the first who uses it

        pool = self._mysql.setdefault(address, Pool(POOL_SIZE, mysql.close))

        async def run() -> T:
            async with pool:
                lease = mysql.Lease(pool, address, place)
                lease.take()
                try:
                    return await asyncio.wrap_future(self._threads.submit(work, lease))
                finally:
                    lease.put()

        return await flight.land(asyncio.ensure_future(run()), writes=writes)

    async def _on_duck(
        self, flight: Flight, work: Callable[[duck.Worker], Awaitable[T]], *, writes: bool = False
    ) -> T:
        from interlace.resources.databases import duck  # noqa: PLC0415 - a driver is loaded by the first who uses it

        if self._duck is None:
            self._duck = duck.Workers(POOL_SIZE)
        task = asyncio.ensure_future(self._duck.run(work))
        flight.on_stop(task.cancel)
        return await flight.land(task, writes=writes)

    async def _in_thread(self, work: Callable[[], T], flight: Flight, *, writes: bool) -> T:
        future = asyncio.wrap_future(self._threads.submit(work))
        return await flight.land(future, writes=writes)


def _path(place: Place) -> Path:
    assert place.path is not None
    return place.path
