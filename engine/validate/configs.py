"""Checks each node by itself: id, type, config, body, and the JSON Schemas in its config."""

from __future__ import annotations

import copy
from typing import Any

from pydantic import ValidationError

from interlace.engine.document import RESERVED, NodeSpec
from interlace.engine.problems import nearest
from interlace.engine.registry import NodeType, Registry
from interlace.engine.run.plan import is_placeable
from interlace.engine.source.wording import Fault, dotted, faults
from interlace.engine.validate.edges import ERROR
from interlace.engine.validate.graph import END, START, Entry, Graph
from interlace.engine.validate.report import Report
from interlace.engine.validate.schemas import flaws

_SCHEMA_FIELDS = ("output_schema", "response_schema", "form", "schema")
_OF_THE_NODE = frozenset(info.alias or name for name, info in NodeSpec.model_fields.items()) - {
    "config",
    "id",
    "type",
}


def check_nodes(graph: Graph, registry: Registry, report: Report) -> None:
    """Check every node by itself and give it its type, config and handles."""
    for entry in graph.entries:
        _check_id(entry, graph, report)
        entry.type = registry.get(entry.spec.type)
        if entry.type is None:
            _report_unknown_type(entry, registry, report)
            continue
        if entry.scope.container is not None and entry.spec.type in {START, END}:
            report.add(
                "start_or_end_in_body", f"{entry.spec.type} does not stand in a body: the body begins at its nodes without "
                "incoming edges, and its value is the container's `output`.",
                node=entry.id, field="type", occurrence=entry.occurrence, fix="Remove the node and its edges.",
            )  # fmt: skip
        entry.node = _instance(entry, entry.type, report)
        if entry.node is not None:
            handles = entry.node.handles()
            entry.handles = handles if entry.spec.type == END else (*handles, ERROR)
        _check_body(entry, entry.type, report)
        if entry.spec.pool is not None and not is_placeable(entry.spec, entry.type):
            report.add(
                "no_pool_here", f"{entry.spec.type} does no work of its own that a pool's hosts could do.", node=entry.id,
                field="pool", occurrence=entry.occurrence,
                fix="Set pool on the nodes inside it, or settings.pool on the workflow.",
            )  # fmt: skip
        _check_schemas(entry, report)


def check_ends(graph: Graph, report: Report) -> None:
    """Report a missing or second START, and a missing END."""
    starts = [entry for entry in graph.root.entries if entry.spec.type == START]
    if not starts:
        report.add(
            "no_start",
            "The workflow has no START.",
            field="nodes",
            fix="Add {id: start, type: START} and an edge from it.",
        )
    for entry in starts[1:]:
        report.add(
            "several_starts", f"A workflow begins at one START; {starts[0].id!r} is one already.",
            node=entry.id, field="type", occurrence=entry.occurrence, fix="Remove it and let its edges begin at the other.",
        )  # fmt: skip
    if not any(entry.spec.type == END for entry in graph.root.entries):
        report.add(
            "no_end",
            "The workflow has no END, so no run could succeed.",
            field="nodes",
            fix="Add {id: end, type: END} and an edge to it.",
        )


def _check_id(entry: Entry, graph: Graph, report: Report) -> None:
    name = entry.id
    if name in RESERVED:
        report.add(
            "reserved_id", f"A node cannot be called {name!r}: expressions use that name.", node=name, field="id",
            occurrence=entry.occurrence, fix=f"Call it {name}_1, for example.",
        )  # fmt: skip
    if entry.occurrence:
        first = graph.by_id[name].scope.container
        where = f" (in the body of {first.id!r})" if first is not None else ""
        report.add(
            "duplicate_id", f"Another node is called {name!r}{where}; ids are unique in the whole document.",
            node=name, field="id", occurrence=entry.occurrence, fix="Give it another id.",
        )  # fmt: skip


def _report_unknown_type(entry: Entry, registry: Registry, report: Report) -> None:
    name = entry.spec.type
    guess = nearest(name.upper().replace("-", "_").replace(" ", "_"), registry)
    fix = f"Did you mean {guess!r}?" if guess else f"Known: {', '.join(registry)}."
    report.add(
        "unknown_type",
        f"There is no node type {name!r}.",
        node=entry.id,
        field="type",
        occurrence=entry.occurrence,
        fix=fix,
    )


def _instance(entry: Entry, node_type: NodeType, report: Report) -> Any:
    """The node with its config; where parts of the config are wrong, with the rest of it if that is enough."""
    raw = entry.spec.config
    try:
        return node_type(node_type.config_type.model_validate(raw))
    except ValidationError as error:
        found = faults(error, node_type.config_type, raw, "in config")
    for fault in found:
        _report_fault(entry, fault, report)
    rest = _without(raw, found)
    try:
        return node_type(node_type.config_type.model_validate(rest)) if rest is not None else None
    except ValidationError:
        return None


def _without(raw: dict[str, Any], found: list[Fault]) -> dict[str, Any] | None:
    rest = copy.deepcopy(raw)
    for fault in found:
        if fault.code == "missing_field" or not fault.path:
            return None
        holder: Any = rest
        for step in fault.path[:-1]:
            holder = holder[step]
        if not isinstance(holder, dict):
            return None
        holder.pop(fault.path[-1], None)
    return rest


def _report_fault(entry: Entry, fault: Fault, report: Report) -> None:
    message, fix = fault.message, fault.fix
    if fault.code == "unknown_field" and len(fault.path) == 1:
        message = f"{entry.spec.type} has no config field {fault.path[0]!r}."
        if fault.path[0] in _OF_THE_NODE:
            fix = f"Write {fault.path[0]!r} beside config: it belongs to the node itself."
    report.add(
        fault.code,
        message,
        node=entry.id,
        field=dotted(("config", *fault.path)),
        fix=fix,
        occurrence=entry.occurrence,
    )


def _check_body(entry: Entry, node_type: NodeType, report: Report) -> None:
    spec = entry.spec
    if not node_type.container:
        if spec.body is not None:
            report.add(
                "unexpected_body", f"{spec.type} has no body; only ITERATION and LOOP do.", node=spec.id, field="body",
                occurrence=entry.occurrence, fix="Move its nodes out, or change the type.",
            )  # fmt: skip
        return
    if spec.body is None:
        report.add(
            "missing_body", f"{spec.type} needs a body: the nodes that it repeats.", node=spec.id, field="body",
            occurrence=entry.occurrence, fix="Add body: {nodes: […], edges: […]}.",
        )  # fmt: skip
    elif not spec.body.nodes:
        report.add(
            "empty_body", f"The body of {spec.id!r} has no nodes.", node=spec.id, field="body.nodes",
            occurrence=entry.occurrence, fix="Add the nodes that are repeated.",
        )  # fmt: skip


def _check_schemas(entry: Entry, report: Report) -> None:
    config = entry.spec.config
    for name in _SCHEMA_FIELDS:
        schema = config.get(name)
        if isinstance(schema, dict):
            for flaw in flaws(schema):
                entry.sound = entry.sound and flaw.code != "bad_schema"
                report.add(
                    flaw.code, flaw.message, node=entry.id, field=f"config.{name}.{flaw.path}" if flaw.path else f"config.{name}",
                    fix=flaw.fix, occurrence=entry.occurrence,
                )  # fmt: skip
