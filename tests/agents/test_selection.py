"""Which of many tools are shown: ranked here, asked of a model where the ranking leaves it open, never fewer than needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from interlace.agents.meta import RequestTools
from interlace.agents.modes import Discovery
from interlace.agents.resolve import Turn, resolve_tools
from interlace.agents.search import Entry, Finder, Found
from interlace.agents.selection import is_open, select
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL
from interlace.engine.schema import Schema
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.connectors.definition import Connector
from interlace.resources.models.testing import Reply, Rule, ScriptedModels
from interlace.resources.skills.definition import Skill
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult
from tests.agents.surroundings import Caller

REQUEST = "Turn this CSV text into JSON"


@dataclass
class Plain:
    """A tool that does nothing."""

    name: str
    description: str = ""
    category: Category = "text"
    parameters_schema: Schema = field(default_factory=lambda: {"type": "object", "properties": {}})

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        return "none"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        return None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        return ToolResult(value=None)


TOPICS = (
    "weather",
    "stocks",
    "recipes",
    "trains",
    "poems",
    "chess",
    "birds",
    "rivers",
    "films",
    "songs",
    "moons",
    "taxes",
)


def many() -> list[Plain]:
    return [Plain(f"get_{topic}", f"Everything about {topic}.") for topic in TOPICS] + [
        Plain("convert_csv", "Make JSON out of CSV text."), Plain("mcp", "Servers.", "mcp"), Plain("kb_retrieve", "Look.", "knowledge"),
    ]  # fmt: skip


async def test_above_the_threshold_those_that_fit_are_shown_and_meta_tools_stay(platform: Platform) -> None:
    finder = platform.sources.finder
    shown, left = await select(many(), REQUEST, finder, Discovery())
    names = [tool.name for tool in shown]
    assert len(names) == 6 + 2
    assert {"convert_csv", "mcp", "kb_retrieve"} < set(names)
    assert {tool.name for tool in left} | set(names) == {tool.name for tool in many()}
    few, none = await select(many()[:12], REQUEST, finder, Discovery())
    assert (len(few), none) == (12, [])
    shown, _ = await select(many(), REQUEST, finder, Discovery(most=2), used=["get_birds"])
    assert {"convert_csv", "mcp", "kb_retrieve", "get_birds"} < {tool.name for tool in shown}
    assert len(shown) == 2 + 3


async def test_a_hub_shows_a_few_and_loads_the_rest(platform: Platform, caller: Caller) -> None:
    await platform.skills.add(Skill(name="returns", description="Take goods back.", body="…"), by=LOCAL)
    connector = {"name": "shop", "base_url": "https://a.test", "actions": [{"name": "buy", "path": "/"}]}
    await platform.connectors.add(Connector.model_validate(connector), by=LOCAL)
    tools = await resolve_tools(Turn(by=LOCAL, request=REQUEST), platform.sources)
    assert len(tools.active) + len(tools.unloaded) > 20
    assert len(tools.active) == 6 + 3
    assert {"connector", "read_skill", "request_tools"} < tools.active.keys()
    request = tools.active["request_tools"]
    assert isinstance(request, RequestTools)
    wanted = "http_request"
    assert wanted in tools.unloaded
    assert wanted in str(request.parameters_schema)
    found = await caller.call(request, query="send an HTTP request to a web address")
    assert wanted in [result["tool"] for result in found["results"]]
    before = len(tools.specs())
    assert await caller.call(request, tool_names=[wanted]) == {"loaded": [wanted]}
    assert wanted in [spec.name for spec in tools.specs()]
    assert len(tools.specs()) == before + 1
    assert wanted not in str(request.parameters_schema)
    result = await request.run({"tool_names": [wanted, "send_maill"]}, caller)
    assert result.value["loaded"] == [wanted]
    assert "did you mean 'send_email'" in result.value["unknown"]["send_maill"]
    with pytest.raises(NodeError, match="there is no tool") as caught:
        await request.run({"tool_names": ["nothing_like_it"]}, caller)
    assert caught.value.kind == "tool_not_found"
    with pytest.raises(NodeError, match="tool_names"):
        await request.run({}, caller)


class Broken(Finder):
    """A search that fails."""

    def __init__(self) -> None:
        pass

    async def find(
        self, entries: Sequence[Entry], request: str, *, limit: int = 10, wait: bool = True
    ) -> list[Found]:
        raise RuntimeError("no index")


async def test_where_nothing_can_be_ranked_all_tools_are_shown(platform: Platform) -> None:
    shown, left = await select(many(), REQUEST, Broken(), Discovery())
    assert (len(shown), left) == (len(many()), [])
    shown, left = await select(many(), "  ", platform.sources.finder, Discovery())
    assert (len(shown), left) == (len(many()), [])


def ranked(*scores: float) -> list[Found]:
    return [
        Found(entry=Entry(key=str(at), name=str(at)), score=score, words=0) for at, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ((0.9, 0.8, 0.3, 0.2), False),  # clear
        ((0.9, 0.88, 0.87, 0.86), True),  # more fit than may be shown
        ((0.2, 0.2, 0.2, 0.2), False),  # nothing fits: asking gains nothing
        ((0.9, 0.9), False),  # all that fit are shown
    ],
)
def test_when_the_ranking_leaves_it_open(scores: tuple[float, ...], wanted: bool) -> None:
    assert is_open(ranked(*scores), 2) is wanted


def alike() -> list[Plain]:
    """Fourteen tools that fit a request about equally well."""
    return [Plain(f"read_report_{n}", "Read the report of a branch of the shop.") for n in range(14)]


async def test_a_model_is_asked_only_where_it_is_open(platform: Platform, server: ScriptedModels) -> None:
    chosen = {"tools": ["read_report_13", "read_report_9", "invented"]}
    server.script.rules[:] = [Rule(reply=Reply(data=chosen))]
    finder, models = platform.sources.finder, platform.models
    await select(many(), REQUEST, finder, Discovery(), models=models)
    assert server.requests == []
    shown, _ = await select(alike(), "read the report of the shop", finder, Discovery(most=3), models=models)
    assert len(server.requests) == 1
    assert {"read_report_13", "read_report_9"} < {tool.name for tool in shown}
    assert len(shown) == 3
    shown, _ = await select(
        alike(), "read the report of the shop", finder, Discovery(most=3, ask=False), models=models
    )
    assert len(server.requests) == 1
    assert len(shown) == 3


async def test_a_model_that_fails_or_talks_leaves_it_to_the_ranking(
    platform: Platform, server: ScriptedModels
) -> None:
    for reply in (Reply(text="I would take the first one."), Reply(status=500)):
        server.script.rules[:] = [Rule(reply=reply)]
        shown, left = await select(
            alike(),
            "read the report of the shop",
            platform.sources.finder,
            Discovery(),
            models=platform.models,
        )
        assert (len(shown), len(left)) == (6, 8)


def test_settings_come_from_the_environment_with_and_without_the_prefix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Settings().discovery == Discovery()
    for name, value in {
        "SKILL_TOOL_MODE": "inline", "INTERLACE_CONNECTOR_TOOL_MODE": "legacy", "DATABASE_TOOL_MODE": "legacy",
        "MCP_TOOL_MODE": "legacy", "REACT_TOOL_SELECTION_THRESHOLD": "20", "REACT_TOOL_SELECTION_MAX": "9",
        "REACT_TOOL_SELECTION_ASK": "false",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    wanted = Discovery(
        skills="inline",
        connectors="legacy",
        databases="legacy",
        mcp="legacy",
        threshold=20,
        most=9,
        ask=False,
    )
    assert Settings().discovery == wanted
    assert replace(Settings(skill_tool_mode="progressive").discovery, skills="inline") == wanted
