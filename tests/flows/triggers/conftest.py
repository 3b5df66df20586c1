"""A platform with a clock that stands still, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from interlace.flows.settings import Settings
from tests.flows.triggers.schedules import Scheduled, SetClock

SERVER = os.environ.get("INTERLACE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A database of its own."""
    try:
        server = psycopg.connect(SERVER, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL at {SERVER}: {error}")
    name = sql.Identifier(f"interlace_triggers_{os.getpid()}")
    with server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        server.execute(sql.SQL("CREATE DATABASE {}").format(name))
    server.close()
    yield f"{SERVER.rpartition('/')[0]}/interlace_triggers_{os.getpid()}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@pytest.fixture(params=["sqlite", "postgresql"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings on either database."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return Settings(home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="off", database_url=url)


@pytest.fixture
async def scheduled(settings: Settings) -> AsyncIterator[Scheduled]:
    made = Scheduled(settings, SetClock())
    await made.open()
    yield made
    await made.platform.close()


@pytest.fixture
async def on_both(both: Settings) -> AsyncIterator[Scheduled]:
    made = Scheduled(both, SetClock())
    await made.open()
    yield made
    await made.platform.close()
