"""Run conditions against the truth: every outcome of small documents is played through."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from interlace.engine.document import Document
from interlace.engine.registry import Registry
from interlace.engine.validate import validate
from interlace.engine.validate.conditions import ALWAYS, NEVER, Conditions
from tests.engine.validate.kinds import make_registry

REGISTRY: Registry = make_registry()


def test_all_handles_of_a_node_together_are_the_node() -> None:
    conditions = Conditions()
    size = conditions.branch("size", ["large", "small", "else"], exclusive=True)
    arms = [conditions.through(ALWAYS, literal) for literal in size.values()]
    assert conditions.any(arms) == ALWAYS
    assert conditions.any(arms[:2]) not in {ALWAYS, NEVER}
    assert conditions.all(arms[:2]) == NEVER


def test_merging_goes_through_levels() -> None:
    conditions = Conditions()
    outer = conditions.branch("p", ["a", "else"], exclusive=True)
    inner = conditions.branch("q", ["b", "else"], exclusive=True)
    a = conditions.through(ALWAYS, outer["a"])
    parts = [conditions.through(a, inner["b"]), conditions.through(a, inner["else"])]
    assert conditions.any(parts) == a
    assert conditions.any([*parts, conditions.through(ALWAYS, outer["else"])]) == ALWAYS


def test_what_every_match_takes_is_not_exclusive() -> None:
    conditions = Conditions()
    every = conditions.branch("p", ["a", "b", "else", "error"], exclusive=False)
    a, b, _, error = (conditions.through(ALWAYS, literal) for literal in every.values())
    assert conditions.can_both(a, b)
    assert not conditions.can_both(a, error)
    assert conditions.all([a, b]) != NEVER
    assert conditions.all([a, error]) == NEVER


def test_implication_without_a_common_clause() -> None:
    conditions = Conditions()
    p = conditions.branch("p", ["x", "y"], exclusive=True)
    q = conditions.branch("q", ["x", "y"], exclusive=True)
    by_p = [conditions.through(ALWAYS, literal) for literal in p.values()]
    by_q = [conditions.through(ALWAYS, literal) for literal in q.values()]
    mixed = conditions.any([conditions.all([by_p[0], by_q[0]]), conditions.all([by_p[0], by_q[1]]), by_p[1]])
    assert conditions.implies(ALWAYS, mixed)
    assert conditions.implies(by_p[0], conditions.any([by_p[0], by_q[0]]))
    assert not conditions.implies(by_p[0], by_q[0])


def test_beyond_the_bound_nothing_is_claimed() -> None:
    conditions = Conditions()
    condition = ALWAYS
    for number in range(400):
        branch = conditions.branch(f"p{number}", ["x", "y"], exclusive=True)
        condition = conditions.through(condition, branch["x"])
    other = conditions.through(ALWAYS, branch["y"])
    assert conditions.is_opaque(condition)
    assert conditions.implies(condition, other)
    assert not conditions.can_both(condition, other)
    assert conditions.described(condition) == ""


def test_words() -> None:
    conditions = Conditions()
    size = conditions.branch("size", ["large", "small", "else"], exclusive=True)
    arms = [conditions.through(ALWAYS, literal) for literal in size.values()]
    assert conditions.described(arms[0]) == "size.large is taken"
    assert conditions.described(conditions.any(arms[:2])) == "size.large or size.small are taken"


@st.composite
def small_documents(draw: st.DrawFn) -> dict[str, Any]:
    """A random graph of a few branching and plain nodes, and one reader of all that comes before it."""
    count = draw(st.integers(3, 6))
    nodes: list[dict[str, Any]] = [{"id": "start", "type": "START"}]
    edges: list[dict[str, str]] = []
    handles: dict[str, list[str]] = {"start": ["out"]}
    for index in range(count):
        name = f"n{index}"
        node: dict[str, Any] = {"id": name, "join": draw(st.sampled_from(["any", "any", "all"]))}
        kind = draw(st.sampled_from(["plain", "plain", "branch", "every", "fail", "disabled"]))
        if kind in {"branch", "every"}:
            cases = [{"id": case, "when": "true"} for case in ("x", "y")[: draw(st.integers(1, 2))]]
            node |= {
                "type": "CONDITION",
                "config": {"cases": cases, "mode": "first" if kind == "branch" else "every"},
            }
            handles[name] = [*(case["id"] for case in cases), "else"]
        else:
            node |= {"type": "TEMPLATE", "config": {"template": "x"}}
            handles[name] = ["out", "error"] if kind == "fail" else ["out"]
            node |= (
                {"on_error": "branch"} if kind == "fail" else {"disabled": True} if kind == "disabled" else {}
            )
        nodes.append(node)
        sources = draw(st.lists(st.sampled_from(list(handles)[:-1]), min_size=1, max_size=3))
        edges += [
            {"from": source, "handle": draw(st.sampled_from(handles[source])), "to": name}
            for source in sources
        ]
    reader = nodes[-1]
    reader |= {"type": "TEMPLATE", "on_error": "stop", "disabled": False}
    reader["config"] = {"template": " ".join(f"{{{{ n{index} }}}}" for index in range(count - 1))}
    return {
        "name": "x",
        "nodes": [*nodes, {"id": "end", "type": "END"}],
        "edges": [*edges, {"from": reader["id"], "to": "end"}],
    }


def outcomes(document: Document) -> Iterator[Mapping[str, frozenset[str]]]:
    """Every way the nodes can choose their handles."""
    choices: list[list[frozenset[str]]] = []
    for node in document.nodes:
        if node.type == "CONDITION":
            names = [case["id"] for case in node.config["cases"]]
            if node.config["mode"] == "first":
                choices.append([frozenset({name}) for name in (*names, "else")])
            else:
                sets = [
                    frozenset(chosen)
                    for size in range(1, len(names) + 1)
                    for chosen in itertools.combinations(names, size)
                ]
                choices.append([*sets, frozenset({"else"})])
        else:
            choices.append(
                [frozenset({"out"}), *([frozenset({"error"})] if node.on_error == "branch" else [])]
            )
    for chosen in itertools.product(*choices):
        yield dict(zip((node.id for node in document.nodes), chosen, strict=True))


def play(document: Document, chosen: Mapping[str, frozenset[str]]) -> dict[str, bool]:
    """Which nodes run."""
    ran: dict[str, bool] = {}
    for node in document.nodes:
        arrivals = [
            ran[edge.from_] and edge.handle in chosen[edge.from_]
            for edge in document.edges
            if edge.to == node.id
        ]
        ran[node.id] = (
            (all(arrivals) if node.join == "all" else any(arrivals)) if arrivals else node.id == "start"
        )
    return ran


@settings(max_examples=250, deadline=None)
@given(small_documents())
def test_warnings_are_exactly_the_truth(data: dict[str, Any]) -> None:
    document = Document.model_validate(data)
    problems = validate(document, REGISTRY).problems
    if any(problem.code in {"unreachable", "unknown_handle"} for problem in problems):
        return
    reader = document.nodes[-2]
    before = _ancestors(document, reader.id)
    missing, possible = set(), set()
    for chosen in outcomes(document):
        ran = play(document, chosen)
        possible |= {name for name, runs in ran.items() if runs}
        if ran[reader.id]:
            there = {
                n.id for n in document.nodes if ran[n.id] and not n.disabled and "error" not in chosen[n.id]
            }
            missing |= before - there
    warned = {p.message.split(" ", 1)[0] for p in problems if p.code == "possibly_missing"}
    assert warned == missing - {"start"}
    never = {p.node for p in problems if p.code == "never_runs"}
    assert never <= {node.id for node in document.nodes} - possible


def _ancestors(document: Document, name: str) -> set[str]:
    found: set[str] = set()
    todo = [name]
    while todo:
        here = todo.pop()
        new = {edge.from_ for edge in document.edges if edge.to == here} - found
        found |= new
        todo.extend(new)
    return found
