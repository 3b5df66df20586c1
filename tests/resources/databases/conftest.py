from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.resources.databases.services import mysql_database, postgres_schema

from interlace.resources.databases import Databases


@pytest.fixture
async def databases(tmp_path: Path) -> AsyncIterator[Databases]:
    found = Databases(allow=["127.0.0.1", str(tmp_path)], base_dir=tmp_path)
    yield found
    await found.close()


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with postgres_schema() as url:
        yield url


@pytest.fixture(scope="module")
def mysql_url() -> Iterator[str]:
    with mysql_database() as url:
        yield url


@pytest.fixture(params=["postgresql", "mysql", "sqlite", "duckdb"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param in ("sqlite", "duckdb"):
        return f"{request.param}:///test.db"
    return str(request.getfixturevalue("postgres_url" if request.param == "postgresql" else "mysql_url"))
