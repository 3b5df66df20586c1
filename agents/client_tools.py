"""Tools that whoever started the run carries out: a call of one suspends the run until its result is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from interlace.agents.loop.asking import again
from interlace.agents.loop.work import CallContext
from interlace.agents.toolset import ToolSet
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.engine.waits import DAY, TIMEOUT, Suspend, Wanted
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult

SECONDS: Final = DAY
"""How long the result of a call is waited for."""
MOST: Final = 128
REQUEST: Final = "client_tool"
"""In the request of such a wait: the call that it is for, `{id, name, arguments}`."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY = "client"


class ClientTool(BaseModel):
    """A tool as the client describes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=_NAME.pattern, max_length=64)
    description: str = Field("", max_length=20_000)
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})


_TOOLS: TypeAdapter[tuple[ClientTool, ...]] = TypeAdapter(tuple[ClientTool, ...])


def read_tools(given: Iterable[Any]) -> tuple[ClientTool, ...]:
    """Tools of a client, checked.

    Raises:
        NodeError: `bad_parameter`: one is none, or two have one name.
    """
    try:
        tools = _TOOLS.validate_python(list(given))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _wrong(f"client_tools.{where}: {first['msg']}") from None
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise _wrong("two tools of the client have one name")
    if len(tools) > MOST:
        raise _wrong(f"{len(tools)} tools of the client are too many; {MOST} are allowed")
    return tools


def add_client_tools(tools: ToolSet, given: Iterable[Any]) -> None:
    """Show a client's tools to the model, beside the agent's own.

    Raises:
        NodeError: `bad_parameter`: one has the name of a tool that the agent has.
    """
    for tool in read_tools(given):
        if tool.name in tools.active or tool.name in tools.unloaded:
            raise _wrong(f"the agent has a tool {tool.name!r} itself; give the client's another name")
        tools.add(OfClient(tool))


class OfClient:
    """One tool of a client. Implements `Tool`."""

    category: ClassVar[Category] = "agents"

    def __init__(self, about: ClientTool) -> None:
        self.name = about.name
        self.description = about.description
        self.parameters_schema: Schema = about.parameters

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Nothing happens here."""
        del arguments
        return "none"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """The client decides."""
        del arguments, ctx
        return None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """The result that the client gave.

        Raises:
            Suspend: it has not given one yet.
            NodeError: it gave none in time, or no agent calls.
        """
        if not isinstance(ctx, CallContext):
            raise NodeError("tools of a client are for agents only", kind="not_supported", retryable=False)
        work = ctx.work
        answer = work.answer(_KEY)
        if answer is None:
            asked = work.request(_KEY)
            raise Suspend(again(asked) if asked is not None else self._wanted(arguments, ctx))
        work.take(_KEY)
        if answer.action == TIMEOUT:
            raise NodeError(f"the client gave no result of {self.name} in time", kind="timeout")
        result = answer.form.get("result")
        return ToolResult(value=result, text=result if isinstance(result, str) else None)

    def _wanted(self, arguments: Mapping[str, Any], ctx: CallContext) -> Wanted:
        work = ctx.work
        call = {"id": ctx.call_id or work.prefix, "name": self.name, "arguments": dict(arguments)}
        return Wanted(
            kind="callback", key=work.prefix + _KEY, request={"title": f"Result of {self.name}", REQUEST: call},
            until=work.ctx.now() + SECONDS,
        )  # fmt: skip


def _wrong(text: str) -> NodeError:
    return NodeError(text, kind="bad_parameter", retryable=False)
