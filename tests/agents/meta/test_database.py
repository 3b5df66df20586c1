"""`database`: tables, columns, statements, over a real SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.agents.surroundings import Caller

from interlace.agents.meta import DatabaseTool
from interlace.agents.resolve import Turn, resolve_tools
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform


async def add(platform: Platform, path: Path, name: str = "shop", **more: Any) -> None:
    definition = {"dialect": "sqlite", "database": str(path), "description": "Orders of the tea shop", **more}
    await platform.store.resources.add("database", name, definition, by=LOCAL)


async def tool_of(platform: Platform) -> DatabaseTool:
    tools = await resolve_tools(Turn(by=LOCAL), platform.sources)
    found = {**tools.active, **tools.unloaded}["database"]
    assert isinstance(found, DatabaseTool)
    return found


async def test_the_stub_names_tables_and_hides_what_is_hidden(platform: Platform, shop: Path) -> None:
    await add(platform, shop, hidden_tables=["parcels"])
    tool = await tool_of(platform)
    assert tool.catalogue == "- shop: Orders of the tea shop [sqlite]; 2 tables: orders, customers"
    assert tool.parameters_schema["properties"]["database"] == {"enum": ["shop"]}


async def test_tables_columns_and_rows(platform: Platform, caller: Caller, shop: Path) -> None:
    await add(
        platform, shop, tables={"orders": {"description": "What was bought", "columns": {"total": "Euros"}}}
    )
    tool = await tool_of(platform)
    listed = await caller.call(tool, subcommand="list_tables", database="shop")
    assert {"table": "orders", "columns": 4, "description": "What was bought"} in listed["tables"]
    told = await caller.call(tool, subcommand="discover", database="shop", table=["orders", "CUSTOMERS"])
    assert told["tables"][0]["columns"][2] == {"name": "total", "type": "REAL", "description": "Euros"}
    assert told["tables"][1]["columns"][1] == {"name": "name", "type": "TEXT", "nullable": False}
    found = await caller.call(tool, subcommand="search", words="shipment tracking")
    assert found["results"][0]["table"] == "parcels"
    by_words = await caller.call(
        tool, subcommand="discover", database="shop", words="mail address of a customer"
    )
    assert by_words["tables"][0]["table"] == "customers"
    rows = await caller.call(
        tool,
        subcommand="query",
        database="shop",
        sql="SELECT id FROM orders WHERE total > :least",
        values={"least": 50},
    )
    assert rows == {"rows": [{"id": 11}], "row_count": 1}


async def test_a_wrong_table_is_answered_with_the_nearest(
    platform: Platform, caller: Caller, shop: Path
) -> None:
    await add(platform, shop)
    with pytest.raises(NodeError, match="did you mean 'orders'") as caught:
        await caller.call(await tool_of(platform), subcommand="discover", database="shop", table="order")
    assert caught.value.kind == "resource_not_found"


async def test_only_a_change_asks_and_is_not_repeated(platform: Platform, caller: Caller, shop: Path) -> None:
    await add(platform, shop, allow_writes=True)
    tool = await tool_of(platform)
    read = {"subcommand": "query", "database": "shop", "sql": "SELECT 1"}
    write = {**read, "sql": "UPDATE orders SET total = :t WHERE id = 10", "values": {"t": 1}}
    assert await caller.gate(tool, **read) is None
    gate = await caller.gate(tool, **write)
    assert gate is not None
    assert gate.title == "shop: UPDATE orders SET total = :t WHERE id = 10"
    assert (tool.effects(read), tool.effects(write)) == ("none", "once")
    assert tool.effects({"subcommand": "list_tables", "database": "shop"}) == "none"
    assert await caller.call(tool, **write) == {"row_count": 1}
    with closing(sqlite3.connect(shop)) as connection:
        assert connection.execute("SELECT total FROM orders WHERE id = 10").fetchall() == [(1.0,)]
    for sql in ("DROP TABLE orders", "DELETE FROM orders; DELETE FROM customers", "not sql at all"):
        with pytest.raises(NodeError) as caught:
            await caller.gate(tool, **{**read, "sql": sql})
        assert caught.value.kind == "sql_refused"


async def test_a_database_for_reading_takes_no_change(platform: Platform, caller: Caller, shop: Path) -> None:
    await add(platform, shop)
    tool = await tool_of(platform)
    write = {"subcommand": "query", "database": "shop", "sql": "DELETE FROM orders"}
    for way in (caller.gate, caller.call):
        with pytest.raises(NodeError) as caught:
            await way(tool, **write)
        assert caught.value.kind == "sql_refused"


async def test_what_cannot_be_reached_is_told_and_holds_nothing_up(
    platform: Platform, caller: Caller, shop: Path, tmp_path: Path
) -> None:
    await add(platform, shop)
    await add(platform, tmp_path / "elsewhere" / "x.db", name="closed")
    tool = await tool_of(platform)
    assert "- closed: Orders of the tea shop (not reachable now)" in tool.catalogue
    found = await caller.call(tool, subcommand="search", words="orders")
    assert found["results"][0]["database"] == "shop"
    assert found["not_reachable"] == ["closed"]
    with pytest.raises(NodeError) as caught:
        await caller.call(tool, subcommand="list_tables", database="closed")
    assert caught.value.kind == "blocked_address"


async def test_three_tools_a_database(platform: Platform, caller: Caller, shop: Path) -> None:
    await add(platform, shop, name="店", allow_writes=True)
    sources = replace(platform.sources, how=replace(platform.sources.how, databases="legacy", threshold=500))
    tools = (await resolve_tools(Turn(by=LOCAL), sources)).active
    own = [tool for tool in tools.values() if tool.category == "database"]
    assert len(own) == 3
    listing, describing, asking = own
    assert {t["table"] for t in (await caller.call(listing))["tables"]} == {"customers", "orders", "parcels"}
    assert (await caller.call(describing, table="parcels"))["columns"][2]["name"] == "tracking_code"
    assert await caller.call(asking, sql="SELECT count(*) AS n FROM orders") == {
        "rows": [{"n": 2}],
        "row_count": 1,
    }
    assert await caller.gate(listing) is None
    assert await caller.gate(asking, sql="DELETE FROM orders") is not None
    assert asking.effects({"sql": "DELETE FROM orders"}) == "once"
    assert "orders(id INTEGER" in asking.description
