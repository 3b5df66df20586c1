"""A PostgreSQL database of its own for one measurement."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg

SERVER = os.environ.get("BENCH_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")


@asynccontextmanager
async def database() -> AsyncIterator[str | None]:
    """The URL of a new database, dropped afterwards; None where no server answers at `BENCH_POSTGRES`."""
    name = f"interlace_bench_{os.getpid()}"
    try:
        connection = await psycopg.AsyncConnection.connect(SERVER, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError:
        yield None
        return
    async with connection:
        await connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield SERVER.rpartition("/")[0] + f"/{name}"
        finally:
            await connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
