"""A new database has the tables that the migrations make, whichever way it came by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import URL, Connection, inspect, make_url, text
from tests.store.conftest import SERVER

from interlace.store.creation import create
from interlace.store.migration import HEAD, exclusive, migrate


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], URL]]:
    """Makes an empty database of a name."""
    if request.param == "sqlite":
        yield lambda name: URL.create("sqlite", database=str(tmp_path / f"{name}.db"))
        return
    base: str = request.getfixturevalue("postgres_url")
    made: list[str] = []

    def make(name: str) -> URL:
        made.append(f"{base.rpartition('/')[2]}_{name}")
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(made[-1])))
        return make_url(f"{base.rpartition('/')[0]}/{made[-1]}").set(drivername="postgresql+psycopg")

    yield make
    with psycopg.connect(SERVER, autocommit=True) as server:
        for name in made:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def described(connection: Connection) -> dict[str, Any]:
    """Everything of the schema that decides what a statement does, and the rows that are there from the start."""
    found = inspect(connection)
    tables: dict[str, Any] = {}
    for name in found.get_table_names():
        columns = {
            column["name"]: (str(column["type"]), column["nullable"], str(column["default"]))
            for column in found.get_columns(name)
        }
        unique = sorted(str(sorted(each.items(), key=str)) for each in found.get_unique_constraints(name))
        primary = found.get_pk_constraint(name)["constrained_columns"]
        tables[name] = (columns, unique, primary, found.get_check_constraints(name))
    rest = (
        _more_of_sqlite(connection) if connection.dialect.name == "sqlite" else _more_of_postgres(connection)
    )
    people = connection.execute(text("SELECT id, name, operator, email FROM users")).all()
    return {
        "tables": tables, "rest": rest, "people": people,
        "revision": connection.execute(text("SELECT version_num FROM alembic_version")).scalar(),
    }  # fmt: skip


def _more_of_sqlite(connection: Connection) -> set[tuple[str, ...]]:
    """Indexes and triggers as they are written, and which tables have no row ids."""
    rows = connection.execute(text("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")).all()
    written = {(kind, name, re.sub(r"\s+", " ", sql)) for kind, name, sql in rows if kind != "table"}
    return written | {
        ("without row ids", name) for _, name, sql in rows if sql.rstrip().endswith("WITHOUT ROWID")
    }


def _more_of_postgres(connection: Connection) -> set[tuple[str, ...]]:
    """Indexes and triggers as they are written."""
    indexes = connection.execute(
        text("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'")
    )
    triggers = connection.execute(
        text(
            "SELECT tgname, pg_get_triggerdef(oid), pg_get_functiondef(tgfoid) FROM pg_trigger WHERE NOT tgisinternal"
        )
    )
    return {tuple(row) for row in indexes} | {tuple(row) for row in triggers}


def test_made_at_once_or_by_the_migrations(empty: Callable[[str], URL]) -> None:
    with exclusive(empty("made"), lock=True) as connection:
        create(connection, HEAD)
        made = described(connection)
    with exclusive(empty("migrated"), lock=True) as connection:
        migrate(connection, "head")
        migrated = described(connection)
    assert made["tables"].keys() == migrated["tables"].keys()
    for name, table in migrated["tables"].items():
        assert made["tables"][name] == table, name
    assert made == migrated
