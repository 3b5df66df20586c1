"""One test for each rule about nodes, edges and bodies; its name begins with the code."""

from __future__ import annotations

import pytest

from interlace.engine.problems import Problem
from tests.engine.validate.conftest import Examine, Found

CHAIN = """name: test
nodes:
  - {id: start, type: START}
  - {id: a, type: TEMPLATE, config: {template: hello}}
  - {id: end, type: END, config: {outputs: {text: "{{ a.text }}"}}}
edges:
  - start -> a
  - a -> end
"""
BRANCH = """name: test
inputs: {type: object, properties: {n: {type: number}}, required: [n]}
nodes:
  - {id: start, type: START}
  - id: size
    type: CONDITION
    config:
      cases:
        - {id: large, when: inputs.n > 5}
        - {id: small, when: inputs.n < 2}
  - {id: a, type: TEMPLATE, config: {template: a}}
  - {id: b, type: TEMPLATE, config: {template: b}}
  - {id: end, type: END}
edges:
  - start -> size
  - size.large -> a
  - size.small -> b
  - size.else -> end
  - a -> end
  - b -> end
"""
EACH = """name: test
inputs: {type: object, properties: {names: {type: array, items: {type: string}}}, required: [names]}
nodes:
  - {id: start, type: START}
  - {id: before, type: TEMPLATE, config: {template: x}}
  - id: each
    type: ITERATION
    config: {items: "{{ inputs.names }}", output: "{{ work.text }}"}
    body:
      nodes:
        - {id: work, type: TEMPLATE, config: {template: "{{ before.text }} {{ item }} {{ index }}"}}
        - {id: more, type: TEMPLATE, config: {template: "{{ work.text }}"}}
      edges:
        - work -> more
  - {id: end, type: END, config: {outputs: {all: "{{ each.results }}"}}}
edges:
  - start -> before
  - before -> each
  - each -> end
"""


def only(problems: tuple[Problem, ...]) -> Problem:
    assert len(problems) == 1, problems
    return problems[0]


@pytest.mark.parametrize("text", [CHAIN, BRANCH, EACH])
def test_a_right_document_has_no_problems(found: Found, text: str) -> None:
    assert found(text) == []


def test_no_start(found: Found) -> None:
    text = CHAIN.replace("  - {id: start, type: START}\n", "").replace("  - start -> a\n", "")
    assert found(text) == [("no_start", None, "nodes", 2)]


def test_several_starts(found: Found) -> None:
    text = CHAIN.replace("edges:", "  - {id: again, type: START}\nedges:") + "  - again -> a\n"
    assert found(text) == [("several_starts", "again", "type", 6)]


def test_no_end(found: Found) -> None:
    text = "\n".join(line for line in CHAIN.splitlines() if "end" not in line)
    assert found(text) == [("no_end", None, "nodes", 2), ("side_branch", "a", "id", 4)]


def test_duplicate_id(found: Found) -> None:
    text = CHAIN.replace("edges:", "  - {id: a, type: TEMPLATE, config: {template: again}}\nedges:")
    assert ("duplicate_id", "a", "id", 6) in found(text)


def test_duplicate_id_across_bodies(examine: Examine) -> None:
    problem = next(
        p for p in examine(EACH.replace("id: more", "id: before")).problems if p.code == "duplicate_id"
    )
    assert (problem.node, problem.line) == ("before", 12)


def test_reserved_id(found: Found) -> None:
    assert ("reserved_id", "vars", "id", 4) in found(
        CHAIN.replace("id: a,", "id: vars,").replace("a.text", "vars.text")
    )


def test_unknown_type(examine: Examine) -> None:
    problem = only(examine(CHAIN.replace("TEMPLATE", "TEMPLAT")).problems)
    assert (problem.code, problem.node, problem.field, problem.line) == ("unknown_type", "a", "type", 4)
    assert problem.fix == "Did you mean 'TEMPLATE'?"


def test_unknown_type_says_what_is_known_where_nothing_is_near(examine: Examine) -> None:
    problem = only(examine(CHAIN.replace("TEMPLATE", "SPREADSHEET")).problems)
    assert problem.fix is not None
    assert "CONDITION, END, HTTP" in problem.fix


def test_start_or_end_in_body(found: Found) -> None:
    text = EACH.replace("- work -> more", "- work -> more\n        - more -> stop").replace(
        "      edges:", "        - {id: stop, type: END}\n      edges:"
    )
    assert found(text) == [("start_or_end_in_body", "stop", "type", 13)]


def test_unexpected_body(found: Found) -> None:
    text = CHAIN.replace("{template: hello}}", "{template: hello}, body: {nodes: []}}")
    assert found(text) == [("unexpected_body", "a", "body", 4)]


def test_missing_body(found: Found) -> None:
    start, end = EACH.index("    body:"), EACH.index("  - {id: end")
    assert ("missing_body", "each", "body", 6) in found(EACH[:start] + EACH[end:])


