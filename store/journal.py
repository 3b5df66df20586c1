"""The journal of one run: events become rows, their large values payloads, and the run's own row follows them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from interlace.engine.errors import StoreError
from interlace.engine.events import EVENT_TYPES, FINAL_EVENTS, Event
from interlace.engine.variables import Change
from interlace.store.announcing import ANNOUNCED, AnnouncingStatements
from interlace.store.changing import Changing, EventRow
from interlace.store.links import Links
from interlace.store.payloads import Payloads
from interlace.store.references import MARK, Externalizer, is_reference, resolve_data, resolve_map
from interlace.store.transitions import Transitions
from interlace.store.wait_statements import WAIT_EVENTS, WaitStatements
from interlace.store.writer import Batch, Lane, Writer

_FIRST_TURN = 2
"""The number of the event with which a run's first turn begins; a later one may have waits of earlier turns."""


class RunJournal:
    """The engine's `Journal` of one run.

    Events are added at once to what the next group commit takes; `commit` says when that was. A run event
    (`run.started`, …, `run.failed`) changes the run's row in the same commit: status, times, outputs, error; a
    suspended or ended run gives up its lease.

    Args:
        epoch: the lease under which the run is written; None writes without one (tests, imports).
        first_seq: the number of the next event.
        keeps: whose kept variables the run changes; None for one that may change none.
    """

    def __init__(
        self, run_id: str, epoch: int | None, first_seq: int, *,
        writer: Writer, payloads: Payloads, links: Links, transitions: Transitions, waits: WaitStatements,
        announcing: AnnouncingStatements, now: Callable[[], float] = time.time, keeps: str | None = None,
    ) -> None:  # fmt: skip
        self.run_id = run_id
        self.epoch = epoch
        self._seq = first_seq
        self._writer = writer
        self._payloads = payloads
        self._links = links
        self._transitions = transitions
        self._waits = waits
        self._announcing = announcing
        self._now = now
        self._keeps = keeps
        self._waited = first_seq > _FIRST_TURN
        self._lane = Lane(run_id, epoch)
        self._batch: Batch | None = None
        self._encoder = Externalizer(payloads)
        self._linked: set[str] = set()
        self._loaded: dict[str, Any] = {}

    @property
    def next_seq(self) -> int:
        """The number that the next event gets."""
        return self._seq

    def append(
        self, kind: str, path: str = "", attempt: int = 0, data: Mapping[str, Any] | None = None
    ) -> None:
        """Add an event; its data is encoded at once, so later changes of the values do not matter.

        Raises:
            StoreError: the data is not JSON, naming where; the event type is unknown; or an earlier commit failed,
                and nothing may be added after it.
        """
        if self._lane.error is not None:
            raise self._lane.error
        if kind not in EVENT_TYPES:
            raise StoreError(f"no event type {kind!r}; the types are those of engine.events")
        now = self._now()
        text = self._encoder.data(data).decode() if data else "{}"
        batch = self._open()
        row: EventRow = (self.run_id, self._seq, now, kind, path, attempt, text)
        batch.events.append(row)
        self._seq += 1
        if self._encoder.fresh:
            self._link(batch, now)
        if kind.startswith("run."):
            operation = self._transitions.of(self.run_id, kind, now, data or {}, self._encoder)
            if operation is not None:
                batch.operations.append(operation)
            if self._encoder.fresh:
                self._link(batch, now)
        if kind in ANNOUNCED:
            batch.operations.extend(self._announcing.of(self.run_id, row[1], kind, data or {}, now))
        if kind in WAIT_EVENTS and (self._waited or kind not in FINAL_EVENTS):
            operations = list(self._waits.of(self.run_id, kind, path, data or {}, now))
            batch.operations.extend(operations)
            self._waited = self._waited or bool(operations)

    def change(self, change: Change) -> Awaitable[None]:
        """Change kept variables, and add the event that tells of it, in one commit.

        Raises:
            StoreError: an earlier commit failed, or the run may change none.
        """
        if self._lane.error is not None:
            raise self._lane.error
        if self._keeps is None:
            raise StoreError(f"run {self.run_id!r} changes no kept variables")
        batch = self._open()
        place: EventRow = (self.run_id, self._seq, self._now(), "node.log", change.path, change.attempt, "{}")
        self._seq += 1
        batch.changes.append(
            Changing(change, self._keeps, place, batch.events, payloads=self._payloads, links=self._links)
        )
        return self._writer.submit(batch)

    def commit(self) -> Awaitable[None] | None:
        """Make all appended events durable; None when they are.

        The awaitable fails with a StoreError when they could not be made durable; its code is `fenced` when another
        process owns the run now.
        """
        if self._lane.error is not None:
            raise self._lane.error
        batch = self._batch
        if batch is None or batch.done:
            return None
        return self._writer.submit(batch)

    async def load(self, value: Mapping[str, Any]) -> Any:
        """The value of a `{"$payload": …}`; each payload is read once.

        Raises:
            NotFoundError: there is no such payload.
        """
        ref = value[MARK]
        if ref not in self._loaded:
            loaded = self._loaded[ref] = await self._payloads.load(ref)
            if type(loaded) is str:
                self._encoder.remember(loaded, ref, value["size"])
        return self._loaded[ref]

    async def load_map(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Outputs, inputs or variables with their references resolved."""
        if is_reference(values):
            whole: dict[str, Any] = await self.load(values)
            return whole
        return await resolve_map(values, self.load)

    async def load_event(self, event: Event) -> Event:
        """An event with the references in its data resolved."""
        data = await resolve_data(event.data, self.load)
        return Event(event.type, event.path, event.attempt, data, event.seq, event.at)

    def _open(self) -> Batch:
        batch = self._batch
        if batch is None or batch.sealed:
            batch = self._batch = Batch(self._lane, independent=True)
        return batch

    def _link(self, batch: Batch, now: float) -> None:
        fresh, self._encoder.fresh = self._encoder.fresh, []
        for stored in fresh:
            # A reference that this run has made durable keeps the payload in place.
            if stored.ref not in self._linked:
                self._linked.add(stored.ref)
                batch.operations.extend(self._links.of(self.run_id, stored, now))
                batch.hooks.append(stored.secure)
