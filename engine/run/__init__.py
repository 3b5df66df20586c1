"""Running a plan: `execution` is the loop, `attempts` runs one node, `bodies` the passes of containers."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from interlace.engine.document import Document
from interlace.engine.expressions import Missing
from interlace.engine.node import RunInfo
from interlace.engine.protocols import Clock, Environment, Journal, Services
from interlace.engine.recording import Recording
from interlace.engine.run.execution import Execution
from interlace.engine.run.plan import Plan, compile_plan
from interlace.engine.run.result import Recorded, RunResult
from interlace.engine.run.secrets import Secrets
from interlace.engine.waits import Answer

__all__ = ["Execution", "Plan", "Recorded", "RunResult", "compile_plan", "prepare"]


def prepare(
    plan: Plan,
    info: RunInfo,
    inputs: Mapping[str, Any],
    *,
    journal: Journal,
    services: Services,
    clock: Clock,
    recorded: Mapping[str, Recorded] | None = None,
    answers: Mapping[str, Answer] | None = None,
    began: bool | None = None,
    recording: Recording | None = None,
    variables: Mapping[str, Any] | None = None,
    kept: Collection[str] = (),
) -> Execution:
    """An execution of checked inputs, its first event appended.

    With `recorded` the run goes on from what its journal holds: nodes that finished are taken again, not run again.
    `answers` has what came for the waits in it, by their ids. `began` says whether an earlier turn started the run,
    where that does not follow from `recorded`: a replay begins with results of another run. `variables` are first
    values that stand for those of the document; a `Missing` one cannot be read. `kept` are variables that outlive the
    run.
    """
    if recorded is None if began is None else not began:
        first = {name: value for name, value in (variables or {}).items() if not isinstance(value, Missing)}
        given = {"variables": first} if first else {}
        journal.append("run.started", "", 0, {"inputs": inputs, **given})
    else:
        journal.append("run.resumed")
    names = run_names(plan.document, info, inputs, services)
    names["vars"].update(copy.deepcopy(dict(variables or {})))
    return Execution(
        plan, info, names if recording is None else recording.names(names), journal=journal, services=services,
        clock=clock, recorded=recorded, answers=answers, recording=recording, kept=kept,
    )  # fmt: skip


def run_names(
    document: Document, info: RunInfo, inputs: Mapping[str, Any], services: Services
) -> dict[str, Any]:
    """The names that every expression of a run may read, besides its nodes."""
    environment: Environment | None
    try:
        environment = services.get(Environment)
    except LookupError:
        environment = None
    started = datetime.fromtimestamp(info.started_at, UTC).isoformat().replace("+00:00", "Z")
    trigger = dict(info.trigger)
    return {
        "inputs": dict(inputs),
        "vars": {name: copy.deepcopy(variable.default) for name, variable in document.variables.items()},
        "env": dict(environment.settings()) if environment is not None else {},
        "secrets": Secrets(environment) if environment is not None else {},
        "trigger": trigger,
        "run": {
            "id": info.id, "started_at": started, "attempt": info.attempt, "trigger": trigger,
            "scheduled_for": info.scheduled_for,
        },
    }  # fmt: skip
