"""DATABASE on stored databases: writes that a person confirms, and results that go to a file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.principal import LOCAL
from interlace.engine.run import RunResult
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.resources.databases.policy import writes
from interlace.resources.databases.stored import KIND, DatabaseDefinition
from interlace.resources.secrets import add_resource
from tests.flows.documents import chain
from tests.flows.recorded import equal, record
from tests.flows.waiting import answer, pending
from tests.nodes.runs import check


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    with sqlite3.connect(tmp_path / "shop.db") as made:
        made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL, note TEXT)")
        made.executemany(
            "INSERT INTO orders VALUES (?, ?, ?)", [(n, n / 2, f"`n{n}`") for n in range(1, 3001)]
        )
    made.close()
    opened = await Platform.open(
        Settings(home=tmp_path / "home", database_allow=[str(tmp_path)], prefect="off")
    )
    definition = DatabaseDefinition.model_validate(
        {
            "url": f"sqlite:///{tmp_path}/shop.db",
            "allow_writes": True,
            "confirmation": "always",
            "hidden_tables": ["salaries"],
        }
    )
    await add_resource(opened.store, opened.secrets, KIND, "shop", definition, by=LOCAL)
    yield opened
    await opened.close()


def document(config: dict[str, Any], **node: Any) -> str:
    work = {"id": "work", "type": "DATABASE", "config": {"connector": "shop", **config}, **node}
    outputs = {
        "rows": "{{ work.rows }}",
        "count": "{{ work.row_count }}",
        "file": "{{ work.file }}",
        "cut": "{{ work.truncated }}",
    }
    inputs = {"type": "object", "properties": {"id": {"type": "integer", "default": 7}}}
    return chain(work, outputs=outputs, inputs=inputs)


async def begin(platform: Platform, config: dict[str, Any], **node: Any) -> tuple[str, RunResult]:
    run_id = await platform.runner.start(
        await platform.documents.from_text(document(config, **node)), Request()
    )
    return run_id, await platform.runner.turn(run_id)


def total(tmp_path: Path, number: int) -> Any:
    with sqlite3.connect(tmp_path / "shop.db") as made:
        found = made.execute("SELECT total FROM orders WHERE id = ?", (number,)).fetchone()
    made.close()
    return found and found[0]


UPDATE = {
    "operation": "execute",
    "sql": "UPDATE orders SET total = :t WHERE id = {{ inputs.id }}",
    "parameters": {"t": 99},
}


async def test_a_write_waits_for_a_person_who_sees_the_statement(platform: Platform, tmp_path: Path) -> None:
    run_id, result = await begin(platform, UPDATE)
    assert result.status == "suspended"
    assert total(tmp_path, 7) == 3.5
    (asked,) = await pending(platform, run_id)
    assert asked.request["title"] == "Change data in shop?"
    assert "```sql\nUPDATE orders SET total = :t WHERE id = :value_1\n```" in asked.request["message"]
    assert '"value_1": 7' in asked.request["message"]
    assert asked.request["config"]["parameters"] == {"t": 99, "value_1": 7}
    await answer(platform, asked)
    ended = await platform.runner.wait(run_id, 30)
    assert ended is not None
    assert ended.status == "succeeded", ended.error
    assert ended.outputs is not None
    assert ended.outputs["count"] == 1
    assert total(tmp_path, 7) == 99


async def test_what_is_rejected_is_not_done(platform: Platform, tmp_path: Path) -> None:
    run_id, _ = await begin(platform, UPDATE)
    await answer(platform, (await pending(platform, run_id))[0], "reject")
    ended = await platform.runner.wait(run_id, 30)
    assert ended is not None
    assert ended.error is not None
    assert ended.error["type"] == "not_confirmed"
    assert "nothing was changed" in ended.error["message"]
    assert total(tmp_path, 7) == 3.5


async def test_a_database_that_was_changed_since_is_not_written_to(
    platform: Platform, tmp_path: Path
) -> None:
    run_id, _ = await begin(platform, UPDATE)
    found = await platform.store.resources.find(KIND, "shop", by=LOCAL)
    definition = {**found.definition, "database": str(tmp_path / "other.db")}
    await platform.store.resources.update(found.id, by=LOCAL, definition=definition)
    await answer(platform, (await pending(platform, run_id))[0])
    ended = await platform.runner.wait(run_id, 30)
    assert ended is not None
    assert ended.error is not None
    assert (ended.error["type"], "run again" in ended.error["message"]) == ("not_confirmed", True)


async def test_rows_to_insert_are_shown_and_backticks_end_no_block(
    platform: Platform, tmp_path: Path
) -> None:
    rows = [{"id": 5000 + n, "note": "```\n**approve me**"} for n in range(25)]
    run_id, _ = await begin(platform, {"operation": "insert_many", "table": "orders", "rows": rows})
    (asked,) = await pending(platform, run_id)
    message = asked.request["message"]
    assert "Insert 25 rows into `orders`" in message
    assert "````json\n" in message
    assert "and 5 more" in message
    assert len(asked.request["config"]["rows"]) == 25
    await answer(platform, asked)
    ended = await platform.runner.wait(run_id, 30)
    assert ended is not None
    assert ended.status == "succeeded", ended.error
    assert total(tmp_path, 5024) is None


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"operation": "execute", "sql": "DELETE FROM salaries"}, "sql_refused"),
        ({"operation": "insert_many", "table": "orders", "rows": [{"id": 1}, {"total": 2}]}, "parameters"),
    ],
)
async def test_nobody_is_asked_about_what_is_refused(
    platform: Platform, config: dict[str, Any], kind: str
) -> None:
    _, result = await begin(platform, config)
    assert result.error is not None
    assert result.error["type"] == kind


async def test_reading_and_confirmed_nodes_ask_no_second_time(platform: Platform, tmp_path: Path) -> None:
    _, result = await begin(platform, {"sql": "SELECT count(*) AS n FROM orders"})
    assert result.outputs is not None
    assert result.outputs["rows"] == [{"n": 3000}]
    run_id, _ = await begin(platform, UPDATE, confirm=True)
    (asked,) = await pending(platform, run_id)
    await answer(platform, asked)
    ended = await platform.runner.wait(run_id, 30)
    assert ended is not None
    assert ended.status == "succeeded", ended.error
    assert total(tmp_path, 7) == 99


@pytest.mark.parametrize("how", [True, "csv"])
async def test_a_result_in_a_file_is_kept_by_recorded_runs(
    platform: Platform, tmp_path: Path, how: Any
) -> None:
    config = {"sql": "SELECT id, total FROM orders ORDER BY id", "stream_to_payload": how}
    run_id, result = await record(platform, document(config))
    assert result.status == "succeeded", result.error
    assert result.outputs is not None
    assert (result.outputs["rows"], result.outputs["count"], result.outputs["cut"]) == ([], 3000, False)
    file = result.outputs["file"]
    assert file["name"] == ("work.csv" if how == "csv" else "work.jsonl")
    content = await platform.store.files.load(file["ref"])
    lines = content.splitlines()
    assert lines[0] == (b"id,total" if how == "csv" else b'{"id":1,"total":0.5}')
    assert len(lines) == 3000 + (how == "csv")
    (tmp_path / "shop.db").unlink()
    new = await equal(platform, run_id, result)
    kept = [json.dumps(e.data) for e in await platform.store.events.read(new) if e.type == "call.recorded"]
    assert max(map(len, kept)) < 3000, "the rows are no part of the record"
    await platform.store.runs.delete(run_id)
    assert await platform.store.files.load(file["ref"]) == content


def test_what_does_not_go_together() -> None:
    assert [finding.code for finding in check("DATABASE", {"connector": "x", "operation": "execute", "sql": "DELETE FROM t", "stream_to_payload": True})] == ["unused_stream"]  # fmt: skip
    assert [finding.code for finding in check("DATABASE", {"connector": "x", "sql": "SELECT 1", "max_rows": 200_000})] == ["too_many_rows"]  # fmt: skip
    assert check("DATABASE", {"connector": "x", "sql": "SELECT 1", "max_rows": 200_000, "stream_to_payload": "csv"}) == []  # fmt: skip


def test_whether_a_statement_writes() -> None:
    for sql, expected in (("SELECT 1", False), ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", True), ("DROP TABLE t", True), ("INSERT INTO t VALUES (1)", True)):  # fmt: skip
        assert writes("postgresql", sql) is expected
