"""Who may use a variable when: the rule holds in every shape of a document."""

from __future__ import annotations

import pytest

from tests.engine.validate.conftest import Examine, Found

HEAD = """name: test
inputs: {type: object, properties: {n: {type: number}, l: {type: array}, s: {type: string}}, required: [n, l, s]}
variables: {total: {type: number, default: 0}, names: {type: array, default: []}, text: {type: string}, map: {type: object}, any: {}}
nodes:
  - {id: start, type: START}
"""


def assign(name: str, variable: str = "total", value: str = "1", op: str = "set") -> str:
    return f"  - {{id: {name}, type: VARIABLE_ASSIGN, config: {{assignments: [{{variable: {variable}, op: {op}, value: {value}}}]}}}}\n"


def read(name: str, variable: str = "vars.total") -> str:
    return f'  - {{id: {name}, type: TEMPLATE, config: {{template: "{{{{ {variable} }}}}"}}}}\n'


def document(nodes: str, edges: str) -> str:
    return f"{HEAD}{nodes}  - {{id: end, type: END}}\nedges: [{edges}]\n"


def test_variable_race_of_two_assignments(examine: Examine) -> None:
    text = document(assign("a") + assign("b"), "start -> a, start -> b, a -> end, b -> end")
    (problem,) = examine(text).problems
    assert (problem.code, problem.node, problem.field, problem.line) == (
        "variable_race",
        "a",
        "config.assignments[0]",
        6,
    )
    assert "'b' sets it" in problem.message


def test_variable_race_of_an_assignment_and_a_read(examine: Examine) -> None:
    text = document(read("a") + assign("b"), "start -> a, start -> b, a -> end, b -> end")
    (problem,) = examine(text).problems
    assert (problem.code, problem.node, problem.line) == ("variable_race", "b", 7)
    assert "'a' reads it" in problem.message


def test_two_reads_are_fine(found: Found) -> None:
    assert found(document(read("a") + read("b"), "start -> a, start -> b, a -> end, b -> end")) == []


def test_two_variables_are_fine(found: Found) -> None:
    nodes = assign("a") + assign("b", "any")
    assert found(document(nodes, "start -> a, start -> b, a -> end, b -> end")) == []


def test_an_ordered_assignment_is_fine(found: Found) -> None:
    assert (
        found(document(assign("a") + assign("b") + read("c"), "start -> a, a -> b, b -> c, c -> end, a -> c"))
        == []
    )


def test_exclusive_arms_are_fine(found: Found) -> None:
    nodes = (
        "  - {id: p, type: CONDITION, config: {cases: [{id: big, when: inputs.n > 5}]}}\n"
        + assign("a")
        + assign("b")
    )
    edges = "start -> p, p.big -> a, p.else -> b, a -> end, b -> end"
    assert found(document(nodes, edges)) == []
    assert [c for c, *_ in found(document(nodes.replace("cases:", "mode: every, cases:"), edges))] == [
        "variable_race"
    ]


def test_variable_race_of_a_whole_read(found: Found) -> None:
    text = document(assign("a") + read("b", "vars | tojson"), "start -> a, start -> b, a -> end, b -> end")
    assert [entry[:2] for entry in found(text)] == [("variable_race", "a")]


def container(kind: str, config: str, nodes: str, edges: str = "") -> str:
    inner = "".join(f"      {line}\n" for line in nodes.splitlines())
    return f"  - id: box\n    type: {kind}\n    config: {config}\n    body:\n      nodes:\n{inner}      edges: [{edges}]\n"


@pytest.mark.parametrize(
    ("parallel", "races"),
    [("", False), (", parallel: 1", False), (", parallel: 4", True), (', parallel: "{{ inputs.n }}"', True)],
)
def test_variable_race_in_a_parallel_body(found: Found, parallel: str, races: bool) -> None:
    box = container("ITERATION", f'{{items: "{{{{ inputs.l }}}}"{parallel}}}', assign("a", op="increment"))
    problems = found(document(box, "start -> box, box -> end"))
    assert problems == ([("variable_race", "a", "config.assignments[0]", 11)] if races else [])


