from __future__ import annotations

from pathlib import Path

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.databases.policy import Purpose, check
from interlace.resources.databases.url import DIALECTS, Dialect

TABLES = Path(__file__).parent / "statements"
PURPOSES: tuple[Purpose, ...] = ("read", "write", "ddl")
ALLOWED: dict[str, list[Purpose]] = {"read": ["read"], "write": ["write", "ddl"], "ddl": ["ddl"]}


def rows(dialect: Dialect) -> list[tuple[str, str]]:
    lines = (TABLES / f"{dialect}.txt").read_text("utf-8").splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines if line and line[0] != "#"]


CASES = [(dialect, decision, sql) for dialect in DIALECTS for decision, sql in rows(dialect)]


@pytest.mark.parametrize(("dialect", "decision", "sql"), CASES)
def test_each_statement_is_decided_as_the_table_says(dialect: Dialect, decision: str, sql: str) -> None:
    passed: list[Purpose] = []
    refusals: list[NodeError] = []
    for purpose in PURPOSES:
        try:
            check(dialect, sql, purpose)
            passed.append(purpose)
        except NodeError as error:
            refusals.append(error)
    assert {(error.kind, error.retryable, error.message[:30]) for error in refusals} <= {
        ("sql_refused", False, "The statement is not allowed: ")
    }
    assert passed == ALLOWED.get(decision, [])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_tables_hold_enough_of_each_kind(dialect: Dialect) -> None:
    decisions = [decision for decision, _ in rows(dialect)]
    assert len(decisions) > 160
    assert decisions.count("read") >= 45
    assert decisions.count("refuse") >= 75


@pytest.mark.parametrize("dialect", DIALECTS)
def test_deep_and_long_statements_are_refused_not_crashed_on(dialect: Dialect) -> None:
    for sql in ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "SELECT '" + "x" * 100_000 + "'"):
        with pytest.raises(NodeError, match=r"nested too deeply|longer than"):
            check(dialect, sql)


@pytest.mark.parametrize("sql", ["SELECT 1\x00", "SELECT '\x00'"])
def test_nul_is_refused(sql: str) -> None:
    with pytest.raises(NodeError, match="NUL"):
        check("postgresql", sql)


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("DELETE FROM t", "operation 'execute'"),
        ("DROP TABLE t", "operation 'execute'"),
        ("SELECT 1; SELECT 2", "one node for each"),
        ("SELECT pg_sleep(1)", "'pg_sleep' is not on the list"),
        ("SELECT a FROM t FOR UPDATE", "Locking reads"),
        ("EXPLAIN SELECT 1", "Use SELECT"),
    ],
)
def test_refusals_say_what_and_what_to_use(sql: str, hint: str) -> None:
    with pytest.raises(NodeError, match=hint):
        check("postgresql", sql)


VISIBLE = frozenset({"open", "sales.orders"})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM open",
        "SELECT * FROM OPEN AS o JOIN sales.orders ON true",
        "WITH x AS (SELECT * FROM open) SELECT * FROM x",
        "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 3) SELECT * FROM x",
        "WITH x AS (SELECT * FROM open), y AS (SELECT * FROM x) SELECT * FROM y",
        "SELECT * FROM (SELECT * FROM open) AS hidden",
        "SELECT * FROM generate_series(1, 2) AS hidden",
    ],
)
def test_visible_tables_may_be_named(sql: str) -> None:
    assert check("postgresql", sql, "read", VISIBLE).returns_rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM hidden",
        "SELECT * FROM open, hidden",
        "SELECT (SELECT count(*) FROM hidden) FROM open",
        "SELECT * FROM open WHERE a IN (SELECT a FROM hidden)",
        "SELECT * FROM orders",
        "SELECT * FROM other.open",
        "WITH hidden AS (SELECT * FROM hidden) SELECT * FROM hidden",
        "WITH x AS (SELECT * FROM hidden) SELECT * FROM x",
        "WITH x AS (SELECT * FROM y), y AS (SELECT 1) SELECT * FROM x",
        "SELECT * FROM open UNION SELECT * FROM hidden",
        "SELECT * FROM (WITH hidden AS (SELECT 1) SELECT * FROM hidden) AS x, hidden",
    ],
)
def test_hidden_tables_are_found_wherever_they_stand(sql: str) -> None:
    with pytest.raises(NodeError, match="not visible here"):
        check("postgresql", sql, "read", VISIBLE)
