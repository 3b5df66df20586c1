"""How much of the resources stands in a turn's prompt: what an agent says wins over the installation's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from interlace.resources.agents.definition import Agent, SkillMode, ToolMode

THRESHOLD: Final = 12
MOST: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """How a turn discovers its tools.

    Args:
        skills: `progressive` shows names and reads on demand, `inline` puts whole skills into the prompt.
        connectors: `progressive` is one tool for all, `legacy` one tool an action.
        databases: `progressive` is one tool for all, `legacy` three tools a database.
        mcp: `progressive` is one tool for all, `legacy` one tool a tool.
        threshold: with more tools than that some are selected for the request.
        most: how many are selected.
        ask: whether a model decides where the ranking leaves it open.
    """

    skills: SkillMode = "progressive"
    connectors: ToolMode = "progressive"
    databases: ToolMode = "progressive"
    mcp: ToolMode = "progressive"
    threshold: int = THRESHOLD
    most: int = MOST
    ask: bool = True

    def of(self, agent: Agent | None) -> Discovery:
        """The same as an agent wants it."""
        if agent is None:
            return self
        how = agent.model_config_json
        return Discovery(
            skills=how.skill_tool_mode or self.skills,
            connectors=how.connector_tool_mode or self.connectors,
            databases=how.database_tool_mode or self.databases,
            mcp=how.mcp_tool_mode or self.mcp,
            threshold=self.threshold,
            most=self.most,
            ask=self.ask,
        )
