"""What a journal in memory says of the nodes, in the form in which the engine takes it again."""

from __future__ import annotations

from collections.abc import Iterable

from interlace.engine.events import Event
from interlace.engine.run import Recorded
from interlace.store.state import fold


def recorded_from(events: Iterable[Event]) -> dict[str, Recorded]:
    """The last state of each node, by path."""
    return {
        path: Recorded(
            status=node.status, attempt=max(node.attempt, 1), retries=node.retries, outputs=node.outputs,
            handles=node.handles, error=node.error, reason=node.reason, variables=node.variables, why=node.why,
            wait_until=node.wait_until,
        )
        for path, node in fold(events).nodes.items()
    }  # fmt: skip
