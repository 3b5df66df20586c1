"""The world outside, and the homes that are killed in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from tests.crash.counter import Counter
from tests.crash.homes import Home, make_home, postgres_database
from tests.crash.matrix import Matrix

SERVER = os.environ.get("INTERLACE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
LANES = 2


@pytest.fixture(scope="module")
def counter() -> Iterator[Counter]:
    with Counter() as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> str:
    """The server on which tests make databases of their own."""
    try:
        psycopg.connect(SERVER, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL at {SERVER}: {error}")
    return SERVER


@pytest.fixture(scope="module")
def sqlite_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return asyncio.run(make_home(tmp_path_factory.mktemp("sqlite") / "template"))


@pytest.fixture(scope="module")
def sqlite_matrix(
    sqlite_home: Home, tmp_path_factory: pytest.TempPathFactory, counter: Counter
) -> Iterator[Matrix]:
    with Matrix([sqlite_home] * LANES, tmp_path_factory.mktemp("sqlite-matrix"), counter) as matrix:
        yield matrix


@pytest.fixture(scope="module")
def postgres_matrix(
    postgres: str, tmp_path_factory: pytest.TempPathFactory, counter: Counter
) -> Iterator[Matrix]:
    folder = tmp_path_factory.mktemp("postgres-matrix")
    with ExitStack() as stack:
        homes = []
        for lane in range(LANES):
            url = stack.enter_context(postgres_database(postgres, f"interlace_crash_{os.getpid()}_{lane}"))
            homes.append(asyncio.run(make_home(folder / f"home{lane}", url)))
        yield stack.enter_context(Matrix(homes, folder, counter))
