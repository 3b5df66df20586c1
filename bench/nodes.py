"""What the pure node types cost in processor time: `python bench/nodes.py`.

First the cost of evaluating the config and running one node, without journal and edges; then whole runs of one node over
100,000 entries, and of an ITERATION.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import interlace.nodes
from interlace.engine.clock import SystemClock
from interlace.engine.document import Document
from interlace.engine.node import RunInfo
from interlace.engine.protocols import Services
from interlace.engine.registry import Registry
from interlace.engine.run import compile_plan, prepare
from interlace.engine.run.context import Context
from interlace.engine.testing import MemoryJournal, run_document

INPUTS = {"amount": 50, "name": "Ada", "list": [1, 2, 3], "order": {"price": 1}}
RULE = {"left": "{{ inputs.amount }}", "operator": ">", "right": 1000}
SINGLE: list[tuple[str, dict[str, Any]]] = [
    ("START", {}),
    ("TEMPLATE", {"template": "Hello {{ inputs.name }}!"}),
    ("CONDITION", {"cases": [{"id": "large", "when": "inputs.amount > 1000"}]}),
    ("CONDITION", {"cases": [{"id": "large", "rules": {"all": [RULE]}}]}),
    (
        "VARIABLE_ASSIGN",
        {"assignments": [{"variable": "t", "op": "increment", "value": "{{ inputs.amount }}"}]},
    ),
    ("VARIABLE_AGGREGATOR", {"values": ["{{ inputs.amount }}", "{{ inputs.name }}"]}),
    ("TRANSFORM", {"input": "{{ inputs.order }}", "steps": [{"set": {"double": "{{ item.price * 2 }}"}}]}),
    ("LIST_OPERATION", {"input": "{{ inputs.list }}", "operations": [{"filter": "item > 1"}]}),
    ("END", {"outputs": {"a": "{{ inputs.amount }}"}}),
]
LONG: list[dict[str, Any]] = [
    {"filter": "item.n > 3"}, {"sort": {"by": "item.n"}}, {"group_by": {"by": "item.n"}}, {"unique": {"by": "item.n"}},
    {"sum": {"by": "item.n"}}, {"map": "item.t ~ 'x'"},
]  # fmt: skip


def one(registry: Registry, kind: str, config: Mapping[str, Any], times: int = 20_000) -> float:
    """Microseconds of one run of a node."""
    nodes = [{"id": "start", "type": "START"}, {"id": "n", "type": kind, "config": config}]
    variables = {"t": {"type": "number", "default": 0}}
    document = Document.model_validate({"name": "bench", "variables": variables, "nodes": nodes})
    plan = compile_plan(document, registry)
    execution = prepare(
        plan, RunInfo(id="bench"), INPUTS, journal=MemoryJournal(), services=Services(), clock=SystemClock()
    )
    node = plan.root.nodes[1]
    began = time.process_time()
    for _ in range(times):
        context = Context(execution, execution.root, node, "n", 1)
        node.node.run(node.config if node.resolve is None else node.resolve(execution.root), context)
    return (time.process_time() - began) / times * 1e6


def whole(registry: Registry, spec: Mapping[str, Any], entries: int) -> float:
    """Seconds of a run of START and one node over a list."""
    items = [{"n": i % 977, "t": str(i)} for i in range(entries)]
    document = {
        "name": "bench",
        "nodes": [{"id": "start", "type": "START"}, {"id": "n", **spec}],
        "edges": [{"from": "start", "to": "n"}],
    }
    began = time.process_time()
    asyncio.run(run_document(document, {"list": items}, registry=registry))
    return time.process_time() - began


def main() -> None:
    """Measure and print."""
    registry = Registry()
    registry.discover(interlace.nodes)
    for kind, config in SINGLE:
        print(f"{kind:20} {one(registry, kind, config):6.2f} µs  {config}")
    for operation in LONG:
        config = {"input": "{{ inputs.list }}", "operations": [operation]}
        seconds = whole(registry, {"type": "LIST_OPERATION", "config": config}, 100_000)
        print(f"LIST_OPERATION       {seconds:6.3f} s   100,000 entries {operation}")
    body = {"nodes": [{"id": "w", "type": "TEMPLATE", "config": {"template": "Hello {{ item.t }}"}}]}
    config = {"items": "{{ inputs.list }}", "parallel": 10, "output": "{{ w.text }}"}
    for entries in (1_000, 10_000):
        seconds = whole(registry, {"type": "ITERATION", "config": config, "body": body}, entries)
        print(
            f"ITERATION            {seconds * 1000:6.1f} ms  {entries:,} items through a TEMPLATE, 10 at once"
        )


if __name__ == "__main__":
    main()
