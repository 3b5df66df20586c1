"""The tables of statements on real servers: what is allowed works, what is refused changes nothing even unpoliced."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from tests.resources.databases.services import (
    STATEMENTS,
    limited,
    mysql_ask,
    mysql_database,
    postgres_ask,
    postgres_schema,
)

from interlace.engine.errors import NodeError
from interlace.resources.databases import Databases, DatabaseUrl, duck, mysql, postgres, sqlite
from interlace.resources.databases.access import Place
from interlace.resources.databases.flight import Flight
from interlace.resources.databases.parameters import Bound
from interlace.resources.databases.pool import Pool
from interlace.resources.databases.result import Collector

SETUP = {
    "postgresql": [
        "CREATE TABLE t (id int PRIMARY KEY, a int, b text, c numeric, d timestamp, j jsonb, tags text[])",
        "CREATE TABLE u (id int, t_id int, name text)",
        "CREATE SEQUENCE sq",
        "INSERT INTO t VALUES (1, 1, 'a,b', 1.5, '2024-01-02', '{\"k\": [1], \"n\": 1}', '{x,y}'), (2, 2, NULL, 2, NULL, NULL, NULL)",
        "INSERT INTO u VALUES (1, 1, 'one')",
    ],
    "mysql": [
        "CREATE TABLE t (id int PRIMARY KEY, a int, b text, c decimal(10, 2), d datetime, j json)",
        "CREATE TABLE u (id int PRIMARY KEY, t_id int, name text)",
        "CREATE TABLE ft (b text, FULLTEXT KEY ft_b (b)) ENGINE=InnoDB",
        "INSERT INTO t VALUES (1, 1, 'a,b', 1.5, '2024-01-02', '{\"k\": [1], \"n\": 1}'), (2, 2, NULL, 2, NULL, NULL)",
        "INSERT INTO u VALUES (1, 1, 'one')",
    ],
    "duckdb": [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b VARCHAR, c DECIMAL(10, 2), d TIMESTAMP, j JSON, tags VARCHAR[])",
        "CREATE TABLE u (id INTEGER, t_id INT, name VARCHAR)",
        "CREATE SEQUENCE sq",
        "INSERT INTO t VALUES (1, 1, 'a,b', 1.5, '2024-01-02', '{\"k\": [1], \"n\": 1}', ['x', 'y']), (2, 2, NULL, 2, NULL, NULL, NULL)",
        "INSERT INTO u VALUES (1, 1, 'one')",
    ],
    "sqlite": [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT, c NUMERIC, d TEXT, j TEXT)",
        "CREATE INDEX t_a ON t (a)",
        "CREATE TABLE u (id INTEGER PRIMARY KEY, t_id INT, name TEXT)",
        "CREATE VIRTUAL TABLE ft USING fts5(body)",
        "INSERT INTO ft VALUES ('a word here')",
        "INSERT INTO t VALUES (1, 1, 'a,b', 1.5, '2024-01-02', '{\"k\": [1], \"n\": 1}'), (2, 2, NULL, 2, NULL, NULL)",
        "INSERT INTO u VALUES (1, 1, 'one')",
    ],
}


def statements(dialect: str, *decisions: str) -> list[str]:
    lines = (STATEMENTS / f"{dialect}.txt").read_text("utf-8").splitlines()
    return [line.partition(" ")[2] for line in lines if line.partition(" ")[0] in decisions]


class Live:
    """One database of a dialect, with a look at it from outside."""

    def __init__(self, url: str, databases: Databases, folder: Path) -> None:
        self.url, self.databases, self.file = url, databases, folder / "test.db"
        self.worker: duck.Worker | None = None
        self.address = DatabaseUrl.parse(url)
        self.dialect = self.address.dialect
        self.setup()

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        if self.dialect == "postgresql":
            return postgres_ask(self.url, sql)
        if self.dialect == "mysql":
            return mysql_ask(self.url, sql)
        if self.dialect == "duckdb":
            with closing(duckdb.connect(str(self.file))) as opened:
                return list(opened.execute(sql).fetchall())
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            return list(connection.execute(sql))

    def setup(self) -> None:
        for sql in SETUP[self.dialect]:
            self.ask(sql)
        if self.dialect == "postgresql":
            self.ask(f'GRANT ALL ON SCHEMA "{self.address.schema}" TO "{self.address.schema}"')
            self.ask(f'GRANT ALL ON ALL TABLES IN SCHEMA "{self.address.schema}" TO "{self.address.schema}"')

    def picture(self) -> object:
        """Everything a refused statement could have changed."""
        tables = {
            "postgresql": "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY 1",
            "mysql": "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1",
            "sqlite": "SELECT name FROM sqlite_master ORDER BY 1",
            "duckdb": "SELECT name FROM sqlite_master ORDER BY 1",
        }[self.dialect]
        rows = "SELECT id, a, b FROM t ORDER BY id"
        others = "SELECT id, name FROM u ORDER BY id"
        files = sorted(path.name for path in self.file.parent.iterdir())
        return self.ask(tables), self.ask(rows), self.ask(others), files

    async def unpoliced(self, sql: str) -> None:
        """Run as a query behind the policy's back, through the walls below it."""
        bound = Bound(sql.replace("%", "%%") if self.dialect == "mysql" else sql, (), sql, ())
        collector, flight = Collector(max_rows=5, max_bytes=10_000), Flight(5)
        place = Place(address="127.0.0.1", path=self.file)
        address = limited(self.address)
        if self.dialect == "postgresql":
            pool = Pool(1, postgres.close)
            await postgres.read(postgres.Lease(pool, address, place), bound, collector, flight)
            pool.close()
        elif self.dialect == "mysql":
            lease = mysql.Lease(Pool(1, mysql.close), address, place)
            await asyncio.to_thread(mysql.read, lease, bound, collector, flight)
            if lease.clean is not None:
                mysql.close(lease.clean)
        elif self.dialect == "duckdb":
            await self.in_worker(lambda worker: worker.read(self.file, bound, collector, flight))
        else:
            await asyncio.to_thread(sqlite.read, self.file, bound, collector, flight)

    async def in_worker(self, work: Callable[[duck.Worker], Awaitable[object]]) -> None:
        if self.worker is None or not self.worker.alive:
            if self.worker is not None:
                await self.worker.end()
            self.worker = await duck.Worker.start()
        await work(self.worker)

    async def unpoliced_write(self, statements: list[Bound]) -> None:
        """Run as a write behind the policy's back."""
        collector, flight = Collector(max_rows=1, max_bytes=1), Flight(5)
        place = Place(address="127.0.0.1", path=self.file)
        if self.dialect == "postgresql":
            lease = postgres.Lease(Pool(1, postgres.close), self.address, place)
            await postgres.write(lease, statements, collector, flight)
        elif self.dialect == "mysql":
            other = mysql.Lease(Pool(1, mysql.close), self.address, place)
            await asyncio.to_thread(mysql.write, other, statements, collector, flight, reusable=True)
        elif self.dialect == "duckdb":
            await self.in_worker(
                lambda worker: worker.write(
                    self.file, statements, collector, flight, mode="rw", returns=False
                )
            )
        else:
            await asyncio.to_thread(sqlite.write, self.file, statements, collector, flight, "rw")