def test_variable_race_between_a_body_and_a_node_beside_it(found: Found) -> None:
    box = container("ITERATION", '{items: "{{ inputs.l }}"}', assign("a"))
    text = document(box + read("r"), "start -> box, start -> r, box -> end, r -> end")
    assert [entry[:2] for entry in found(text)] == [("variable_race", "a")]
    assert found(text.replace("start -> r,", "box -> r,")) == []


def test_variable_race_inside_one_body(found: Found) -> None:
    box = container("ITERATION", '{items: "{{ inputs.l }}"}', assign("a") + assign("b"), "%s")
    text = document(box, "start -> box, box -> end")
    assert [entry[:2] for entry in found(text.replace("%s", ""))] == [("variable_race", "a")]
    assert found(text.replace("%s", "a -> b")) == []


LOOP = "{variables: {n: 0}, until: n > 3, max_rounds: 5}"


def test_loop_variables_are_read_and_written_by_name(found: Found) -> None:
    box = container("LOOP", LOOP, assign("a", "n", '"{{ n + 1 }}"') + read("r", "n ~ loop.round"), "a -> r")
    text = document(box + read("after", "box.n"), "start -> box, box -> after, after -> end")
    assert found(text) == []


def test_variable_race_of_a_loop_variable(found: Found) -> None:
    box = container("LOOP", LOOP, assign("a", "n", op="increment") + read("r", "n"))
    assert [entry[:2] for entry in found(document(box, "start -> box, box -> end"))] == [
        ("variable_race", "a")
    ]


def test_a_loop_inside_a_parallel_iteration_has_its_own_variables(found: Found) -> None:
    inner = container("LOOP", LOOP, assign("a", "n", op="increment")).replace("id: box", "id: inner")
    box = container("ITERATION", '{items: "{{ inputs.l }}", parallel: 9}', inner)
    assert found(document(box, "start -> box, box -> end")) == []


def test_unknown_variable_in_an_assignment(examine: Examine) -> None:
    (problem,) = examine(document(assign("a", "totl"), "start -> a, a -> end")).problems
    assert (problem.code, problem.node, problem.field) == (
        "unknown_variable",
        "a",
        "config.assignments[0].variable",
    )
    assert problem.fix == "Did you mean 'total'?"


def test_unknown_variable_when_a_loop_variable_is_written_outside(found: Found) -> None:
    box = container("LOOP", LOOP, read("r", "n"))
    text = document(box + assign("a", "n"), "start -> box, box -> a, a -> end")
    assert [entry[:2] for entry in found(text)] == [("unknown_variable", "a")]


@pytest.mark.parametrize(
    ("variable", "op", "value", "right"),
    [
        ("total", "set", "2", True), ("total", "set", "many", False), ("total", "set", '"{{ inputs.n }}"', True),
        ("total", "set", '"{{ inputs.s }}"', False), ("total", "increment", "2", True), ("total", "increment", "x", False),
        ("total", "append", "2", False), ("names", "append", "2", True), ("names", "set", "{}", False),
        ("names", "remove", "2", True), ("text", "append", "x", True), ("text", "append", "2", False),
        ("text", "increment", "1", False), ("map", "merge", "{a: 1}", True), ("map", "merge", "[1]", False),
        ("map", "set", "[1]", False), ("any", "set", "[1]", True), ("any", "append", "1", True),
    ],
)  # fmt: skip
def test_variable_type(found: Found, variable: str, op: str, value: str, right: bool) -> None:
    problems = found(document(assign("a", variable, value, op), "start -> a, a -> end"))
    assert problems == ([] if right else [("variable_type", "a", "config.assignments[0].value", 6)])
