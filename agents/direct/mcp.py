"""Tools of MCP servers: called as they were accepted; what a trusted server marks as reading asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from interlace.agents.compaction import compact
from interlace.agents.visible import ServerStub
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.mcp import McpServers
from interlace.resources.mcp.tools import McpTool, check_arguments
from interlace.resources.tools.naming import tool_name
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult
from interlace.store.errors import NotFoundError
from interlace.store.mcp_tools import AcceptedTool


def accepted(tool: AcceptedTool) -> McpTool:
    """An accepted tool as the calls know it."""
    known = tool.definition
    return McpTool(
        name=tool.name, title=str(known.get("title") or ""), description=str(known.get("description") or ""),
        input_schema=known.get("input_schema") or {}, output_schema=known.get("output_schema"),
        annotations=known.get("annotations") or {},
    )  # fmt: skip


def effects_of(server: ServerStub, tool: McpTool | None) -> Effects:
    """What an interrupted call means; the server's hints count where an operator trusts it."""
    if tool is not None and server.trusted:
        if tool.hint("readOnlyHint"):
            return "none"
        if tool.hint("idempotentHint"):
            return "idempotent"
    return "once"


def gate_tool(server: ServerStub, label: str, tool: McpTool, arguments: Mapping[str, Any]) -> Gate | None:
    """A person agrees to every call but those that a trusted server marks as reading only.

    Raises:
        NodeError: `bad_arguments`.
    """
    check_arguments(tool, arguments)
    if server.trusted and tool.hint("readOnlyHint"):
        return None
    reason = (
        f"the tool {tool.name!r} is not marked as one that only reads"
        if server.trusted
        else f"no operator has marked the server {label!r} as trusted, so its own marks do not count"
    )
    return Gate(title=f"{label}: {tool.title or tool.name}", reason=reason)


async def call_tool(server_id: str, tool: str, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
    """Call a tool.

    Raises:
        NodeError: as `McpServers.call`.
    """
    found = await ctx.service(McpServers).call(
        server_id, tool, arguments, by=ctx.principal, hide=ctx.hide, depth=ctx.run.depth + 1
    )
    value = found.structured if found.structured is not None else found.content
    return ToolResult(value=value, text=found.text or None, is_error=found.is_error)


async def offered(server: ServerStub, ctx: ToolContext) -> dict[str, McpTool]:
    """The tools of a server: the accepted ones, or where nobody looked yet those that it offers now.

    Raises:
        NodeError: `resource_not_found`, or the server cannot be reached.
    """
    if server.tools:
        return {name: accepted(tool) for name, tool in server.tools.items()}
    try:
        return (await ctx.service(McpServers).connect(server.id, by=ctx.principal)).tools
    except NotFoundError as error:
        raise NodeError(str(error), kind="resource_not_found", retryable=False) from None


def described(tool: McpTool) -> dict[str, Any]:
    """A tool in full, as `discover` gives it."""
    schema = dict(tool.input_schema) or {"type": "object", "properties": {}}
    told: dict[str, Any] = {
        "tool": tool.name,
        "description": tool.description or tool.title,
        "parameters": compact(schema),
    }
    return {key: value for key, value in told.items() if value != ""}


class ServerTool:
    """One tool of an MCP server as a tool of its own: `{server}__{tool}`. Implements `Tool`."""

    category: ClassVar[Category] = "mcp"

    def __init__(self, server: ServerStub, label: str, tool: McpTool) -> None:
        self.name = tool_name(label, tool.name)
        self.part_of = label, tool.name
        self._server = server
        self._label = label
        self._tool = tool

    @property
    def stands_for(self) -> tuple[str, str]:
        """The resource and the part of it, which tell it from every other tool."""
        return self._server.id, self._tool.name

    @property
    def description(self) -> str:
        """The server's words."""
        return self._tool.description or self._tool.title or f"{self._tool.name} of {self._label}"

    @cached_property
    def parameters_schema(self) -> Schema:
        """The tool's own."""
        schema = compact(dict(self._tool.input_schema))
        return {"type": "object", "properties": {}, **schema}

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """As a trusted server marks it."""
        del arguments
        return effects_of(self._server, self._tool)

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """As `gate_tool`."""
        del ctx
        return gate_tool(self._server, self._label, self._tool, arguments)

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Call it. Raises as `call_tool`."""
        return await call_tool(self._server.id, self._tool.name, arguments, ctx)
