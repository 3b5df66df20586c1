"""Nodes as Prefect's task-run events: what its recorder turns into task runs and its graph's edges."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from interlace.flows.prefect.wire import StateName

Event = dict[str, Any]


def task_event(
    *,
    flow_run_id: UUID,
    task_run_id: UUID,
    path: str,
    name: str,
    kind: str,
    state: StateName,
    message: str | None,
    started_at: datetime,
    finished_at: datetime | None,
    upstream: list[UUID],
    parents: list[UUID],
    tags: list[str],
) -> Event:
    """Give the event that makes a node's task run be in a state, as Prefect's client would have sent it."""
    at = (finished_at or started_at).isoformat()
    inputs = {"upstream": [{"input_type": "task_run", "id": str(key)} for key in upstream]}
    if parents:
        inputs["__parents__"] = [{"input_type": "task_run", "id": str(key)} for key in parents]
    task_run = {
        "name": name,
        "task_key": f"interlace.{kind}",
        "dynamic_key": path,
        "tags": tags,
        "task_inputs": inputs,
        "run_count": 1,
        "flow_run_run_count": 1,
        "expected_start_time": started_at.isoformat(),
        "start_time": started_at.isoformat(),
        "total_run_time": (finished_at - started_at).total_seconds() if finished_at else 0.0,
    }
    if finished_at is not None:
        task_run["end_time"] = finished_at.isoformat()
    initial = (
        {"type": "RUNNING", "name": "Running"} if finished_at else {"type": "PENDING", "name": "Pending"}
    )
    return {
        "id": str(uuid4()),
        "occurred": at,
        "event": f"prefect.task-run.{state.name}",
        "resource": {
            "prefect.resource.id": f"prefect.task-run.{task_run_id}",
            "prefect.resource.name": name,
            "prefect.run-count": "1",
            "prefect.state-message": (message or "")[:1000],
            "prefect.state-name": state.name,
            "prefect.state-timestamp": at,
            "prefect.state-type": state.type,
            "prefect.orchestration": "client",
        },
        "related": [
            {"prefect.resource.id": f"prefect.flow-run.{flow_run_id}", "prefect.resource.role": "flow-run"},
            *({"prefect.resource.id": f"prefect.tag.{tag}", "prefect.resource.role": "tag"} for tag in tags),
        ],
        "payload": {
            "intended": {"from": initial["type"], "to": state.type},
            "initial_state": {**initial, "message": None, "state_details": {}},
            "validated_state": {
                "type": state.type,
                "name": state.name,
                "message": message,
                "state_details": {},
                "data": None,
            },
            "task_run": task_run,
        },
    }