def test_empty_body(found: Found) -> None:
    start, end = EACH.index("      nodes:"), EACH.index("  - {id: end")
    assert ("empty_body", "each", "body.nodes", 10) in found(EACH[:start] + "      nodes: []\n" + EACH[end:])


def test_unknown_node_as_target(examine: Examine) -> None:
    problem = only(examine(CHAIN.replace("- a -> end", "- a -> ende")).problems[:1])
    assert (problem.code, problem.node, problem.field, problem.line) == ("unknown_node", "a", "edges[1]", 8)
    assert problem.fix == "Did you mean 'end'?"


def test_unknown_node_as_target_cuts_off_what_nobody_meant(found: Found) -> None:
    assert found(CHAIN.replace("- a -> end", "- a -> nowhere")) == [
        ("unreachable", "end", "id", 5),
        ("unknown_node", "a", "edges[1]", 8),
    ]


def test_unknown_node_as_source_raises_no_other_alarm(found: Found) -> None:
    text = CHAIN + "  - ghost -> end\n"
    assert found(text) == [("unknown_node", "ghost", "edges[2]", 9)]


def test_unknown_node_as_only_source_does_not_make_the_target_unreachable(found: Found) -> None:
    assert found(CHAIN.replace("- start -> a", "- strat -> a")) == [
        ("side_branch", "start", "id", 3), ("unknown_node", "strat", "edges[0]", 7),
    ]  # fmt: skip


def test_edge_across_bodies(found: Found) -> None:
    assert found(EACH + "  - work -> end\n") == [("edge_across_bodies", "work", "edges[3]", 20)]
    inner = EACH.replace("- work -> more", "- work -> more\n        - more -> end")
    assert ("edge_across_bodies", "more", "edges[1]", 15) in found(inner)


def test_edge_into_start(found: Found) -> None:
    assert found(CHAIN + "  - a -> start\n") == [("edge_into_start", "a", "edges[2]", 9)]


def test_edge_from_end(found: Found) -> None:
    assert found(CHAIN + "  - end -> a\n") == [("edge_from_end", "end", "edges[2]", 9)]


def test_unknown_handle(examine: Examine) -> None:
    problem = only(examine(BRANCH.replace("size.large ->", "size.larg ->")).problems)
    assert (problem.code, problem.node, problem.field, problem.line) == (
        "unknown_handle",
        "size",
        "edges[1]",
        16,
    )
    assert problem.fix == "Did you mean 'large'?"
    assert "large, small, else" in problem.message


def test_unknown_handle_of_a_node_without_branches(found: Found) -> None:
    assert ("unknown_handle", "a", "edges[1]", 8) in found(CHAIN.replace("- a -> end", "- a.done -> end"))


def test_break_outside_body(found: Found) -> None:
    assert found(CHAIN + "  - a -> $break\n") == [("break_outside_body", "a", "edges[2]", 9)]


def test_break_and_continue_inside_a_body_are_right(found: Found) -> None:
    assert (
        found(EACH.replace("- work -> more", "- work -> more -> $continue\n        - more -> $break")) == []
    )


def test_duplicate_edge_is_a_warning(examine: Examine) -> None:
    problem = only(examine(CHAIN + "  - a -> end\n").problems)
    assert (problem.code, problem.severity, problem.node, problem.field) == (
        "duplicate_edge",
        "warning",
        "a",
        "edges[2]",
    )


def test_error_edge_without_branch(found: Found) -> None:
    assert found(CHAIN + "  - a.error -> end\n") == [("error_edge_without_branch", "a", "edges[2]", 9)]


def test_branch_without_error_edge(found: Found) -> None:
    text = CHAIN.replace("type: TEMPLATE,", "type: TEMPLATE, on_error: branch,")
    assert ("branch_without_error_edge", "a", "on_error", 4) in found(text)


def test_continue_not_allowed(found: Found) -> None:
    text = CHAIN.replace(
        "type: TEMPLATE, config: {template: hello}", "type: HUMAN, on_error: continue, config: {title: x}"
    )
    text = text.replace("a.text", "a.action").replace("- a -> end", "- a.approve -> end")
    assert ("continue_not_allowed", "a", "on_error", 4) in found(text)


def test_unused_default_output(found: Found) -> None:
    text = CHAIN.replace("type: TEMPLATE,", "type: TEMPLATE, default_output: {text: x},")
    assert found(text) == [("unused_default_output", "a", "default_output", 4)]
    assert found(text.replace("default_output:", "on_error: continue, default_output:")) == []


def test_cycle(examine: Examine) -> None:
    text = CHAIN.replace("edges:", "  - {id: b, type: TEMPLATE, config: {template: b}}\nedges:")
    text = text.replace("- a -> end", "- a -> b\n  - b -> end\n  - b -> a")
    problem = only(examine(text).problems)
    assert (problem.code, problem.node, problem.field, problem.line) == ("cycle", "b", "edges[3]", 11)
    assert "a -> b -> a" in problem.message
    assert problem.fix is not None
    assert "LOOP" in problem.fix


