"""What an import has to say: nothing is left out without a word."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from interlace.engine.errors import InterlaceError
from interlace.resources.connectors.definition import Connector

Level = Literal["error", "warning", "info"]
MAX_ENTRIES = 10_000


class NotImported(InterlaceError):  # noqa: N818 - what it says
    """The text is no description of an API."""

    code = "bad_import"

    def __init__(self, message: str, *, line: int | None = None) -> None:
        self.line = line
        super().__init__(f"line {line}: {message}" if line else message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One remark: `error` where an operation was left out, `warning` where something was changed, `info` otherwise.

    `place` is an operation (`GET /orders`) or a JSON pointer.
    """

    level: Level
    code: str
    place: str
    message: str

    def as_json(self) -> dict[str, Any]:
        """As the API and `--json` show it."""
        return {"level": self.level, "code": self.code, "place": self.place, "message": self.message}


@dataclass(slots=True)
class Report:
    """The remarks of one import, each said once."""

    entries: list[Entry] = field(default_factory=list)
    _seen: set[Entry] = field(default_factory=set)

    def add(self, level: Level, code: str, place: str, message: str) -> None:
        """Add a remark unless it stands there already."""
        entry = Entry(level=level, code=code, place=place, message=message)
        if entry not in self._seen and len(self.entries) < MAX_ENTRIES:
            self._seen.add(entry)
            self.entries.append(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A connector and how it came about. `secrets` are credentials that the text held, by slot, to be stored apart."""

    connector: Connector
    entries: list[Entry]
    operations: int
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
