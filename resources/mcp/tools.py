"""Tools as servers describe them, and whether a description is still the one that somebody accepted.

A description is text that models follow: a server that changes it later can steer them. So each definition is hashed,
the first one seen is accepted by connecting the server, and a changed one is refused until it is accepted again.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import orjson

from interlace.engine.errors import NodeError
from interlace.engine.json_schema import problems_of

if TYPE_CHECKING:
    from mcp.types import Tool

Trust = Literal["accepted", "new", "changed", "gone"]
"""How a tool stands to what was accepted: the same, not known before, described otherwise, not offered any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool: its schemas are JSON Schemas; the hints are the server's own and count only where it is trusted."""

    name: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 over everything that a model or a person reads of the tool."""
        try:
            text = orjson.dumps(self.as_dict(), option=orjson.OPT_SORT_KEYS)
        except orjson.JSONEncodeError:  # a whole number beyond 64 bits in a schema
            text = json.dumps(self.as_dict(), sort_keys=True).encode()
        return hashlib.sha256(text).hexdigest()

    def hint(self, name: Literal["readOnlyHint", "idempotentHint", "destructiveHint"]) -> bool:
        """One of the server's hints."""
        return self.annotations.get(name) is True

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for storing."""
        return {
            "name": self.name, "title": self.title, "description": self.description,
            "input_schema": dict(self.input_schema), "output_schema": self.output_schema,
            "annotations": dict(self.annotations),
        }  # fmt: skip


def tool_of(tool: Tool) -> McpTool:
    """A tool of the SDK as plain data."""
    annotations = (
        {} if tool.annotations is None else tool.annotations.model_dump(by_alias=True, exclude_none=True)
    )
    return McpTool(
        name=tool.name,
        title=tool.title or str(annotations.pop("title", "")),
        description=tool.description or "",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=annotations,
    )


def compare(offered: Iterable[McpTool], accepted: Mapping[str, str]) -> dict[str, Trust]:
    """How each tool stands to the accepted hashes, by name."""
    found: dict[str, Trust] = {}
    for tool in offered:
        known = accepted.get(tool.name)
        found[tool.name] = "new" if known is None else "accepted" if known == tool.hash else "changed"
    return found | {name: "gone" for name in accepted if name not in found}


def pick(tools: Mapping[str, McpTool], name: str, server: str) -> McpTool:
    """A tool by name.

    Raises:
        NodeError: `tool_not_found`, naming the nearest ones.
    """
    found = tools.get(name)
    if found is None:
        near = difflib.get_close_matches(name, tools, n=3, cutoff=0.4)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; it has {len(tools)} tools"
        raise NodeError(f"the MCP server {server!r} has no tool {name!r}{hint}", kind="tool_not_found")
    return found


def check_arguments(tool: McpTool, arguments: Mapping[str, Any]) -> None:
    """Hold arguments against the tool's schema, before anything is sent.

    Raises:
        NodeError: `bad_arguments`, naming each field.
    """
    schema = dict(tool.input_schema) or {"type": "object"}
    problems = problems_of(schema, dict(arguments), "arguments", code="bad_arguments")
    if (
        problems and problems[0].code != "bad_arguments_schema"
    ):  # with a broken schema the server judges for itself
        told = "; ".join(f"{problem.field}: {problem.message}" for problem in problems[:5])
        raise NodeError(f"the arguments do not fit the tool {tool.name!r}: {told}", kind="bad_arguments")
