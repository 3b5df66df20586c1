"""`request_tools`: tools that were not shown for this request, on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from interlace.agents.meta.base import QUERY, briefly, near, one_of, search
from interlace.agents.search import Entry, Finder, entry_of
from interlace.agents.stubs import TOOLS, Stub, told
from interlace.agents.toolset import ToolSet
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.tools.tool import Category, Gate, Tool, ToolContext, ToolResult


class RequestTools:
    """Load tools by name; they are there from the next step on. Implements `Tool`.

    It loads what the turn's scope left over from the selection, and nothing else.
    """

    name = "request_tools"
    category: ClassVar[Category] = "selection"

    def __init__(self, tools: ToolSet, finder: Finder) -> None:
        self._tools = tools
        self._finder = finder

    @property
    def description(self) -> str:
        """How it is used, and what is left to load now."""
        return (
            "Load more tools by their names; they can be called in your next step. With `query` search for them."
            f" Not loaded:\n{self.catalogue}"
        )

    @property
    def catalogue(self) -> str:
        """The tools that are left, in short."""
        left = self._tools.unloaded.values()
        return told([Stub(label=tool.name, description=tool.description) for tool in left], TOOLS)

    @property
    def parameters_schema(self) -> Schema:
        """The names that are left."""
        return {
            "type": "object",
            "properties": {
                "tool_names": {"type": "array", "items": one_of(self._tools.unloaded), "minItems": 1},
                "query": QUERY,
            },
            "additionalProperties": False,
        }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """It changes what the model sees, nothing outside."""
        del arguments
        return "none"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Nobody is asked."""
        del arguments, ctx
        return None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Load or search.

        Raises:
            NodeError: `tool_not_found`: none of the names is one of a tool; `bad_arguments`.
        """
        del ctx
        names, query = arguments.get("tool_names") or (), arguments.get("query")
        if not names:
            if not query:
                raise NodeError(
                    "request_tools needs `tool_names`, or a `query`", kind="bad_arguments", retryable=False
                )
            entries = [entry_of_tool(tool) for tool in self._tools.unloaded.values()]
            return ToolResult(value=await search(self._finder, entries, str(query), _told))
        every = [*self._tools.unloaded, *self._tools.active]
        loaded = self._tools.load(names)
        missing = [name for name in names if name not in loaded]
        if not loaded:
            raise NodeError(
                f"there is no tool {missing[0]!r}; {near(missing[0], every)}",
                kind="tool_not_found",
                retryable=False,
            )
        value: dict[str, Any] = {"loaded": loaded}
        if missing:
            value["unknown"] = {name: near(name, every) for name in missing}
        return ToolResult(value=value)


def entry_of_tool(tool: Tool) -> Entry:
    """A tool as it is searched for."""
    return entry_of(tool.name, tool.name, tool.parameters_schema, description=tool.description)


def _told(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"tool": entry.name, "description": briefly(entry.description)}
    return told
