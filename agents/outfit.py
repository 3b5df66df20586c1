"""What an agent works with: who it is and which tools it has, found afresh for each piece of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from interlace.agents.loop.task import Profile
from interlace.agents.toolset import ToolSet
from interlace.resources.tools.tool import ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which agent is wanted.

    Args:
        agent: id or name of a stored agent, or `auto` for everything that the user sees; None for an inline one.
        instructions: of an inline agent; of a stored one, they follow its own.
        model: a model or role instead of the agent's own.
        tools: what an inline agent may use: names of built-in tools, of connectors, databases and knowledge bases, and
            `mcp` and `skills` for all of these.
        query: what the work is about, by which tools are selected where there are many.
        delegate: whether it works for another agent; there is one level of that.
        used: names of tools that the conversation has used; they are not selected away.
    """

    agent: str | None = None
    instructions: str = ""
    model: str | None = None
    tools: tuple[str, ...] = ()
    query: str = ""
    delegate: bool = False
    used: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outfit:
    """Who works, and with what."""

    profile: Profile
    tools: ToolSet


class Outfitter(Protocol):
    """Finds agents and their tools with the rights of the run's user."""

    async def outfit(self, choice: Choice, ctx: ToolContext) -> Outfit:
        """The agent and its tools.

        Raises:
            NodeError: `resource_not_found`, `tool_not_found`: there is no such agent or tool for that user.
        """
        ...
