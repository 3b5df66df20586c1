"""The operations on real servers: values, caps, transactions, deadlines, and what they leave behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.resources.databases.services import mysql_ask, postgres_ask

from interlace.engine.errors import NodeError
from interlace.resources.databases import Databases

KEY = {
    "postgresql": "serial PRIMARY KEY",
    "mysql": "int AUTO_INCREMENT PRIMARY KEY",
    "sqlite": "INTEGER PRIMARY KEY",
    "duckdb": "INTEGER PRIMARY KEY DEFAULT nextval('ids')",
}
SLOW = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000000) SELECT count(*) FROM r"
SLOW_MYSQL = "SELECT count(*) FROM p a, p b, p c, p d, p e, p f WHERE concat(a.n, b.n, c.n, d.n, e.n) <> f.n"


def dialect_of(url: str) -> str:
    return url.partition(":")[0]


@pytest.fixture
async def table(url: str, databases: Databases) -> str:
    await databases.execute(url, "DROP TABLE IF EXISTS p", allow_ddl=True)
    if dialect_of(url) == "duckdb":
        await databases.execute(url, "CREATE SEQUENCE IF NOT EXISTS ids", allow_ddl=True)
    await databases.execute(
        url, f"CREATE TABLE p (id {KEY[dialect_of(url)]}, n int UNIQUE, s varchar(200))", allow_ddl=True
    )
    return url


async def fails(work: Awaitable[Any]) -> NodeError:
    with pytest.raises(NodeError) as caught:
        await work
    return caught.value


async def count(databases: Databases, url: str) -> Any:
    return (await databases.query(url, "SELECT count(*) AS c FROM p")).rows[0]["c"]


async def test_rows_go_in_and_come_back(table: str, databases: Databases) -> None:
    rows = [{"n": n, "s": f"it's \\ {n} % é 😀 \"'; DROP TABLE p"} for n in range(1200)]
    assert (await databases.insert_many(table, "p", rows)).row_count == 1200
    found = await databases.query(table, "SELECT n, s FROM p WHERE n < :most ORDER BY n", {"most": 3})
    assert found.rows == rows[:3]
    assert [column.name for column in found.columns] == ["n", "s"]
    assert (found.row_count, found.truncated) == (3, False)


async def test_caps_of_rows_and_bytes_and_streams(table: str, databases: Databases) -> None:
    await databases.insert_many(table, "p", [{"n": n, "s": "x" * 100} for n in range(1500)])
    cut = await databases.query(table, "SELECT n FROM p ORDER BY n LIMIT 1400", max_rows=1000)
    assert (cut.row_count, cut.truncated, cut.rows[-1]) == (1000, True, {"n": 999})
    exact = await databases.query(table, "SELECT n FROM p", max_rows=1500)
    assert (exact.row_count, exact.truncated) == (1500, False)
    small = await databases.query(table, "SELECT * FROM p", max_bytes=5_000)
    assert small.truncated
    assert 30 < small.row_count < 50
    batches: list[int] = []

    async def take(rows: list[dict[str, object]]) -> None:
        batches.append(len(rows))

    streamed = await databases.query(table, "SELECT * FROM p", max_rows=10_000, stream=take)
    assert (streamed.rows, streamed.row_count, sum(batches)) == ([], 1500, 1500)
    assert len(batches) > 1
    assert (await databases.query(table, "SELECT 1 AS one")).rows == [{"one": 1}]


async def test_a_failing_stream_ends_the_query(table: str, databases: Databases) -> None:
    await databases.insert_many(table, "p", [{"n": n} for n in range(500)])

    async def refuse(rows: list[dict[str, object]]) -> None:
        raise KeyError("full")

    with pytest.raises(KeyError):
        await databases.query(table, "SELECT * FROM p", stream=refuse)
    assert await count(databases, table) == 500


async def test_lists_and_empty_lists(table: str, databases: Databases) -> None:
    await databases.insert_many(table, "p", [{"n": n, "s": str(n)} for n in range(10)])
    for sql, ids, expected in (
        ("SELECT n FROM p WHERE n IN (:ids)", [1, 2, 99], 2),
        ("SELECT n FROM p WHERE s IN (:ids)", ["1", "x'y"], 1),
        ("SELECT n FROM p WHERE n IN (:ids)", [], 0),
        ("SELECT n FROM p WHERE n NOT IN (:ids)", [], 10),
        ("SELECT n FROM p WHERE s NOT IN (:ids) AND n IN (:ids)", [], 0),
    ):
        assert (await databases.query(table, sql, {"ids": ids})).row_count == expected
    assert (await databases.execute(table, "DELETE FROM p WHERE n IN (:ids)", {"ids": [3, 4]})).row_count == 2
    assert (await databases.execute(table, "DELETE FROM p WHERE n IN (:ids)", {"ids": []})).row_count == 0


async def test_writes_say_what_they_did(table: str, databases: Databases) -> None:
    await databases.insert_many(table, "p", [{"n": n, "s": "a"} for n in range(5)])
    assert (await databases.execute(table, "UPDATE p SET s = 'a' WHERE n < 3")).row_count == 3
    gone = await databases.execute(table, "DELETE FROM p WHERE n >= :n RETURNING n, s", {"n": 3})
    assert gone.row_count == 2
    assert sorted(gone.rows, key=str) == [{"n": 3, "s": "a"}, {"n": 4, "s": "a"}]
    assert [column.name for column in gone.columns] == ["n", "s"]
    cut = await databases.execute(table, "DELETE FROM p RETURNING n", max_rows=1)
    assert (cut.row_count, len(cut.rows), cut.truncated) == (3, 1, True)


async def test_a_write_is_whole_or_not_at_all(table: str, databases: Databases) -> None:
    rows = [{"n": n} for n in range(1500)] + [{"n": 7}]
    error = await fails(databases.insert_many(table, "p", rows))
    assert (error.kind, error.retryable) == ("constraint", False)
    assert await count(databases, table) == 0
    await databases.insert_many(table, "p", [{"n": 1}, {"n": 2}])
    assert (await fails(databases.execute(table, "UPDATE p SET n = 1"))).kind == "constraint"
    assert await count(databases, table) == 2


async def test_insert_many_checks_names_and_rows(table: str, databases: Databases) -> None:
    assert (await databases.insert_many(table, "p", [])).row_count == 0
    for name, rows, kind in (
        ('p" (n) SELECT 1; --', [{"n": 1}], "identifier"),
        ("p`", [{"n": 1}], "identifier"),
        ("a.b.c", [{"n": 1}], "identifier"),
        ("", [{"n": 1}], "identifier"),
        ("p", [{'n) VALUES (1); --`"': 1}], "identifier"),
        ("p", [{"n": 1}, {"s": 1}], "parameters"),
        ("p", [{}], "parameters"),
        ("p", [{"n": float("nan")}], "parameters"),
        ("p", [{"nope": 1}], "sql_error"),
        ("nowhere", [{"n": 1}], "sql_error"),
    ):
        error = await fails(databases.insert_many(table, name, rows))
        assert error.kind == kind, (name, rows, error)
    assert await count(databases, table) == 0


async def test_errors_name_the_place_and_hide_the_password(table: str, databases: Databases) -> None:
    url = table
    error = await fails(databases.query(url, "SELECT 1,\n       nope FROM (SELECT 1 AS x) AS y"))
    assert error.kind == "sql_error"
    assert "nope" in error.message
    if dialect_of(url) == "postgresql":
        assert "line 2, column 8" in error.message
        wrong = url.replace("postgres:root", "nobody_here:hunter2-s3cret")
        refused = await fails(databases.query(wrong, "SELECT 1"))
        assert (refused.kind, "hunter2" in refused.message) == ("connection", False)
    if dialect_of(url) == "mysql":
        wrong = url.replace("root@", "nobody_here:hunter2-s3cret@")
        refused = await fails(databases.query(wrong, "SELECT 1"))
        assert (refused.kind, refused.retryable, "hunter2" in refused.message) == ("connection", False, False)


async def test_nobody_listens(databases: Databases) -> None:
    for url in ("postgresql://u:pw@127.0.0.1:1/x", "mysql://u:pw@127.0.0.1:1/x"):
        error = await fails(databases.query(url, "SELECT 1"))
        assert (error.kind, error.retryable) == ("connection", True)
        report = await databases.check(url)
        assert not report.reachable
        assert report.error


async def test_a_missing_file_is_not_made_by_reading_or_writing(databases: Databases, tmp_path: Path) -> None:
    for work in (
        databases.query("sqlite:///none.db", "SELECT 1"),
        databases.execute("sqlite:///none.db", "DELETE FROM t"),
        databases.insert_many("sqlite:///none.db", "t", [{"a": 1}]),
    ):
        assert (await fails(work)).kind == "connection"
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - a look at an empty folder
    (tmp_path / "text.db").write_text("not a database, only text that is long enough to be looked at" * 20)
    assert (await fails(databases.query("sqlite:///text.db", "SELECT * FROM t"))).kind == "connection"


class Watch:
    """Looks from another session at the connection that the next operation will use."""

    def __init__(self, databases: Databases, url: str) -> None:
        self.url, self.pid = url, 0
        if dialect_of(url) == "postgresql":
            (pool,) = databases._servers._postgres.values()
            self.pid = pool._idle[-1][1].info.backend_pid

    async def busy(self) -> bool:
        if self.pid:
            sql = f"SELECT 1 FROM pg_stat_activity WHERE pid = {self.pid} AND state <> 'idle'"
            return bool(await asyncio.to_thread(postgres_ask, self.url, sql))
        if dialect_of(self.url) == "mysql":
            sql = (
                "SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE '%concat(%'"
            )
            found = await asyncio.to_thread(mysql_ask, self.url, sql + " AND info NOT LIKE '%processlist%'")
            return bool(found)
        return False

    async def at_rest(self) -> bool:
        """Whether the server is at rest within a second."""
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            if not await self.busy():
                return True
        return False


async def slow(databases: Databases, url: str) -> str:
    await databases.insert_many(url, "p", [{"n": n, "s": "x"} for n in range(500)])
    return SLOW_MYSQL if dialect_of(url) == "mysql" else SLOW


async def test_the_deadline_ends_a_long_query_within_a_second(table: str, databases: Databases) -> None:
    sql, watch = await slow(databases, table), Watch(databases, table)
    start = time.monotonic()
    error = await fails(databases.query(table, sql, timeout=0.4))
    assert time.monotonic() - start < 1.4
    assert (error.kind, "0.4 s" in error.message) == ("timeout", True)
    assert await watch.at_rest()
    assert await count(databases, table) == 500


async def test_cancelling_ends_a_long_query_too(table: str, databases: Databases) -> None:
    sql, watch = await slow(databases, table), Watch(databases, table)
    task = asyncio.ensure_future(databases.query(table, sql))
    if dialect_of(table) not in ("sqlite", "duckdb"):
        while not await watch.busy():
            pass
    else:
        await asyncio.sleep(0)
    start = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - start < 1
    assert await watch.at_rest()


async def test_a_write_past_its_deadline_changes_nothing(table: str, databases: Databases) -> None:
    sql, watch = await slow(databases, table), Watch(databases, table)
    write = (
        f"INSERT INTO p (n) {sql}"
        if dialect_of(table) == "mysql"
        else f"INSERT INTO p (n) SELECT 1000 FROM ({sql}) AS x"
    )
    error = await fails(databases.execute(table, write, timeout=0.4))
    assert (error.kind, "nothing was changed" in error.message) == ("timeout", True)
    assert await watch.at_rest()
    assert (await databases.insert_many(table, "p", [{"n": 1000}])).row_count == 1


async def test_a_lock_held_by_another_ends_at_the_deadline(table: str, databases: Databases) -> None:
    if dialect_of(table) != "postgresql":
        pytest.skip("the other servers' locks are covered by their own waits")
    with psycopg.connect("host=127.0.0.1 user=postgres password=root dbname=test") as other:
        other.execute(f'LOCK TABLE "{table.rpartition("=")[2]}".p')
        assert (await fails(databases.execute(table, "DELETE FROM p", timeout=0.3))).kind == "timeout"


async def left_settings(connection: Any) -> tuple[Any, ...]:
    """What an operation sets for itself, as a resting connection has it."""
    if isinstance(connection, psycopg.AsyncConnection):
        names = ("statement_timeout", "idle_in_transaction_session_timeout", "transaction_read_only")
        sql = ", ".join(f"current_setting('{name}')" for name in names)
        return tuple(await (await connection.execute(f"SELECT {sql}")).fetchone() or ())
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@sql_select_limit, @@tx_read_only, @@max_statement_time")
        found = cursor.fetchone()
    return int(found[0]), int(found[1]), float(found[2])


async def test_connections_are_reused_and_forget_everything(table: str, databases: Databases) -> None:
    identity = {"postgresql": "pg_backend_pid()", "mysql": "connection_id()"}.get(dialect_of(table))
    if identity is None:
        pytest.skip("files are opened for each operation")
    pools: dict[Any, Any] = (
        databases._servers._postgres if dialect_of(table) == "postgresql" else databases._servers._mysql
    )  # type: ignore[assignment]
    for _ in range(3):
        await databases.query(table, "SELECT n FROM p WHERE n = :n", {"n": 1})
        await databases.insert_many(table, "p", [{"n": 5}])
        await databases.execute(table, "DELETE FROM p")
    (pool,) = pools.values()
    assert pool.idle == 1
    assert (
        await left_settings(pool._idle[0][1])
        == {"postgresql": ("0", "0", "off"), "mysql": (2**64 - 1, 0, 0.0)}[dialect_of(table)]
    )
    await asyncio.gather(*(databases.query(table, "SELECT 1 AS x") for _ in range(12)))
    assert 1 <= pool.idle <= 4
    await databases.close()
    assert pool.idle == 0


async def test_a_connection_the_server_closed_is_replaced(table: str, databases: Databases) -> None:
    if dialect_of(table) in ("sqlite", "duckdb"):
        pytest.skip("files are opened for each operation")
    await databases.query(table, "SELECT 1 AS x")
    if dialect_of(table) == "postgresql":
        (pool,) = databases._servers._postgres.values()
        pid = pool._idle[0][1].info.backend_pid
        postgres_ask(table, f"SELECT pg_terminate_backend({pid})")
    else:
        (other,) = databases._servers._mysql.values()
        mysql_ask(table, f"KILL {other._idle[0][1].thread_id()}")  # type: ignore[no-untyped-call]
    assert (await databases.query(table, "SELECT 1 AS x")).row_count == 1


async def test_what_a_database_holds(table: str, databases: Databases) -> None:
    await databases.execute(
        table, "CREATE TABLE q (p_id int NOT NULL, FOREIGN KEY (p_id) REFERENCES p (id))", allow_ddl=True
    )
    try:
        found = await databases.tables(table)
        assert [(info.name, info.kind) for info in found if info.name in "pq"] == [
            ("p", "table"),
            ("q", "table"),
        ]
        columns = await databases.columns(table, "p")
        assert [(c.name, c.key) for c in columns][:2] in (
            [("id", "primary"), ("n", "unique")],
            [("id", "primary"), ("n", "")],
        )
        (only,) = await databases.columns(table, "q")
        assert (only.name, only.nullable, only.key) == ("p_id", False, "foreign")
        assert await databases.columns(table, "nowhere") == []
    finally:
        await databases.execute(table, "DROP TABLE q", allow_ddl=True)


async def test_the_report_warns_of_a_mighty_user(url: str, table: str, databases: Databases) -> None:
    report = await databases.check(table)
    assert report.reachable
    assert report.version
    assert bool(report.warnings) == (dialect_of(table) not in ("sqlite", "duckdb"))
    if report.warnings:
        assert "only has SELECT" in report.warnings[-1]
