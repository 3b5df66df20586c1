"""A document compiled for running: integer-indexed nodes and edges, node instances, evaluated-once configs.

Compiling costs one pass over nodes and edges. A plan is immutable and shared by all runs of its document version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from interlace.engine.document import BREAK, CONTINUE, Body, Document, Edge, Effects, NodeSpec, Retry
from interlace.engine.errors import InvalidDocument
from interlace.engine.expressions import Names
from interlace.engine.node import Config, Node
from interlace.engine.problems import Problem
from interlace.engine.registry import Registry
from interlace.engine.run.config import compile_config

BREAK_INDEX, CONTINUE_INDEX = -1, -2
_JUMPS = {BREAK: BREAK_INDEX, CONTINUE: CONTINUE_INDEX}


@dataclass(slots=True, eq=False)
class NodePlan:
    """One node, ready to run."""

    index: int
    id: str
    spec: NodeSpec
    node: Node[Any, Any]
    config: Config
    resolve: Callable[[Names], Config] | None
    handles: tuple[str, ...]
    effects: Effects
    asks_effects: bool
    """Whether the effects are asked anew before each attempt."""
    timeout: float | None
    retry: Retry | None
    inline: bool
    takes_slot: bool
    join_all: bool
    incoming: list[tuple[int, str]] = field(default_factory=list)
    """(source index, handle) of each edge into the node."""
    outgoing: list[tuple[str, int]] = field(default_factory=list)
    """(handle, target index) of each edge out of the node; a negative index is $break or $continue."""
    body: BodyPlan | None = None
    null_fields: tuple[str, ...] = ()
    pinned: bool = False
    """Whether given outputs stand in for the node's work."""
    pool: str | None = None
    """The pool whose hosts run the node; None where any does."""


@dataclass(slots=True, eq=False)
class BodyPlan:
    """The nodes of the document or of one body. `roots` start a pass."""

    nodes: list[NodePlan]
    roots: list[NodePlan]


@dataclass(slots=True, eq=False)
class Plan:
    """A whole document, ready to run."""

    document: Document
    root: BodyPlan


def compile_plan(document: Document, registry: Registry) -> Plan:
    """Compile a document that passed validation.

    Raises:
        InvalidDocument: a node's type or config cannot be used at all.
    """
    root = _compile_body(document.nodes, document.edges, registry)
    if document.settings.pool is not None:
        _keep_in(root, document.settings.pool)
    return Plan(document, root)


def _keep_in(body: BodyPlan, pool: str) -> None:
    """Let the nodes that do work stay in the workflow's pool, also after one that ran in another."""
    for plan in body.nodes:
        if not plan.inline and is_placeable(plan.spec, type(plan.node)):
            plan.pool = plan.pool or pool
        if plan.body is not None:
            _keep_in(plan.body, pool)


def is_placeable(spec: NodeSpec, node_type: type[Node[Any, Any]]) -> bool:
    """Whether a node can have a pool: not what begins or ends the run, only waits, or only holds other nodes."""
    return node_type.takes_slot and not node_type.container and spec.type not in ("START", "END")


def plan_node(spec: NodeSpec, registry: Registry, index: int = 0) -> NodePlan:
    """Compile one node without its edges."""
    node_type = registry.get(spec.type)
    if node_type is None:
        raise InvalidDocument(
            [Problem(code="unknown_type", node=spec.id, message=registry.unknown(spec.type))]
        )
    try:
        config = node_type.config_type.model_validate(spec.config)
    except ValidationError as error:
        raise InvalidDocument([_problem(spec, entry) for entry in error.errors(include_url=False)]) from None
    node = node_type(config)
    plain = (
        spec.retry is None
        and spec.timeout is None
        and spec.wait is None
        and spec.pool is None
        and not spec.confirm
    )
    return NodePlan(
        index=index,
        id=spec.id,
        spec=spec,
        node=node,
        config=config,
        resolve=compile_config(config),
        handles=node.handles(),
        effects=spec.effects or node.effect(),
        asks_effects=spec.effects is None and node_type.effects_of is not Node.effects_of,
        timeout=spec.timeout if spec.timeout is not None else node_type.timeout,
        retry=spec.retry,
        inline=node_type.inline and plain,
        takes_slot=node_type.takes_slot and not node_type.container,
        join_all=spec.join == "all",
        body=_compile_inside(node, spec, registry),
        null_fields=tuple(node_type.output_type.model_fields),
        pool=spec.pool,
    )


def _compile_inside(node: Node[Any, Any], spec: NodeSpec, registry: Registry) -> BodyPlan | None:
    if not type(node).container:
        return None
    body: Body = node.body(spec)
    return _compile_body(body.nodes, body.edges, registry)


def _compile_body(specs: Sequence[NodeSpec], edges: Sequence[Edge], registry: Registry) -> BodyPlan:
    nodes = [plan_node(spec, registry, index) for index, spec in enumerate(specs)]
    by_id = {plan.id: plan for plan in nodes}
    for edge in edges:
        source = by_id[edge.from_]
        jump = _JUMPS.get(edge.to)
        if jump is not None:
            source.outgoing.append((edge.handle, jump))
            continue
        target = by_id[edge.to]
        source.outgoing.append((edge.handle, target.index))
        target.incoming.append((source.index, edge.handle))
    return BodyPlan(nodes, [plan for plan in nodes if not plan.incoming])


def _problem(spec: NodeSpec, entry: Any) -> Problem:
    path = ".".join(str(part) for part in ("config", *entry["loc"]))
    return Problem(code="config", node=spec.id, field=path, message=entry["msg"])
