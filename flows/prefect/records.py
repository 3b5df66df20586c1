"""What the mirror is told about a run, and the marks it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID, uuid5

import orjson

RunState = Literal["running", "suspended", "succeeded", "failed", "cancelled"]
NodeState = Literal[
    "running", "suspended", "succeeded", "failed", "skipped", "cancelled", "not_reached", "unknown"
]
Fate = Literal["recorded", "sampled_out", "refused"]

PARAMETER_BYTES = 64 * 1024
_NAMESPACE = UUID("6c1f6f5e-0f2b-5a43-9a5b-1d8f1a7c6f11")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """One node of a run as it ended, or stands.

    `path` is the node's path in the run (`each[2].work`), `upstream` the paths whose edges into it were taken.
    """

    path: str
    name: str
    kind: str
    state: NodeState
    started_at: datetime | None = None
    finished_at: datetime | None = None
    upstream: tuple[str, ...] = ()
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line of a run's log; `level` as in logging (20 is INFO)."""

    at: datetime
    message: str
    level: int = 20
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run to be shown in Prefect. Times carry a zone.

    `flow_run_id` is where an earlier record of the same run (while it was running) was put, if the journal knows.
    """

    run_id: str
    workflow_id: str
    workflow_name: str
    state: RunState
    started_at: datetime
    finished_at: datetime | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    message: str | None = None
    nodes: Sequence[NodeRecord] = ()
    logs: Sequence[LogLine] = ()
    flow_run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What became of one record: `flow_run_id` is None where it was sampled out or refused (`reason` says why)."""

    run_id: str
    state: RunState
    fate: Fate
    flow_run_id: str | None = None
    reason: str | None = None


class RunSource(Protocol):
    """The journal as the mirror sees it."""

    async def pending(self, limit: int) -> list[RunRecord]:
        """Give up to `limit` runs whose present state is not marked yet, the oldest first."""
        ...

    async def recorded(self, marks: Sequence[Mark]) -> None:
        """Remember that these runs were dealt with in these states; `pending` gives them again only in another."""
        ...


def flow_run_key(run_id: str) -> UUID:
    """Give the id of the flow run that shows a run: the same each time, so that recording twice changes nothing."""
    return uuid5(_NAMESPACE, run_id)


def task_run_key(flow_run_id: UUID, path: str) -> UUID:
    """Give the id of the task run that shows a node of a flow run."""
    return uuid5(flow_run_id, path)


def run_name(workflow_name: str, run_id: str) -> str:
    """Give the name a run has in Prefect: its workflow's and a short form of its id."""
    return f"{workflow_name} {run_id[-8:]}"


def parameters_of(run_id: str, workflow_id: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Give a flow run's parameters; inputs of more than 64 KB (or no JSON) become a note: the store has them."""
    try:
        size = len(orjson.dumps(inputs, default=str, option=orjson.OPT_NON_STR_KEYS))
    except TypeError:
        size = None
    if size is None or size > PARAMETER_BYTES:
        note = f"{'not JSON' if size is None else f'{size} bytes'}; kept in Interlace, see run {run_id}"
        return {"run_id": run_id, "workflow_id": workflow_id, "inputs": {"$omitted": note}}
    return {"run_id": run_id, "workflow_id": workflow_id, "inputs": dict(inputs)}
