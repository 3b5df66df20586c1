"""DuckDB's own walls: memory and time hold where its limits do not, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from interlace.engine.errors import NodeError
from interlace.resources.databases import Databases
from interlace.resources.databases.duck import Worker
from interlace.resources.databases.hiding import Hidden

URL = "duckdb:///d.duckdb"
HUGE = [
    "SELECT length(repeat('x', 2000000000))",
    "SELECT length(lpad('x', 2000000000, 'y'))",
    "SELECT len(range(1000000000))",
    "WITH a AS (SELECT repeat('x', 300000000) AS s) SELECT length(s || s || s || s || s || s) FROM a",
    "SELECT count(DISTINCT CAST(i AS varchar)) FROM range(300000000) AS r(i)",
    "SELECT len(list(i)) FROM range(1000000000) AS r(i)",
]
# three small tables side by side: nothing grows but the time
ENDLESS = (
    "SELECT count(*) FROM range(100000) AS a, range(100000) AS b, range(100000) AS c "
    "WHERE a.range * b.range + c.range = 7"
)


@pytest.fixture
async def made(databases: Databases, tmp_path: Path) -> Databases:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE SCHEMA sales")
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR, password VARCHAR)")
        connection.execute("COMMENT ON TABLE people IS 'Who buys'")
        connection.execute("COMMENT ON COLUMN people.name IS 'First name'")
        connection.execute("INSERT INTO people VALUES (1, 'Ann', 'hush'), (2, 'Bob', 'psst')")
        connection.execute("CREATE TABLE sales.orders (id INTEGER UNIQUE, person INTEGER)")
        connection.execute("CREATE VIEW names AS SELECT name FROM people")
    return databases


async def fails(work: Awaitable[Any]) -> NodeError:
    with pytest.raises(NodeError) as caught:
        await work
    return caught.value


@pytest.mark.parametrize("sql", HUGE)
async def test_what_needs_too_much_memory_ends_its_process_and_no_other(made: Databases, sql: str) -> None:
    error = await fails(made.query(URL, sql, timeout=15))
    assert (error.kind, error.retryable) in {("memory_limit", False), ("timeout", True)}, error
    assert (await made.query(URL, "SELECT count(*) AS n FROM people")).rows == [{"n": 2}]


async def test_the_deadline_kills_the_process(made: Databases) -> None:
    await made.query(URL, "SELECT 1")
    assert made._servers._duck is not None
    start = time.monotonic()
    error = await fails(made.query(URL, ENDLESS, timeout=0.4))
    assert time.monotonic() - start < 1.4
    assert error.kind == "timeout"
    await asyncio.gather(*made._servers._duck._ending)
    assert await made.query(URL, "SELECT 1")


async def test_a_process_is_used_again_and_ends_with_the_rest(made: Databases) -> None:
    for _ in range(3):
        await made.query(URL, "SELECT 1")
        assert (await fails(made.query(URL, "SELECT nope FROM people"))).kind == "sql_error"
    assert made._servers._duck is not None
    ((_, worker),) = made._servers._duck._pool._idle
    pid = worker._process.pid
    await made.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_reads_and_writes_at_once_wait_for_each_other(made: Databases) -> None:
    reads = [made.query(URL, "SELECT count(*) AS n FROM people") for _ in range(6)]
    writes = [
        made.execute(URL, "INSERT INTO people VALUES (:id, 'x', 'y')", {"id": number})
        for number in range(10, 14)
    ]
    await asyncio.gather(*reads, *writes)
    assert (await made.query(URL, "SELECT count(*) AS n FROM people")).rows == [{"n": 6}]


async def test_a_file_that_another_process_holds_is_waited_for_and_then_refused(
    made: Databases, tmp_path: Path
) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")):
        error = await fails(made.query(URL, "SELECT 1", timeout=3))
    assert (error.kind, error.retryable) in {("overloaded", True), ("timeout", True)}
    assert str(tmp_path) not in error.message


async def test_other_files_are_no_databases(databases: Databases, tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text(
        "not a database, only text that is long enough to be looked at" * 200
    )
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t (a)")
    other.close()
    for name in ("text.duckdb", "other.db", "none.duckdb"):
        error = await fails(databases.query(f"duckdb:///{name}", "SELECT 1"))
        assert (error.kind, error.retryable) == ("connection", False), error
        assert str(tmp_path) not in error.message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.db", "text.duckdb"]  # noqa: ASYNC240 - a look


async def test_the_process_knows_no_secret_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLACE_SECRET_KEY", "canary-canary")
    worker = await Worker.start()
    try:
        environment = Path(f"/proc/{worker._process.pid}/environ").read_bytes()  # noqa: ASYNC240 - of the kernel
        assert b"canary" not in environment
        assert b"HOME=/nonexistent" in environment
    finally:
        await worker.end()


async def test_what_it_holds(made: Databases) -> None:
    found = await made.tables(URL)
    assert [(table.schema, table.name, table.kind, table.description) for table in found] == [
        ("", "names", "view", ""), ("", "people", "table", "Who buys"), ("sales", "orders", "table", ""),
    ]  # fmt: skip
    columns = await made.columns(URL, "people")
    assert [(c.name, c.type, c.key, c.description) for c in columns] == [
        ("id", "INTEGER", "primary", ""), ("name", "VARCHAR", "", "First name"), ("password", "VARCHAR", "", ""),
    ]  # fmt: skip
    assert [(c.name, c.key) for c in await made.columns(URL, "sales.orders")] == [
        ("id", "unique"),
        ("person", ""),
    ]
    assert (await made.query(URL, "SELECT id FROM sales.orders")).row_count == 0


HIDDEN = Hidden.of(["orders"], {"people": ["password"]})


@pytest.mark.parametrize(
    "sql",
    [
        "FROM people", "SELECT * EXCLUDE (id) FROM people", "SELECT COLUMNS('pass.*') FROM people",
        "SELECT COLUMNS(c -> c LIKE 'p%') FROM people", "SELECT #3 FROM people", "SELECT people FROM people",
        "SELECT unnest(people) FROM people", "SELECT to_json(p) FROM people p", "SELECT struct_values(p) FROM people p",
        "SELECT v FROM people UNPIVOT (v FOR n IN (password))", "PIVOT people ON id USING first(name)",
        "SELECT x FROM (PIVOT people ON id USING first(name)) AS x", "SUMMARIZE people", "DESCRIBE people",
        "SELECT p['password'] FROM people p", "SELECT name FROM people POSITIONAL JOIN names SELECT *",
        "SELECT id FROM sales.orders", 'SELECT id FROM "orders"', "SELECT sql FROM sqlite_master",
        "SELECT arg_max(p, p.id) FROM people p", "SELECT list(p) FROM people p", "SELECT hash(people) FROM people",
        "SELECT first(people) FROM people", "SELECT * FROM query_table('people')", "SELECT max(people) FROM people",
        "SELECT name FROM people ORDER BY ALL, password", "SELECT row(people.*) FROM people", "TABLE people",
    ],
)  # fmt: skip
async def test_nothing_gives_what_is_hidden(made: Databases, sql: str) -> None:
    error = await fails(made.query(URL, sql, hidden=HIDDEN))
    assert error.kind == "sql_refused", error
    assert "hush" not in error.message


async def test_large_rows_and_streams(made: Databases) -> None:
    many = await made.query(URL, "SELECT i, repeat('x', 100) AS s FROM range(5000) AS r(i)", max_rows=5000)
    assert (many.row_count, many.truncated, many.rows[-1]["i"]) == (5000, False, 4999)
    wide = await made.query(URL, "SELECT repeat('x', 3000000) AS s FROM range(50)")
    assert wide.truncated
    assert 4 <= wide.row_count <= 6
    wider = await made.query(URL, "SELECT repeat('x', 30000000) AS s FROM range(5)")
    assert (wider.row_count, wider.truncated) == (0, True)


async def test_typed_parameters(made: Databases) -> None:
    for value, kind in (
        (1, "INTEGER"),
        (1.5, "DOUBLE"),
        ("x", "VARCHAR"),
        (True, "BOOLEAN"),
        (2**40, "BIGINT"),
    ):
        assert (await made.query(URL, "SELECT typeof(:v) AS t, :v AS v", {"v": value})).rows == [
            {"t": kind, "v": value}
        ]
    injected = {"name": "x' OR 1=1; DROP TABLE people; --"}
    assert (await made.query(URL, "SELECT id FROM people WHERE name = :name", injected)).rows == []
    day = await made.query(URL, "SELECT 1 AS x WHERE DATE '2024-01-02' > :day", {"day": "2024-01-01"})
    assert day.row_count == 1
