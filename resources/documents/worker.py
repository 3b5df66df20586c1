"""Extracts one document in a process of its own: `python -m interlace.resources.documents.worker`.

Standard input: one line of JSON (what to do), then the file. Standard output: one JSON object. Whatever a file does to
the libraries happens here, under limits that the process sets itself before it reads a byte of the file.
"""

from __future__ import annotations

import contextlib
import os
import sys
from importlib import import_module
from typing import Any

import orjson

from interlace.resources.documents.document import Extracted
from interlace.resources.documents.language import guess_language
from interlace.resources.documents.limits import DocumentFault, DocumentLimits, damaged, too_large
from interlace.resources.documents.outline import Outline
from interlace.resources.documents.sniff import sniff

_SAMPLE_BLOCKS = 200
_NESTED = 3
_FORMATS = {
    "pdf": ("pdf", "extract_pdf"), "docx": ("word", "extract_docx"), "pptx": ("slides", "extract_pptx"),
    "xlsx": ("sheets", "extract_xlsx"), "odt": ("opendocument", "extract_odt"), "html": ("html", "extract_html"),
    "markdown": ("text", "extract_markdown"), "csv": ("text", "extract_csv"), "text": ("text", "extract_text"),
    "epub": ("ebook", "extract_epub"), "eml": ("mail", "extract_eml"),
}  # fmt: skip


def main() -> None:
    """Read a task, do it, write the result."""
    task = orjson.loads(sys.stdin.buffer.readline())
    limits = DocumentLimits(**task["limits"])
    confine(limits)
    out = os.dup(1)
    os.dup2(2, 1)  # a library that prints must not damage the result
    content = sys.stdin.buffer.read()
    found = answer(content, task, limits)
    with os.fdopen(out, "wb") as stream:
        stream.write(orjson.dumps(found, option=orjson.OPT_NON_STR_KEYS))


def answer(content: bytes, task: dict[str, Any], limits: DocumentLimits) -> dict[str, Any]:
    """The document as JSON, or what is wrong with it."""
    try:
        return {"document": run(content, task, limits).as_json()}
    except DocumentFault as fault:
        return {"fault": fault.kind, "message": fault.message}
    except MemoryError:
        return {
            "fault": "document_too_large",
            "message": f"it needs more than {limits.memory_mb:,} MB of memory",
        }
    except RecursionError:
        return {"fault": "document_damaged", "message": "it is nested deeper than any real document"}


def confine(limits: DocumentLimits) -> None:
    """Limit this process: memory, processor time, no files written."""
    with contextlib.suppress(ImportError):
        import resource  # noqa: PLC0415 - Windows has none

        memory, seconds = limits.memory_mb * 1_000_000, max(1, round(limits.seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(content: bytes, task: dict[str, Any], limits: DocumentLimits) -> Extracted:
    """Extract one document.

    Raises:
        DocumentFault: it cannot be.
    """
    outline = Outline(limits)
    pages = tuple((first, last) for first, last in task["pages"]) if task.get("pages") else None
    kind = extract(
        content, task["name"], task["media_type"], outline, pages=pages, ocr=task.get("ocr", False)
    )
    _only_pages(kind, pages, outline)
    if not task.get("metadata_only"):
        _has_text(outline)
    sample = "\n".join(
        block.text or " ".join(cell for row in block.rows[:20] for cell in row)
        for block in outline.blocks[:_SAMPLE_BLOCKS]
    )
    declared = str(outline.metadata.pop("declared_language", "") or "")[:2].lower()
    language = guess_language(sample) or declared or None
    if language is not None:
        outline.metadata["language"] = language
    if not outline.metadata.get("title"):
        title = next((block.text for block in outline.blocks if block.kind == "heading"), None)
        outline.meta({"title": title})
    return Extracted(
        format=kind, blocks=tuple(outline.blocks), metadata=outline.metadata, warnings=tuple(outline.warnings)
    )


def _only_pages(kind: str, pages: tuple[tuple[int, int], ...] | None, outline: Outline) -> None:
    if pages is None or kind == "pdf":
        return
    if kind != "pptx":
        raise DocumentFault(
            "document_pages", f"a file of format {kind} has no pages; leave the page range out"
        )
    outline.blocks = [
        block
        for block in outline.blocks
        if any(first <= (block.position.slide or 0) <= last for first, last in pages)
    ]
    if not outline.blocks:
        raise DocumentFault("document_pages", "none of the asked slides exists, or they hold no text")


def _has_text(outline: Outline) -> None:
    if outline.blocks:
        return
    if outline.metadata.get("scanned"):
        raise DocumentFault(
            "document_scanned",
            f"its {outline.metadata.get('pages', 0)} pages are pictures without text; set `ocr: true` to read them",
        )
    raise DocumentFault("document_empty", "it holds no text")


def extract(
    content: bytes,
    name: str,
    media_type: str,
    outline: Outline,
    depth: int = 0,
    *,
    pages: tuple[tuple[int, int], ...] | None = None,
    ocr: bool = False,
) -> str:
    """Extract into an outline; gives the format.

    Raises:
        DocumentFault: it cannot be.
    """
    kind = sniff(content, name, media_type)
    module, function = _FORMATS[kind]
    # Only what this file needs is loaded: the process lives for one document.
    reader = getattr(import_module(f"interlace.resources.documents.formats.{module}"), function)
    if kind == "pdf":
        reader(content, outline, pages, ocr=ocr)
    elif kind == "eml":

        def nested(inner: bytes, inner_name: str, inner_type: str, into: Outline) -> None:
            if depth >= _NESTED:
                raise too_large(f"attachments are nested more than {_NESTED} deep")
            extract(inner, inner_name, inner_type, into, depth + 1)

        reader(content, outline, nested)
    else:
        try:
            reader(content, outline)
        except UnicodeDecodeError as error:
            raise damaged(f"the text cannot be decoded ({error})") from None
    return kind


if __name__ == "__main__":
    main()
