"""The tool that reads documents."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from interlace.engine.errors import NodeError
from interlace.engine.protocols import Files
from interlace.engine.schema import Schema
from interlace.resources.documents.extractor import Extractor
from interlace.resources.documents.rendering import to_markdown, to_tables
from interlace.resources.documents.source import Source, read_source
from interlace.resources.http import HttpClient
from interlace.resources.tools.folder import RunFolders, folder_of
from interlace.resources.tools.paging import PIECE, piece, with_note
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool


class DocumentArguments(Arguments):
    """A document, and which part of it."""

    path: str | None = Field(None, max_length=500, description="A file of this run.")
    file: Annotated[Any, Field(description="Or a file value, its reference, or base64.")] = None
    first_page: int | None = Field(None, ge=1, description="Of PDF and slides.")
    last_page: int | None = Field(None, ge=1)
    tables: bool = Field(False, description="Give the tables as rows too.")
    offset: int = Field(0, ge=0, description="Character to begin at; `next_offset` of the piece before.")
    max_characters: int = Field(20_000, ge=200, le=500_000)


class ReadDocument(TypedTool[DocumentArguments]):
    """Documents as text."""

    name = "read_document"
    description = (
        "Read a document (PDF, Word, PowerPoint, Excel, OpenDocument, HTML, EPUB, mail, CSV) as Markdown, in pieces."
        " For one at a URL use web_fetch."
    )
    category: ClassVar[Category] = "documents"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            **PIECE, "metadata": {"type": "object"}, "tables": {"type": "array", "items": {"type": "object"}},
        },
        "required": [*PIECE, "metadata"],
    }  # fmt: skip

    async def call(self, arguments: DocumentArguments, ctx: ToolContext) -> ToolResult:
        """Extract, in a process of its own.

        Raises:
            NodeError: `file_not_found`, `bad_file`; `document_…`.
        """
        source = await _source(arguments, ctx)
        first, last = arguments.first_page, arguments.last_page
        if first is not None and last is not None and last < first:
            raise NodeError("last_page is before first_page", kind="bad_arguments", retryable=False)
        pages = None if first is None and last is None else [(first or 1, last or 1_000_000)]
        found = await ctx.service(Extractor).extract(
            source.content, name=source.name, media_type=source.media_type, pages=pages
        )
        part = piece(to_markdown(found.blocks), arguments.offset, arguments.max_characters)
        metadata = {"format": found.format, **found.metadata}
        if found.warnings:
            metadata["warnings"] = list(found.warnings)
        value: dict[str, Any] = {**part, "metadata": metadata}
        if arguments.tables:
            value["tables"] = to_tables(found)
        return ToolResult(value=value, text=with_note(part, ""))


async def _source(arguments: DocumentArguments, ctx: ToolContext) -> Source:
    if (arguments.path is None) == (arguments.file is None):
        raise NodeError("give exactly one of path and file", kind="bad_arguments", retryable=False)
    if arguments.path is not None:
        folder = folder_of(ctx, ctx.service(RunFolders))
        entry = await folder.entry(arguments.path)
        content = await folder.content(arguments.path)
        return Source(content=content, name=entry.path.rpartition("/")[2], media_type=entry.media_type)
    if isinstance(arguments.file, str) and arguments.file.strip().lower().startswith(("http://", "https://")):
        raise NodeError("file is an address; web_fetch reads it", kind="bad_file", retryable=False)
    return await read_source(arguments.file, ctx.service(Files).load, ctx.service(HttpClient))
