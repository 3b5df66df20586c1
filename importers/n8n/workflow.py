"""An n8n workflow as a draft."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from interlace.importers.build import Draft, Step
from interlace.importers.expressions import grouped, shown
from interlace.importers.foreign import Json, mapping, number, text
from interlace.importers.n8n.context import Context, find_mentions
from interlace.importers.n8n.file import NOTE, N8nFile, N8nNode
from interlace.importers.n8n.flow import Conversion
from interlace.importers.n8n.graph import Shape
from interlace.importers.n8n.kinds import Branch
from interlace.importers.n8n.nodes import kind_of
from interlace.importers.n8n.nodes.triggers import trigger
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.structure import template
from interlace.importers.n8n.values import Flow, Value, record, single
from interlace.importers.naming import unique
from interlace.importers.report import Report

_BY_HAND: Final = frozenset({"manualTrigger", "start", "manualChatTrigger"})
_STARTED_BY: Final = "started_by"


def draft_of(file: N8nFile, report: Report) -> Draft:
    """The draft of a workflow."""
    draft = Draft(name=file.name, description=file.description.strip() or None)
    ctx = Context(file=file, draft=draft, report=report, mentions=find_mentions(file))
    _notes(ctx)
    start = Step(id=draft.ids.give("start", "start"), type="START")
    for node in file.nodes.values():
        if node.kind != NOTE:
            node.id = draft.ids.give(node.name, "step")
    names = _reachable(ctx)
    draft.graph.add(start)
    scope = Scope(
        items=Value("[]", "items"),
        item=None,
        workflow=file.name,
        environment=lambda name: ctx.setting(name, None),
    )
    work = Conversion(
        ctx=ctx, graph=draft.graph, shape=Shape(names=names, wires=list(file.wires)), scope=scope
    )
    _begin(ctx, work, start)
    work.run()
    _end(ctx, work)
    _settings(ctx)
    _left_out(ctx)
    return draft


def _left_out(ctx: Context) -> None:
    """Every node of the file has an entry: what was not spoken of is not in the document."""
    said = {entry.source_node for entry in ctx.report.entries}
    made = {step.source for step in ctx.draft.graph.walk()}
    helpers = _helpers(ctx.file)
    for node in ctx.file.nodes.values():
        if node.kind == NOTE or node.name in said:
            continue
        if node.name in made:
            ctx.say("carried", "node", f"{node.kind}: carried over.", node)
        elif node.name in helpers:
            ctx.say(
                "changed",
                "helper",
                f"It is a part of an AI node in the file ({node.kind}); the node here has no such part.",
                node,
            )
        else:
            ctx.say(
                "unsupported",
                "left_out",
                "No items reach it by the ways that could be carried over; it is not in the document.",
                node,
            )


def _notes(ctx: Context) -> None:
    for node in ctx.file.nodes.values():
        if node.kind != NOTE:
            continue
        words = text(node.parameters.get("content")).strip()
        if not words:
            continue
        note: Json = {"text": words}
        if node.position:
            note["at"] = list(node.position)
        width, height = number(node.parameters.get("width")), number(node.parameters.get("height"))
        if width and height:
            note["size"] = [width, height]
        ctx.draft.notes.append(note)
        ctx.report.add("carried", "note", "A note of the canvas is kept under `ui.notes`.", source=node.name)


def _helpers(file: N8nFile) -> set[str]:
    """Nodes that only help others: models, memories, tools, parsers."""
    found = {name for kinds in file.helpers.values() for names in kinds.values() for name in names}
    wired = {wire.source for wire in file.wires} | {wire.target for wire in file.wires}
    return found - wired


def _reachable(ctx: Context) -> list[str]:
    """The nodes that a trigger leads to; without triggers, those that the first nodes lead to."""
    file = ctx.file
    names = [node.name for node in file.nodes.values() if node.kind != NOTE]
    helpers = _helpers(file)
    names = [name for name in names if name not in helpers]
    shape = Shape(names=names, wires=list(file.wires))
    starts = [
        name for name in names if file.nodes[name].is_trigger and not file.nodes[name].raw.get("disabled")
    ]
    starts = starts or [name for name in names if file.nodes[name].is_trigger]
    if not starts:
        starts = [name for name in names if not shape.incoming.get(name)] or names[:1]
        if names:
            ctx.say(
                "changed", "no_trigger", "The file has no trigger; the workflow begins with its first nodes."
            )
    reached = shape.reached(starts)
    for name in names:
        if name not in reached:
            node = file.nodes[name]
            node.id = ""
            ctx.say(
                "changed",
                "not_connected",
                "Nothing leads to this node, so it would never run; it was left out.",
                node,
            )
    for name in sorted(helpers):
        file.nodes[name].id = ""
    return [name for name in names if name in reached]


# -- the beginning -----------------------------------------------------------------------------------------------------


def _begin(ctx: Context, work: Conversion, start: Step) -> None:
    file = ctx.file
    triggers = [
        file.nodes[name]
        for name in work.shape.names
        if file.nodes[name].is_trigger and not work.shape.incoming.get(name)
    ]
    items = {node.name: trigger(node, ctx) for node in triggers}
    targets = {
        node.name: frozenset((wire.target, wire.input) for wire in work.shape.outgoing.get(node.name, ()))
        for node in triggers
    }
    if len({targets[node.name] for node in triggers}) <= 1:
        _together(ctx, work, start, triggers, items)
    else:
        _apart(ctx, work, start, triggers, items)
    for node in triggers:
        work.done.add(node.name)
        work.carried(node)
    for name in work.shape.names:
        if not work.shape.incoming.get(name) and name not in items:
            work.entering[name, 0] = [single(record({}), (start.id, "out"))]


def _together(
    ctx: Context,
    work: Conversion,
    start: Step,
    triggers: list[N8nNode],
    items: dict[str, tuple[Value, list[Json]]],
) -> None:
    """Triggers that lead to the same nodes: one beginning, with the fields of all."""
    fields: dict[str, Value] = {}
    whole: Value | None = None
    for node in triggers:
        value, entries = items[node.name]
        ctx.draft.triggers += entries
        if value.fields is None:
            whole = value
        else:
            fields = {**value.fields, **fields}
    value = whole if whole is not None and not fields else record(fields, whole)
    if triggers:
        start.label = triggers[0].name
        start.position = triggers[0].position
        start.note = text(triggers[0].raw.get("notes")).strip() or None
        start.source = triggers[0].name
    for index, node in enumerate(triggers):
        node.id = start.id
        flow = single(value, (start.id, "out"))
        work.flows[node.name, 0] = flow if index == 0 else Flow(many=value, one=value)
        work.scope = _with(work.scope, node.name, flow)
    if len(triggers) > 1:
        first = triggers[0].name
        work.shape = Shape(
            names=work.shape.names,
            wires=[wire for wire in work.shape.wires if wire.source not in items or wire.source == first],
        )


def _with(scope: Scope, name: str, flow: Flow) -> Scope:
    return replace(scope, nodes={**scope.nodes, name: flow})


def _apart(
    ctx: Context,
    work: Conversion,
    start: Step,
    triggers: list[N8nNode],
    items: dict[str, tuple[Value, list[Json]]],
) -> None:
    """Triggers that lead to different nodes: an input says which one it was."""
    used: set[str] = {"else", "error"}
    names = {node.name: unique(node.id, used) for node in triggers}
    default = next((names[node.name] for node in triggers if node.kind in _BY_HAND), names[triggers[0].name])
    ctx.draft.inputs[_STARTED_BY] = {"type": "string", "enum": list(names.values()), "default": default}
    cases = [
        {"id": names[node.name], "when": f"inputs.{_STARTED_BY} == '{names[node.name]}'"} for node in triggers
    ]
    step = Step(id=ctx.draft.ids.give(_STARTED_BY, _STARTED_BY), type="CONDITION", config={"cases": cases})
    ctx.draft.graph.add(step)
    ctx.draft.graph.link(start.id, step.id)
    work.loose.append((step.id, "else"))
    for node in triggers:
        value, entries = items[node.name]
        for entry in entries:
            entry["inputs"] = {**mapping(entry.get("inputs")), _STARTED_BY: names[node.name]}
        ctx.draft.triggers += entries
        flow = single(value, (step.id, names[node.name]))
        work.flows[node.name, 0] = flow
        work.scope = _with(work.scope, node.name, flow)
        work.parted.add(node.name)
        node.id = step.id
    ctx.say(
        "changed",
        "triggers",
        f"The file has several triggers; the input {_STARTED_BY!r} says which way a run goes.",
    )


# -- the end -----------------------------------------------------------------------------------------------------------


def _end(ctx: Context, work: Conversion) -> None:
    """One END for all ways on which nothing follows, with what their last nodes gave."""
    graph = ctx.draft.graph
    wired = {(wire.source, wire.output) for wire in work.shape.wires}
    leaves = {
        port: flow
        for port, flow in work.flows.items()
        if port not in wired and flow.via and port[0] in ctx.file.nodes
    }
    ended = {step.source for step in graph.steps if step.type == "END"}
    outputs: dict[str, object] = {}
    tails: dict[tuple[str, str], None] = dict.fromkeys(work.loose)
    for port, flow in leaves.items():
        if isinstance(kind_of(ctx.file.nodes[port[0]]), Branch):
            tails.update(dict.fromkeys(flow.via))
    kept = {
        port: flow
        for port, flow in leaves.items()
        if port[0] not in ended and not isinstance(kind_of(ctx.file.nodes[port[0]]), Branch)
    }
    for (name, output), flow in kept.items():
        key = "result" if len(kept) == 1 else _key(ctx.file.nodes[name], output, outputs)
        outputs[key] = template(flow.one) if flow.one is not None else shown(flow.many.code)
        tails.update(dict.fromkeys(flow.via))
    if ctx.draft.chat:
        outputs = {"answer": _chat_answer(kept), **outputs}
    left = {source for source, _, _ in graph.edges}
    for step in graph.steps:
        if (
            step.id not in left
            and step.type not in ("END", "START")
            and not any(step.id == source for source, _ in tails)
        ):
            tails[step.id, "out"] = None
    if not tails and ended:
        return
    end = Step(
        id=ctx.draft.ids.give("end", "end"), type="END", config={"outputs": outputs} if outputs else {}
    )
    graph.add(end)
    for source, handle in tails:
        graph.link(source, end.id, handle)


def _key(node: N8nNode, output: int, taken: dict[str, object]) -> str:
    return unique(node.id if output == 0 else f"{node.id}_{output + 1}", set(taken))


def _chat_answer(leaves: dict[tuple[str, int], Flow]) -> object:
    """What a chat answers with: the `output` or `text` of the last node."""
    codes = []
    for flow in leaves.values():
        item = flow.one or Value(f"({grouped(flow.many.code)} | first)")
        for name in ("output", "text"):
            if item.fields is None or name in item.fields:
                codes.append(item.get(name).code)
                break
    return shown(" or ".join([*codes, "''"]))


def _settings(ctx: Context) -> None:
    limit = number(ctx.file.settings.get("executionTimeout"))
    if limit and limit > 0:
        ctx.draft.timeout = limit
    if text(ctx.file.settings.get("errorWorkflow")):
        ctx.say(
            "decision",
            "on_failure",
            "Another workflow ran when this one failed; name it under `settings.on_failure`.",
        )
    if ctx.file.pinned:
        ctx.say(
            "changed", "pinned", "Pinned data was left out; pin outputs anew with `interlace workflows pin`."
        )
