"""MCP servers as recorded and offline runs see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from interlace.engine.document import Effects
from interlace.engine.principal import Principal
from interlace.flows.recording.outside import Form, Outside
from interlace.resources.mcp import McpResult, McpServers
from interlace.resources.mcp.connection import Progress

_RESULT: Form[McpResult] = Form(asdict, lambda kept: McpResult(**kept))


_EFFECTS: Form[Effects] = Form(lambda found: found, lambda kept: kept)


class RecordedMcp(McpServers):
    """The tool calls of one attempt of a node."""

    def __init__(self, servers: McpServers, outside: Outside) -> None:
        self._servers = servers
        self._outside = outside

    async def call(
        self, name: str, tool: str, arguments: Mapping[str, Any], *, by: Principal,
        hide: Callable[[str, str], None] | None = None, progress: Progress | None = None, depth: int = 0,
    ) -> McpResult:  # fmt: skip
        """Call a tool; of a recorded call progress is not told again."""
        return await self._outside.ask(
            "mcp", {"server": name, "tool": tool, "arguments": dict(arguments)},
            lambda: self._servers.call(name, tool, arguments, by=by, hide=hide, progress=progress, depth=depth),
            _RESULT,
        )  # fmt: skip

    async def effects(self, name: str, tool: str, *, by: Principal) -> Effects:
        """What an interrupted call of a tool means."""
        return await self._outside.ask(
            "mcp.effects",
            {"server": name, "tool": tool},
            lambda: self._servers.effects(name, tool, by=by),
            _EFFECTS,
        )
