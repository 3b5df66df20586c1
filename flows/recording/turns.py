"""Which try of a node an event belongs to. Tries that a crash interrupted do not count: they were made again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import Any

from interlace.engine.events import Event
from interlace.engine.protocols import Journal
from interlace.engine.variables import Change
from interlace.flows.recording.outside import CALL, hash_of
from interlace.store import Store
from interlace.store.run_row import Seed

LATEST = "variables"
"""The service by whose name the record has what kept variables were found as."""
_STEPS = frozenset({"model.finished", "tool.finished"})
_ENDS = frozenset({"node.succeeded", "node.failed", "node.retrying", "node.skipped", "node.cancelled"})


class Turns:
    """Counts the tries at each path that came to an end."""

    def __init__(self) -> None:
        self._ended: dict[str, int] = {}
        self.resumed: dict[str, int] = {}
        """How often a wait ended at each path."""

    def of(self, path: str) -> int:
        """The number of the try in hand, from 0."""
        return self._ended.get(path, 0)

    def note(self, kind: str, path: str) -> None:
        """Take an event of this run's own."""
        if kind in _ENDS:
            self._ended[path] = self.of(path) + 1
        elif kind == "node.resumed":
            self.resumed[path] = self.resumed.get(path, 0) + 1


class NotingJournal:
    """A run's journal whose events the turns hear of. Implements `Journal`."""

    def __init__(self, journal: Journal, turns: Turns) -> None:
        self._journal = journal
        self._turns = turns

    def append(
        self, kind: str, path: str = "", attempt: int = 0, data: Mapping[str, Any] | None = None
    ) -> None:
        """Add an event."""
        self._journal.append(kind, path, attempt, data)
        if path:
            self._turns.note(kind, path)

    def change(self, change: Change) -> Awaitable[None]:
        """Change kept variables."""
        return self._noted(self._journal.change(change), change)

    async def _noted(self, changed: Awaitable[None], change: Change) -> None:
        await changed
        if change.written is not None:
            self._turns.note(change.written.kind, change.path)

    def commit(self) -> Awaitable[None] | None:
        """Make all appended events durable."""
        return self._journal.commit()


async def all_events(store: Store, run_id: str) -> AsyncIterator[Event]:
    """The journal of a run from its beginning."""
    last = 0
    while batch := await store.events.read(run_id, last):
        for event in batch:
            yield event
        last = batch[-1].seq


async def recorded_calls(store: Store, run_id: str) -> list[Seed]:
    """What a recorded run heard from outside, each answer with the number of the try that it belongs to."""
    calls = _Calls()
    async for event in all_events(store, run_id):
        calls.add(event)
    return list(calls.found.values())


class _Calls:
    """The answers of a journal that count: those of tries that were not interrupted."""

    def __init__(self) -> None:
        self.found: dict[int, Seed] = {}
        self._turns = Turns()
        self._begun: set[str] = set()
        self._open: dict[str, list[int]] = {}
        self._steps: dict[str, set[str]] = {}

    def add(self, event: Event) -> None:
        """Take the next event."""
        path = event.path
        if event.type == CALL:
            turn = event.data.get("turn", self._turns.of(path))
            self._keep(event, {**event.data, "turn": turn})
            return
        if "latest" in event.data:  # what a change of kept variables found stands with what it came to
            answer = {
                "service": LATEST,
                "request": None,
                "hash": hash_of(None),
                "answer": event.data["latest"],
            }
            self._keep(event, {**answer, "turn": self._turns.of(path)})
        if event.type in _STEPS:
            self._steps.setdefault(path, set()).add(event.data["step"])
        if event.type == "node.started":
            if path in self._begun:
                self._forget(path)
            self._begun.add(path)
            self._open.pop(path, None)
        elif event.type in _ENDS:
            self._begun.discard(path)
            self._open.pop(path, None)
            self._steps.pop(path, None)
        self._turns.note(event.type, path)

    def _keep(self, event: Event, data: Mapping[str, Any]) -> None:
        self.found[event.seq] = Seed(type=CALL, path=event.path, attempt=event.attempt, data=data)
        self._open.setdefault(event.path, []).append(event.seq)

    def _forget(self, path: str) -> None:
        """The try before was interrupted, and with it the answers to what was not finished."""
        known = self._steps.get(path, set())
        for seq in self._open.get(path, ()):
            if not known or self.found[seq].data.get("step", "") not in {"", *known}:
                self.found.pop(seq)
