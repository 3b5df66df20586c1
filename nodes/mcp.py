"""MCP: one tool of an MCP server."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field, WithJsonSchema

from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Node, Output, RunContext
from interlace.resources.mcp import McpServers

_SHOWN = 2000


class McpConfig(Config):
    """The server, the tool, and what it is given."""

    server: str = Field(
        title="Server",
        description="An MCP server of yours, by name or id.",
        examples=["github"],
        json_schema_extra={"widget": "resource", "resource": "mcp_server"},
    )
    tool: str = Field(
        title="Tool",
        description="The tool's name.",
        examples=["create_issue"],
        json_schema_extra={"widget": "mcp_tool"},
    )
    arguments: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Arguments",
        description="What the tool is given; checked against its schema before anything is sent.",
        examples=[{"title": "{{ inputs.title }}"}],
        json_schema_extra={"widget": "arguments"},
    )


class McpOutput(Output):
    """What the tool gave."""

    content: Annotated[Any, WithJsonSchema({"type": "array", "items": {"type": "object"}})] = Field(
        description="The content blocks as the protocol has them: {type: text, text}, images, links."
    )
    structured: Any = Field(
        None, description="The structured result, where the tool gives one; null otherwise."
    )
    is_error: bool = Field(False, description="Always false: an error of the tool is one of the node.")


class Mcp(Node[McpConfig, McpOutput]):
    """Call a tool of an MCP server."""

    kind = "MCP"
    group, icon = "connect", "plug"
    timeout = 300.0
    effects: ClassVar[Effects] = "once"
    example: ClassVar[dict[str, Any]] = {
        "server": "github",
        "tool": "create_issue",
        "arguments": {"title": "{{ inputs.title }}"},
    }

    async def effects_of(self, ctx: RunContext) -> Effects:
        """By the hints of the tool, where an operator trusts the server."""
        servers = ctx.service(McpServers)
        return await servers.effects(self.config.server, self.config.tool, by=ctx.principal)

    async def run(self, config: McpConfig, ctx: RunContext) -> McpOutput:
        """Call the tool.

        Raises:
            NodeError: `mcp_tool_error` with the tool's own words; see `McpServers.call` for the others.
        """
        result = await ctx.service(McpServers).call(
            config.server,
            config.tool,
            config.arguments,
            by=ctx.principal,
            hide=ctx.hide,
            depth=ctx.run.depth + 1,
        )
        if result.is_error:
            raise NodeError(
                f"the tool {config.tool!r} of {config.server!r} failed: {result.text[:_SHOWN] or 'it gave no reason'}",
                kind="mcp_tool_error",
            )
        return McpOutput(content=result.content, structured=result.structured)
