"""What a tool gave, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.types import CallToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class McpResult:
    """The content blocks as the protocol has them, the structured result if any, and whether it is an error."""

    content: list[dict[str, Any]] = field(default_factory=list)
    structured: dict[str, Any] | None = None
    is_error: bool = False

    @property
    def text(self) -> str:
        """The texts of the content, one after another; other blocks are named."""
        return "\n".join(
            str(block["text"]) if block.get("type") == "text" else f"[{block.get('type', 'block')}]"
            for block in self.content
        )


def plain(result: CallToolResult) -> McpResult:
    """A result of the SDK as plain data, without the protocol's own notes."""
    return McpResult(
        content=[
            block.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta"})
            for block in result.content
        ],
        structured=result.structured_content,
        is_error=bool(result.is_error),
    )
