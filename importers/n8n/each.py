"""Nodes that do the same for every item: plain steps for one item, the body of an ITERATION for many."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from interlace.importers.build import Graph, Step
from interlace.importers.expressions import constant, path, shown
from interlace.importers.foreign import Json
from interlace.importers.n8n.context import Site, on_error
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.graph import Shape
from interlace.importers.n8n.kinds import Branch, Each, Outcome
from interlace.importers.n8n.nodes import kind_of
from interlace.importers.n8n.nodes.control import NOTHING
from interlace.importers.n8n.structure import structured
from interlace.importers.n8n.values import Flow, Value, record, several, shape_of, shaped, single

if TYPE_CHECKING:
    from interlace.importers.n8n.flow import Conversion

_AS_A_WHOLE = re.compile(r"\$input\.(?:first|last|all)|\$items\(|\.(?:first|last|all)\(\)")
"""What reads the items of a node together, which a body for each item cannot see."""


def convert_each(node: N8nNode, kind: Each, flow: Flow, work: Conversion) -> None:
    """Convert a node for one item, or for each of many, with what follows it item by item."""
    if flow.one is not None:
        _for_one(node, kind, flow, work)
        return
    region = region_of(node, work)
    if region == [node.name] and kind.pure is not None:
        scope = replace(work.site(flow).scope, item=flow.item(), index="index", aligned=flow.aligned)
        site = replace(work.site(flow), scope=scope)
        new = kind.pure(node, site.fields(node))
        step = site.add(
            node, "LIST_OPERATION", {"input": shown(flow.many.code), "operations": [{"map": new.code}]}
        )
        work.nested = True
        made = several(
            path(step.id, "result"), (step.id, "out"), may_be_empty=flow.may_be_empty, aligned=flow.aligned
        )
        work.give(node, {0: replace(made, shape=shape_of(new))})
        return
    iterate(node, region, flow, work)


def _for_one(node: N8nNode, kind: Each, flow: Flow, work: Conversion) -> None:
    site = work.site(flow)
    outcome = one_item(node, kind, site)
    made = several(outcome.value.code, *site.tails) if outcome.listed else single(outcome.value, *site.tails)
    outputs = {0: made}
    if on_error(node) == "continueErrorOutput":
        assert flow.one is not None
        outputs[1] = single(
            record({"error": Value(path(node.id, "error"), "object")}, flow.one), (node.id, "error")
        )
    work.give(node, outputs)


def one_item(node: N8nNode, kind: Each, site: Site) -> Outcome:
    """The steps of a node for one item."""
    if kind.convert is not None:
        return kind.convert(node, site)
    assert kind.pure is not None
    new = kind.pure(node, site.fields(node))
    step = site.add(node, "TRANSFORM", structured(new))
    return Outcome(shaped(path(step.id, "result"), shape_of(new)))


def region_of(node: N8nNode, work: Conversion) -> list[str]:
    """The node and what follows it item by item: all that the body of one ITERATION can do."""
    found = {node.name}
    growing = True
    while growing:
        growing = False
        for name in work.shape.names:
            if name not in found and name not in work.done and _joins(work.ctx.file.nodes[name], found, work):
                found.add(name)
                growing = True
    return [name for name in work.shape.names if name in found]


def _joins(node: N8nNode, region: set[str], work: Conversion) -> bool:
    incoming = work.shape.incoming.get(node.name, ())
    if not incoming or any(wire.source not in region or wire.input for wire in incoming):
        return False
    if node.raw.get("executeOnce") is True or any(name == node.name for name, _ in work.entering):
        return False
    kind = kind_of(node)
    if not (isinstance(kind, Each | Branch) or kind is NOTHING):
        return False
    if any(_gives_lists(wire.source, work) for wire in incoming) and not _reads_pairs(node, region, work):
        return False
    return _AS_A_WHOLE.search(json.dumps(node.parameters)) is None


def _gives_lists(name: str, work: Conversion) -> bool:
    kind = kind_of(work.ctx.file.nodes[name])
    return isinstance(kind, Each) and kind.lists


def _reads_pairs(node: N8nNode, region: set[str], work: Conversion) -> bool:
    """Whether a node, or one after it, reads what belongs to the item that the body is made for."""
    following = work.shape.reached([node.name])
    several_of = {name for (name, _), flow in work.flows.items() if flow.one is None}
    return any(work.ctx.mentions.get(name, set()) & following for name in region | several_of)


def iterate(node: N8nNode, region: list[str], flow: Flow, work: Conversion) -> None:
    """An ITERATION whose body does with one item what the nodes of a region do with all."""
    work.done.update(region)
    container = work.ctx.draft.ids.give(f"each_{node.id}", "each")
    mark = work.ctx.draft.ids.mark()
    nesting = work.ctx.nesting
    inner = _body(node, region, flow, work, bound=node.name in nesting)
    if inner.nested and node.name not in nesting:
        nesting.add(node.name)
        work.ctx.draft.ids.reset(mark)
        inner = _body(node, region, flow, work, bound=True)
    ports = _ports(region, inner, work)
    step = Step(
        id=container,
        type="ITERATION",
        config={"items": shown(flow.many.code)},
        source=node.name,
        position=node.position,
    )
    step.body = inner.graph
    work.graph.add(step)
    for source, handle in flow.via:
        work.graph.link(source, step.id, handle)
    work.nested = True
    _export(step, ports, inner, flow, work)


def _body(node: N8nNode, region: list[str], flow: Flow, work: Conversion, *, bound: bool) -> Conversion:
    """The region for one item. `bound` keeps the item under a name of its own, as a body inside has an `item` too."""
    graph = Graph()
    item = flow.item()
    via: tuple[tuple[str, str], ...] = ()
    nodes = dict(work.scope.nodes)
    for name in flow.aligned & set(nodes):
        own = (
            nodes[name].item(f"{nodes[name].many.code}[index]")
            if nodes[name].many.code != flow.many.code
            else item
        )
        nodes[name] = Flow(many=nodes[name].many, one=own)
    if bound:
        name = work.ctx.draft.ids.give(f"{node.id}_item", "item")
        others = {
            other: flow_of
            for other, flow_of in nodes.items()
            if other in flow.aligned and flow_of.one != item and _read(other, region, work)
        }
        config: Json = {"input": "{{ item }}"}
        if others:
            keys = {other: f"item_{index}" for index, other in enumerate(sorted(others), 1)}
            config = {
                "input": {
                    "item": "{{ item }}",
                    **{keys[other]: shown(found.one.code) for other, found in others.items() if found.one},
                }
            }
            nodes |= {
                other: replace(nodes[other], one=Value(path(name, "result", keys[other]))) for other in others
            }
        graph.add(Step(id=name, type="TRANSFORM", config=config))
        item, via = shaped(path(name, "result", *(["item"] if others else [])), flow.shape), ((name, "out"),)
        nodes |= {
            other: replace(nodes[other], one=item)
            for other in flow.aligned & set(nodes)
            if other not in others
        }
    scope = replace(work.scope, items=flow.many, item=None, nodes=nodes, index="index")
    inner = type(work)(
        ctx=work.ctx, graph=graph, shape=Shape(names=region, wires=list(work.shape.wires)), scope=scope
    )
    inner.entering[node.name, 0] = [single(item, *via)]
    inner.whole = flow
    inner.first = node.name
    inner.run()
    return inner


def _read(name: str, region: list[str], work: Conversion) -> bool:
    return bool(work.ctx.mentions.get(name, set()) & set(region))


def _ports(region: list[str], inner: Conversion, work: Conversion) -> list[tuple[str, int]]:
    """The outputs that are wanted outside: they lead out, are read there, or nothing follows them.

    The wires are those of the file: a body inside a body also leads to what stands outside both.
    """
    wired = {(wire.source, wire.output) for wire in work.ctx.file.wires}
    leading = {
        (wire.source, wire.output)
        for wire in work.ctx.file.wires
        if wire.source in region and wire.target not in region
    }
    made = []
    for port in inner.flows:
        name, output = port
        last = port not in wired and not isinstance(kind_of(work.ctx.file.nodes[name]), Branch)
        mentioned = output == 0 and bool(work.ctx.mentions.get(name, set()) - set(region))
        if port in leading or last or mentioned:
            made.append(port)
    return made


def _export(
    step: Step, ports: list[tuple[str, int]], inner: Conversion, flow: Flow, work: Conversion
) -> None:
    branches = bool(inner.parted or inner.loose) or any(one.on_error == "branch" for one in inner.graph.steps)
    keys = {port: _key(port, ports, work) for port in ports}
    codes = {port: _value(inner.flows[port], optional=branches) for port in ports}
    if len(ports) == 1:
        step.config["output"] = shown(codes[ports[0]])
    elif ports:
        step.config["output"] = shown(
            "{" + ", ".join(f"{constant(keys[port])}: {codes[port]}" for port in ports) + "}"
        )
    results = path(step.id, "results")
    for port in ports:
        found = inner.flows[port]
        code = results if len(ports) == 1 else f"{results} | map(attribute={constant(keys[port])})"
        code = f"{code} | reject('none')" if branches else code
        listed = found.one is None
        code = f"{code} | flatten" if listed else code
        aligned = frozenset() if listed or branches else flow.aligned
        empty = flow.may_be_empty or listed or branches
        made = several(
            code if code == results else f"({code})", (step.id, "out"), may_be_empty=empty, aligned=aligned
        )
        shape = found.shape if listed else shape_of(found.one) if found.one is not None else None
        _give(port, replace(made, shape=shape), work)
    work.parted -= {name for name, _ in ports}


def _give(port: tuple[str, int], flow: Flow, work: Conversion) -> None:
    node = work.ctx.file.nodes[port[0]]
    if port[1] == 0:
        work.give(node, {0: flow})
    else:
        work.flows[port] = replace(flow, aligned=flow.aligned | {node.name})


def _key(port: tuple[str, int], ports: list[tuple[str, int]], work: Conversion) -> str:
    name, output = port
    several_of_it = sum(one == name for one, _ in ports) > 1
    node = work.ctx.file.nodes[name]
    return f"{node.id}_{output + 1}" if several_of_it and output else node.id


def _value(flow: Flow, *, optional: bool) -> str:
    code = flow.one.code if flow.one is not None else flow.many.code
    return f"({code}) | default(none)" if optional else code