def test_cycle_of_one_node(found: Found) -> None:
    assert found(CHAIN + "  - a -> a\n") == [("cycle", "a", "edges[2]", 9)]


def test_cycle_is_told_for_each_knot_once(found: Found) -> None:
    nodes = "".join(f"  - {{id: {name}, type: TEMPLATE, config: {{template: x}}}}\n" for name in "bcd")
    text = CHAIN.replace("edges:", f"{nodes}edges:").replace(
        "- a -> end", "- a -> b -> a\n  - b -> c -> d -> c\n  - d -> end"
    )
    assert [code for code, *_ in found(text)] == ["cycle", "cycle"]


def test_unreachable(found: Found) -> None:
    text = (
        CHAIN.replace("edges:", "  - {id: b, type: TEMPLATE, config: {template: b}}\nedges:")
        + "  - b -> end\n"
    )
    assert found(text) == [("unreachable", "b", "id", 6)]


def test_unreachable_names_where_the_way_breaks(examine: Examine) -> None:
    problems = examine(CHAIN.replace("  - start -> a\n", "")).problems
    assert [(p.code, p.node) for p in problems] == [
        ("side_branch", "start"),
        ("unreachable", "a"),
        ("unreachable", "end"),
    ]
    assert "'a' before it" in problems[-1].message


def test_side_branch_is_a_warning(examine: Examine) -> None:
    text = (
        CHAIN.replace("edges:", "  - {id: log, type: TEMPLATE, config: {template: b}}\nedges:")
        + "  - a -> log\n"
    )
    problem = only(examine(text).problems)
    assert (problem.code, problem.severity, problem.node) == ("side_branch", "warning", "log")


def test_unconnected_handle_is_a_warning(examine: Examine) -> None:
    text = BRANCH.replace("  - size.small -> b\n", "  - start -> b\n")
    problem = only(examine(text).problems)
    assert (problem.code, problem.severity, problem.node) == ("unconnected_handle", "warning", "size")
    assert (problem.field, problem.line) == ("config.cases[1]", 10)


def test_unconnected_else_is_a_warning(examine: Examine) -> None:
    problem = only(examine(BRANCH.replace("  - size.else -> end\n", "")).problems)
    assert (problem.code, problem.severity, problem.node, problem.field) == (
        "unconnected_else",
        "warning",
        "size",
        "config",
    )


def test_never_runs(examine: Examine) -> None:
    text = BRANCH.replace(
        "{id: end, type: END}",
        "{id: both, type: TEMPLATE, join: all, config: {template: x}}\n  - {id: end, type: END}",
    )
    text = text.replace("- a -> end\n  - b -> end", "- a -> both\n  - b -> both\n  - both -> end")
    problem = only(examine(text).problems)
    assert (problem.code, problem.node, problem.field) == ("never_runs", "both", "join")
    assert examine(text.replace("join: all", "join: any")).problems == ()


def test_never_runs_does_not_fire_for_independent_branches(found: Found) -> None:
    text = """name: test
inputs: {type: object, properties: {n: {type: number}}, required: [n]}
nodes:
  - {id: start, type: START}
  - {id: p, type: CONDITION, config: {cases: [{id: yes1, when: inputs.n > 5}]}}
  - {id: q, type: CONDITION, config: {cases: [{id: yes2, when: inputs.n > 7}]}}
  - {id: both, type: TEMPLATE, join: all, config: {template: x}}
  - {id: end, type: END}
edges: [start -> p, start -> q, p.yes1 -> both, q.yes2 -> both, p.else -> end, q.else -> end, both -> end]
"""
    assert found(text) == []


def test_everything_is_reported_at_once(examine: Examine) -> None:
    text = (
        CHAIN.replace("type: TEMPLATE", "type: TEMPLATE, timeout: soon, lable: x").replace("a.text", "a.txt")
        + "  - a -> nowhere\n"
    )
    codes = [p.code for p in examine(text).problems]
    assert sorted(codes) == ["bad_duration", "unknown_field", "unknown_node", "unknown_output"]


def test_a_misspelt_policy_is_told_once(found: Found) -> None:
    text = CHAIN.replace("type: TEMPLATE,", "type: TEMPLATE, on_error: brnch,") + "  - a.error -> end\n"
    assert found(text) == [("bad_value", "a", "on_error", 4)]


def test_lines_of_a_body_that_stands_in_config(found: Found) -> None:
    text = (
        EACH.replace(
            '    config: {items: "{{ inputs.names }}", output: "{{ work.text }}"}\n    body:\n',
            """    config:
      items: "{{ inputs.names }}"
      output: "{{ work.text }}"
      body:
""",
        )
        .replace("      nodes:", "        nodes:")
        .replace("      edges:", "        edges:")
    )
    text = text.replace("        - {id", "          - {id").replace(
        "        - work -> more", "          - work -> mor"
    )
    assert ("unknown_node", "work", "edges[0]", 16) in found(text)
