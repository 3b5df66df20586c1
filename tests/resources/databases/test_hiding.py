"""What is hidden is neither named nor given unnamed; decided by the policy, and live on each database."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.databases import Databases, sqlite
from interlace.resources.databases.flight import Flight
from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.parameters import bind
from interlace.resources.databases.policy import check
from interlace.resources.databases.result import Collector
from interlace.resources.databases.url import DIALECTS

HIDDEN = Hidden.of(["salaries"], {"people": ["password"]})
REFUSED = [
    "SELECT * FROM salaries",
    "SELECT amount FROM main.SALARIES",
    'SELECT amount FROM "Salaries"',
    "SELECT id FROM people WHERE id IN (SELECT person FROM salaries)",
    "WITH s AS (SELECT amount FROM salaries) SELECT amount FROM s",
    "SELECT * FROM people",
    "SELECT p.* FROM people p",
    "SELECT id, p.* FROM people AS p JOIN orders o ON o.person = p.id",
    "SELECT password FROM people",
    "SELECT p.PassWord AS x FROM people p",
    'SELECT "password" FROM people',
    "SELECT id FROM people WHERE password LIKE 'a%'",
    "SELECT id FROM people ORDER BY password",
    "SELECT count(password) FROM people",
    "SELECT x FROM (SELECT * FROM people) AS t(x, y)",
    "WITH t AS (SELECT * FROM people) SELECT id FROM t",
    "SELECT a FROM people AS p(a, b, c)",
    "SELECT id FROM orders UNION SELECT password FROM people",
    "SELECT id FROM people NATURAL JOIN guesses",
    "SELECT g.id FROM guesses g NATURAL JOIN people",
    "SELECT o.id FROM orders o JOIN people p USING (password)",
    "SELECT (SELECT password FROM people LIMIT 1)",
    "SELECT table_name FROM information_schema.columns",
]
POSTGRES = [
    "SELECT people FROM people",
    "SELECT p FROM people p",
    "SELECT to_jsonb(p) FROM people p",
    "SELECT row_to_json(people) FROM public.people",
    "SELECT (p).password FROM people p",
    "SELECT (people).* FROM people",
    "TABLE people",
    "SELECT p::text FROM people p",
]
ALLOWED = [
    "SELECT id, name FROM people",
    "SELECT count(*) FROM people",
    "SELECT p.id, o.total FROM people p JOIN orders o ON o.person = p.id WHERE p.name = :name",
    "SELECT * FROM orders",
    "SELECT password FROM vault",
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", REFUSED)
def test_refused(dialect: str, sql: str) -> None:
    if dialect == "mysql" and '"' in sql:
        pytest.skip("a text, not a name, in MySQL")
    with pytest.raises(NodeError) as caught:
        check(dialect, sql, "read", None, HIDDEN)  # type: ignore[arg-type]
    assert caught.value.kind == "sql_refused"


@pytest.mark.parametrize("sql", POSTGRES)
def test_whole_rows_of_postgresql(sql: str) -> None:
    with pytest.raises(NodeError) as caught:
        check("postgresql", sql, "read", None, HIDDEN)
    assert caught.value.kind == "sql_refused"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", ALLOWED)
def test_allowed(dialect: str, sql: str) -> None:
    assert check(dialect, sql, "read", None, HIDDEN).purpose == "read"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE people SET password = 'x' WHERE id = 1",
        "UPDATE people SET name = password",
        "INSERT INTO people VALUES (1, 'a', 'b')",
        "INSERT INTO orders (id) SELECT password FROM people",
        "DELETE FROM people WHERE id = 1 RETURNING *",
        "DELETE FROM salaries WHERE amount = 1",
    ],
)
def test_writes(sql: str) -> None:
    with pytest.raises(NodeError) as caught:
        check("postgresql", sql, "write", None, HIDDEN)
    assert caught.value.kind == "sql_refused"


async def test_live(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with sqlite3.connect(file) as made:
        made.execute("CREATE TABLE people (id, name, password)")
        made.execute("INSERT INTO people VALUES (1, 'Ann', 'hush')")
    made.close()
    databases = Databases(allow=[str(tmp_path)], base_dir=tmp_path)
    try:
        found = await databases.query(f"sqlite:///{file}", "SELECT id, name FROM people", hidden=HIDDEN)
        assert found.rows == [{"id": 1, "name": "Ann"}]
        for statement in ("SELECT * FROM people", "SELECT password FROM people"):
            with pytest.raises(NodeError):
                await databases.query(f"sqlite:///{file}", statement, hidden=HIDDEN)
    finally:
        await databases.close()


async def test_sqlite_itself_reads_nothing_hidden(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with sqlite3.connect(file) as made:
        made.executescript(
            "CREATE TABLE people (id, name, password); INSERT INTO people VALUES (1, 'Ann', 'hush');"
            "CREATE TABLE salaries (id, amount); INSERT INTO salaries VALUES (1, 4711);"
            "CREATE TABLE keyed (secretno INTEGER PRIMARY KEY, name); INSERT INTO keyed VALUES (4711, 'x');"
            "CREATE VIEW v AS SELECT password AS p FROM people; CREATE TABLE log (p);"
            "CREATE TRIGGER t AFTER UPDATE ON people BEGIN INSERT INTO log SELECT old.password; END;"
        )
    made.close()
    hidden = Hidden.of(["salaries"], {"people": ["password"], "keyed": ["secretno"]})
    for sql in (
        "SELECT * FROM 'people'", "SELECT p.'password' FROM people p", "SELECT * FROM v", "SELECT 4711 IN (SELECT amount FROM salaries)",
        "SELECT (1, 4711) IN salaries", "SELECT count(*) FROM salaries", "SELECT rowid FROM keyed", "SELECT _rowid_ FROM keyed",
        "SELECT name FROM keyed WHERE oid = 4711", "SELECT name FROM people ORDER BY password",
    ):  # fmt: skip
        collector = Collector(max_rows=10, max_bytes=1_000)
        with pytest.raises(NodeError) as caught:
            await asyncio.to_thread(
                sqlite.read, file, bind("sqlite", sql, {}), collector, Flight(5), hidden=hidden
            )
        assert "hush" not in caught.value.message
        assert collector.rows == []
    for sql in (
        "UPDATE people SET name = 'Eve'", "DELETE FROM 'salaries'", "UPDATE people SET password = 'x'", "DELETE FROM keyed WHERE rowid = 4711",
    ):  # fmt: skip
        with pytest.raises(NodeError):
            await asyncio.to_thread(
                sqlite.write,
                file,
                [bind("sqlite", sql, {})],
                Collector(max_rows=1, max_bytes=100),
                Flight(5),
                "rw",
                hidden=hidden,
            )
    fine = Collector(max_rows=10, max_bytes=1_000)
    await asyncio.to_thread(
        sqlite.read, file, bind("sqlite", "SELECT id, name FROM people", {}), fine, Flight(5), hidden=hidden
    )
    assert fine.rows == [{"id": 1, "name": "Ann"}]
