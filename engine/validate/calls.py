"""Checks what reaches beyond the document: called workflows, the failure handler, and what ENDs give together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.engine.protocols import Workflows
from interlace.engine.schema import Schema, compatible, described
from interlace.engine.validate.conditions import NEVER, Conditions
from interlace.engine.validate.graph import END, Entry, Graph
from interlace.engine.validate.inference import Inference
from interlace.engine.validate.names import closed_properties
from interlace.engine.validate.report import Report

MAX_DEPTH = 10
_CALL = "SUB_WORKFLOW"


def check_outputs(graph: Graph, conditions: Conditions, report: Report) -> None:
    """Report ENDs that can both run and set the same output."""
    owners: dict[str, list[Entry]] = {}
    for entry in graph.root.entries:
        outputs = entry.spec.config.get("outputs") if entry.spec.type == END else None
        if (
            not isinstance(outputs, dict)
            or entry.spec.disabled
            or entry.condition == NEVER
            or not entry.certain
        ):
            continue
        for name in outputs:
            other = next(
                (
                    earlier
                    for earlier in owners.get(name, ())
                    if conditions.can_both(earlier.condition, entry.condition)
                ),
                None,
            )
            owners.setdefault(name, []).append(entry)
            if other is not None:
                report.add(
                    "output_conflict", f"{other.id!r} and {entry.id!r} can both run and both set the output {name!r}.",
                    node=entry.id, field=f"config.outputs.{name}", fix="Give one of them another name, or join the paths before one END.",
                )  # fmt: skip


def check_failure_handler(graph: Graph, report: Report) -> None:
    """Report a workflow that is started by its own failure."""
    document = graph.document
    if document.settings.on_failure == document.name:
        report.add(
            "failure_loop", "settings.on_failure names this workflow itself: a failure that lasts starts it again and again.",
            field="settings.on_failure", fix="Name another workflow.",
        )  # fmt: skip


def check_calls(graph: Graph, workflows: Workflows | None, inference: Inference, report: Report) -> None:
    """Report calls of unknown workflows, recursion, and inputs that the called workflow does not take."""
    for entry in graph.entries:
        config = entry.spec.config
        name = config.get("workflow")
        if entry.spec.type != _CALL or entry.node is None or not isinstance(name, str):
            continue
        if name == graph.document.name:
            _report_recursion(entry, [name, name], report)
            continue
        if workflows is None:
            continue
        version = config.get("version", "published")
        signature = workflows.signature(name, version)
        if signature is None:
            report.add(
                "unknown_workflow", f"There is no workflow {name!r} (version {version}).", node=entry.id, field="config.workflow",
                fix="Push and publish it first, or correct the name.",
            )  # fmt: skip
            continue
        _check_inputs(entry, signature[0], inference, report)
        _check_depth(entry, name, graph.document.name, workflows, report)


def _check_inputs(entry: Entry, schema: Schema, inference: Inference, report: Report) -> None:
    given = entry.spec.config.get("inputs", {})
    if not isinstance(given, dict):
        return
    properties: Mapping[str, Any] = schema.get("properties", {})
    workflow = entry.spec.config["workflow"]
    for name in schema.get("required", ()):
        declared = properties.get(name)
        if name not in given and not (isinstance(declared, dict) and "default" in declared):
            report.add(
                "missing_input", f"The workflow {workflow!r} requires the input {name!r}.",
                node=entry.id, field="config.inputs", fix=f"Add {name}: … to inputs.",
            )  # fmt: skip
    closed = closed_properties(schema) is not None
    for name, value in given.items():
        field = f"config.inputs.{name}"
        if name in properties:
            type_ = inference.type_of(entry, "node", value)
            if not compatible(type_, properties[name]) and not report.has(entry.id, field):
                report.add(
                    "wrong_type", f"The workflow {workflow!r} takes {described(properties[name])} as {name!r}, not {described(type_)}.",
                    node=entry.id, field=field,
                )  # fmt: skip
        elif closed:
            guess = report.nearest(name, properties)
            report.add(
                "unknown_input", f"The workflow {workflow!r} declares no input {name!r}.",
                node=entry.id, field=field, fix=f"Did you mean {guess!r}?" if guess else None,
            )  # fmt: skip


def _check_depth(entry: Entry, name: str, document: str, workflows: Workflows, report: Report) -> None:
    """Follow the calls: one that comes back is recursion, the eleventh level is too deep."""
    heights: dict[str, int] = {}

    def follow(callee: str, pinned: str | int, way: list[str]) -> bool:
        """Whether the calls below are all right; the first that is not is reported."""
        here = [*way, callee]
        if callee in way:
            _report_recursion(entry, here[here.index(callee) :], report)
            return False
        if len(way) + heights.get(callee, 0) > MAX_DEPTH:
            _report_depth(entry, here, report)
            return False
        if callee in heights:
            return True
        # A call names its version; which of them a callee means is not known here, so both are followed.
        versions = {pinned, "published", "latest"} if way[1:] else {pinned}
        inner = sorted(frozenset().union(*(workflows.callees(callee, version) for version in versions)))
        if not all(follow(below, "published", here) for below in inner):
            return False
        heights[callee] = 1 + max((heights[below] for below in inner), default=-1)
        return True

    follow(name, entry.spec.config.get("version", "published"), [document])


def _report_depth(entry: Entry, way: list[str], report: Report) -> None:
    report.add(
        "call_depth", f"Workflows call each other more than {MAX_DEPTH} levels deep: {' -> '.join(way)}.",
        node=entry.id, field="config.workflow", fix="Flatten the calls.",
    )  # fmt: skip


def _report_recursion(entry: Entry, way: list[str], report: Report) -> None:
    report.add(
        "recursion", f"The workflow calls itself: {' -> '.join(way)}.", node=entry.id, field="config.workflow",
        fix="Use a LOOP, or call another workflow.",
    )  # fmt: skip
