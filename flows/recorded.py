"""What a run's journal says, in the form in which the engine takes results again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from interlace.engine.document import Document
from interlace.engine.run import Recorded
from interlace.engine.substeps import SubStep
from interlace.engine.waits import Waiting
from interlace.store import Store
from interlace.store.state import NodeRecord


class Past(NamedTuple):
    """What a run's journal holds: the last state of each node, the number of the last event, what variables began as."""

    nodes: dict[str, Recorded]
    last_seq: int
    variables: dict[str, Any]


async def recorded_of(store: Store, run_id: str) -> Past:
    """What a run's journal holds, with its values loaded."""
    state = await store.events.fold(run_id)
    journal = store.journal(run_id, None)

    async def load(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
        return None if values is None else await journal.load_map(values)

    found = {path: await _recorded(record, load) for path, record in state.nodes.items()}
    return Past(found, state.last_seq, await journal.load_map(state.first_variables))


async def _recorded(record: NodeRecord, load: Any) -> Recorded:
    return Recorded(
        status=record.status,
        attempt=max(record.attempt, 1),
        retries=record.retries,
        started=record.started_at,
        outputs=await load(record.outputs),
        handles=record.handles,
        error=await load(record.error),
        reason=record.reason,
        variables=await load(record.variables) or {},
        why=record.why,
        wait=await _wait(record, load),
        confirmed=record.confirmed,
        effects=record.effects,
        items=record.items,
        round=-1 if record.round is None else record.round,
        heard=record.heard,
        requests={key: await _waiting(data, load) for key, data in record.requests.items()},
        substeps={
            key: SubStep(await load(step.started), await load(step.finished))
            for key, step in record.substeps.items()
        },
    )


async def _wait(record: NodeRecord, load: Any) -> Waiting | None:
    if record.status != "suspended" or record.wait is None:
        return None
    return await _waiting(record.wait, load)


async def _waiting(wait: Mapping[str, Any], load: Any) -> Waiting:
    data = await load({name: wait.get(name, {}) for name in ("request", "state")})
    return Waiting(
        id=wait.get("id", ""), kind=wait.get("kind", "timer"), phase=wait.get("phase", "pause"),
        until=wait.get("until"), hash=wait.get("hash", ""), key=wait.get("key", ""), **data,
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
