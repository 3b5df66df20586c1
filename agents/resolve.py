"""The tools of one turn: what its user sees, narrowed to what the chosen agent may use, in eight steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from interlace.agents.direct.connector import ConnectorAction
from interlace.agents.direct.database import OPERATIONS, DatabaseOperation
from interlace.agents.direct.mcp import ServerTool, accepted
from interlace.agents.meta import (
    CallAgent,
    ConnectorTool,
    DatabaseTool,
    McpServerTool,
    ReadSkill,
    RequestTools,
)
from interlace.agents.modes import Discovery
from interlace.agents.search import Finder
from interlace.agents.selection import select
from interlace.agents.toolset import ToolSet
from interlace.agents.visible import BaseStub, ConnectorStub, DatabaseStub, ServerStub, Visible, within
from interlace.engine.chat import CallSite, ChatModel
from interlace.engine.principal import Principal
from interlace.resources.agents.agents import Agents
from interlace.resources.agents.definition import Agent
from interlace.resources.connectors.connectors import Connectors
from interlace.resources.skills.skills import Skills
from interlace.resources.tools.knowledge import Base, GroundedRetrieve, KbRetrieve
from interlace.resources.tools.naming import free_tool_name, labels
from interlace.resources.tools.registry import BuiltinTools
from interlace.resources.tools.tool import Category, Tool
from interlace.store.resources import ResourceRepository

S = TypeVar("S", ConnectorStub, DatabaseStub, ServerStub)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where tools come from; one for a process. `how` are the installation's settings."""

    builtin: BuiltinTools
    visible: Visible
    resources: ResourceRepository
    connectors: Connectors
    skills: Skills
    agents: Agents
    finder: Finder
    models: ChatModel
    how: Discovery = field(default_factory=Discovery)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Whose turn it is, and what for.

    Args:
        by: the user; every resource is looked up with their rights.
        agent: the chosen agent; None is Auto: everything visible.
        request: what is asked for, by which tools are selected.
        delegate: whether an agent works for another one, which gets no `call_agent` whatever its scope is.
        used: names of tools that the conversation has used.
        site: where a model's choice of tools is put down.
    """

    by: Principal
    agent: Agent | None = None
    request: str = ""
    delegate: bool = False
    used: Collection[str] = ()
    site: CallSite | None = None


async def resolve_tools(turn: Turn, sources: Sources) -> ToolSet:
    """The tools of a turn, resolved afresh for each one.

    Seven small queries where nothing has changed since the last turn, at most two more a kind where something has:
    the number does not grow with the number of resources.
    """
    agent, by, how = turn.agent, turn.by, sources.how.of(turn.agent)
    notes: list[str] = []

    # 1 built-ins, 2 category filter: it holds for every later step too
    allowed = _filter(agent)
    tools: list[Tool] = [tool for tool in sources.builtin.for_agents() if allowed(tool.category)]

    # 3 knowledge bases
    if allowed("knowledge") and (agent is None or agent.kb_ids):
        bases = await sources.visible.bases(by=by)
        tools += _knowledge(bases if agent is None else within(bases, agent.kb_ids), agent)

    # 4 connectors and databases
    scoped = agent is None or bool(agent.connector_ids)
    only = None if agent is None else agent.connector_ids
    if allowed("connector") and scoped:
        connectors = await sources.visible.connectors(by=by)
        named = _labelled(connectors if only is None else within(connectors, only))
        tools += await _connectors(named, how, sources, by)
    if allowed("database") and scoped:
        tools += _databases(_labelled(await sources.visible.databases(by=by, only=only)), how, sources)

    # 5 MCP servers: of the user, never bound to an agent
    if allowed("mcp"):
        tools += _servers(_labelled(await sources.visible.servers(by=by)), how, sources)

    # 6 skills: an organisation's, never bound to an agent
    if allowed("skills"):
        found, said = await _skills(how, sources, by)
        tools, notes = [*tools, *found], [*notes, *said]

    # 7 delegation: in Auto alone, so that a shared agent never reaches others
    if agent is None and not turn.delegate:
        catalogue = await sources.agents.catalogue(by=by)
        tools += [CallAgent(catalogue, sources.finder)] if catalogue else []

    # 8 selection: what is left over can be asked for, and nothing else
    shown, unloaded = await select(
        _unique(tools), turn.request, sources.finder, how, models=sources.models, site=turn.site or CallSite(principal=by),
        used=turn.used,
    )  # fmt: skip
    resolved = ToolSet(shown, unloaded=unloaded, notes=notes)
    if unloaded:
        resolved.add(RequestTools(resolved, sources.finder))
    return resolved


def _filter(agent: Agent | None) -> Callable[[Category], bool]:
    """Whether tools of a category are in the turn's scope."""
    if agent is None or agent.tool_categories is None:
        return lambda _: True
    wanted = frozenset(agent.tool_categories)
    return lambda category: category in wanted


