from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.document import Document, NodeSpec
from interlace.engine.protocols import Services
from interlace.engine.testing import edges
from interlace.engine.validate import validate
from interlace.nodes.database import Database, DatabaseConfig
from interlace.resources.databases import Databases
from tests.nodes.runs import REGISTRY, NodeRun, check, run_node

URL = "sqlite:///shop.db"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Services]:
    databases = Databases(allow=[str(tmp_path)], base_dir=tmp_path)
    await databases.execute(
        URL, "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INT, note TEXT)", allow_ddl=True
    )
    await databases.insert_many(URL, "orders", [{"customer": n % 3, "note": f"n{n}"} for n in range(9)])
    yield Services({Databases: databases})
    await databases.close()


async def run(services: Services, config: dict[str, Any], inputs: dict[str, Any] | None = None) -> NodeRun:
    return await run_node("DATABASE", {"url": URL, **config}, inputs, services=services)


def codes(config: dict[str, Any]) -> list[str]:
    return [finding.code for finding in check("DATABASE", {"url": URL, **config})]


async def test_query_gives_rows_columns_and_counts(shop: Services) -> None:
    found = await run(
        shop,
        {
            "sql": "SELECT id, note FROM orders WHERE customer = :c AND id IN (:ids)",
            "parameters": {"c": "{{ inputs.c }}", "ids": [1, 4, 5]},
        },
        {"c": 0},
    )
    assert found.outputs == {
        "rows": [{"id": 1, "note": "n0"}, {"id": 4, "note": "n3"}],
        "columns": [{"name": "id", "type": "integer"}, {"name": "note", "type": "text"}],
        "row_count": 2,
        "truncated": False,
        "file": None,
    }


async def test_templates_in_the_sql_are_bound_not_written(shop: Services) -> None:
    sql = "SELECT id FROM orders WHERE note = {{ inputs.note }} OR note = {{ 'n' ~ inputs.n }} ORDER BY id LIMIT {{ inputs.most }}"
    evil = "x' OR 1=1; DROP TABLE orders; --"
    assert (await run(shop, {"sql": sql}, {"note": evil, "n": 5, "most": 9}))["rows"] == [{"id": 6}]
    assert (await run(shop, {"sql": sql}, {"note": "n1", "n": 5, "most": 1}))["rows"] == [{"id": 2}]


async def test_max_rows_cuts_and_says_so(shop: Services) -> None:
    found = await run(shop, {"sql": "SELECT id FROM orders", "max_rows": 4})
    assert (found["row_count"], found["truncated"]) == (4, True)


async def test_execute_and_insert_many(shop: Services) -> None:
    changed = await run(
        shop, {"operation": "execute", "sql": "DELETE FROM orders WHERE customer = 1 RETURNING id"}
    )
    assert (changed["row_count"], changed["rows"]) == (3, [{"id": 2}, {"id": 5}, {"id": 8}])
    rows = [{"customer": 7, "note": "a"}, {"customer": 7, "note": None}]
    added = await run(
        shop, {"operation": "insert_many", "table": "orders", "rows": "{{ inputs.rows }}"}, {"rows": rows}
    )
    assert added.outputs == {"rows": [], "columns": [], "row_count": 2, "truncated": False, "file": None}
    made = await run(shop, {"operation": "execute", "sql": "CREATE TABLE more (id INT)", "allow_ddl": True})
    assert made["row_count"] == 0


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"sql": "DELETE FROM orders"}, "sql_refused"),
        ({"sql": "SELECT load_extension('x')"}, "sql_refused"),
        ({"sql": "SELECT nope FROM orders"}, "sql_error"),
        ({"sql": "SELECT :a", "parameters": {}}, "parameters"),
        ({"operation": "execute", "sql": "DROP TABLE orders"}, "sql_refused"),
        ({"operation": "execute", "sql": "INSERT INTO orders (id) VALUES (1)"}, "constraint"),
        ({"url": "sqlite:////etc/other.db", "sql": "SELECT 1"}, "blocked_address"),
        ({"url": "postgresql://u:pw@127.0.0.1/x", "sql": "SELECT 1"}, "blocked_address"),
        ({"url": "{{ inputs.url }}", "sql": "SELECT 1"}, "database_url"),
    ],
)
async def test_failures_have_kinds(shop: Services, config: dict[str, Any], kind: str) -> None:
    assert (await run(shop, config, {"url": "oracle://x"})).kind == kind


async def test_the_nodes_time_out_cancels_the_query(shop: Services) -> None:
    sql = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000000) SELECT count(*) FROM r"
    document = {
        "name": "slow",
        "nodes": [
            {"id": "start", "type": "START"},
            {"id": "n", "type": "DATABASE", "timeout": 0.3, "config": {"url": URL, "sql": sql}},
            {"id": "done", "type": "END"},
        ],
        "edges": edges("start -> n", "n -> done"),
    }
    from interlace.engine.testing import run_document

    result = await run_document(document, registry=REGISTRY, services=shop)
    assert result.error is not None
    assert result.error["type"] == "timeout"


