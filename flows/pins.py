"""Given outputs that stand in for nodes: in test runs a pinned node does not run, its outputs are there at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from interlace.engine.document import Document, NodeSpec
from interlace.engine.errors import InvalidDocument
from interlace.engine.json_schema import problems_of
from interlace.engine.node import Config, Node, OpenOutput, RunContext
from interlace.engine.problems import Problem, nearest
from interlace.engine.registry import Registry
from interlace.engine.run.plan import BodyPlan, NodePlan, Plan, plan_node
from interlace.engine.schema import Schema

_NEVER = frozenset({"START", "END"})


class PinnedConfig(Config):
    """Nothing to set."""


class PinnedNode(Node[PinnedConfig, OpenOutput]):
    """Given outputs in the place of a node."""

    kind = "PINNED"

    def __init__(self, outputs: Mapping[str, Any], handles: tuple[str, ...]) -> None:
        super().__init__(PinnedConfig())
        self._outputs = dict(outputs)
        self._handles = handles

    def run(self, config: PinnedConfig, ctx: RunContext) -> OpenOutput:
        """Give them."""
        del config
        ctx.take(*self._handles)
        return OpenOutput.model_construct(**self._outputs)


def check_pins(
    document: Document, registry: Registry, types: Mapping[str, Schema], given: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Pins `{node: outputs}` or `{"node:handle": outputs}` as a run keeps them: `{node: {outputs, handles}}`.

    `types` are the output types by node that validation found. The handle is needed only where the outputs do not tell
    which one the node takes.

    Raises:
        InvalidDocument: with every pin that does not fit.
    """
    specs = {spec.id: spec for spec, _ in document.walk()}
    problems: list[Problem] = []
    kept: dict[str, dict[str, Any]] = {}
    for key, outputs in given.items():
        name, _, handle = key.partition(":")
        spec = specs.get(name)
        if spec is None:
            guess = nearest(name, specs)
            hint = f"did you mean {guess!r}?" if guess else f"known: {', '.join(specs)}"
            problems.append(_problem(name, f"no node {name!r} to be pinned; {hint}"))
            continue
        found = problems_with(spec, outputs, types.get(name, {}))
        handles = () if found else handles_with(spec, registry, outputs, handle or None)
        if isinstance(handles, str):
            found = [handles]
        problems += [_problem(name, text) for text in found]
        if not found:
            kept[name] = {"outputs": dict(outputs), "handles": list(handles)}
    if problems:
        raise InvalidDocument(problems)
    return kept


def problems_with(spec: NodeSpec, outputs: Any, schema: Schema) -> list[str]:
    """Why outputs cannot be a node's."""
    if spec.type in _NEVER:
        return [f"{spec.id} is the {spec.type} node, which is never pinned"]
    if not isinstance(outputs, Mapping):
        return [f"the outputs of {spec.id} are given as an object of name and value"]
    return [str(problem) for problem in problems_of(schema, dict(outputs), spec.id)]


def handles_with(
    spec: NodeSpec, registry: Registry, outputs: Mapping[str, Any], handle: str | None
) -> tuple[str, ...] | str:
    """The handles that a node takes with outputs, or why they are not known."""
    node = plan_node(spec, registry).node
    known = (*node.handles(), "error")
    if handle is not None:
        if handle in known:
            return (handle,)
        return f"{spec.id} has no handle {handle!r}; it has {', '.join(known)}"
    found = node.handles_of(outputs)
    if found is not None:
        return found
    return f"the outputs do not tell which handle {spec.id} takes; pin it as {spec.id}:HANDLE, one of {', '.join(known)}"


def pinned_plan(plan: Plan, pins: Mapping[str, Mapping[str, Any]]) -> Plan:
    """The plan with the pinned nodes replaced; edges, joins and disabled nodes stay as they are."""

    def of(node: NodePlan) -> NodePlan:
        pin = pins.get(node.id)
        if pin is None:
            return node if node.body is None else replace(node, body=of_body(node.body))
        stand_in = PinnedNode(pin["outputs"], tuple(pin["handles"]))
        spec = node.spec.model_copy(update={"wait": None, "confirm": False, "retry": None, "timeout": None})
        return replace(
            node, spec=spec, node=stand_in, config=stand_in.config, resolve=None, effects="none", timeout=None,
            retry=None, inline=True, takes_slot=False, body=None, pinned=True,
        )  # fmt: skip

    def of_body(body: BodyPlan) -> BodyPlan:
        nodes = [of(node) for node in body.nodes]
        return BodyPlan(nodes, [nodes[root.index] for root in body.roots])

    return Plan(plan.document, of_body(plan.root))


def _problem(node: str, message: str) -> Problem:
    return Problem(code="pin", node=node, message=message)
