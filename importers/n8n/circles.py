"""Wires that go in circles: batches become an ITERATION, any other circle with one way in a LOOP."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from interlace.engine.document import BREAK
from interlace.importers.build import Graph, Step
from interlace.importers.expressions import grouped, path, shown
from interlace.importers.foreign import number
from interlace.importers.n8n.file import N8nFile, N8nNode, Wire
from interlace.importers.n8n.graph import Shape
from interlace.importers.n8n.values import Flow, Value, several, single

if TYPE_CHECKING:
    from interlace.importers.n8n.flow import Conversion

BATCHES: Final = "splitInBatches"
MOST_ROUNDS: Final = 100
Exits = dict[tuple[str, int], tuple[str, bool]]
"""By output: the variable that holds what left the loop there, and whether that is one item."""


def batches_of(unit: Iterable[str], file: N8nFile) -> N8nNode | None:
    """The node of a circle that gives batches."""
    found = [file.nodes[name] for name in unit if file.nodes[name].kind == BATCHES]
    return found[0] if found else None


# -- batches -----------------------------------------------------------------------------------------------------------


def convert_batches(head: N8nNode, unit: list[str], work: Conversion) -> None:
    """ITERATION over the batches; what comes back to the node is what it gives when it is done."""
    work.done.update(unit)
    inputs = work.inputs(head)
    if not inputs:
        return
    asks = next((name for name in unit if _asks_for_the_end(work.ctx.file.nodes[name])), None)
    body, done_output = _body(head, unit, asks, work)
    work.done.update(body)
    if not body:
        size = _size(head, work, inputs[0])
        code = inputs[0].many.code
        ended = f"[{grouped(code)} | last]" if size == 1 else f"({grouped(code)} | batch({size}) | last)"
        _done(head, unit, asks, done_output, inputs[0], replace(inputs[0], many=Value(ended, "items")), work)
        work.ctx.say("carried", "loop", "Nothing is done with the batches; the items go past the node.", head)
        return
    size = _size(head, work, inputs[0])
    code = inputs[0].many.code if size == 1 else f"{inputs[0].many.code} | batch({size})"
    mark = work.ctx.draft.ids.mark()
    nesting = work.ctx.nesting
    made = _pass(head, body, asks, inputs[0], work, size=size, bound=head.name in nesting)
    if made[1].nested and head.name not in nesting:
        nesting.add(head.name)
        work.ctx.draft.ids.reset(mark)
        made = _pass(head, body, asks, inputs[0], work, size=size, bound=True)
    graph, inner = made
    back = [
        inner.flows[wire.source, wire.output]
        for wire in _back(head, asks, work.shape)
        if (wire.source, wire.output) in inner.flows
    ]
    config: dict[str, Any] = {"items": shown(code)}
    listed = _output(back, config)
    step = work.site(inputs[0]).add(head, "ITERATION", config)
    step.body = graph
    work.nested = True
    results = path(step.id, "results")
    flow = several(
        f"({results} | flatten)" if listed else results, (step.id, "out"), may_be_empty=inputs[0].may_be_empty
    )
    ended = f"({results} | last)" if listed else f"[{results} | last]"
    _done(head, unit, asks, done_output, flow, replace(flow, many=Value(ended, "items")), work)
    work.ctx.say(
        "carried", "loop", "The batches are an ITERATION whose body is what came after the node.", head
    )


def _done(  # noqa: PLR0917 - the two ways out, and where they are
    head: N8nNode, unit: list[str], asks: str | None, output: int, flow: Flow, last: Flow, work: Conversion
) -> None:
    """The ways out: the node's own gives all that came back, that of a node that asks whether batches are left the last ones."""
    wired = any(wire.output == output for wire in work.shape.outgoing.get(head.name, ()))
    if asks is None or wired:
        work.give(head, {output: flow})
    if asks is None:
        return
    for wire in work.shape.outgoing.get(asks, ()):
        if wire.target != head.name and wire.target not in unit:
            work.flows[asks, wire.output] = last
    work.ctx.say(
        "changed",
        "loop",
        "It asked whether batches were left; the ITERATION ends by itself, and what follows gets the last batch.",
        work.ctx.file.nodes[asks],
    )


