"""What a run's journal says, in the form in which the engine takes results again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.engine.document import Document
from interlace.engine.run import Recorded
from interlace.engine.waits import Waiting
from interlace.store import Store
from interlace.store.state import NodeRecord


async def recorded_of(store: Store, run_id: str) -> tuple[dict[str, Recorded], int]:
    """The last state of each node of a run with its values loaded, and the number of the run's last event."""
    state = await store.events.fold(run_id)
    journal = store.journal(run_id, None)

    async def load(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
        return None if values is None else await journal.load_map(values)

    found = {path: await _recorded(record, load) for path, record in state.nodes.items()}
    return found, state.last_seq


async def _recorded(record: NodeRecord, load: Any) -> Recorded:
    return Recorded(
        status=record.status,
        attempt=max(record.attempt, 1),
        retries=record.retries,
        outputs=await load(record.outputs),
        handles=record.handles,
        error=await load(record.error),
        reason=record.reason,
        variables=await load(record.variables) or {},
        why=record.why,
        wait=await _wait(record, load),
        confirmed=record.confirmed,
        items=record.items,
        round=-1 if record.round is None else record.round,
    )


async def _wait(record: NodeRecord, load: Any) -> Waiting | None:
    if record.status != "suspended" or record.wait is None:
        return None
    data = await load({name: record.wait.get(name, {}) for name in ("request", "state")})
    return Waiting(
        id=record.wait.get("id", ""), kind=record.wait.get("kind", "timer"), phase=record.wait.get("phase", "pause"),
        until=record.wait_until, hash=record.wait.get("hash", ""), **data,
    )  # fmt: skip


async def response_of(store: Store, run_id: str, document: Document) -> dict[str, Any] | None:
    """What the last END node that ran asks a waiting caller to be answered; None when none of them asks for anything."""
    ends = [node.id for node in document.nodes if node.type == "END" and "response" in node.config]
    if not ends:
        return None
    nodes = (await store.events.fold(run_id)).nodes
    found = [nodes[end].outputs for end in ends if end in nodes]
    answers = [outputs["$response"] for outputs in found if outputs and "$response" in outputs]
    if not answers:
        return None
    loaded = await store.journal(run_id, None).load_map({"response": answers[-1]})
    response: dict[str, Any] | None = loaded["response"]
    return response