def test_a_write_is_never_repeated_by_itself() -> None:
    for operation, effect in (("query", "none"), ("execute", "once"), ("insert_many", "once")):
        config = DatabaseConfig.model_validate({"url": URL, "operation": operation})
        assert Database(config).effect() == effect


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"sql": "SELECT * FROM orders WHERE note = '{{ inputs.x }}'"}, "sql_template"),
        ({"sql": "SELECT * FROM orders WHERE note = 'a {{ inputs.x }} b'"}, "sql_template"),
        ({"sql": 'SELECT "{{ inputs.x }}" FROM orders'}, "sql_template"),
        ({"sql": "SELECT 1 -- {{ inputs.x }}"}, "sql_template"),
        ({"sql": "SELECT * FROM {{ inputs.x }}"}, "sql_template"),
        ({"sql": "SELECT id FROM orders ORDER BY {{ inputs.x }}"}, "sql_template"),
        ({"sql": "SELECT * FROM orders AS {{ inputs.x }}"}, "sql_template"),
        ({"sql": "SELECT {{ inputs.x", "url": "{{ secrets.url }}"}, "sql_template"),
        ({"sql": "SELECT {{ inputs.x }}", "parameters": "{{ inputs.all }}"}, "sql_template"),
        ({"sql": "DELETE FROM orders WHERE id = {{ inputs.x }}"}, "sql_refused"),
        ({"sql": "DELETE FROM orders", "url": "{{ secrets.url }}"}, "sql_refused"),
        ({"sql": ""}, "sql_refused"),
        ({"sql": "SELECT 1; SELECT 2"}, "sql_refused"),
        ({"sql": "SELECT :a", "parameters": {"b": 1}}, "sql_parameters"),
        ({"sql": "SELECT 1", "parameters": {"b": 1}}, "sql_parameters"),
        ({"sql": "SELECT 1", "table": "orders"}, "unused_rows"),
        ({"operation": "insert_many", "table": "a.b.c"}, "bad_table"),
        ({"operation": "insert_many"}, "bad_table"),
        ({"operation": "insert_many", "table": "t", "sql": "SELECT 1"}, "unused_sql"),
        ({"operation": "execute", "sql": "DROP TABLE t"}, "sql_refused"),
        ({"url": "oracle://x", "sql": "SELECT 1"}, "database_url"),
    ],
)
def test_the_static_check_finds(config: dict[str, Any], code: str) -> None:
    assert codes(config) == [code]


@pytest.mark.parametrize(
    "config",
    [
        {"sql": "SELECT * FROM orders WHERE id = {{ inputs.x }} AND note LIKE {{ '%' ~ inputs.y ~ '}}' }}"},
        {"sql": "SELECT * FROM orders WHERE id IN ({{ inputs.ids }}) LIMIT {{ inputs.n }}"},
        {"sql": "SELECT :a", "parameters": "{{ inputs.all }}"},
        {"sql": "SELECT a::int FROM t", "url": "postgresql://u:{{ secrets.pw }}@db/x"},
        {"sql": "SELECT a::int FROM t", "url": "{{ secrets.url }}"},
        {"operation": "insert_many", "table": "main.orders", "rows": "{{ inputs.rows }}"},
        {"operation": "execute", "sql": "DROP TABLE t", "allow_ddl": True},
        Database.example,
    ],
)
def test_the_static_check_lets_pass(config: dict[str, Any]) -> None:
    assert codes(config) == []


def test_references_inside_the_sql_are_checked_like_any_other() -> None:
    document = Document.model_validate(
        {
            "name": "d",
            "nodes": [
                {
                    "id": "start",
                    "type": "START",
                    "config": {"inputs": {"type": "object", "properties": {"x": {"type": "integer"}}}},
                },
                {"id": "n", "type": "DATABASE", "config": {"url": URL, "sql": "SELECT {{ nowhere.y }}"}},
                {"id": "done", "type": "END"},
            ],
            "edges": edges("start -> n", "n -> done"),
        }
    )
    found = [problem for problem in validate(document, REGISTRY).problems if problem.node == "n"]
    assert any("nowhere" in problem.message for problem in found), found


def test_the_document_keeps_the_text_as_it_was_written() -> None:
    spec = NodeSpec.model_validate(
        {"id": "n", "type": "DATABASE", "config": {"url": URL, "sql": "SELECT {{ inputs.x }}"}}
    )
    Database(DatabaseConfig.model_validate(spec.config))
    assert spec.config["sql"] == "SELECT {{ inputs.x }}"


def test_every_field_is_described() -> None:
    for name, info in DatabaseConfig.model_fields.items():
        assert info.title, name
        assert info.examples, name
        assert str(info.description).endswith("."), name


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELEC 1 FROM", "cannot be read as SQL ("),
        ("SELECT pg_sleep(1)", "is not on the list of allowed functions."),
        ("SELECT json_each('[]'), array_agg(1), load_file('x')", "On postgresql"),
    ],
)
def test_a_refusal_names_a_kind_of_database_only_where_it_is_known(sql: str, said: str) -> None:
    def refusal(**where: str) -> str:
        node = Database(DatabaseConfig.model_validate({"sql": sql, **where}))
        spec = NodeSpec.model_validate({"id": "n", "type": "DATABASE", "config": {}})
        return next(finding.message for finding in node.check(spec) if finding.code == "sql_refused")

    told = refusal(connector="shop")
    assert said in told
    assert "sqlite" not in told or "postgresql" in told
    assert "sqlite" not in refusal(url="postgresql://u@127.0.0.1/x")
