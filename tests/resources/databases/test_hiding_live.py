"""Hidden tables and columns on real servers: nothing gives them, neither rows, nor views, nor the words of errors."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest
from tests.resources.databases.services import postgres_ask

from interlace.engine.errors import NodeError
from interlace.resources.databases import Databases
from interlace.resources.databases.hiding import Hidden

HIDDEN = Hidden.of(["salaries"], {"people": ["password"]})
SECRETS = ("hush", "psst", "4711")
SETUP = [
    "DROP VIEW IF EXISTS v_over", "DROP VIEW IF EXISTS v_all", "DROP VIEW IF EXISTS v_named", "DROP VIEW IF EXISTS v_computed",
    "DROP VIEW IF EXISTS v_table", "DROP VIEW IF EXISTS v_where", "DROP VIEW IF EXISTS v_open",
    "DROP TABLE IF EXISTS people", "DROP TABLE IF EXISTS salaries", "DROP TABLE IF EXISTS orders",
    "CREATE TABLE people (id int PRIMARY KEY, name varchar(50) NOT NULL, password varchar(50) UNIQUE)",
    "CREATE TABLE salaries (person int, amount int)",
    "CREATE TABLE orders (id int, person int, password varchar(50))",
    "CREATE VIEW v_all AS SELECT * FROM people",
    "CREATE VIEW v_named AS SELECT id, password AS p FROM people",
    "CREATE VIEW v_computed AS SELECT id, length(password) AS l FROM people",
    "CREATE VIEW v_where AS SELECT id FROM people WHERE password LIKE 'h%'",
    "CREATE VIEW v_table AS SELECT amount AS a FROM salaries",
    "CREATE VIEW v_over AS SELECT p AS q FROM v_named",
    "CREATE VIEW v_open AS SELECT id, name FROM people",
]  # fmt: skip
STATEMENTS = [
    "SELECT * FROM people", "SELECT p.* FROM people p", "SELECT people.* FROM people", "SELECT password FROM people",
    "SELECT p.PASSWORD AS x FROM people AS p", "SELECT max(password) FROM people", "SELECT length(password) FROM people",
    "SELECT id FROM people WHERE password = 'hush'", "SELECT id FROM people ORDER BY password",
    "SELECT id FROM people GROUP BY id, password", "SELECT count(DISTINCT password) FROM people",
    "SELECT CASE WHEN password = 'hush' THEN 1 END FROM people",
    "SELECT x.password FROM (SELECT * FROM people) x", "SELECT x.b FROM (SELECT id AS a, password AS b FROM people) x",
    "WITH x AS (SELECT * FROM people) SELECT password FROM x", "WITH x AS (SELECT password AS p FROM people) SELECT p FROM x",
    "WITH RECURSIVE x AS (SELECT id, password FROM people) SELECT id FROM x",
    "SELECT o.id FROM orders o JOIN people p USING (password)", "SELECT o.id FROM orders o JOIN people p ON o.password = p.password",
    "SELECT o.id FROM orders o NATURAL JOIN people p", "SELECT p.id FROM people p NATURAL JOIN orders",
    "SELECT id FROM orders UNION SELECT password FROM people", "SELECT (SELECT password FROM people LIMIT 1) AS x",
    "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM people WHERE password = 'hush')",
    "SELECT amount FROM salaries", "SELECT 1 FROM Salaries", "SELECT s.amount FROM orders o JOIN salaries s ON s.person = o.person",
    "SELECT p FROM v_named", "SELECT id FROM v_named", "SELECT * FROM v_all", "SELECT password FROM v_all", "SELECT l FROM v_computed",
    "SELECT id FROM v_where", "SELECT a FROM v_table", "SELECT q FROM v_over", "SELECT count(*) FROM v_over",
    "SELECT column_name FROM information_schema.columns", "SELECT table_name FROM information_schema.tables",
    "SELECT view_definition FROM information_schema.views",
]  # fmt: skip
POSTGRES = [
    "SELECT people FROM people", "SELECT p FROM people p", "SELECT row_to_json(p) FROM people p", "SELECT to_jsonb(people) FROM people",
    "SELECT row_to_json(t) FROM (SELECT * FROM people) t", "SELECT p::text FROM people p", "SELECT p.*::text FROM people p",
    "SELECT (p).password FROM people p", "SELECT (p.*).password FROM people p", "SELECT json_agg(p) FROM people p",
    "SELECT array_agg(people) FROM people", "SELECT jsonb_each_text(to_jsonb(p)) FROM people p", "SELECT ROW(p.*) FROM people p",
    "SELECT a FROM people AS p(x, y, a)", "TABLE people", "SELECT count(*) FROM people p WHERE p IS NOT NULL",
    "SELECT concat_ws(',', p.*) FROM people p", "SELECT id FROM people WHERE people::text LIKE '%hush%'",
    "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('people')", "SELECT definition FROM pg_views",
    "SELECT most_common_vals FROM pg_stats", "SELECT to_regclass('salaries')", "SELECT relname FROM pg_catalog.pg_class",
    "SELECT to_jsonb(json_populate_record(NULL::people, '{}'))", "SELECT NULL::salaries", "SELECT CAST(NULL AS people)",
    "SELECT * FROM people_old", "SELECT password FROM people_old", "SELECT p FROM m_named",
    "SELECT x.b FROM people p CROSS JOIN LATERAL (SELECT p.password AS b) x", "SELECT xmin FROM salaries",
]  # fmt: skip
MYSQL = [
    "SELECT `password` FROM `people`", "SELECT p.`password` FROM people p", "SELECT json_arrayagg(password) FROM people",
    "SELECT group_concat(password) FROM people", "TABLE people", "SELECT id FROM people HAVING max(password) > ''",
]  # fmt: skip
DUCKDB = [
    "FROM people",
    "SELECT unnest(p) FROM people p",
    "SELECT COLUMNS(*) FROM people",
    "SELECT #3 FROM people",
]


@pytest.fixture
async def made(url: str, databases: Databases) -> str:
    if url.startswith("postgresql"):
        postgres_ask(url, "DROP MATERIALIZED VIEW IF EXISTS m_named")
        postgres_ask(url, "DROP TABLE IF EXISTS people_old")
    for sql in SETUP:
        await databases.execute(url, sql, allow_ddl=True)
    rows = [{"id": 1, "name": "Ann", "password": "hush"}, {"id": 2, "name": "Bob", "password": "psst"}]
    await databases.insert_many(url, "people", rows)
    await databases.insert_many(url, "salaries", [{"person": 1, "amount": 4711}])
    await databases.insert_many(url, "orders", [{"id": 1, "person": 1, "password": "none"}])
    if url.startswith("postgresql"):
        postgres_ask(url, "CREATE TABLE people_old () INHERITS (people)")
        postgres_ask(url, "CREATE MATERIALIZED VIEW m_named AS SELECT password AS p FROM people")
    return url


async def fails(work: Awaitable[Any]) -> NodeError:
    with pytest.raises(NodeError) as caught:
        await work
    assert not [secret for secret in SECRETS if secret in caught.value.message], caught.value.message
    return caught.value


async def test_no_statement_gives_them(made: str, databases: Databases) -> None:
    own = {"postgresql": POSTGRES, "mysql": MYSQL, "duckdb": DUCKDB, "sqlite": []}[made.partition(":")[0]]
    for sql in [*STATEMENTS, *own]:
        error = await fails(databases.query(made, sql, hidden=HIDDEN))
        assert error.kind == "sql_refused", (sql, error)


async def test_the_rest_is_there(made: str, databases: Databases) -> None:
    for sql, rows in (
        ("SELECT id, name FROM people ORDER BY id", [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}]),
        ("SELECT count(*) AS n FROM people", [{"n": 2}]),
        ("SELECT id, name FROM v_open WHERE id = 1", [{"id": 1, "name": "Ann"}]),
        ("SELECT * FROM orders", [{"id": 1, "person": 1, "password": "none"}]),
        ("SELECT password FROM orders", [{"password": "none"}]),
        ("SELECT p.name, o.id FROM orders o JOIN people p ON p.id = o.person", [{"name": "Ann", "id": 1}]),
    ):
        assert (await databases.query(made, sql, hidden=HIDDEN)).rows == rows, sql


async def test_writes_give_nothing_back(made: str, databases: Databases) -> None:
    refused = [
        "INSERT INTO people VALUES (3, 'Eve', 'x')", "INSERT INTO people (id, name, password) VALUES (3, 'Eve', 'x')",
        "INSERT INTO people (id, name) VALUES (3, 'Eve') RETURNING *", "UPDATE people SET password = 'x'",
        "INSERT INTO people (id, name) VALUES (3, 'Eve') RETURNING password", "UPDATE people SET name = password",
        "DELETE FROM people WHERE id = 1 RETURNING *", "DELETE FROM people WHERE password = 'hush'",
        "INSERT INTO orders (id, password) SELECT id, password FROM people", "DELETE FROM salaries",
        "INSERT INTO orders (id) SELECT amount FROM salaries", "UPDATE v_named SET p = 'x'",
    ]  # fmt: skip
    if made.startswith("postgresql"):
        refused += [
            "DELETE FROM people WHERE id = 1 RETURNING people",
            "UPDATE people AS p SET name = 'x' RETURNING p",
        ]
    for sql in refused:
        assert (await fails(databases.execute(made, sql, hidden=HIDDEN))).kind == "sql_refused", sql
    assert (
        await fails(databases.insert_many(made, "salaries", [{"amount": 1}], hidden=HIDDEN))
    ).kind == "sql_refused"
    for sql in (
        "CREATE VIEW leak AS SELECT password AS p FROM people",
        "CREATE TABLE leak AS SELECT * FROM people",
    ):
        assert (
            await fails(databases.execute(made, sql, allow_ddl=True, hidden=HIDDEN))
        ).kind == "sql_refused"
    done = await databases.execute(made, "UPDATE people SET name = 'Eve' WHERE id = 2", hidden=HIDDEN)
    assert done.row_count == 1


async def test_errors_tell_nothing_of_them(made: str, databases: Databases) -> None:
    for sql in (
        "SELECT nam FROM people", "SELECT passwor FROM people", "SELECT pasword FROM people", "SELECT id FROM salarie",
        "SELECT p.passwords FROM people p", "SELECT nope, id FROM people",
    ):  # fmt: skip
        error = await fails(databases.query(made, sql, hidden=HIDDEN))
        words = error.message.lower().replace("passwords", "").split()
        # A table that is not there is refused as one that is hidden, so that the two cannot be told apart.
        assert error.kind == ("sql_refused" if "salarie" in sql else "sql_error")
        assert not {"password", '"password"', "'password'", '"people.password"', "salaries"} & set(words), (
            error.message
        )
    for sql in (
        "INSERT INTO people (id, name) VALUES (1, 'Eve')",
        "UPDATE people SET name = NULL WHERE id = 1",
    ):
        error = await fails(databases.execute(made, sql, hidden=HIDDEN))
        assert error.kind in {"constraint", "sql_error"}, error
        assert "password" not in error.message
        assert "Ann" not in error.message
    plain = await fails(databases.execute(made, "INSERT INTO people (id, name) VALUES (1, 'Eve')"))
    assert len(plain.message) > len("The database refused the rows"), (
        "without hidden ones the server's words stand"
    )


async def test_lists_leave_them_out(made: str, databases: Databases) -> None:
    wider = await databases.hides(made, HIDDEN)
    assert {"v_all", "v_named", "v_computed", "v_where", "v_table", "v_over", "salaries"} <= wider.tables
    assert "v_open" not in wider.tables
    if made.startswith("postgresql"):
        assert "m_named" in wider.tables
        assert ("people_old", "password") in wider.columns
