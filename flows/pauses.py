"""Whether a suspended run goes on by itself: nothing is asked of anybody, only time has to pass."""

from __future__ import annotations

from interlace.store import Store


async def only_pauses(store: Store, run_id: str, before: float | None) -> bool:
    """Whether all that a run and its children wait for is time, and that comes before an instant (Unix time)."""
    for wait in await store.waits.of_run(run_id):
        if wait.kind == "child" and wait.ref is not None:
            if not await only_pauses(store, wait.ref, before):
                return False
        elif wait.kind == "place":
            if wait.ref not in await store.hosts.pools():
                return False
        elif wait.kind != "timer" or (before is not None and wait.until is not None and wait.until > before):
            return False
    return True
