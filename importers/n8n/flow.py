"""From wires to steps: every node in the order in which it can run, with the items that reach it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from interlace.importers.build import Graph
from interlace.importers.expressions import path, shown
from interlace.importers.n8n.branching import branch
from interlace.importers.n8n.circles import batches_of, convert_batches, convert_circle
from interlace.importers.n8n.context import Context, Site
from interlace.importers.n8n.each import convert_each, iterate, region_of
from interlace.importers.n8n.file import N8nNode, Wire
from interlace.importers.n8n.graph import Shape, may_meet
from interlace.importers.n8n.kinds import Branch, Each, Whole
from interlace.importers.n8n.nodes import kind_of
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.values import Flow, Value, record, several, single

Port = tuple[str, int]


@dataclass(slots=True, kw_only=True)
class Conversion:
    """One graph that is being made: of the document, or of a body."""

    ctx: Context
    graph: Graph
    shape: Shape
    scope: Scope
    flows: dict[Port, Flow] = field(default_factory=dict)
    entering: dict[Port, list[Flow]] = field(default_factory=dict)
    """Flows from outside, by node and input."""
    loose: list[tuple[str, str]] = field(default_factory=list)
    """Handles that lead nowhere: the run is over there."""
    parted: set[str] = field(default_factory=set)
    """Branching nodes that take one way only."""
    done: set[str] = field(default_factory=set)
    nested: bool = False
    """Whether a body was made inside this graph."""
    whole: Flow | None = None
    """The list whose items this body gets one by one."""
    first: str = ""
    """The node that the item comes to."""

    def run(self) -> None:
        """Convert every node."""
        for unit in self.shape.units():
            if self.shape.is_circle(unit):
                self._circle(unit)
            elif unit[0] not in self.done:
                self.node(self.ctx.file.nodes[unit[0]])

    def _circle(self, unit: list[str]) -> None:
        head = batches_of(unit, self.ctx.file)
        if head is not None:
            convert_batches(head, unit, self)
        else:
            convert_circle(unit, self)

    def node(self, node: N8nNode) -> None:
        """Convert one node with what reaches it."""
        self.done.add(node.name)
        inputs = self.inputs(node)
        if not inputs:
            return
        kind = kind_of(node)
        if node.raw.get("disabled") is True:
            self.pass_on(node, inputs[0], "The node is disabled; its items go past it.")
            return
        flow = self._prepared(node, inputs[0], kind)
        site = self.site(flow)
        if isinstance(kind, Branch) and flow.one is None and (kind.convert or self._goes_on(node, flow)):
            iterate(node, region_of(node, self), flow, self)
        elif isinstance(kind, Branch):
            self.give(node, branch(node, kind, flow, site, self.loose))
            if flow.one is not None:
                self.parted.add(node.name)
        elif isinstance(kind, Whole):
            given = [flow, *inputs[1:]]
            if kind.needs_items and flow.may_be_empty and flow.one is None:
                site = self._gate(node, flow)
            outputs = kind.convert(node, site, given)
            self.give(node, {**outputs, **self._failures(node, flow, outputs)})
        else:
            assert isinstance(kind, Each)
            convert_each(node, kind, flow, self)
        self.carried(node)

    def _failures(self, node: N8nNode, flow: Flow, outputs: dict[int, Flow]) -> dict[int, Flow]:
        """The output for failures of a node that runs once for all items, where its step can fail."""
        if not any(step.id == node.id and step.on_error == "branch" for step in self.graph.steps):
            return {}
        failure = record({"error": Value(path(node.id, "error"), "object")}, flow.one)
        return {max(outputs, default=0) + 1: single(failure, (node.id, "error"))}

    def _goes_on(self, node: N8nNode, flow: Flow) -> bool:
        """Whether items are better sent on one by one: what follows does so too, or reads what belongs to each."""
        region = region_of(node, self)
        if node.kind != "filter":
            return len(region) > 1
        following = self.shape.reached([node.name]) - {node.name}
        return any(self.ctx.mentions.get(name, set()) & following for name in flow.aligned)

    def _prepared(self, node: N8nNode, flow: Flow, kind: object) -> Flow:
        if node.raw.get("executeOnce") is True and flow.one is None and isinstance(kind, Each):
            return Flow(
                many=Value(f"{flow.many.code}[:1]", "items"),
                one=Value(f"{flow.many.code} | first"),
                via=flow.via,
            )
        return flow

    def site(self, flow: Flow) -> Site:
        """Where the steps of a node go."""
        previous = flow.via[0][0] if flow.via else ""
        items = flow.many if self.whole is None or flow.one is None else self.whole.many
        scope = replace(
            self.scope, items=items, item=flow.one, aligned=flow.aligned, shape=flow.shape, previous=previous
        )
        return Site(ctx=self.ctx, graph=self.graph, scope=scope, tails=flow.via)

    def _gate(self, node: N8nNode, flow: Flow) -> Site:
        """A CONDITION before a node that does not run without items."""
        site = self.site(flow)
        config = {"cases": [{"id": "some", "when": f"{flow.many.code} is not empty"}]}
        step = site.add(node, "CONDITION", config, suffix="any")
        self.loose.append((step.id, "else"))
        return site.after((step.id, "some"))

    def give(self, node: N8nNode, outputs: dict[int, Flow]) -> None:
        """Keep the flows of a node's outputs."""
        for output, flow in outputs.items():
            kept = flow
            if (
                output == 0
                and flow.one is None
                and node.raw.get("alwaysOutputData") is True
                and flow.may_be_empty
            ):
                kept = several(f"({flow.many.code} or [{{}}])", *flow.via, may_be_empty=False)
            if kept.one is None:
                kept = replace(kept, aligned=kept.aligned | {node.name})
            self.flows[node.name, output] = kept
        first = self.flows.get((node.name, 0)) or next(iter(outputs.values()), None)
        if first is not None:
            self.scope = replace(self.scope, nodes={**self.scope.nodes, node.name: first})

    def pass_on(self, node: N8nNode, flow: Flow, message: str) -> None:
        """Let a node's items go past it."""
        self.ctx.say("carried", "passed", message, node)
        self.give(node, {0: flow})

    def carried(self, node: N8nNode) -> None:
        """Every node has an entry in the report."""
        said = any(entry.source_node == node.name for entry in self.ctx.report.entries)
        if not said:
            self.ctx.say("carried", "node", f"{node.kind}: carried over.", node)

    # -- what comes in -------------------------------------------------------------------------------------------------

    def inputs(self, node: N8nNode) -> list[Flow]:
        """What reaches each input of a node; nothing where nothing does."""
        wires = self.shape.incoming.get(node.name, [])
        most = max(
            [wire.input for wire in wires] + [place for name, place in self.entering if name == node.name],
            default=-1,
        )
        made = []
        for place in range(most + 1):
            found = self._input(node, place)
            made.append(found if found is not None else several("[]"))
        return (
            made
            if any(flow.via for flow in made)
            or any(self.entering.get((node.name, p)) for p in range(most + 1))
            else []
        )

    def _input(self, node: N8nNode, place: int) -> Flow | None:
        flows = list(self.entering.get((node.name, place), ()))
        wires = []
        for wire in self.shape.incoming.get(node.name, ()):
            found = self.flows.get((wire.source, wire.output))
            if wire.input == place and found is not None:
                flows.append(found)
                wires.append(wire)
        if len(flows) < 2:  # noqa: PLR2004 - one flow needs no joining
            return flows[0] if flows else None
        return self.joined(node, flows, apart=len(wires) == len(flows) and self.apart(wires))

    def apart(self, wires: list[Wire]) -> bool:
        """Whether a run takes only one of the wires."""
        return not any(
            may_meet(one, other, self.shape, self.parted.__contains__)
            for index, one in enumerate(wires)
            for other in wires[index + 1 :]
        )

    def joined(self, node: N8nNode, flows: list[Flow], *, apart: bool) -> Flow:
        """Several flows to one input: whichever came, or all of them."""
        if len(flows) == 1:
            return flows[0]
        via = tuple(dict.fromkeys(tail for flow in flows for tail in flow.via))
        ones = [flow.one for flow in flows if flow.one is not None]
        if apart and len(ones) == len(flows):
            if len({one.code for one in ones}) == 1:
                return replace(flows[0], via=via)
            step = self.site(Flow(many=Value("[]"), via=via)).add(
                node, "VARIABLE_AGGREGATOR", {"values": [shown(one.code) for one in ones]}, suffix="input"
            )
            return single(Value(path(step.id, "value")), (step.id, "out"))
        if apart and len({flow.many.code for flow in flows}) == 1:
            return replace(flows[0], via=via)
        config = {"mode": "concat", "values": [shown(flow.many.code) for flow in flows]}
        if apart:
            config["mode"] = "first"
        step = self.site(Flow(many=Value("[]"), via=via)).add(
            node, "VARIABLE_AGGREGATOR", config, suffix="input"
        )
        empty = all(flow.may_be_empty and flow.one is None for flow in flows)
        return several(path(step.id, "value"), (step.id, "out"), may_be_empty=empty)
