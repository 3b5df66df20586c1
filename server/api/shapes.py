"""What the most used routes answer, for the OpenAPI document and the clients that are made of it.

The routes write these objects themselves; nothing is checked again on its way out.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from interlace.engine.events import RunStatus


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class RunSummary(_Shape):
    """A run without its nodes. Times in Unix seconds."""

    id: str
    status: RunStatus
    workflow: str
    workflow_id: str | None
    version: int | None
    trigger: dict[str, Any]
    created_at: float
    started_at: float | None
    finished_at: float | None
    parent_run_id: str | None
    tags: list[str]


class Waiting(_Shape):
    """What a run waits for."""

    id: str
    path: str
    kind: str
    title: str
    until: float | None


class NodeState(_Shape):
    """A node of a run."""

    status: str
    reason: str | None
    attempts: int
    elapsed_ms: float | None


class RunReport(RunSummary):
    """A run with its nodes, outputs and error."""

    run_id: str
    outputs: dict[str, Any] | None
    error: dict[str, Any] | None
    nodes: dict[str, NodeState]
    waiting: list[Waiting]
    reason: str | None = Field(description="Why it is queued.")


class RunPage(_Shape):
    """A page of runs."""

    items: list[RunSummary]
    next_cursor: str | None


class Started(_Shape):
    """A run that was started, and is waited for by nobody, or waits itself."""

    run_id: str
    status: RunStatus
    waiting: list[Waiting] | None = None


class Finished(_Shape):
    """A run that has ended while it was waited for; END's own `response` stands in its place, where there is one."""

    run_id: str
    status: Literal["succeeded"]
    outputs: dict[str, Any] | None


class RunStatusNow(_Shape):
    """A run's status."""

    run_id: str
    status: RunStatus


class Approval(_Shape):
    """A request to people."""

    id: str
    run_id: str
    path: str
    phase: str
    status: Literal["pending", "answered", "timed_out", "cancelled"]
    title: str | None
    message: str | None
    actions: list[str] | None
    form: dict[str, Any] | None
    hash: str
    assignees: list[str]
    created_at: float
    until: float | None
    action: str | None
    answered_by: str | None
    answered_at: float | None
    comment: str | None
    filled: dict[str, Any]


class ApprovalPage(_Shape):
    """A page of requests."""

    items: list[Approval]
    next_cursor: str | None


class WorkflowInfo(_Shape):
    """A stored workflow."""

    id: str
    name: str
    published_version: int | None
    created_at: float
    updated_at: float
    owner: str
    org_id: str | None
    visibility: str


class WorkflowDocument(WorkflowInfo):
    """A workflow with the document of one version."""

    version: int
    document: dict[str, Any]


class WorkflowPage(_Shape):
    """A page of workflows."""

    items: list[WorkflowInfo]
    next_cursor: str | None


class Pushed(_Shape):
    """A stored version."""

    id: str
    name: str
    version: int
    created: bool
    published: bool


class PublishedVersion(_Shape):
    """Which version is published."""

    published_version: int | None


def answers(status: int, model: type[BaseModel], description: str = "") -> dict[int | str, dict[str, Any]]:
    """What a route answers, for its `responses`."""
    return {status: {"model": model, "description": description or (model.__doc__ or "")}}


RUNS_OR_WAITS = {**answers(202, Started), **answers(200, Finished)}
"""What starting a run answers, with and without waiting."""
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events.",
        "content": {"text/event-stream": {"schema": {}}},
    }
}
"""What a stream answers."""
EVENTS_OR_IDS: dict[int | str, dict[str, Any]] = {
    **EVENTS, 202: {"description": "The ids.", "content": {"application/json": {"schema": {"type": "object"}}}},
}  # fmt: skip
EVENTS_OR_LIST: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, or one object.",
        "content": {
            "text/event-stream": {"schema": {}}, "application/json": {"schema": {"type": "object"}},
        },
    }
}  # fmt: skip


def content(kind: str, description: str) -> dict[int | str, dict[str, Any]]:
    """An answer that is no JSON object."""
    return {200: {"description": description, "content": {kind: {"schema": {}}}}}
