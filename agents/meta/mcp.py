"""`mcp`: every MCP server that the turn may reach, behind one tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from interlace.agents.direct.mcp import accepted, call_tool, described, effects_of, gate_tool, offered
from interlace.agents.meta.base import (
    PAGE,
    QUERY,
    briefly,
    in_full,
    known,
    names_in,
    near,
    needed,
    one_of,
    one_or_several,
    paged,
    search,
)
from interlace.agents.search import Entry, Finder, entry_of
from interlace.agents.stubs import SERVERS, Stub, shortened, telling, told
from interlace.agents.visible import ServerStub
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.mcp.tools import McpTool
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult

_FAULT = 60


class McpServerTool:
    """Search for tools of MCP servers, read what they take, call them. Implements `Tool`.

    Args:
        stubs: the servers of the turn, by what the model calls them.
        finder: searches.
    """

    name = "mcp"
    category: ClassVar[Category] = "mcp"

    def __init__(self, stubs: Mapping[str, ServerStub], finder: Finder) -> None:
        self._stubs = stubs
        self._finder = finder

    @cached_property
    def description(self) -> str:
        """How it is used, and the catalogue."""
        return (
            "Use tools of MCP servers. First `search` for tools or `discover` their parameters, then `call`. Servers:\n"
            + self.catalogue
        )

    @cached_property
    def catalogue(self) -> str:
        """The servers in short."""
        return told([_stub(label, stub) for label, stub in self._stubs.items()], SERVERS)

    @cached_property
    def parameters_schema(self) -> Schema:
        """The names of servers are fixed; those of tools are checked at the call."""
        return {
            "type": "object",
            "properties": {
                "subcommand": {"enum": ["search", "discover", "call"]},
                "server": one_of(self._stubs),
                "tool": one_or_several("Tool; several for discover."),
                "query": QUERY,
                "parameters": {"type": "object", "description": "Of call, as discover shows them."},
                "page": PAGE,
            },
            "required": ["subcommand"],
            "additionalProperties": False,
        }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Looking changes nothing; a call is what a trusted server says it is."""
        if arguments.get("subcommand") != "call":
            return "none"
        stub = self._stubs.get(str(arguments.get("server")))
        tool = None if stub is None else stub.tools.get(str(arguments.get("tool")))
        return "once" if stub is None or tool is None else effects_of(stub, accepted(tool))

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """For every call but those that a trusted server marks as reading only.

        Raises:
            NodeError: `resource_not_found`, `tool_not_found` with the nearest names, `bad_arguments`.
        """
        if arguments["subcommand"] != "call":
            return None
        stub, tool = await self._target(arguments, ctx)
        return gate_tool(stub, arguments["server"], tool, arguments.get("parameters") or {})

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Do the subcommand.

        Raises:
            NodeError: `resource_not_found`, `tool_not_found` with the nearest names; as `McpServers.call`.
        """
        subcommand = arguments["subcommand"]
        if subcommand == "call":
            stub, tool = await self._target(arguments, ctx)
            return await call_tool(stub.id, tool.name, arguments.get("parameters") or {}, ctx)
        if subcommand == "discover":
            return ToolResult(value=await self._discover(arguments, ctx))
        return ToolResult(value=await self._search(arguments))

    async def _target(self, arguments: Mapping[str, Any], ctx: ToolContext) -> tuple[ServerStub, McpTool]:
        label = arguments.get("server")
        stub = known(label, self._stubs, "server")
        name = names_in(needed(arguments, "tool", "call"))[0]
        return stub, _picked(await offered(stub, ctx), name, str(label))

    async def _discover(self, arguments: Mapping[str, Any], ctx: ToolContext) -> dict[str, Any]:
        label = arguments.get("server")
        stub = known(label, self._stubs, "server")
        tools = await offered(stub, ctx)
        names, query = names_in(arguments.get("tool")), arguments.get("query")
        if not names and not query:
            listed = [
                {"tool": t.name, "description": briefly(t.description or t.title)} for t in tools.values()
            ]
            return paged("tools", listed, arguments.get("page"))
        if not names:
            found = await self._finder.find(
                _entries(str(label), stub, list(tools.values())), str(query), limit=5
            )
            names = [hit.entry.name for hit in found]
        chosen = [_picked(tools, name, str(label)) for name in names]
        return in_full("tools", chosen, arguments.get("page"), described)

    async def _search(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        label = arguments.get("server")
        if label:
            known(label, self._stubs, "server")
        query = str(needed(arguments, "query", "search"))
        entries: list[Entry] = []
        for name in [label] if label else self._stubs:
            stub = self._stubs[name]
            marks = "".join(sorted(tool.hash[:12] for tool in stub.tools.values()))
            entries += self._finder.entries(
                f"{stub.id}:{stub.version}:{name}:{marks}",
                lambda stub=stub, name=name: _entries(  # type: ignore[misc]
                    name, stub, [accepted(tool) for tool in stub.tools.values()]
                ),
            )
        result = await search(self._finder, entries, query, _told)
        unknown = [name for name, stub in self._stubs.items() if not stub.tools and label in (None, "", name)]
        return {**result, "not_looked_at": unknown} if unknown else result


def _picked(tools: Mapping[str, McpTool], name: str, label: str) -> McpTool:
    if name in tools:
        return tools[name]
    raise NodeError(
        f"the server {label!r} has no tool {name!r}; {near(name, tools)}",
        kind="tool_not_found",
        retryable=False,
    )


def _entries(label: str, stub: ServerStub, tools: Sequence[McpTool]) -> list[Entry]:
    return [
        entry_of(
            f"{label}\0{tool.name}", tool.name, tool.input_schema, owner=label, about=stub.description,
            description=tool.description or tool.title,
        )
        for tool in tools
    ]  # fmt: skip


def _told(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {
        "server": entry.owner, "tool": entry.name, "description": briefly(entry.description),
    }  # fmt: skip
    return told


def _stub(label: str, stub: ServerStub) -> Stub:
    note = f"not reachable now: {shortened(stub.fault, _FAULT)}" if stub.fault else ""
    if not stub.tools:
        return Stub(
            label=label,
            description=stub.description,
            note=note or "tools not looked at yet; discover connects",
        )
    return Stub(
        label=label, description=stub.description, parts=telling(stub.tools), what="tools", total=len(stub.tools),
        note=note,
    )  # fmt: skip