@pytest.fixture
async def live(request: pytest.FixtureRequest, databases: Databases, tmp_path: Path) -> AsyncIterator[Live]:
    dialect = request.param
    if dialect in ("sqlite", "duckdb"):
        made = Live(f"{dialect}:///test.db", databases, tmp_path)
        yield made
        if made.worker is not None:
            await made.worker.end()
        return
    with postgres_schema() if dialect == "postgresql" else mysql_database() as url:
        yield Live(url, databases, tmp_path)


all_servers = pytest.mark.parametrize("live", ["postgresql", "mysql", "sqlite", "duckdb"], indirect=True)


@all_servers
async def test_every_allowed_query_runs(live: Live) -> None:
    failed = []
    for sql in statements(live.dialect, "read"):
        try:
            await live.databases.query(live.url, sql)
        except NodeError as error:
            failed.append((sql, error.kind, error.message))
    assert failed == []


@all_servers
async def test_every_write_and_ddl_runs_as_execute_only(live: Live) -> None:
    failed = []
    for decision in ("write", "ddl"):
        for sql in statements(live.dialect, decision):
            with pytest.raises(NodeError, match="not allowed"):
                await live.databases.query(live.url, sql)
            try:
                await live.databases.execute(live.url, sql, allow_ddl=decision == "ddl")
            except NodeError as error:
                failed.append((sql, error.kind, error.message))
    assert failed == []


@all_servers
async def test_refused_statements_never_reach_the_server(live: Live) -> None:
    before = live.picture()
    for sql in statements(live.dialect, "refuse", "policy"):
        for operation in (live.databases.query, live.databases.execute):
            with pytest.raises(NodeError) as caught:
                await operation(live.url, sql)
            assert caught.value.kind == "sql_refused", sql
    assert live.picture() == before


@all_servers
async def test_the_walls_behind_the_policy_keep_everything_as_it_is(live: Live) -> None:
    before = live.picture()
    ran = []
    for sql in statements(live.dialect, "refuse", "write", "ddl"):
        try:
            await live.unpoliced(sql)
            ran.append(sql)
        except NodeError:
            continue
    assert live.picture() == before
    if live.dialect in ("sqlite", "duckdb"):
        # Only reading statements that the parser refuses for want of certainty, none of them with effects.
        reading = (
            "SELECT",
            "EXPLAIN",
            ";",
            "VALUES",
            "FROM",
            "PIVOT",
            "UNPIVOT",
            "SUMMARIZE",
            "DESCRIBE",
            "SHOW",
        )
        assert all(sql.startswith(reading) for sql in ran), ran
        assert not [
            sql for sql in ran if re.search(r"/etc|https?:|never_interlace|read_|scan\(|glob", sql)
        ], ran
    words = {sql.split()[0].upper() for sql in ran}
    assert not words & {
        "INSERT",
        "UPDATE",
        "DELETE",
        "REPLACE",
        "MERGE",
        "CREATE",
        "ALTER",
        "DROP",
        "TRUNCATE",
        "RENAME",
    }
    assert not words & {"COPY", "LOAD", "CALL", "GRANT", "REVOKE", "ATTACH", "VACUUM", "PRAGMA", "REINDEX"}


@all_servers
async def test_a_write_takes_one_statement_even_unpoliced(live: Live) -> None:
    before = live.picture()
    sql = "DELETE FROM u; DELETE FROM t"
    work = live.unpoliced_write([Bound(sql, (), sql, ())])
    with pytest.raises(NodeError, match=r"multiple commands|SQL syntax|one statement|DELETE, DELETE"):
        await work
    assert live.picture() == before
