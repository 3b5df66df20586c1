"""DOCUMENT_EXTRACTOR: text, pages, tables and metadata of a file."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Node, Output, RunContext
from interlace.engine.protocols import Files
from interlace.resources.documents.extractor import Extractor
from interlace.resources.documents.rendering import to_markdown, to_pages, to_tables, to_text
from interlace.resources.documents.source import read_source
from interlace.resources.http import HttpClient

_RANGE = re.compile(r"\s*(\d+)?\s*(-)?\s*(\d+)?\s*")
_LAST = 1_000_000

Mode = Literal["markdown", "text", "pages", "tables", "metadata"]


def ranges_of(text: str) -> list[tuple[int, int]]:
    """`1-3, 7, 10-` as pairs of first and last page.

    Raises:
        ValueError: it is no list of pages.
    """
    found = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        first, dash, last = match.groups() if match else (None, None, None)
        if first is None and last is None:
            raise ValueError(f"{text!r} is no list of pages; write as 1-3, 7, 10-")
        low = int(first or 1)
        high = int(last) if last else _LAST if dash else low
        if low < 1 or high < low:
            raise ValueError(f"{part.strip()!r} is no range of pages; they count from 1")
        found.append((low, high))
    return found


def _written_range(value: Any) -> Any:
    if isinstance(value, str) and "{{" not in value:
        ranges_of(value)
    return value


class DocumentExtractorConfig(Config):
    """The file, and what is wanted of it."""

    file: Dynamic[Data] = Field(
        title="File",
        description="An uploaded file, a reference to one, an http or https URL, a data URL or base64.",
        examples=["{{ inputs.document }}"],
        json_schema_extra={"widget": "file"},
    )
    mode: Mode = Field(
        "markdown",
        title="Result",
        description="What is given: the text as Markdown or plain, the pages, the tables, or only the metadata.",
        examples=["pages"],
    )
    page_range: Annotated[Dynamic[str] | None, AfterValidator(_written_range)] = Field(
        None,
        title="Pages",
        description="Pages of a PDF or slides of a presentation, from 1; all, if not set.",
        examples=["1-3, 7"],
    )
    ocr: bool = Field(
        False,
        title="Recognise text",
        description="Read PDF pages that are pictures by Tesseract, where it is installed.",
    )


class DocumentExtractorOutput(Output):
    """What the document holds; only the asked part is filled, and the metadata."""

    text: str = Field("", description="The text, in the modes markdown and text.")
    pages: list[dict[str, Any]] = Field(
        default_factory=list,
        description="In the mode pages: {number, text} in Markdown, one a page, slide, sheet or chapter.",
    )
    tables: list[dict[str, Any]] = Field(
        default_factory=list,
        description="In the mode tables: {columns, rows, position}, rows as objects by column.",
    )
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        description="Format, title, author, created, language, pages, warnings: what is known of it.",
    )


class DocumentExtractor(Node[DocumentExtractorConfig, DocumentExtractorOutput]):
    """Extract text, pages, tables and metadata of a document: PDF, Office, HTML, Markdown, CSV, EPUB, mail."""

    kind = "DOCUMENT_EXTRACTOR"
    group, icon = "data", "file-search"
    timeout = 300.0
    effects = "idempotent"
    example: ClassVar[dict[str, Any]] = {"file": "{{ inputs.document }}", "mode": "markdown"}

    async def run(self, config: DocumentExtractorConfig, ctx: RunContext) -> DocumentExtractorOutput:
        """Fetch the file where it is at a URL, and extract it in a process of its own.

        Raises:
            NodeError: `bad_file`; see `Extractor.extract`; those of the HTTP client.
        """
        pages = None if config.page_range is None else ranges_of(config.page_range)
        source = await read_source(
            config.file, lambda ref: ctx.service(Files).load(ref), ctx.service(HttpClient)
        )
        found = await ctx.service(Extractor).extract(
            source.content, name=source.name, media_type=source.media_type, pages=pages, ocr=config.ocr,
            metadata_only=config.mode == "metadata",
        )  # fmt: skip
        metadata = {"format": found.format, "size": len(source.content), **found.metadata}
        if source.name:
            metadata["name"] = source.name
        if found.warnings:
            metadata["warnings"] = list(found.warnings)
        output = DocumentExtractorOutput(metadata=metadata)
        if config.mode == "markdown":
            output.text = to_markdown(found.blocks)
        elif config.mode == "text":
            output.text = to_text(found.blocks)
        elif config.mode == "pages":
            output.pages = to_pages(found)
        elif config.mode == "tables":
            output.tables = to_tables(found)
        return output
