"""`read_result`: a result that was dropped from the conversation, or cut, read again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from interlace.agents.loop.observation import Observation
from interlace.engine.chat import ToolCall
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult

if TYPE_CHECKING:
    from interlace.agents.loop.work import Work

NAME: Final = "read_result"
_REF: Final = re.compile(r"\d+\.\d+")
"""Of a call of this agent: what a delegate or a program did within one is not its own to read."""
_PAGE: Final = 8000
"""Characters that one call gives."""


class ReadResult:
    """Reads recorded results of one agent. Implements `Tool`; the loop offers it once something was left out."""

    name = NAME
    description = "Read the result of an earlier tool call again, from a character on. Use the ref that stands where it was left out."
    category: ClassVar[Category] = "selection"
    parameters_schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "ref": {"type": "string", "description": "As 3.0."},
            "offset": {"type": "integer", "minimum": 0, "description": "First character, from 0."},
        },
        "required": ["ref"],
        "additionalProperties": False,
    }

    def __init__(self, work: Work) -> None:
        self._work = work

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """It reads what is recorded."""
        del arguments
        return "none"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Nobody is asked."""
        del arguments, ctx
        return None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """A page of the result.

        Raises:
            NodeError: `bad_arguments`, there is no such result.
        """
        del ctx
        ref, offset = str(arguments["ref"]), int(arguments.get("offset") or 0)
        record = self._work.finished(ref) if _REF.fullmatch(ref) else None
        if record is None:
            raise NodeError(
                f"there is no result {ref!r}; refs look like 3.0", kind="bad_arguments", retryable=False
            )
        whole = Observation(ref, ToolCall(id="", name="", arguments=""), record).text
        page = whole[offset : offset + _PAGE]
        if not page:
            raise NodeError(
                f"the result {ref} has {len(whole)} characters; {offset} is behind its end",
                kind="bad_arguments", retryable=False,
            )  # fmt: skip
        after = offset + len(page)
        more = f"\n[characters {offset} to {after} of {len(whole)}; go on with offset {after}]"
        return ToolResult(value=None, text=page + (more if after < len(whole) else ""))