def _asks_for_the_end(node: N8nNode) -> bool:
    return node.kind == "if" and "noItemsLeft" in json.dumps(node.parameters)


def _size(head: N8nNode, work: Conversion, flow: Flow) -> Any:
    given = head.parameters.get("batchSize")
    if isinstance(given, str) and given.startswith("="):
        return work.site(flow).fields(head).value(given).code
    found = number(given)
    default = 1 if head.version >= 3 else 10  # noqa: PLR2004 - the default changed there
    return max(1, int(found)) if found else default


def _body(head: N8nNode, unit: list[str], asks: str | None, work: Conversion) -> tuple[list[str], int]:
    """The nodes that a batch goes through, and the output for the end."""
    newer = head.version >= 3  # noqa: PLR2004 - the outputs changed places there
    loop_output, done_output = (1, 0) if newer else (0, 1)
    outgoing = work.shape.outgoing.get(head.name, ())
    inside = work.shape.reached(
        [wire.target for wire in outgoing if wire.output == loop_output], without=[head.name]
    )
    after = [wire.target for wire in outgoing if wire.output == done_output]
    if asks is not None:
        after += [wire.target for wire in work.shape.outgoing.get(asks, ()) if wire.target not in unit]
    outside = work.shape.reached(after, without=[head.name]) - set(unit)
    members = (inside - outside) | (set(unit) - {head.name})
    if asks is not None:
        members.discard(asks)
    return [name for name in work.shape.names if name in members], done_output


def _back(head: N8nNode, asks: str | None, shape: Shape) -> list[Wire]:
    ends = [head.name, *([asks] if asks is not None else [])]
    return [wire for name in ends for wire in shape.incoming.get(name, ()) if wire.source not in ends]


def _pass(
    head: N8nNode, body: list[str], asks: str | None, flow: Flow, work: Conversion, *, size: Any, bound: bool
) -> tuple[Graph, Conversion]:
    """The body, converted; `bound` gives the item a name of its own, as a body inside has an `item` too."""
    del asks
    graph = Graph()
    item = Value("item")
    via: tuple[tuple[str, str], ...] = ()
    if bound:
        step = Step(
            id=work.ctx.draft.ids.give(f"{head.id}_item", "item"),
            type="TRANSFORM",
            config={"input": "{{ item }}"},
        )
        graph.add(step)
        item, via = Value(path(step.id, "result")), ((step.id, "out"),)
    entering = single(item, *via) if size == 1 else several(item.code, *via, may_be_empty=False)
    entering = replace(entering, aligned=flow.aligned) if entering.one is not None else entering
    nodes = dict(work.scope.nodes)
    if entering.one is not None:
        nodes |= {
            name: entering
            for name in flow.aligned
            if name in nodes and (nodes[name].many.code == flow.many.code)
        }
    scope = replace(work.scope, nodes={**nodes, head.name: entering}, rounds="index")
    inner = _inside(body, graph, scope, work)
    for wire in work.shape.wires:
        if wire.target not in inner.shape.names or wire.source in inner.shape.names:
            continue
        if wire.source == head.name:
            inner.entering.setdefault((wire.target, wire.input), []).append(entering)
        elif (wire.source, wire.output) in work.flows:
            inner.entering.setdefault((wire.target, wire.input), []).append(
                work.flows[wire.source, wire.output].through()
            )
    inner.run()
    return graph, inner


def _inside(names: list[str], graph: Graph, scope: Any, work: Conversion) -> Conversion:
    return type(work)(
        ctx=work.ctx, graph=graph, shape=Shape(names=list(names), wires=list(work.shape.wires)), scope=scope
    )


