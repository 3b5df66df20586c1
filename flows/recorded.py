"""What a run's journal says, in the form in which the engine takes results again."""

from __future__ import annotations

from typing import Any

from interlace.engine.events import Event
from interlace.engine.run import Recorded
from interlace.store import Store

_STATUS = {
    "node.started": "running", "node.retrying": "pending", "node.succeeded": "succeeded", "node.failed": "failed",
    "node.skipped": "skipped", "node.suspended": "suspended", "node.cancelled": "running", "node.unknown": "unknown",
}  # fmt: skip


async def recorded_of(store: Store, run_id: str) -> tuple[dict[str, Recorded], int]:
    """The last state of each node of a run, and the number of its last event."""
    journal = store.journal(run_id, None)
    found: dict[str, Recorded] = {}
    last = 0
    async for event in store.events.all(run_id):
        last = event.seq
        if event.type in _STATUS:
            found[event.path] = _record(await journal.load_event(event), found.get(event.path))
    return found, last


def _record(event: Event, before: Recorded | None) -> Recorded:
    data: dict[str, Any] = event.data
    attempt = event.attempt or (before.attempt if before is not None else 1)
    if event.type == "node.retrying":
        attempt += 1
    return Recorded(
        status=_STATUS[event.type],  # type: ignore[arg-type]
        attempt=attempt,
        outputs=data.get("outputs"),
        handles=tuple(data.get("handles", ())),
        error=data.get("error"),
        reason=data.get("reason"),
        variables=data.get("variables") or {},
        why=data.get("why") or {},
        wait_until=data.get("until", before.wait_until if before is not None else None),
    )
