"""A run's row as objects: what a new run is made of, and what is read of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, literal_column

from interlace.engine.events import RunStatus
from interlace.store.encoding import decode

FINAL: Final = frozenset({"succeeded", "failed", "cancelled"})
UNFINISHED: Final = frozenset({"queued", "running", "suspended"})
UNFINISHED_SQL: Final[list[ColumnElement[str]]] = [
    literal_column(f"'{status}'") for status in sorted(UNFINISHED)
]
WAITING_SQL: Final[list[ColumnElement[str]]] = [literal_column("'queued'"), literal_column("'running'")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """An event that a run is born with: a result of another run.

    With `kept` the large values in `data` are references already, to payloads that the other run holds.
    """

    type: str
    path: str
    attempt: int
    data: Mapping[str, Any]
    kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What a run is created from.

    `document` is the canonical text of the document that the run is pinned to, or None with the `document_hash` of
    one that is stored already. `idempotency_key`: of two runs with the same key of the same owner only the first is
    created. `lease_owner`: who starts the run at once, without a claim of its own, for `lease_seconds`. `options`: how
    it is run, where that is not the usual way. `seeds` stand in its journal from the beginning; the files of
    `replayed_from` become its own too.
    `pool`: whose hosts may take it, None for the default pool. Of the runs of one `slot_key` at most `slot_limit` are
    taken at a time. `start_within`: seconds after which a run that has not started fails.
    """

    name: str
    document: str | None = None
    document_hash: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    trigger: Mapping[str, Any] = field(default_factory=dict)
    owner: str = "local"
    org_id: str | None = None
    run_id: str | None = None
    workflow_id: str | None = None
    version: int | None = None
    environment: str = "dev"
    idempotency_key: str | None = None
    parent_run_id: str | None = None
    parent_path: str | None = None
    depth: int = 0
    node_count: int = 0
    scheduled_for: float | None = None
    tags: tuple[str, ...] = ()
    lease_owner: str | None = None
    lease_seconds: float = 30.0
    replayed_from: str | None = None
    test: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[Seed, ...] = ()
    pool: str | None = None
    slot_key: str | None = None
    slot_limit: int | None = None
    start_within: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A run that was created, or with `created` false the earlier one of the same idempotency key."""

    run_id: str
    created: bool
    epoch: int | None
    """The lease, when the run was created with one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as its row has it; large values in `inputs` and `outputs` are references. Times in Unix seconds."""

    id: str
    owner: str
    status: RunStatus
    name: str
    workflow_id: str | None
    version: int | None
    document_hash: str
    environment: str
    idempotency_key: str | None
    parent_run_id: str | None
    parent_path: str | None
    depth: int
    node_count: int
    created_at: float
    started_at: float | None
    finished_at: float | None
    scheduled_for: float | None
    lease_owner: str | None
    lease_epoch: int
    lease_until: float | None
    cancel_requested: bool
    mirror_state: str
    flow_run_id: str | None
    tags: tuple[str, ...]
    trigger: dict[str, Any]
    inputs: dict[str, Any]
    outputs: dict[str, Any] | None
    error: dict[str, Any] | None
    replayed_from: str | None
    test: bool
    options: dict[str, Any]
    pool: str | None
    slot_key: str | None
    slot_limit: int | None
    start_by: float | None
    org_id: str | None


def run_of(row: Row[*tuple[Any, ...]]) -> Run:
    """A run from a row of the table."""
    values = dict(row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
    for name in ("tags", "trigger", "inputs", "outputs", "error", "options"):
        values[name] = None if values[name] is None else decode(values[name])
    values["tags"] = tuple(values["tags"])
    return Run(**values)
