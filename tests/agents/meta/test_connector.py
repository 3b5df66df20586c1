"""`connector`: search, discover, execute, over a real API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from tests.agents.surroundings import Caller

from interlace.agents.direct.connector import ConnectorAction
from interlace.agents.meta import ConnectorTool
from interlace.agents.resolve import Turn, resolve_tools
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL, Principal
from interlace.flows.platform import Platform
from interlace.resources.agents.definition import Agent
from interlace.resources.connectors.definition import Connector
from interlace.resources.http.testing import Received, Reply, serve

SEEN: list[Received] = []


def api(url: str, name: str = "shop", **more: Any) -> Connector:
    actions = [
        {
            "name": "getOrder", "path": "/orders/{id}", "description": "One order with its lines.",
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "title": "Id"}}],
        },
        {
            "name": "createOrder", "method": "POST", "path": "/orders", "description": "Buy something.",
            "bodies": [{"schema": {"type": "object", "required": ["tea"], "properties": {"tea": {"type": "string"}}}}],
            "requires_confirmation": True,
        },
        {"name": "replaceOrder", "method": "PUT", "path": "/orders", "description": "Change it."},
        {"name": "注文一覧", "path": "/orders", "description": "すべての注文を一覧にします。"},
        {"name": "long", "path": "/long", "description": "A very long text."},
    ]  # fmt: skip
    actions += [{"name": f"old{n}", "path": f"/old/{n}", "description": f"Part {n}"} for n in range(60)]
    return Connector.model_validate(
        {"name": name, "description": "Sells tea.", "base_url": url, "actions": actions, **more}
    )


@pytest.fixture
async def url() -> AsyncIterator[str]:
    SEEN.clear()

    def answer(request: Received) -> Reply:
        SEEN.append(request)
        if request.path == "/long":
            return Reply.of({"text": "x" * 50_000})
        return Reply.of({"path": request.path, "method": request.method})

    async with serve(answer) as server:
        yield server.url


async def tool_of(platform: Platform, by: Principal = LOCAL) -> ConnectorTool:
    tools = await resolve_tools(Turn(by=by), platform.sources)
    found = {**tools.active, **tools.unloaded}["connector"]
    assert isinstance(found, ConnectorTool)
    return found


async def test_an_action_is_found_described_and_called(platform: Platform, caller: Caller, url: str) -> None:
    await platform.connectors.add(api(url), by=LOCAL)
    tool = await tool_of(platform)
    assert tool.parameters_schema["properties"]["connector"] == {"enum": ["shop"]}
    found = await caller.call(tool, subcommand="search", query="look at an order")
    assert found["results"][0] == {
        "connector": "shop", "action": "getOrder", "description": "One order with its lines",
    }  # fmt: skip
    told = await caller.call(tool, subcommand="discover", connector="shop", action="getOrder")
    assert told == {
        "actions": [
            {
                "action": "getOrder", "description": "One order with its lines.", "method": "GET", "path": "/orders/{id}",
                "parameters": {
                    "type": "object", "properties": {"id": {"type": "integer"}}, "additionalProperties": False,
                    "required": ["id"],
                },
            }
        ]
    }  # fmt: skip
    result = await caller.call(
        tool, subcommand="execute", connector="shop", action="getOrder", parameters={"id": 7}
    )
    assert result == {"status_code": 200, "body": {"path": "/orders/7", "method": "GET"}}


async def test_several_names_a_query_and_pages(platform: Platform, caller: Caller, url: str) -> None:
    await platform.connectors.add(api(url), by=LOCAL)
    tool = await tool_of(platform)
    several = await caller.call(
        tool, subcommand="discover", connector="shop", action=["createOrder", "注文一覧"]
    )
    assert [action["action"] for action in several["actions"]] == ["createOrder", "注文一覧"]
    assert several["actions"][0]["confirmed_by_a_person"] is True
    queried = await caller.call(tool, subcommand="discover", connector="shop", query="注文の一覧")
    assert queried["actions"][0]["action"] == "注文一覧"
    listed = await caller.call(tool, subcommand="discover", connector="shop")
    assert (len(listed["actions"]), listed["total"], listed["pages"]) == (50, 65, 2)
    assert all("parameters" not in action for action in listed["actions"])
    rest = await caller.call(tool, subcommand="discover", connector="shop", page=2)
    assert len(rest["actions"]) == 15
    many = await caller.call(
        tool, subcommand="discover", connector="shop", action=[f"old{n}" for n in range(25)]
    )
    assert (len(many["actions"]), many["pages"]) == (10, 3)


async def test_a_wrong_name_is_answered_with_the_nearest(
    platform: Platform, caller: Caller, url: str
) -> None:
    await platform.connectors.add(api(url), by=LOCAL)
    tool = await tool_of(platform)
    for subcommand in ("discover", "execute"):
        arguments = {"subcommand": subcommand, "connector": "shop", "action": "getOrders"}
        with pytest.raises(NodeError, match="did you mean 'getOrder'") as caught:
            await caller.call(tool, **arguments)
        assert caught.value.kind == "unknown_action"
    with pytest.raises(NodeError, match="did you mean 'getOrder'"):
        await caller.gate(tool, subcommand="execute", connector="shop", action="getOrdr")
    with pytest.raises(NodeError, match="`execute` needs `action`"):
        await caller.call(tool, subcommand="execute", connector="shop")
    with pytest.raises(NodeError, match="`connector` is needed: shop"):
        await caller.call(tool, subcommand="execute", action="getOrder")
    assert SEEN == []


async def test_gate_and_effects_are_the_actions(platform: Platform, caller: Caller, url: str) -> None:
    await platform.connectors.add(api(url), by=LOCAL)
    await platform.connectors.add(api(url, "strict", confirmation="always"), by=LOCAL)
    await platform.connectors.add(api(url, "loose", confirmation="never"), by=LOCAL)
    tool = await tool_of(platform)
    buy = {"subcommand": "execute", "action": "createOrder", "parameters": {"body": {"tea": "green"}}}
    gate = await caller.gate(tool, connector="shop", **buy)
    assert gate is not None
    assert gate.title == f"POST {url}/orders (shop: createOrder)"
    assert not gate.always
    strict = await caller.gate(tool, connector="strict", **buy)
    assert strict is not None
    assert strict.always
    assert await caller.gate(tool, connector="loose", **buy) is None
    read = {"subcommand": "execute", "connector": "shop", "action": "getOrder", "parameters": {"id": 1}}
    assert await caller.gate(tool, **read) is None
    assert await caller.gate(tool, subcommand="search", query="x") is None
    wanted = {"getOrder": "none", "createOrder": "once", "replaceOrder": "idempotent", "nothing": "once"}
    for action, effects in wanted.items():
        assert tool.effects({**read, "action": action}) == effects
    assert tool.effects({"subcommand": "discover", "connector": "shop", "action": "createOrder"}) == "none"
    with pytest.raises(NodeError, match="tea") as caught:
        await caller.gate(tool, connector="shop", **{**buy, "parameters": {"body": {}}})
    assert caught.value.kind == "bad_parameter"


async def test_a_long_body_is_cut_and_kept_whole(platform: Platform, caller: Caller, url: str) -> None:
    await platform.connectors.add(api(url), by=LOCAL)
    result = await caller.call(
        await tool_of(platform), subcommand="execute", connector="shop", action="long", parameters={}
    )
    assert result["truncated"]
    assert len(result["body"]) < 21_000
    assert len(caller.shelf.content[result["ref"]]) > 50_000


async def test_what_was_removed_meanwhile_is_not_called(platform: Platform, caller: Caller, url: str) -> None:
    await platform.connectors.add(api(url), by=LOCAL)
    tool = await tool_of(platform)
    await platform.connectors.remove("shop", by=LOCAL)
    with pytest.raises(NodeError) as caught:
        await caller.call(
            tool, subcommand="execute", connector="shop", action="getOrder", parameters={"id": 1}
        )
    assert caught.value.kind == "resource_not_found"
    found = await caller.call(tool, subcommand="search", query="order")
    assert found["results"] == []


async def test_one_tool_an_action(platform: Platform, caller: Caller, url: str) -> None:
    await platform.connectors.add(api(url), by=LOCAL)
    sources = replace(platform.sources, how=replace(platform.sources.how, connectors="legacy", threshold=500))
    tools = (await resolve_tools(Turn(by=LOCAL), sources)).active
    own = [tool for tool in tools.values() if isinstance(tool, ConnectorAction)]
    assert len(own) == 65
    assert "connector" not in tools
    get, buy = tools["shop__getOrder"], tools["shop__createOrder"]
    assert await caller.call(get, id=3) == {
        "status_code": 200,
        "body": {"path": "/orders/3", "method": "GET"},
    }
    assert (get.effects({}), buy.effects({})) == ("none", "once")
    assert await caller.gate(get, id=3) is None
    assert await caller.gate(buy, body={"tea": "green"}) is not None
    assert get.description == "One order with its lines. (shop)"


async def test_an_agents_mode_wins_over_the_settings(platform: Platform, url: str) -> None:
    await platform.connectors.add(api(url), by=LOCAL)
    legacy = Agent.model_validate(
        {"name": "a", "connector_ids": ["shop"], "model_config_json": {"connector_tool_mode": "legacy"}}
    )
    tools = await resolve_tools(Turn(by=LOCAL, agent=legacy), platform.sources)
    assert "shop__getOrder" in {**tools.active, **tools.unloaded}
    sources = replace(platform.sources, how=replace(platform.sources.how, connectors="legacy"))
    progressive = Agent.model_validate(
        {"name": "a", "connector_ids": ["shop"], "model_config_json": {"connector_tool_mode": "progressive"}}
    )
    tools = await resolve_tools(Turn(by=LOCAL, agent=progressive), sources)
    assert "connector" in tools.active