def _output(back: list[Flow], config: dict[str, Any]) -> bool:
    """What a pass gives; whether that is a list."""
    if not back:
        return False
    if all(flow.one is not None for flow in back):
        codes = [flow.one.code for flow in back if flow.one is not None]
    else:
        codes = [flow.many.code for flow in back]
    codes = list(dict.fromkeys(codes))
    listed = any(flow.one is None for flow in back)
    made = codes[-1]
    for code in reversed(codes[:-1]):
        made = f"({code}) | default({made})"
    config["output"] = shown(made)
    return listed


# -- other circles -----------------------------------------------------------------------------------------------------


def convert_circle(unit: list[str], work: Conversion) -> None:
    """LOOP with what goes round as its variable; the ways out end it."""
    inside = set(unit)
    entries = list(dict.fromkeys(
        [wire.target for wire in work.shape.wires if wire.target in inside and wire.source not in inside]
        + [name for name, _ in work.entering if name in inside]
    ))  # fmt: skip
    if len(entries) != 1:
        _cut(unit, entries, work)
        return
    head = work.ctx.file.nodes[entries[0]]
    outside = Shape(
        names=[name for name in work.shape.names if name not in inside or name == head.name],
        wires=list(work.shape.wires),
    )
    kept, work.shape = work.shape, outside
    inputs = work.inputs(head)
    work.shape = kept
    work.done.update(unit)
    if not inputs:
        return
    mark = work.ctx.draft.ids.mark()
    expected = inputs[0].one is not None and head.name not in work.ctx.nesting
    if not _loop(head, unit, inputs[0], work, one=expected):
        work.ctx.nesting.add(head.name)
        work.ctx.draft.ids.reset(mark)
        _loop(head, unit, inputs[0], work, one=False)


def _loop(head: N8nNode, unit: list[str], flow: Flow, work: Conversion, *, one: bool) -> bool:
    """Make the LOOP; False where more than one item may come back although one is expected."""
    ids = work.ctx.draft.ids
    container, going = ids.give(f"repeat_{head.id}", "repeat"), ids.give(f"{head.id}_input", "going")
    graph = Graph()
    wires = [wire for wire in work.shape.wires if wire.target != head.name]
    scope = replace(work.scope, rounds="loop.round")
    inner = type(work)(ctx=work.ctx, graph=graph, shape=Shape(names=list(unit), wires=wires), scope=scope)
    inner.entering[head.name, 0] = [
        single(Value(going)) if one else several(going, may_be_empty=flow.may_be_empty)
    ]
    inner.run()
    back = [
        wire
        for wire in work.shape.incoming.get(head.name, ())
        if wire.source in unit and (wire.source, wire.output) in inner.flows
    ]
    if one and any(inner.flows[wire.source, wire.output].one is None for wire in back):
        return False
    if back:
        again = inner.joined(
            head, [inner.flows[wire.source, wire.output] for wire in back], apart=inner.apart(back)
        )
        if one and again.one is None:
            return False
        _assign(graph, again, {going: one}, ids.give(f"{head.id}_again", "again"))
    first = flow.one.code if one and flow.one is not None else flow.many.code
    config: dict[str, Any] = {"variables": {going: shown(first)}, "max_rounds": MOST_ROUNDS}
    outputs, dead_ends = _exits(unit, inner, config, container, work)
    step = work.site(flow).add(head, "LOOP", config, suffix="loop")
    _rename(work.graph, step, container)
    step.body = graph
    work.nested = True
    _after(outputs, step, work, dead_ends=dead_ends)
    work.ctx.say(
        "changed", "loop", f"The nodes {', '.join(unit)} go in a circle; they are the body of a LOOP, which fails after"
        f" {MOST_ROUNDS} rounds. Set `max_rounds` to what is right.", head,
    )  # fmt: skip
    return True


def _rename(graph: Graph, step: Step, name: str) -> None:
    graph.edges = {
        (source, handle, name if target == step.id else target): None
        for source, handle, target in graph.edges
    }
    step.id = name


