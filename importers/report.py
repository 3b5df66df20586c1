"""What an import has to say: every node of the file has an entry, and nothing is left out without a word."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from interlace.engine.document import Document
from interlace.engine.errors import InterlaceError
from interlace.engine.source import dump

Level = Literal["carried", "changed", "decision", "unsupported", "error"]
LEVELS: Final[dict[Level, str]] = {
    "carried": "It is there and does the same.",
    "changed": "It is there, and something of it works in another way, or was left out as it has no meaning here.",
    "decision": "It is there, and somebody has to choose or set something before it runs.",
    "unsupported": "It could not be carried over; a placeholder says so when it is reached.",
    "error": "The file is damaged; there is no document.",
}
MAX_ENTRIES: Final = 10_000


class NotImported(InterlaceError):  # noqa: N818 - what it says
    """The text is no file of a product that can be imported, or it is damaged."""

    code = "bad_import"

    def __init__(self, message: str, *, code: str = "not_a_workflow", node: str | None = None) -> None:
        self.reason, self.node = code, node
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One remark.

    `source_node` is the node's name in the file it came from, `node` the id of what it became; both are None for what
    concerns the whole file.
    """

    level: Level
    code: str
    message: str
    source_node: str | None = None
    node: str | None = None

    def as_json(self) -> dict[str, Any]:
        """As the API and `--json` show it."""
        return {
            "level": self.level, "source_node": self.source_node, "node": self.node, "code": self.code,
            "message": self.message,
        }  # fmt: skip


@dataclass(slots=True)
class Report:
    """The remarks of one import, each said once."""

    entries: list[Entry] = field(default_factory=list)
    _seen: set[Entry] = field(default_factory=set)

    def add(
        self, level: Level, code: str, message: str, *, source: str | None = None, node: str | None = None
    ) -> None:
        """Add a remark unless it stands there already."""
        entry = Entry(level=level, code=code, message=message, source_node=source, node=node)
        if entry not in self._seen and len(self.entries) < MAX_ENTRIES:
            self._seen.add(entry)
            self.entries.append(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A document and how it came about; `document` is None where the file is damaged (`ok` false)."""

    product: str
    document: Document | None
    report: tuple[Entry, ...]

    @property
    def ok(self) -> bool:
        """Whether there is a document."""
        return self.document is not None

    def yaml(self) -> str:
        """The document as text; equal files give equal text.

        Raises:
            ValueError: there is no document.
        """
        if self.document is None:
            raise ValueError("there is no document")
        return dump(self.document)

    def as_json(self) -> dict[str, Any]:
        """As the API and `--json` show it: `{ok, document, report}`."""
        shown = None if self.document is None else orjson.loads(dump(self.document, "json"))
        return {"ok": self.ok, "document": shown, "report": [entry.as_json() for entry in self.report]}
