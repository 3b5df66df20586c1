"""What came of a call of a tool, as the record has it and as a model reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlace.engine.chat import Message, ToolCall
from interlace.engine.errors import NodeError
from interlace.resources.models.prompting import as_text
from interlace.resources.tools.tool import ToolResult


@dataclass(frozen=True, slots=True)
class Observation:
    """A finished call: `name` is the key of its step, by which the whole result can be read again."""

    name: str
    call: ToolCall
    record: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What the model reads."""
        text = self.record.get("text")
        return as_text(self.record.get("value")) if text is None else str(text)

    @property
    def is_error(self) -> bool:
        """Whether the call failed, or was not made."""
        return bool(self.record.get("is_error"))

    def message(self) -> Message:
        """The result as it stands in the conversation."""
        return Message(role="tool", content=self.text, tool_call_id=self.call.id)

    def plain(self) -> dict[str, Any]:
        """As the outputs of nodes hold it."""
        value = self.record.get("value")
        return {
            "id": self.call.id, "name": self.call.name, "arguments": self.record.get("arguments", self.call.arguments),
            "result": self.record.get("text") if value is None else value, "is_error": self.is_error,
        }  # fmt: skip


def data_of(result: ToolResult) -> dict[str, Any]:
    """A result as the record has it."""
    data: dict[str, Any] = {"value": result.value, "is_error": result.is_error}
    if result.text is not None:
        data["text"] = result.text
    if result.citations:
        data["citations"] = [dict(entry) for entry in result.citations]
    return data


def failed(message: str, kind: str | None = None) -> ToolResult:
    """A call that failed, or was not made."""
    return ToolResult(
        value=None if kind is None else {"error": kind}, text=f"Error: {message}", is_error=True
    )


def failure_of(error: NodeError, *, once: bool) -> ToolResult:
    """The error of a tool; one that leaves open whether it did its work says so where that matters."""
    text = error.message
    if once and not error.outcome_known:
        text += " It is not known whether the call did its work; find that out before you make it again."
    return failed(text, error.kind)
