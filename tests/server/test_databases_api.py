"""Stored databases over HTTP, in runs, and by command."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from tests.server.command import Command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "shop.db"
    path.parent.mkdir()
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, password TEXT)")
        made.execute("CREATE TABLE salaries (person INTEGER, amount INTEGER)")
        made.execute("INSERT INTO people VALUES (1, 'Ann', 'hush')")
    made.close()
    return path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", prefect="off", database_allow=[str(tmp_path / "data")])


def definition(file: Path, **more: Any) -> dict[str, Any]:
    return {
        "url": f"sqlite:///{file}", "hidden_tables": ["salaries"], "hidden_columns": {"people": ["password"]},
        "tables": {"people": {"description": "Who buys", "columns": {"name": "First name"}}}, **more,
    }  # fmt: skip


def flow(**config: Any) -> dict[str, Any]:
    return {
        "name": "Read",
        "nodes": [
            {"id": "start", "type": "START"},
            {"id": "read", "type": "DATABASE", "config": {"connector": "shop", **config}},
            {"id": "done", "type": "END", "config": {"outputs": {"rows": "{{ read.rows }}"}}},
        ],
        "edges": ["start -> read", "read -> done"],
    }


async def test_what_is_hidden_is_in_no_list_and_no_answer(api: httpx2.AsyncClient, file: Path) -> None:
    made = await api.post("/api/v1/databases", json={"name": "shop", "definition": definition(file)})
    assert made.status_code == 201, made.text
    listed = (await api.get("/api/v1/databases/shop/tables")).json()["items"]
    assert [(t["name"], t["description"], [c["name"] for c in t["columns"]]) for t in listed] == [
        ("people", "Who buys", ["id", "name"])
    ]
    assert listed[0]["columns"][1]["description"] == "First name"

    async def run(**config: Any) -> httpx2.Response:
        return await api.post("/api/v1/runs?wait=30", json={"document": flow(**config)})

    assert (await run(sql="SELECT id, name FROM people")).json()["outputs"] == {
        "rows": [{"id": 1, "name": "Ann"}]
    }
    for sql in ("SELECT * FROM people", "SELECT password FROM people", "SELECT amount FROM salaries"):
        refused = (await run(sql=sql)).json()
        assert refused["error"]["type"] == "sql_refused", refused
        assert "hush" not in str(refused)
    write = (await run(sql="DELETE FROM people", operation="execute")).json()
    assert "is for reading only" in write["error"]["message"]
    changed = await api.patch(
        "/api/v1/databases/shop", json={"definition": definition(file, allow_writes=True)}
    )
    assert changed.json()["version"] == 2
    assert (
        await run(sql="UPDATE people SET name = 'Eve' WHERE id = 1", operation="execute")
    ).status_code == 200
    assert (await api.patch("/api/v1/databases/shop", json={"active": False})).json()["active"] is False
    assert (await run(sql="SELECT id FROM people")).json()["error"]["type"] == "resource_not_found"


async def test_a_password_is_kept_and_never_shown(api: httpx2.AsyncClient, platform: Platform) -> None:
    body = {
        "name": "far",
        "definition": {"url": "postgresql://reader:p%40ss-canary@db.example.com/shop?sslmode=require"},
    }
    made = (await api.post("/api/v1/databases", json=body)).json()
    assert made["definition"]["password"] == {"secret": f"database/{made['id']}/password"}
    assert "canary" not in str(made)
    opened = await platform.stored_databases.open("far", by=LOCAL)
    assert opened.url == "postgresql://reader:p%40ss-canary@db.example.com:5432/shop?sslmode=require"
    kept = {**made["definition"], "description": "changed"}
    await api.patch("/api/v1/databases/far", json={"definition": kept})
    assert (await platform.stored_databases.open("far", by=LOCAL)).url == opened.url
    del kept["password"]
    await api.patch("/api/v1/databases/far", json={"definition": kept})
    assert (await platform.stored_databases.open("far", by=LOCAL)).url == opened.url
    assert (await api.delete("/api/v1/databases/far")).status_code == 204
    assert await platform.store.secrets.of_resource(made["id"]) == []


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "expected a URL"),
        ("postgresql://u@/x", "expected 'host'"),
        ("oracle://u@h/x", "no database kind"),
    ],
)
async def test_what_cannot_be_a_database_is_refused(api: httpx2.AsyncClient, url: str, says: str) -> None:
    answer = await api.post("/api/v1/databases", json={"name": "x", "definition": {"url": url}})
    assert answer.status_code == 422
    assert says in answer.text


async def test_a_run_has_the_rights_of_who_started_it(
    platform: Platform, api: httpx2.AsyncClient, file: Path
) -> None:
    await api.post("/api/v1/databases", json={"name": "shop", "definition": definition(file)})
    ann = await platform.store.users.create("ann", by=LOCAL)
    pinned = await platform.documents.from_text(await _text(flow(sql="SELECT id FROM people")))
    result = await platform.runner.wait(await platform.runner.start(pinned, Request(owner=ann.id)))
    assert result is not None
    assert result.error is not None
    assert "no database 'shop'" in result.error["message"]


async def _text(document: dict[str, Any]) -> str:
    import json

    return json.dumps(document)


def test_commands(command: Command, file: Path) -> None:
    command.environment["INTERLACE_DATABASE_ALLOW"] = str(file.parent)
    added = command("databases", "add", "shop", f"sqlite:///{file}", "--hide", "salaries", "--hide-column", "people.password", "--json")  # fmt: skip
    assert added.code == 0, added.err
    assert [d["name"] for d in command("databases", "list", "--json").json["items"]] == ["shop"]
    assert command("databases", "test", "shop", "--json").json["reachable"] is True
    (listed,) = command("databases", "tables", "shop", "--json").json["items"]
    assert [column["name"] for column in listed["columns"]] == ["id", "name"]
    assert command("databases", "remove", "shop").code == 0
    assert command("databases", "show", "shop").code == 2


async def test_a_query_reads_what_is_not_hidden_and_changes_nothing(
    api: httpx2.AsyncClient, file: Path
) -> None:
    body = {"name": "shop", "definition": definition(file, allow_writes=True)}
    await api.post("/api/v1/databases", json=body)
    path = "/api/v1/databases/shop/query"
    asked = await api.post(
        path, json={"sql": "SELECT id, name FROM people WHERE id = :id", "values": {"id": 1}}
    )
    found = asked.json()
    assert (found["columns"], found["rows"], found["truncated"]) == (
        ["id", "name"], [{"id": 1, "name": "Ann"}], False,
    )  # fmt: skip
    for sql in ("DELETE FROM people", "SELECT * FROM salaries", "SELECT password FROM people", "nonsense"):
        refused = await api.post(path, json={"sql": sql})
        assert refused.status_code in {400, 403, 422}, (sql, refused.text)
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n"
    cut = (await api.post(path, json={"sql": many, "max_rows": 3})).json()
    assert (len(cut["rows"]), cut["truncated"]) == (3, True)
