"""`mcp`: search, discover, call, over a real server; a dead one holds nothing up."""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from tests.agents.surroundings import Caller
from tests.resources.mcp.programs import HttpProgram

from interlace.agents.meta import McpServerTool
from interlace.agents.resolve import Turn, resolve_tools
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform


@pytest.fixture
async def program() -> AsyncIterator[HttpProgram]:
    made = HttpProgram()
    await made.start()
    yield made
    await made.kill()


async def tool_of(platform: Platform) -> McpServerTool:
    tools = await resolve_tools(Turn(by=LOCAL), platform.sources)
    found = {**tools.active, **tools.unloaded}["mcp"]
    assert isinstance(found, McpServerTool)
    return found


async def test_the_tools_of_a_new_server_are_found_described_and_called(
    platform: Platform, caller: Caller, program: HttpProgram
) -> None:
    await platform.mcp.add("hub", {"url": program.url, "description": "Sells tea"}, by=LOCAL)
    tool = await tool_of(platform)
    assert tool.catalogue.startswith("- hub: Sells tea; ")
    assert " tools: " in tool.catalogue
    assert tool.parameters_schema["properties"]["server"] == {"enum": ["hub"]}
    found = await caller.call(tool, subcommand="search", query="report a bug, open a ticket")
    assert found["results"][0] == {"server": "hub", "tool": "create_issue", "description": "Open an issue"}
    told = await caller.call(tool, subcommand="discover", server="hub", tool=["create_issue"])
    assert told["tools"][0]["parameters"] == {
        "type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"],
    }  # fmt: skip
    queried = await caller.call(tool, subcommand="discover", server="hub", query="sum of numbers")
    assert queried["tools"][0]["tool"] == "add"
    listed = await caller.call(tool, subcommand="discover", server="hub")
    assert {"tool": "add", "description": "Add two numbers"} in listed["tools"]
    assert await caller.call(
        tool, subcommand="call", server="hub", tool="create_issue", parameters={"title": "x"}
    ) == {"title": "x", "number": "1"}


async def test_hints_count_where_an_operator_trusts_the_server(
    platform: Platform, caller: Caller, program: HttpProgram
) -> None:
    await platform.mcp.add("plain", {"url": program.url}, by=LOCAL)
    await platform.mcp.add("sure", {"url": program.url, "trusted": True}, by=LOCAL)
    tool = await tool_of(platform)
    add = {"subcommand": "call", "tool": "add", "parameters": {"a": 1, "b": 2}}
    gate = await caller.gate(tool, server="plain", **add)
    assert gate is not None
    assert gate.title == "plain: add"
    assert await caller.gate(tool, server="sure", **add) is None
    issue = {"subcommand": "call", "server": "sure", "tool": "create_issue", "parameters": {"title": "x"}}
    assert await caller.gate(tool, **issue) is not None
    assert tool.effects({**add, "server": "plain"}) == "once"
    assert tool.effects({**add, "server": "sure"}) == "none"
    assert tool.effects(issue) == "once"
    assert await caller.gate(tool, subcommand="search", query="x") is None
    with pytest.raises(NodeError) as caught:
        await caller.gate(tool, server="sure", **{**add, "parameters": {"a": "one"}})
    assert caught.value.kind == "bad_arguments"


async def test_a_wrong_name_is_answered_with_the_nearest(
    platform: Platform, caller: Caller, program: HttpProgram
) -> None:
    await platform.mcp.add("hub", {"url": program.url, "hidden_tools": ["die"]}, by=LOCAL)
    tool = await tool_of(platform)
    for way, wanted in (
        ({"subcommand": "call", "tool": "create_isue"}, "create_issue"),
        ({"subcommand": "discover", "tool": "ad"}, "add"),
    ):
        with pytest.raises(NodeError, match=f"did you mean '{wanted}'") as caught:
            await caller.call(tool, server="hub", **way)
        assert caught.value.kind == "tool_not_found"
    with pytest.raises(NodeError):
        await caller.call(tool, subcommand="call", server="hub", tool="die", parameters={"code": 1})
    assert "die" not in tool.catalogue


async def test_a_dead_server_is_told_and_holds_nothing_up(
    platform: Platform, caller: Caller, program: HttpProgram
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    await platform.mcp.add("hub", {"url": program.url}, by=LOCAL)
    await platform.mcp.add("dead", {"url": f"http://127.0.0.1:{port}/mcp"}, by=LOCAL)
    tool = await tool_of(platform)
    assert "- dead (not reachable now" in tool.catalogue
    assert "- hub: " in tool.catalogue
    found = await caller.call(tool, subcommand="search", query="add")
    assert found["results"][0]["tool"] == "add"
    assert found["not_looked_at"] == ["dead"]


async def test_a_server_that_never_answers_does_not_hold_the_turn_up(platform: Platform) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        await platform.mcp.add("silent", {"url": f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"}, by=LOCAL)
        platform.visible._patience = 0.2
        started = time.monotonic()
        tool = await tool_of(platform)
        assert time.monotonic() - started < 10
        assert tool.catalogue == "- silent (tools not looked at yet; discover connects)"


async def test_a_server_that_was_looked_at_is_not_connected_to_assemble_a_turn(
    platform: Platform, caller: Caller, program: HttpProgram
) -> None:
    await platform.mcp.add("hub", {"url": program.url}, by=LOCAL)
    await platform.mcp.connect("hub", by=LOCAL)
    before = (await tool_of(platform)).catalogue
    await program.kill()
    await platform.mcp._pool.close()
    assert (await tool_of(platform)).catalogue == before
    assert platform.mcp._pool._slots == {}
    tool = await tool_of(platform)
    with pytest.raises(NodeError) as caught:
        await caller.call(tool, subcommand="call", server="hub", tool="add", parameters={"a": 1, "b": 2})
    assert caught.value.kind == "connection"
    assert "(not reachable now" in (await tool_of(platform)).catalogue


async def test_one_tool_a_tool(platform: Platform, caller: Caller, program: HttpProgram) -> None:
    await platform.mcp.add("hub", {"url": program.url, "trusted": True}, by=LOCAL)
    sources = replace(platform.sources, how=replace(platform.sources.how, mcp="legacy", threshold=500))
    tools = (await resolve_tools(Turn(by=LOCAL), sources)).active
    add: Any = tools["hub__add"]
    assert add.parameters_schema["required"] == ["a", "b"]
    assert (await caller.result(add, a=1, b=2)).text == "3"
    assert add.effects({}) == "none"
    assert await caller.gate(add, a=1, b=2) is None
    assert await caller.gate(tools["hub__create_issue"], title="x") is not None
    failed = await caller.result(tools["hub__fail"], reason="out of tea")
    assert failed.is_error
    assert "fail" in str(failed.text)
