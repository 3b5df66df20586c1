"""Which tools a turn has: the table of scopes, the category filter, tenants, and what it costs to find out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlace.agents.meta import CallAgent, Delegates, ReadSkill
from interlace.agents.resolve import Turn, resolve_tools
from interlace.agents.toolset import ToolSet
from interlace.engine.errors import NodeError
from interlace.engine.json_schema import problems_of
from interlace.engine.principal import Principal
from interlace.flows.platform import Platform
from interlace.resources.agents.definition import Agent
from interlace.resources.connectors.definition import Connector
from interlace.resources.skills.definition import Skill
from interlace.resources.tools.tool import ToolContext, ToolResult
from tests.agents.surroundings import Caller, Queries
from tests.store.people import People

SECRET = "Never tell anybody the word xyzzy."


async def furnish(platform: Platform, by: Principal, shop: Path, mark: str = "") -> None:
    """One of everything, and two connectors."""
    for name in (f"tea{mark}", f"coffee{mark}"):
        connector = Connector.model_validate(
            {"name": name, "base_url": "https://api.test", "actions": [{"name": "buy", "path": "/buy"}]}
        )
        await platform.connectors.add(connector, by=by)
    database = {"dialect": "sqlite", "database": str(shop)}
    await platform.store.resources.add("database", f"books{mark}", database, by=by)
    for name in (f"manual{mark}", f"letters{mark}"):
        await platform.knowledge.add(name, {"description": f"About {name}"}, by=by)
    server = await platform.mcp.add(f"hub{mark}", {"url": "http://127.0.0.1:1/mcp"}, by=by)
    tool = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    await platform.store.mcp_tools.accept(server.id, {"look": ("h", tool)}, by=by)
    await platform.skills.add(
        Skill(name=f"returns{mark}", description="How to take goods back.", body="Do it."), by=by
    )
    await platform.agents.add(
        {"name": f"clerk{mark}", "description": "Types.", "instructions": SECRET}, by=by
    )
    await platform.agents.add({"name": f"maker{mark}", "description": "Builds.", "builder": True}, by=by)


def everything(tools: ToolSet) -> dict[str, Any]:
    return {**tools.unloaded, **tools.active}


def enum_of(tools: ToolSet, tool: str, field: str) -> list[str]:
    names: list[str] = everything(tools)[tool].parameters_schema["properties"][field]["enum"]
    return names


async def test_auto_has_everything_visible(platform: Platform, people: People, shop: Path) -> None:
    await furnish(platform, people.ann, shop)
    tools = await resolve_tools(Turn(by=people.ann), platform.sources)
    assert set(enum_of(tools, "connector", "connector")) == {"tea", "coffee"}
    assert enum_of(tools, "database", "database") == ["books"]
    assert enum_of(tools, "mcp", "server") == ["hub"]
    assert enum_of(tools, "read_skill", "name") == ["returns"]
    assert enum_of(tools, "call_agent", "agent_id") == ["clerk"]
    bases = everything(tools)["kb_retrieve"].parameters_schema["properties"]["knowledge_bases"]
    assert set(bases["items"]["enum"]) == {"manual", "letters"}
    builtin = {tool.name for tool in platform.sources.builtin.for_agents()}
    assert builtin < everything(tools).keys()
    assert "returns: How to take goods back" in tools.notes[0]


async def test_a_chosen_agent_narrows(platform: Platform, people: People, shop: Path) -> None:
    await furnish(platform, people.ann, shop)
    tea = await platform.store.resources.find("connector", "tea", by=people.ann)
    agent = Agent.model_validate(
        {"name": "a", "connector_ids": [tea.id], "kb_ids": ["manual"], "grounded": True, "tool_categories": ["math", "connector", "database", "knowledge", "mcp", "skills", "agents"]}
    )  # fmt: skip
    tools = await resolve_tools(Turn(by=people.ann, agent=agent), platform.sources)
    assert enum_of(tools, "connector", "connector") == ["tea"]
    assert "database" not in everything(tools)
    assert "knowledge_bases" not in everything(tools)["grounded_retrieve"].parameters_schema["properties"]
    assert "kb_retrieve" not in everything(tools)
    assert enum_of(tools, "mcp", "server") == ["hub"]  # of the user, never bound to an agent
    assert enum_of(tools, "read_skill", "name") == ["returns"]
    assert "call_agent" not in everything(tools)
    kinds = {tool.category for tool in everything(tools).values()}
    assert kinds == {"math", "connector", "knowledge", "mcp", "skills"}


async def test_an_agent_without_resources_has_none(platform: Platform, people: People, shop: Path) -> None:
    await furnish(platform, people.ann, shop)
    tools = await resolve_tools(Turn(by=people.ann, agent=Agent(name="a")), platform.sources)
    assert (
        not {"connector", "database", "kb_retrieve", "grounded_retrieve", "call_agent"}
        & everything(tools).keys()
    )
    bound = Agent.model_validate({"name": "a", "connector_ids": ["books"]})
    tools = await resolve_tools(Turn(by=people.ann, agent=bound), platform.sources)
    assert enum_of(tools, "database", "database") == ["books"]
    assert "connector" not in everything(tools)


@pytest.mark.parametrize(
    ("category", "gone"),
    [
        ("connector", "connector"), ("database", "database"), ("mcp", "mcp"), ("skills", "read_skill"),
        ("knowledge", "kb_retrieve"), ("web", "http_request"),
    ],
)  # fmt: skip
async def test_the_category_filter_holds_for_meta_tools_and_cannot_be_gone_round(
    platform: Platform, people: People, shop: Path, category: str, gone: str
) -> None:
    await furnish(platform, people.ann, shop)
    every = [
        "math", "time", "text", "data", "files", "code", "web", "mail", "documents", "knowledge", "connector",
        "database", "mcp", "skills", "agents", "selection",
    ]  # fmt: skip
    scope = {"name": "a", "connector_ids": ["tea", "books"], "kb_ids": ["manual"]}
    whole = Agent.model_validate({**scope, "tool_categories": every})
    tools = await resolve_tools(Turn(by=people.ann, agent=whole, request="add numbers"), platform.sources)
    assert gone in everything(tools)
    less = Agent.model_validate({**scope, "tool_categories": [name for name in every if name != category]})
    tools = await resolve_tools(Turn(by=people.ann, agent=less, request="add numbers"), platform.sources)
    assert gone not in everything(tools)
    assert category not in {tool.category for tool in everything(tools).values()}
    assert tools.unloaded
    request = tools.active["request_tools"]
    assert gone not in request.description
    assert problems_of(request.parameters_schema, {"tool_names": [gone]}, "a")
    with pytest.raises(NodeError, match="there is no tool"):
        await request.run({"tool_names": [gone]}, Caller(platform, people.ann))
    assert gone not in tools.active
    if category == "skills":
        assert tools.notes == ()


async def test_an_empty_list_of_categories_is_no_tool(platform: Platform, people: People, shop: Path) -> None:
    await furnish(platform, people.ann, shop)
    none = Agent.model_validate({"name": "a", "connector_ids": ["tea"], "tool_categories": []})
    tools = await resolve_tools(Turn(by=people.ann, agent=none), platform.sources)
    assert everything(tools) == {}
    assert tools.notes == ()


async def test_what_belongs_to_another_cannot_be_named(
    platform: Platform, people: People, shop: Path
) -> None:
    await furnish(platform, people.ann, shop)
    await furnish(platform, people.dee, shop, "2")
    tools = await resolve_tools(Turn(by=people.dee), platform.sources)
    dee = Caller(platform, people.dee)
    said = str(tools.specs()) + str(tools.notes)
    for name in ("tea", "coffee", "books", "manual", "hub", "returns", "clerk"):
        assert f"'{name}'" not in said
        assert f" {name}:" not in said
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("connector", {"subcommand": "execute", "action": "buy"}, "connector"),
        ("database", {"subcommand": "query", "sql": "SELECT 1"}, "database"),
        ("mcp", {"subcommand": "call", "tool": "look"}, "server"),
        ("read_skill", {}, "name"),
        ("call_agent", {"task": "x"}, "agent_id"),
    ]
    anns = {
        "connector": "tea",
        "database": "books",
        "mcp": "hub",
        "read_skill": "returns",
        "call_agent": "clerk",
    }
    kinds = {"read_skill": "skill", "call_agent": "agent", "mcp": "mcp_server"}
    for tool, arguments, field in cases:
        made = everything(tools)[tool]
        name = anns[tool]
        known = await platform.store.resources.find(kinds.get(tool, tool), name, by=people.ann)
        for word in (name, known.id):
            assert problems_of(made.parameters_schema, {**arguments, field: word}, "a")
            for way in (made.run, made.gate) if tool not in ("read_skill", "call_agent") else (made.run,):
                with pytest.raises(NodeError) as caught:
                    await way({**arguments, field: word}, dee)
                assert caught.value.kind == "resource_not_found"
                assert known.id not in caught.value.message.replace(repr(word), "")
    for name in ("tea", "manual"):
        agent = Agent.model_validate({"name": "a", "connector_ids": [name], "kb_ids": [name]})
        narrowed = await resolve_tools(Turn(by=people.dee, agent=agent), platform.sources)
        assert not {"connector", "kb_retrieve"} & everything(narrowed).keys()


async def test_what_was_shared_goes_with_its_publication(
    platform: Platform, people: People, shop: Path
) -> None:
    connector = Connector.model_validate(
        {"name": "ours", "base_url": "https://api.test", "actions": [{"name": "buy", "path": "/"}]}
    )
    added = await platform.connectors.add(connector, by=people.ann, org_id=people.acme, visibility="org")
    tools = await resolve_tools(Turn(by=people.ben), platform.sources)
    assert enum_of(tools, "connector", "connector") == ["ours"]
    await platform.store.market.unpublish(added.id, by=people.ann)
    assert "connector" not in everything(await resolve_tools(Turn(by=people.ben), platform.sources))
    with pytest.raises(NodeError) as caught:
        await everything(tools)["connector"].run(
            {"subcommand": "execute", "connector": "ours", "action": "buy"}, Caller(platform, people.ben)
        )
    assert caught.value.kind == "resource_not_found"


async def test_what_is_switched_off_is_not_there(platform: Platform, people: People, shop: Path) -> None:
    await furnish(platform, people.ann, shop)
    for kind in ("connector", "database", "mcp_server", "knowledge_base", "skill", "agent"):
        for found in (await platform.store.resources.list(kind, by=people.ann)).items:
            await platform.store.resources.update(found.id, by=people.ann, active=False)
    tools = await resolve_tools(Turn(by=people.ann), platform.sources)
    assert everything(tools).keys() <= {*(t.name for t in platform.sources.builtin.list()), "request_tools"}


async def test_the_number_of_queries_does_not_grow(platform: Platform, people: People, shop: Path) -> None:
    counts = []
    for round_ in range(3):
        for number in range(1 if round_ == 0 else 5):
            await furnish(platform, people.ann, shop, f"-{round_}-{number}")
        with Queries(platform) as cold:
            await resolve_tools(Turn(by=people.ann), platform.sources)
        with Queries(platform) as warm:
            await resolve_tools(Turn(by=people.ann), platform.sources)
        counts.append(len(warm.said))
        # each new database is opened once to learn its tables, which looks it up and its secrets
        assert len([text for text in cold.said if "secrets" not in text]) <= 14 + 2 * (
            1 if round_ == 0 else 5
        )
    assert counts == [7, 7, 7]
    with Queries(platform) as narrow:
        await resolve_tools(
            Turn(by=people.ann, agent=Agent(name="a", tool_categories=("math",))), platform.sources
        )
    assert narrow.said == []


async def test_the_catalogue_of_agents_holds_no_instructions(
    platform: Platform, people: People, shop: Path
) -> None:
    await furnish(platform, people.ann, shop)
    tools = await resolve_tools(Turn(by=people.ann, request="xyzzy"), platform.sources)
    found = await Caller(platform, people.ann).call(everything(tools)["call_agent"], query="xyzzy words")
    said = str(tools.specs()) + str(tools.notes) + str(found)
    assert "clerk" in said
    assert "xyzzy" not in said
    assert "Builds." not in said


class Clerks:
    """Delegates that answer what they were told. Implements `Delegates`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    async def run(self, agent_id: str, task: str, ctx: ToolContext) -> ToolResult:
        self.asked.append((agent_id, task, ctx.principal.user_id))
        return ToolResult(value="done")


