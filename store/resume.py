"""From the state of an interrupted run to what the engine takes again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from interlace.engine.run.result import Recorded
from interlace.store.references import is_reference, resolve_map
from interlace.store.state import NodeRecord, RunState

Load = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Resolves a reference: `RunJournal.load`."""


async def recorded(state: RunState, load: Load) -> dict[str, Recorded]:
    """What the journal knows of each node, by path, with large values loaded."""
    return {path: await _node(node, load) for path, node in state.nodes.items()}


async def _node(node: NodeRecord, load: Load) -> Recorded:
    return Recorded(
        status=node.status,
        attempt=max(node.attempt, 1),
        outputs=None if node.outputs is None else await whole(node.outputs, load),
        handles=node.handles,
        error=None if node.error is None else await whole(node.error, load),
        reason=node.reason,
        variables=await whole(node.variables, load),
        why=node.why,
        wait_until=node.wait_until,
    )


async def whole(values: dict[str, Any], load: Load) -> dict[str, Any]:
    """A map with its references resolved; also one that stands apart as a whole."""
    if is_reference(values):
        apart: dict[str, Any] = await load(values)
        return apart
    return await resolve_map(values, load)
