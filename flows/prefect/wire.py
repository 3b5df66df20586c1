"""How a recorded run travels to Prefect: our states as Prefect's, and the batch our own endpoint takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from interlace.flows.prefect.deployments import Deployment
from interlace.flows.prefect.records import (
    LogLine,
    NodeRecord,
    NodeState,
    RunRecord,
    RunState,
    flow_run_key,
    parameters_of,
    run_name,
    task_run_key,
)

LOGGER_NAME = "interlace"
TERMINAL = frozenset({"COMPLETED", "FAILED", "CANCELLED", "CRASHED"})


class StateName(NamedTuple):
    """A state as Prefect names it: its type and the name beside it."""

    type: str
    name: str


RUN_STATES: Mapping[RunState, StateName] = {
    "running": StateName("RUNNING", "Running"),
    "suspended": StateName("PAUSED", "Suspended"),
    "succeeded": StateName("COMPLETED", "Completed"),
    "failed": StateName("FAILED", "Failed"),
    "cancelled": StateName("CANCELLED", "Cancelled"),
}
NODE_STATES: Mapping[NodeState, StateName] = {
    "running": StateName("RUNNING", "Running"),
    "suspended": StateName("PAUSED", "Suspended"),
    "succeeded": StateName("COMPLETED", "Completed"),
    "failed": StateName("FAILED", "Failed"),
    "skipped": StateName("COMPLETED", "Skipped"),
    "cancelled": StateName("CANCELLED", "Cancelled"),
    "not_reached": StateName("CANCELLED", "NotReached"),
    "unknown": StateName("CRASHED", "Unknown"),
}


class SentNode(BaseModel):
    """A node on its way to Prefect."""

    model_config = ConfigDict(extra="forbid")

    id: UUID
    path: str
    name: str
    kind: str
    state_type: str
    state_name: str
    message: str | None
    started_at: datetime
    finished_at: datetime | None
    upstream: list[UUID]
    parents: list[UUID]


class SentLog(BaseModel):
    """A log line on its way to Prefect."""

    model_config = ConfigDict(extra="forbid")

    at: datetime
    level: int
    message: str
    task_run_id: UUID | None


class SentRun(BaseModel):
    """A run on its way to Prefect."""

    model_config = ConfigDict(extra="forbid")

    id: UUID
    run_id: str
    deployment_id: UUID
    name: str
    parameters: dict[str, Any]
    tags: list[str]
    state_type: str
    state_name: str
    message: str | None
    started_at: datetime
    finished_at: datetime | None
    nodes: list[SentNode]
    logs: list[SentLog]


class Batch(BaseModel):
    """What `POST /api/interlace/record` takes: all or nothing is written."""

    model_config = ConfigDict(extra="forbid")

    runs: list[SentRun]


class Written(BaseModel):
    """What it answers: the flow run of each run, in the order sent."""

    flow_run_ids: list[UUID]


def sent(run: RunRecord, deployment: Deployment, *, detail: bool) -> SentRun:
    """Give a run as it is sent; without `detail` neither nodes nor logs."""
    state = RUN_STATES[run.state]
    flow_run_id = flow_run_key(run.run_id)
    return SentRun.model_construct(
        id=flow_run_id,
        run_id=run.run_id,
        deployment_id=UUID(deployment.id),
        name=run_name(run.workflow_name, run.run_id),
        parameters=parameters_of(run.run_id, run.workflow_id, run.parameters),
        tags=sorted({"interlace", "recorded", *run.tags}),
        state_type=state.type,
        state_name=state.name,
        message=run.message,
        started_at=run.started_at,
        finished_at=run.finished_at,
        nodes=_nodes(run, flow_run_id) if detail else [],
        logs=[_log(line, flow_run_id) for line in run.logs] if detail else [],
    )


def _nodes(run: RunRecord, flow_run_id: UUID) -> list[SentNode]:
    shown = {
        node.path: task_run_key(flow_run_id, node.path) for node in run.nodes if node.state != "not_reached"
    }
    return [_node(node, run, shown) for node in run.nodes if node.path in shown]


def _node(node: NodeRecord, run: RunRecord, shown: Mapping[str, UUID]) -> SentNode:
    state = NODE_STATES[node.state]
    started_at = node.started_at or node.finished_at or run.started_at
    body = body_of(node.path)
    return SentNode.model_construct(
        id=shown[node.path],
        path=node.path,
        name=node.name,
        kind=node.kind,
        state_type=state.type,
        state_name=state.name,
        message=node.message,
        started_at=started_at,
        finished_at=(node.finished_at or started_at) if state.type in TERMINAL else None,
        upstream=[shown[path] for path in node.upstream if path in shown],
        parents=[shown[body]] if body in shown else [],
    )


def body_of(path: str) -> str:
    """Give the path of the node whose body a node stands in: `each` for `each[2].work`; empty at the top."""
    head, _, _ = path.rpartition(".")
    return head.rpartition("[")[0] if head.endswith("]") else head.partition("#")[0] if "#" in head else head


def _log(line: LogLine, flow_run_id: UUID) -> SentLog:
    return SentLog.model_construct(
        at=line.at,
        level=line.level,
        message=line.message.replace("\x00", ""),
        task_run_id=task_run_key(flow_run_id, line.path) if line.path else None,
    )