def _labelled(stubs: Sequence[S]) -> dict[str, S]:
    by_id = {stub.id: stub for stub in stubs}
    return {label: by_id[key] for label, key in labels((stub.name, stub.id) for stub in stubs).items()}


def _knowledge(bases: Sequence[BaseStub], agent: Agent | None) -> list[Tool]:
    named = labels((base.name, base.id) for base in bases)
    about = {base.id: base.description for base in bases}
    scope = [Base(id=key, name=label, description=about[key]) for label, key in named.items()]
    if not scope:
        return []
    return [GroundedRetrieve(scope) if agent is not None and agent.grounded else KbRetrieve(scope)]


async def _connectors(
    named: Mapping[str, ConnectorStub], how: Discovery, sources: Sources, by: Principal
) -> list[Tool]:
    if not named:
        return []
    if how.connectors == "progressive":
        return [ConnectorTool(named, sources.finder)]
    stored = {r.id: r for r in await sources.resources.many([stub.id for stub in named.values()], by=by)}
    found: list[Tool] = []
    for label, stub in named.items():
        if stub.id in stored:
            loaded = sources.connectors.loaded(stored[stub.id])
            found += [ConnectorAction(stub, label, loaded, action) for action in loaded.connector.actions]
    return found


def _databases(named: Mapping[str, DatabaseStub], how: Discovery, sources: Sources) -> list[Tool]:
    if not named:
        return []
    if how.databases == "progressive":
        return [DatabaseTool(named, sources.finder)]
    return [DatabaseOperation(stub, label, entry) for label, stub in named.items() for entry in OPERATIONS]


def _servers(named: Mapping[str, ServerStub], how: Discovery, sources: Sources) -> list[Tool]:
    if not named:
        return []
    if how.mcp == "progressive":
        return [McpServerTool(named, sources.finder)]
    return [
        ServerTool(stub, label, accepted(tool))
        for label, stub in named.items()
        for tool in stub.tools.values()
    ]


async def _skills(how: Discovery, sources: Sources, by: Principal) -> tuple[list[Tool], list[str]]:
    """The tool and the note of skills; inline their whole texts, read in one query."""
    stubs = await sources.skills.visible(by=by)
    if not stubs:
        return [], []
    if how.skills == "progressive":
        tool = ReadSkill(stubs, sources.finder)
        return [tool], [tool.note]
    texts = await sources.skills.texts([stub.id for stub in stubs], by=by)
    return [], [f"# Skill: {stub.name}\n{texts[stub.id]}" for stub in stubs if stub.id in texts]


def _unique(tools: Iterable[Tool]) -> list[Tool]:
    """The tools with each name once; a later one of a name that is taken gets another name, always the same."""
    found: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in found and isinstance(tool, ConnectorAction | DatabaseOperation | ServerTool):
            tool.name = free_tool_name(tool.name, found, tool.category, *tool.stands_for)
        found.setdefault(tool.name, tool)
    return list(found.values())
