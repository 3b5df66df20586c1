"""What a journal in memory says of the nodes, in the form in which the engine takes it again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlace.engine.events import Event
from interlace.engine.run import Recorded
from interlace.engine.waits import Waiting
from interlace.store.state import NodeRecord, fold


def recorded_from(events: Iterable[Event]) -> dict[str, Recorded]:
    """The last state of each node, by path."""
    return {
        path: Recorded(
            status=node.status, attempt=max(node.attempt, 1), retries=node.retries, outputs=node.outputs,
            handles=node.handles, error=node.error, reason=node.reason, variables=node.variables, why=node.why,
            wait=_waiting(node), confirmed=node.confirmed, effects=node.effects, items=node.items,
            round=-1 if node.round is None else node.round,
            requests={key: _wait_of(data) for key, data in node.requests.items()}, substeps=node.substeps,
            heard=node.heard,
        )
        for path, node in fold(events).nodes.items()
    }  # fmt: skip


def _waiting(node: NodeRecord) -> Waiting | None:
    if node.status != "suspended" or node.wait is None:
        return None
    return _wait_of(node.wait)


def _wait_of(data: dict[str, Any]) -> Waiting:
    known = ("id", "kind", "phase", "until", "request", "hash", "state", "key")
    return Waiting(**{"id": "", **{name: data[name] for name in known if name in data}})
