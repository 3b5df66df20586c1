"""What calls of tools act with in tests: a platform of their own, its services, files in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar, cast

from sqlalchemy import event

from interlace.engine.node import RunInfo
from interlace.engine.principal import LOCAL, Principal
from interlace.engine.protocols import Files, FileValue
from interlace.flows.platform import Platform
from interlace.resources.tools.tool import Gate, Tool, ToolResult

S = TypeVar("S")


class Shelf:
    """Files in memory. Implements `Files`."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}

    async def save(self, content: bytes, *, name: str, media_type: str) -> FileValue:
        digest = hashlib.sha256(content).hexdigest()
        self.content[digest] = content
        return FileValue(name=name, media_type=media_type, size=len(content), sha256=digest, ref=digest)

    async def load(self, ref: str) -> bytes:
        return self.content[ref]


@dataclass
class Caller:
    """A `ToolContext` of somebody on a platform; `more` are services of this call alone."""

    platform: Platform
    principal: Principal = LOCAL
    more: dict[type[Any], Any] = field(default_factory=dict)
    path: str = "agent"
    idempotency_key: str = "key-1"
    hidden: dict[str, str] = field(default_factory=dict)
    shelf: Shelf = field(default_factory=Shelf)
    run: RunInfo = field(default_factory=lambda: RunInfo(id="run-1"))

    def service(self, protocol: type[S]) -> S:
        if protocol in self.more:
            return cast("S", self.more[protocol])
        if protocol is Files:
            return cast("S", self.shelf)
        return self.platform.services.get(protocol)

    def hide(self, name: str, value: str) -> None:
        self.hidden[name] = value

    def now(self) -> float:
        return 1_000.0

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        raise AssertionError("nothing is emitted here")

    async def call(self, tool: Tool, /, **arguments: Any) -> Any:
        """The value of a call that fits the tool's schema."""
        return (await self.result(tool, **arguments)).value

    async def result(self, tool: Tool, /, **arguments: Any) -> ToolResult:
        from interlace.engine.json_schema import problems_of

        assert problems_of(tool.parameters_schema, arguments, "arguments") == []
        return await tool.run(arguments, self)

    async def gate(self, tool: Tool, /, **arguments: Any) -> Gate | None:
        return await tool.gate(arguments, self)


class Queries:
    """Counts the statements that a platform reads with."""

    def __init__(self, platform: Platform) -> None:
        self._engine = platform.store.database._engine.sync_engine
        self.said: list[str] = []

    def _note(self, *given: Any) -> None:
        self.said.append(str(given[2]))

    def __enter__(self) -> Self:
        event.listen(self._engine, "before_cursor_execute", self._note)
        return self

    def __exit__(self, *raised: object) -> None:
        event.remove(self._engine, "before_cursor_execute", self._note)
