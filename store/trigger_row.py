"""Rows of triggers, firings and deliveries as objects. Times in Unix seconds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from sqlalchemy import Row

from interlace.store.encoding import decode

TriggerKind: TypeAlias = Literal["cron", "webhook", "event"]
FiringStatus: TypeAlias = Literal["started", "queued", "skipped", "missed", "refused", "failed"]
DeliveryStatus: TypeAlias = Literal["received", "started", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What starts runs of a workflow.

    `key` is its name among the workflow's triggers; `source` says whether the document has it or somebody made it.
    `error` is why it started nothing the last time. Of a schedule, everything up to `cursor` is decided.
    """

    id: str
    kind: TriggerKind
    owner: str
    workflow_id: str
    key: str
    source: Literal["document", "own"]
    definition: dict[str, Any]
    paused: bool
    created_at: float
    updated_at: float
    ended_at: float | None
    error: str | None
    error_at: float | None
    cursor: float | None
    next_at: float | None
    lease_owner: str | None
    lease_until: float | None
    token_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """What was decided about a nominal time of a schedule."""

    trigger_id: str
    nominal: int
    status: FiringStatus
    run_id: str | None
    note: str | None
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A request to a webhook; `request` has method, query, headers and content type, `ref` the raw body."""

    id: str
    trigger_id: str
    status: DeliveryStatus
    received_at: float
    key: str | None
    run_id: str | None
    redelivers: str | None
    ref: str
    size: int
    request: dict[str, Any]
    attempts: int
    next_at: float | None
    error: str | None


_COLUMNS = tuple(one.name for one in fields(Trigger))


def trigger_of(row: Row[*tuple[Any, ...]]) -> Trigger:
    """A trigger from a row of the table."""
    values = {name: getattr(row, name) for name in _COLUMNS}
    return Trigger(**{**values, "definition": decode(values["definition"]), "paused": bool(values["paused"])})


def firing_of(row: Row[*tuple[Any, ...]]) -> Firing:
    """A firing from a row of the table."""
    return Firing(**dict(row._mapping))  # noqa: SLF001


def delivery_of(row: Row[*tuple[Any, ...]]) -> Delivery:
    """A delivery from a row of the table."""
    values = dict(row._mapping)  # noqa: SLF001
    return Delivery(**{**values, "request": decode(values["request"])})
