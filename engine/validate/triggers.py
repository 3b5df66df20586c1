"""Checks the triggers of a document: their fields, what their inputs read, and whether these fit the workflow."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from interlace.engine.expressions import ExpressionError, SyntaxProblem, compile_text
from interlace.engine.source.wording import described, dotted, faults
from interlace.engine.triggers import MODELS, CronTrigger, EventTrigger, Trigger, input_problems, read_trigger
from interlace.engine.validate.graph import Graph
from interlace.engine.validate.report import Report

_NAMES = frozenset({"trigger", "env", "run"})


def check_triggers(graph: Graph, report: Report) -> None:
    """Check every trigger of the document."""
    ids: set[str] = set()
    for index, raw in enumerate(graph.document.triggers):
        field = f"triggers[{index}]"
        trigger = _read(raw, field, report)
        _check_texts(raw, field, report)
        if trigger is None:
            continue
        name = getattr(trigger, "id", None)
        if name is not None and name in ids:
            report.add(
                "duplicate_trigger",
                f"Another trigger is called {name!r}.",
                field=f"{field}.id",
                fix="Give it another id.",
            )
        ids.add(name or "")
        if isinstance(trigger, CronTrigger | EventTrigger):
            for problem in input_problems(trigger, graph.inputs):
                message = f"The runs of this trigger could not start: {problem.field} {problem.message}"
                fix = "Set it in the trigger's inputs, or give it a default."
                report.add("trigger_inputs", message, field=f"{field}.inputs", fix=fix)
        if isinstance(trigger, EventTrigger) and trigger.workflow == graph.document.name:
            report.add(
                "event_loop", "The end of a run of this workflow starts the workflow again.", field=f"{field}.workflow",
                fix="Such a chain is cut after 10 runs; name another workflow, or use LOOP.",
            )  # fmt: skip


def _read(raw: dict[str, Any], field: str, report: Report) -> Trigger | None:
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in MODELS:
        guess = report.nearest(kind, MODELS) if isinstance(kind, str) else None
        report.add(
            "bad_trigger", f"A trigger's type is one of {', '.join(MODELS)}, not {described(kind)}.", field=f"{field}.type",
            fix=f"Did you mean {guess!r}?" if guess else None,
        )  # fmt: skip
        return None
    try:
        return read_trigger(raw)
    except ValidationError as error:
        for fault in faults(error, MODELS[kind], raw, f"of a {kind} trigger"):
            place = f"{field}.{dotted(fault.path)}" if fault.path else field
            report.add(fault.code, fault.message, field=place, fix=fault.fix)
        return None


def _check_texts(raw: dict[str, Any], field: str, report: Report) -> None:
    inputs = raw.get("inputs")
    for name, value in inputs.items() if isinstance(inputs, dict) else ():
        _check_value(value, f"{field}.inputs.{name}", report)
    idempotency = raw.get("idempotency")
    if isinstance(idempotency, dict):
        _check_value(idempotency.get("key"), f"{field}.idempotency.key", report)


def _check_value(value: Any, field: str, report: Report) -> None:
    if isinstance(value, dict):
        for name, entry in value.items():
            _check_value(entry, f"{field}.{name}", report)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            _check_value(entry, f"{field}[{index}]", report)
    elif isinstance(value, str) and "{{" in value:
        _check_text(value, field, report)


def _check_text(value: str, field: str, report: Report) -> None:
    try:
        references = compile_text(value).references
    except SyntaxProblem as error:
        report.add("expression_syntax", f"{error.problem}.", field=field, inner=error.line - 1)
        return
    except ExpressionError as error:
        report.add("expression_syntax", f"{error.message}.", field=field)
        return
    for reference in references:
        if reference.root == "secrets":
            report.add(
                "secret_leak", "A secret would flow into the inputs of runs, where it is shown.", field=field
            )
        elif reference.root not in _NAMES:
            report.add(
                "unknown_name",
                f"A trigger cannot read {reference.root!r}.",
                field=field,
                fix="It reads trigger, env and run.",
            )
