"""A journal in memory: for one node or one run that nobody goes on with."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from interlace.engine.events import Event
from interlace.engine.variables import Change


class MemoryJournal:
    """Keeps events in a list. Implements `Journal`."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.kept: dict[str, Any] = {}
        """Variables that are kept, as far as they were written."""

    def append(
        self, kind: str, path: str = "", attempt: int = 0, data: Mapping[str, Any] | None = None
    ) -> None:
        """Add an event."""
        self.events.append(Event(kind, path, attempt, dict(data or {}), len(self.events) + 1, time.time()))

    def commit(self) -> None:
        """Nothing to do: memory is all there is."""

    async def change(self, change: Change) -> None:
        """Change kept variables."""
        written = change.compute({name: self.kept[name] for name in change.names if name in self.kept})
        self.kept.update(written.values)
        self.append(written.kind, change.path, change.attempt, written.data)

    def of(self, path: str) -> list[str]:
        """Types of the events at a path, in order."""
        return [event.type for event in self.events if event.path == path]
