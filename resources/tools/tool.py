"""The contract of a tool: what an agent's model may call, and what the TOOL node calls.

At the model's level everything is a tool: built-in functions, connectors, databases, MCP servers, knowledge bases,
skills, other agents. The loop knows nothing of them but this page. A new kind of resource for agents is a class with
these attributes; nothing in the loop changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from interlace.engine.document import Effects
from interlace.engine.node import RunInfo
from interlace.engine.principal import Principal
from interlace.engine.schema import Schema

S = TypeVar("S")

Category = Literal[
    "math", "time", "text", "data", "files", "code", "web", "mail", "documents", "knowledge", "connector", "database",
    "mcp", "skills", "agents", "selection",
]  # fmt: skip
"""What an agent's `tool_categories` names."""


class ToolContext(Protocol):
    """What a call acts with: a part of a node's `RunContext`, which may be passed as it is."""

    run: RunInfo
    path: str

    @property
    def principal(self) -> Principal:
        """Whose rights the call acts with."""
        ...

    @property
    def idempotency_key(self) -> str:
        """Stable for this call over repetitions after unknown outcomes."""
        ...

    def service(self, protocol: type[S]) -> S:
        """The implementation of a protocol that this process offers, as this run may use it."""
        ...

    def hide(self, name: str, value: str) -> None:
        """Keep a secret value out of all that the run records."""
        ...

    def now(self) -> float:
        """Unix time in seconds, by the run's clock."""
        ...

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event to the journal."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A person has to agree to these exact arguments before a call that a model chose.

    Args:
        title: what would be done, in one line: `POST https://shop.test/orders`.
        reason: why a person is asked.
        always: the resource demands it, so that a fixed node of a workflow asks too.
    """

    title: str
    reason: str
    always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave.

    Args:
        value: plain JSON data; files as their reference values. It is the TOOL node's `result`.
        text: how a model reads it; None leaves it to the reader, who writes the value as compact JSON.
        is_error: the tool did its work and the answer is a failure, which a model may react to.
        citations: `[{n, source, position, quote}]` of knowledge that the text cites by `[n]`.
    """

    value: Any
    text: str | None = None
    is_error: bool = False
    citations: tuple[Mapping[str, Any], ...] = field(default=())


class Tool(Protocol):
    """One tool.

    One that is a part of a resource, as an action of a connector is, has `part_of` besides: the resource's label and the
    part's name, by which hooks know it whatever its own name is.
    """

    @property
    def name(self) -> str:
        """What it is called by; letters, digits, `_` and `-`, at most 64 characters for built-in ones."""
        ...

    @property
    def description(self) -> str:
        """What it does and when to use it; the first sentence stands alone in catalogues."""
        ...

    @property
    def parameters_schema(self) -> Schema:
        """JSON Schema of an object."""
        ...

    @property
    def category(self) -> Category:
        """What it belongs to."""
        ...

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """What an interrupted call with these arguments means: `none` and `idempotent` are called again."""
        ...

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Whether a person has to agree first; None where the call may be made at once.

        Raises:
            NodeError: there is nothing that these arguments could do (`bad_parameter`, `resource_not_found`, …).
        """
        ...

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Do the work; the arguments have been checked against the schema.

        Raises:
            NodeError: it could not be done; the message says what to do and is what a model reads.
        """
        ...


def part_of(tool: Tool) -> tuple[str, str] | None:
    """The resource and the part of it that a tool is; None for all others."""
    found: tuple[str, str] | None = getattr(tool, "part_of", None)
    return found
