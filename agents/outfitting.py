"""Finds agents and their tools: stored ones, everything that a user sees, or what a node names itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, get_args

from interlace.agents.loop.delegate import run_agent
from interlace.agents.loop.spending import WORDS
from interlace.agents.loop.task import Profile
from interlace.agents.outfit import Choice, Outfit
from interlace.agents.resolve import Sources, Turn, resolve_tools
from interlace.agents.toolset import ToolSet
from interlace.engine.chat import CallSite
from interlace.engine.errors import NodeError
from interlace.resources.agents.definition import Agent
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.store.errors import NotFoundError

AUTO: Final = "auto"
_KINDS: Final[dict[str, Category]] = {
    "connector": "connector", "database": "database", "knowledge_base": "knowledge",
}  # fmt: skip
"""Stored resources that an inline agent may name, and the category of their tools."""
_WHOLE: Final[frozenset[str]] = frozenset({"mcp", "skills"})
"""Categories that an inline agent may name as a whole."""


class StoredAgents:
    """Implements `Outfitter`."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    async def outfit(self, choice: Choice, ctx: ToolContext) -> Outfit:
        """The agent and its tools, found afresh.

        Raises:
            NodeError: `resource_not_found`, `unknown_tool`.
        """
        by, agents = ctx.principal, self._sources.agents
        named: Agent | None = None
        if choice.agent is not None and choice.agent != AUTO:
            _, named = await agents.use(choice.agent, by=by, hide=ctx.hide)
        hooks = await agents.hooks(named, by=by, hide=ctx.hide)
        profile = Profile(instructions=choice.instructions) if named is None else Profile.of(named)
        turn = Turn(
            by=by, agent=named, request=choice.query, delegate=choice.delegate, used=choice.used,
            site=CallSite(principal=by, run_id=ctx.run.id, path=ctx.path, hide=ctx.hide),
        )  # fmt: skip
        if choice.agent is None:
            tools = await self._named(choice.tools, turn)
        else:
            tools = await resolve_tools(turn, self._sources)
        return Outfit(profile=profile.with_(model=choice.model, hooks=hooks), tools=tools)

    async def _named(self, names: Sequence[str], turn: Turn) -> ToolSet:
        """The tools of an inline agent: built-in ones, and those of the resources that it names."""
        builtin = [found for name in names if (found := self._sources.builtin.get(name)) is not None]
        others = [name for name in names if self._sources.builtin.get(name) is None]
        if not others:
            return ToolSet(builtin)
        categories: set[Category] = set()
        for name in others:
            categories.add(await self._category(name, turn))
        scope = Agent(
            name="inline",
            connector_ids=tuple(others),
            kb_ids=tuple(others),
            tool_categories=tuple(sorted(categories)),
        )
        resolved = await resolve_tools(replace(turn, agent=scope), self._sources)
        for tool in self._sources.builtin.for_agents(categories):
            resolved.discard(tool.name)  # they come by their own names only
        for tool in builtin:
            resolved.add(tool)
        return resolved

    async def _category(self, name: str, turn: Turn) -> Category:
        """What a name is one of."""
        for category in get_args(Category):
            if category == name and name in _WHOLE:
                found: Category = category
                return found
        for kind, category in _KINDS.items():
            try:
                await self._sources.resources.find(kind, name, by=turn.by)
            except NotFoundError:
                continue
            return category
        raise NodeError(
            f"there is no tool, connector, database or knowledge base {name!r} that the run's user may use;"
            f" {self._sources.builtin.unknown(name).partition('; ')[2]}",
            kind="unknown_tool", retryable=False,
        )  # fmt: skip


class WorkingAgents:
    """Implements `Delegates`: the agents of the caller's catalogue, at work within its calls."""

    def __init__(self, outfitter: StoredAgents) -> None:
        self._outfitter = outfitter

    async def run(self, agent_id: str, task: str, ctx: ToolContext) -> ToolResult:
        """The answer of an agent to a task; nothing else of it comes back.

        Raises:
            NodeError: `resource_not_found`; what ended its work.
            Suspend: people are asked.
        """
        outfit = await self._outfitter.outfit(Choice(agent=agent_id, query=task, delegate=True), ctx)
        found = await run_agent(outfit.profile, outfit.tools, task, ctx)
        if found.stop_reason == "answer":
            return ToolResult(value=found.text, text=found.text)
        text = f"{found.text}\n\n[The agent did not come to its end, because of {WORDS[found.stop_reason]}.]"
        return ToolResult(value=found.text, text=text)