async def test_a_task_goes_to_the_agent_and_a_delegate_gets_no_delegates(
    platform: Platform, people: People, shop: Path
) -> None:
    await furnish(platform, people.ann, shop)
    tools = await resolve_tools(Turn(by=people.ann), platform.sources)
    clerks = Clerks()
    ann = Caller(platform, people.ann, more={Delegates: clerks})
    tool = everything(tools)["call_agent"]
    assert isinstance(tool, CallAgent)
    assert await ann.call(tool, agent_id="clerk", task="Type this.") == "done"
    clerk = await platform.store.resources.find("agent", "clerk", by=people.ann)
    assert clerks.asked == [(clerk.id, "Type this.", people.ann.user_id)]
    with pytest.raises(NodeError, match="`call_agent` needs `task`"):
        await ann.call(tool, agent_id="clerk")
    for agent in (None, Agent(name="a", tool_categories=("agents",))):
        delegate = await resolve_tools(Turn(by=people.ann, agent=agent, delegate=True), platform.sources)
        assert "call_agent" not in everything(delegate)


async def test_skills_are_read_whole_or_stand_in_the_prompt(platform: Platform, people: People) -> None:
    for name, body in (("returns", "Check the seal."), ("お詫び", "まず謝る。")):
        await platform.skills.add(Skill(name=name, description=f"About {name}.", body=body), by=people.ann)
    ann = Caller(platform, people.ann)
    tools = await resolve_tools(Turn(by=people.ann), platform.sources)
    tool = everything(tools)["read_skill"]
    assert isinstance(tool, ReadSkill)
    assert "Check the seal." in await ann.call(tool, name="returns")
    assert "まず謝る。" in await ann.call(tool, name="お詫び")
    assert (await ann.call(tool, query="returns"))["results"][0]["name"] == "returns"
    with pytest.raises(NodeError, match="did you mean 'returns'"):
        await tool.run({"name": "return"}, ann)
    inline = replace(platform.sources, how=replace(platform.sources.how, skills="inline"))
    tools = await resolve_tools(Turn(by=people.ann), inline)
    assert "read_skill" not in everything(tools)
    assert any("Check the seal." in note for note in tools.notes)
    assert len(tools.notes) == 2


async def test_tools_of_equal_names_all_have_one(platform: Platform, people: People, shop: Path) -> None:
    """A connector and a server of one name, and their parts of one name, as tools of their own."""
    connector = Connector.model_validate(
        {"name": "hub", "base_url": "https://api.test", "actions": [{"name": "look", "path": "/"}]}
    )
    await platform.connectors.add(connector, by=people.ann)
    await furnish(platform, people.ann, shop)
    how = replace(platform.sources.how, connectors="legacy", mcp="legacy", threshold=500)
    sources = replace(platform.sources, how=how)
    tools = (await resolve_tools(Turn(by=people.ann), sources)).active
    named = sorted(name for name in tools if name.startswith("hub__look"))
    assert named[0] == "hub__look"
    assert len(named) == 2
    assert {tools[name].category for name in named} == {"connector", "mcp"}
    again = (await resolve_tools(Turn(by=people.ann), sources)).active
    assert sorted(name for name in again if name.startswith("hub__look")) == named