def _assign(graph: Graph, flow: Flow, variables: dict[str, bool], name: str) -> Step:
    assignments = [
        {
            "variable": variable,
            "value": shown(flow.one.code if one and flow.one is not None else flow.many.code),
        }
        for variable, one in variables.items()
    ]
    step = Step(id=name, type="VARIABLE_ASSIGN", config={"assignments": assignments})
    graph.add(step)
    for source, handle in flow.via:
        graph.link(source, step.id, handle)
    return step


def _exits(
    unit: list[str], inner: Conversion, config: dict[str, Any], container: str, work: Conversion
) -> tuple[Exits, bool]:
    """Steps that leave the loop: the flow is kept in a variable. Also whether it may end on a way that leads nowhere."""
    ids = work.ctx.draft.ids
    ports = sorted(
        {
            (wire.source, wire.output)
            for wire in work.shape.wires
            if wire.source in unit and wire.target not in unit
        }
    )
    wired = {(wire.source, wire.output) for wire in work.shape.wires if wire.source in unit}
    outputs: Exits = {}
    dead_ends = bool(inner.loose)
    for port in ports:
        flow = inner.flows.get(port)
        if flow is None:
            continue
        one = flow.one is not None
        variable = ids.give(f"{container}_result", "result")
        config["variables"][variable] = None
        step = _assign(
            inner.graph, flow, {variable: one}, ids.give(f"{work.ctx.file.nodes[port[0]].id}_done", "done")
        )
        inner.graph.link(step.id, BREAK)
        outputs[port] = (variable, one)
    for port, flow in inner.flows.items():
        if port not in wired:
            dead_ends = True
            for source, handle in flow.via:
                inner.graph.link(source, BREAK, handle)
    for source, handle in inner.loose:
        inner.graph.link(source, BREAK, handle)
    return outputs, dead_ends


def _after(outputs: Exits, step: Step, work: Conversion, *, dead_ends: bool) -> None:
    """What follows the loop; a CONDITION asks which way it ended where there are several."""
    if not outputs:
        work.loose.append((step.id, "out"))
        return
    if len(outputs) == 1 and not dead_ends:
        ((port, (variable, one)),) = outputs.items()
        value = path(step.id, variable)
        work.flows[port] = single(Value(value), (step.id, "out")) if one else several(value, (step.id, "out"))
        return
    name = work.ctx.draft.ids.give(f"{step.id}_way", "way")
    cases = [
        {"id": variable, "when": f"{path(step.id, variable)} != none"} for variable, _ in outputs.values()
    ]
    asked = Step(id=name, type="CONDITION", config={"cases": cases})
    work.graph.add(asked)
    work.graph.link(step.id, name)
    work.loose.append((name, "else"))
    via = {port: (name, variable) for port, (variable, _) in outputs.items()}
    for port, (variable, one) in outputs.items():
        value = path(step.id, variable)
        work.flows[port] = single(Value(value), via[port]) if one else several(value, via[port])


def _cut(unit: list[str], entries: list[str], work: Conversion) -> None:
    """A circle with several ways in is no LOOP: the wires that go back are left out."""
    order = {name: index for index, name in enumerate(work.shape.reached_in_order(entries or unit[:1], unit))}
    lost = [
        wire
        for wire in work.shape.wires
        if wire.source in order and wire.target in order and order[wire.target] <= order[wire.source]
    ]
    for wire in lost:
        work.ctx.say(
            "unsupported", "cycle",
            f"The nodes go in a circle with several ways in, which no LOOP can be; the connection to {wire.target!r} was left out.",
            work.ctx.file.nodes[wire.source],
        )  # fmt: skip
    work.shape = Shape(
        names=work.shape.names, wires=[wire for wire in work.shape.wires if wire not in set(lost)]
    )
    for name in sorted(unit, key=lambda one: order.get(one, 0)):
        if name not in work.done:
            work.node(work.ctx.file.nodes[name])
