"""Tools over all knowledge bases that the caller sees, for TOOL nodes; agents get those of their scope."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from interlace.engine.schema import Schema
from interlace.resources.knowledge import KnowledgeBases, Query
from interlace.resources.tools.knowledge import GROUNDED, retrieve
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, NoArguments, TypedTool


class KbList(TypedTool[NoArguments]):
    """Which there are."""

    name = "kb_list"
    description = "List the knowledge bases that the caller may search, with what they are about."
    category: ClassVar[Category] = "knowledge"
    for_agents = False
    result: ClassVar[Schema] = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("id", "name", "description")},
            "required": ["id", "name", "description"],
        },
    }

    async def call(self, arguments: NoArguments, ctx: ToolContext) -> ToolResult:
        """List them."""
        del arguments
        found = await ctx.service(KnowledgeBases).listing(by=ctx.principal)
        lines = [f"{base['name']}: {base['description']}".rstrip(": ") for base in found]
        return ToolResult(value=found, text="\n".join(lines) or "There are none.")


class KbSearchArguments(Arguments):
    """A question, where it is looked for, and how."""

    knowledge_bases: list[str] = Field(min_length=1, max_length=50, description="Names or ids.")
    query: str = Field(min_length=1, max_length=4000, description="What is looked for, in words.")
    mode: Literal["hybrid", "dense", "text"] = "hybrid"
    top_k: int = Field(5, ge=1, le=100, description="Most passages.")
    min_score: float = Field(0, ge=0, le=1)
    filter: dict[str, Any] | None = Field(None, description="Metadata of documents, as {year: {gte: 2024}}.")
    grounded: bool = Field(
        False, description="Quotes word for word, conflicts, and nothing below the confidence."
    )


class KbSearch(TypedTool[KbSearchArguments]):
    """Searching."""

    name = "kb_search"
    description = "Find passages in knowledge bases, with source and position."
    category: ClassVar[Category] = "knowledge"
    for_agents = False
    result: ClassVar[Schema] = {**GROUNDED, "required": ["chunks", "context", "citations", "confidence"]}

    async def call(self, arguments: KbSearchArguments, ctx: ToolContext) -> ToolResult:
        """Search with the rights of the caller."""
        query = Query(
            text=arguments.query, mode=arguments.mode, top_k=arguments.top_k, min_score=arguments.min_score,
            filter=arguments.filter, grounded=arguments.grounded,
        )  # fmt: skip
        return await retrieve(arguments.knowledge_bases, query, ctx)
