"""Built-in tools called by hand, outside of any run: with the caller's rights, behind the same gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from interlace.engine.errors import NodeError
from interlace.engine.node import RunInfo
from interlace.engine.principal import Principal
from interlace.engine.protocols import Files
from interlace.flows.platform import Platform
from interlace.resources.tools import ToolResult, builtin_tools
from interlace.resources.tools.typed import check_arguments
from interlace.store.ids import uuid7

S = TypeVar("S")


class DirectCall:
    """What a call by hand acts with. Implements `ToolContext`."""

    path = ""

    def __init__(self, platform: Platform, by: Principal, key: str) -> None:
        self._platform = platform
        self.run = RunInfo(id="", principal=by)
        self._key = key

    @property
    def principal(self) -> Principal:
        """Who calls."""
        return self.run.principal

    @property
    def idempotency_key(self) -> str:
        """Of this call."""
        return self._key

    def service(self, protocol: type[S]) -> S:
        """The services of the process, with the caller's own files."""
        wanted: Any = protocol
        if wanted is Files:
            own: Any = self._platform.store.files.of_owner(self.principal.user_id)
            return own  # type: ignore[no-any-return]
        return self._platform.services.get(protocol)

    def hide(self, name: str, value: str) -> None:
        """Nothing of a call by hand is recorded."""

    def now(self) -> float:
        """Unix time in seconds."""
        return self._platform.runner.clock.now()

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """There is no journal."""


async def call_tool(
    platform: Platform, name: str, arguments: Mapping[str, Any], *, by: Principal, confirmed: bool = False
) -> ToolResult:
    """Call a built-in tool; `confirmed` says that a person agreed to these arguments, where the tool asks for that.

    Raises:
        NodeError: `unknown_tool`, `bad_arguments`, `not_confirmed`, `no_run`; the tool's own errors.
    """
    tool = builtin_tools().find(name)
    check_arguments(tool, arguments)
    ctx = DirectCall(platform, by, uuid7())
    gate = await tool.gate(arguments, ctx)
    if gate is not None and not confirmed:
        raise NodeError(
            f"{gate.title}: {gate.reason}, so a person has to agree; call again with confirm (--yes) if you do",
            kind="not_confirmed", retryable=False,
        )  # fmt: skip
    result = await tool.run(arguments, ctx)
    if gate is not None:
        await platform.store.audit.record(
            by, "tool.call", "tool", name, name=name, detail={"title": gate.title}
        )
    return result
