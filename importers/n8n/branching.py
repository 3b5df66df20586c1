"""Branching nodes: a CONDITION for one item, lists and a CONDITION for many."""

from __future__ import annotations

from dataclasses import replace

from interlace.importers.expressions import path, shown
from interlace.importers.n8n.context import Site
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Branch, Case, Cases
from interlace.importers.n8n.values import Flow, several, single
from interlace.importers.neat import neat


def branch(
    node: N8nNode, kind: Branch, flow: Flow, site: Site, loose: list[tuple[str, str]]
) -> dict[int, Flow]:
    """The flows of a branching node's outputs; handles that lead nowhere are added to `loose`."""
    if kind.convert is not None:
        ways = kind.convert(node, site, flow)
        loose.extend(ways.loose)
        return ways.outputs
    assert kind.cases is not None
    if flow.one is not None:
        scope = replace(site.scope, item=flow.one, items=flow.many)
        return _one(
            node,
            _ruled(node, kind.cases(node, replace(site, scope=scope).fields(node)), site),
            flow,
            site,
            loose,
        )
    scope = replace(site.scope, item=flow.item(), items=flow.many, index="index", aligned=flow.aligned)
    return _many(
        node, _ruled(node, kind.cases(node, replace(site, scope=scope).fields(node)), site), flow, site, loose
    )


def _ruled(node: N8nNode, cases: Cases, site: Site) -> Cases:
    """A node without any rule keeps its ways, which are never taken until somebody writes when."""
    if cases.cases:
        return cases
    site.ctx.say(
        "decision",
        "no_rules",
        "The node has no rules in the file: write when each of its ways is taken.",
        node,
    )
    outputs = sorted(
        {wire.output for wire in site.ctx.file.wires if wire.source == node.name} - {cases.rest}
    ) or [0]
    return replace(cases, cases=tuple(Case(output, "false", f"way_{output + 1}") for output in outputs))


def _one(
    node: N8nNode, cases: Cases, flow: Flow, site: Site, loose: list[tuple[str, str]]
) -> dict[int, Flow]:
    assert flow.one is not None
    config = {"cases": [{"id": case.name, "when": case.when} for case in cases.cases]}
    if cases.every and len(cases.cases) > 1:
        config["mode"] = "every"  # type: ignore[assignment]
    step = site.add(node, "CONDITION", config, policies=False)
    handles: dict[int, list[tuple[str, str]]] = {}
    for case in cases.cases:
        handles.setdefault(case.output, []).append((step.id, case.name))
    if cases.rest is not None:
        handles.setdefault(cases.rest, []).append((step.id, "else"))
    else:
        loose.append((step.id, "else"))
    return {output: single(flow.one, *via) for output, via in handles.items()}


def _many(
    node: N8nNode, cases: Cases, flow: Flow, site: Site, loose: list[tuple[str, str]]
) -> dict[int, Flow]:
    """Lists of the items that go each way, and a CONDITION that takes the ways on which there are any."""
    wanted: dict[int, tuple[str, str]] = {}
    before: list[str] = []
    for case in cases.cases:
        code = (
            case.when
            if cases.every or not before
            else " and ".join([f"({case.when})", *(f"not ({other})" for other in before)])
        )
        before.append(case.when)
        if case.output in wanted:
            code = f"({wanted[case.output][0]}) or ({code})"
        wanted[case.output] = (neat(code), case.name)
    if cases.rest is not None:
        rest = " and ".join(f"not ({other})" for other in before) or "true"
        wanted[cases.rest] = (neat(rest), "rest")
    lists: dict[int, str] = {}
    for output, (code, name) in wanted.items():
        step = site.add(
            node,
            "LIST_OPERATION",
            {"input": shown(flow.many.code), "operations": [{"filter": code}]},
            suffix=name,
        )
        lists[output] = step.id
    ways = [{"id": name, "when": f"{lists[output]}.count > 0"} for output, (_, name) in wanted.items()]
    step = site.add(
        node, "CONDITION", {"cases": ways, **({"mode": "every"} if len(ways) > 1 else {})}, policies=False
    )
    loose.append((step.id, "else"))
    return {
        output: replace(
            several(path(lists[output], "result"), (step.id, name), may_be_empty=False), shape=flow.shape
        )
        for output, (_, name) in wanted.items()
    }
