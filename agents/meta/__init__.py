"""Meta-tools: one tool for all resources of a kind, which shows names and gives details when it is asked for them."""

from interlace.agents.meta.call_agent import CallAgent, Delegates
from interlace.agents.meta.connector import ConnectorTool
from interlace.agents.meta.database import DatabaseTool
from interlace.agents.meta.mcp import McpServerTool
from interlace.agents.meta.read_skill import ReadSkill
from interlace.agents.meta.request_tools import RequestTools

__all__ = [
    "CallAgent",
    "ConnectorTool",
    "DatabaseTool",
    "Delegates",
    "McpServerTool",
    "ReadSkill",
    "RequestTools",
]
