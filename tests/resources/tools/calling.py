"""A context of a call without a run, and shorthands for tools that reach nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from interlace.engine.errors import NodeError
from interlace.engine.node import RunInfo
from interlace.engine.principal import LOCAL, Principal
from interlace.engine.protocols import Services
from interlace.resources.tools import Tool, ToolResult, builtin_tools
from interlace.resources.tools.typed import check_arguments

S = TypeVar("S")


class Call:
    """Implements `ToolContext` over some services, by a clock that stands still."""

    def __init__(
        self,
        services: Services | None = None,
        *,
        run: str = "",
        path: str = "t",
        key: str = "key",
        by: Principal = LOCAL,
    ) -> None:
        self.run = RunInfo(id=run, principal=by)
        self.path = path
        self.services = services or Services()
        self.idempotency_key = key
        self.emitted: list[tuple[str, Mapping[str, Any]]] = []

    @property
    def principal(self) -> Principal:
        return self.run.principal

    def service(self, protocol: type[S]) -> S:
        return self.services.get(protocol)

    def hide(self, name: str, value: str) -> None:
        raise AssertionError(f"no tool reads a secret, but {name} was hidden")

    def now(self) -> float:
        return 1_796_119_445.5  # 2026-12-01T10:04:05.5Z, a Tuesday

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        self.emitted.append((kind, data))


async def call(name: str, ctx: Call | None = None, /, **arguments: Any) -> ToolResult:
    """Call a built-in tool as the loop and the node do: arguments against the schema first."""
    tool: Tool = builtin_tools().find(name)
    check_arguments(tool, arguments)
    return await tool.run(arguments, ctx or Call())


async def value(name: str, /, **arguments: Any) -> Any:
    return (await call(name, **arguments)).value


async def fault(name: str, ctx: Call | None = None, /, **arguments: Any) -> tuple[str, str]:
    """Kind and message of the error that a call ends with."""
    try:
        found = await call(name, ctx, **arguments)
    except NodeError as error:
        return error.kind, error.message
    raise AssertionError(f"{name} gave {found.value!r}")
