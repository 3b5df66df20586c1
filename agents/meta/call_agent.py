"""`call_agent`: another agent does a task with its own tools; its answer comes back, and nothing else of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Protocol

from interlace.agents.meta.base import QUERY, briefly, known, needed, one_of, search
from interlace.agents.search import Entry, Finder
from interlace.agents.stubs import AGENTS, Stub, told
from interlace.engine.document import Effects
from interlace.engine.schema import Schema
from interlace.resources.agents.agents import AgentStub
from interlace.resources.tools.naming import labels
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult


class Delegates(Protocol):
    """Lets agents work for another one."""

    async def run(self, agent_id: str, task: str, ctx: ToolContext) -> ToolResult:
        """The answer of an agent to a task, done with the rights of the caller, which may have to wait for people.

        Raises:
            NodeError: `resource_not_found`: there is no such active agent for the caller; what ended its work.
        """
        ...


class CallAgent:
    """Give a task to an agent. Implements `Tool`.

    Args:
        agents: the catalogue of the turn. It holds names and descriptions alone.
        finder: searches.
    """

    name = "call_agent"
    category: ClassVar[Category] = "agents"

    def __init__(self, agents: Sequence[AgentStub], finder: Finder) -> None:
        by_id = {agent.id: agent for agent in agents}
        named = labels((agent.name, agent.id) for agent in agents)
        self._agents = {label: by_id[key] for label, key in named.items()}
        self._finder = finder

    @cached_property
    def description(self) -> str:
        """How it is used, and the catalogue."""
        return (
            "Let an agent do a task; it knows nothing but the task, so say all it needs. You get its answer. Several calls"
            " at once are done side by side. With `query` search for agents. Agents:\n" + self.catalogue
        )

    @cached_property
    def catalogue(self) -> str:
        """The agents in short."""
        stubs = [Stub(label=label, description=agent.description) for label, agent in self._agents.items()]
        return told(stubs, AGENTS)

    @cached_property
    def parameters_schema(self) -> Schema:
        """The agents are fixed."""
        return {
            "type": "object",
            "properties": {
                "agent_id": one_of(self._agents),
                "task": {"type": "string", "description": "What is to be done."},
                "query": QUERY,
            },
            "additionalProperties": False,
        }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """What the agent did is recorded step by step, so that an interrupted call goes on where it was."""
        del arguments
        return "idempotent"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Nobody is asked for the delegation; the agent's own calls ask."""
        del arguments, ctx
        return None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Delegate or search.

        Raises:
            NodeError: `resource_not_found` with the nearest names; as `Delegates.run`.
        """
        if not arguments.get("agent_id") and arguments.get("query"):
            entries = [
                Entry(key=label, name=label, description=agent.description)
                for label, agent in self._agents.items()
            ]
            return ToolResult(value=await search(self._finder, entries, str(arguments["query"]), _told))
        agent = known(arguments.get("agent_id"), self._agents, "agent_id")
        task = str(needed(arguments, "task", "call_agent"))
        return await ctx.service(Delegates).run(agent.id, task, ctx)


def _told(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"agent_id": entry.name, "description": briefly(entry.description)}
    return told
