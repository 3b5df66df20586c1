"""One turn of a run, as its execution is given it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.engine.node import RunInfo
from interlace.engine.principal import Principal
from interlace.engine.run import Recorded
from interlace.engine.waits import Answer
from interlace.flows.documents import Pinned
from interlace.store.changing import file_key
from interlace.store.run_row import NewRun, Run

_NOT_SHOWN = frozenset({"folder", "traceparent"})
"""A path of this machine, and a place in a trace: expressions read neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One turn of a run: everything but who runs it.

    `recorded` is what an earlier turn, or another run, left behind; `began` says whether an earlier turn started the
    run, `options` how it is run, `variables` what an earlier turn began with, `keeps` whose kept variables it reads
    and, unless it is a `test`, changes.
    """

    info: RunInfo
    owner: str
    inputs: dict[str, Any]
    first_seq: int
    recorded: Mapping[str, Recorded] | None = None
    answers: Mapping[str, Answer] | None = None
    began: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    keeps: str
    test: bool = False


def keeps_of(row: NewRun | Run) -> str:
    """Whose kept variables a run has: the workflow's, those of its owner's file of that name where it is not stored."""
    return file_key(row.owner, row.name) if row.workflow_id is None else row.workflow_id


def run_info(
    run_id: str, pinned: Pinned, row: NewRun | Run, principal: Principal, *, started_at: float
) -> RunInfo:
    """What nodes may know of their run."""
    scheduled = None if row.scheduled_for is None else time.strftime(
        "%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.scheduled_for)
    )  # fmt: skip
    return RunInfo(
        id=run_id, workflow=pinned.document.name, started_at=started_at,
        trigger={key: value for key, value in row.trigger.items() if key not in _NOT_SHOWN},
        environment=row.environment, scheduled_for=scheduled, depth=row.depth, principal=principal,
        traceparent=row.trigger.get("traceparent"),
    )  # fmt: skip
