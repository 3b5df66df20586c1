"""What the extraction of one document may use, and the faults it may end with."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLimits:
    """Limits of one extraction.

    Args:
        seconds: wall-clock and processor time.
        memory_mb: address space of the process that extracts.
        max_bytes: size of the file.
        unpacked_mb: size of everything packed in it (docx, xlsx, pptx, odt, epub).
        entries: number of packed files.
        characters: extracted text.
        pages: pages of a PDF, slides, chapters.
        cells: cells of all tables together.
    """

    seconds: float = 120.0
    memory_mb: int = 1500
    max_bytes: int = 200_000_000
    unpacked_mb: int = 500
    entries: int = 20_000
    characters: int = 30_000_000
    pages: int = 5_000
    cells: int = 2_000_000

    def as_json(self) -> dict[str, Any]:
        """As the worker gets them."""
        return asdict(self)


class DocumentFault(Exception):  # noqa: N818 - it crosses a process as data, and becomes a NodeError outside
    """A document that cannot be extracted; `kind` is the `error.type` of the node."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def damaged(what: str) -> DocumentFault:
    """The file is not what its format asks for."""
    return DocumentFault("document_damaged", f"{what}; open it in the program that made it and save it again")


def too_large(what: str) -> DocumentFault:
    """A limit was met."""
    return DocumentFault("document_too_large", what)


def encrypted(what: str) -> DocumentFault:
    """It needs a password."""
    return DocumentFault("document_encrypted", f"{what}; save a copy without a password")
