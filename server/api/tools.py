"""`/api/v1/tools`: the built-in tools, and calls of them by hand."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from interlace.flows.tool_calls import call_tool
from interlace.resources.tools import Category, Tool, builtin_tools
from interlace.server.api.listing import Wanted, in_order
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.problems import ApiError
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1/tools", tags=["tools"])


class ToolCall(Body):
    """A call of a tool."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    confirm: bool = Field(False, description="A person agrees to these arguments; some tools ask for that.")


@router.get("", dependencies=[needs("resources:read")])
async def list_tools(wanted: Wanted, category: Annotated[Category | None, Query()] = None) -> dict[str, Any]:
    """The built-in tools with the schemas of their arguments and results."""
    return in_order(builtin_tools().list(category), lambda tool: tool.name, wanted, tool_json)


@router.get("/{tool}", dependencies=[needs("resources:read")])
async def get_tool(tool: str) -> dict[str, Any]:
    """One tool."""
    found = builtin_tools().get(tool)
    if found is None:
        raise ApiError(404, "not_found", builtin_tools().unknown(tool))
    return tool_json(found)


@router.post("/{tool}/run", dependencies=[needs("resources:use")])
async def run_tool(tool: str, body: ToolCall, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Call a tool with the caller's rights; tools that work on the files of a run need a run."""
    result = await call_tool(platform, tool, body.arguments, by=by, confirmed=body.confirm)
    return {
        "result": result.value,
        "text": result.text,
        "is_error": result.is_error,
        "citations": list(result.citations),
    }


def tool_json(tool: Tool) -> dict[str, Any]:
    """A tool as the API and the command line show it."""
    return {
        "name": tool.name,
        "category": tool.category,
        "description": tool.description,
        "parameters": tool.parameters_schema,
        "result": getattr(tool, "result", {}),
        "for_agents": getattr(tool, "for_agents", True),
    }
