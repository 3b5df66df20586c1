"""When a node may have been skipped: warnings where they belong, and nowhere else."""

from __future__ import annotations

import pytest

from tests.engine.validate.conftest import Examine, Found, braced

HEAD = """name: test
inputs: {type: object, properties: {n: {type: number}, l: {type: array}}, required: [n, l]}
nodes:
  - {id: start, type: START}
  - {id: p, type: CONDITION, config: {cases: [{id: yes1, when: inputs.n > 5}]}}
  - {id: q, type: CONDITION, config: {cases: [{id: yes2, when: inputs.n > 7}]}}
  - {id: a, type: TEMPLATE, config: {template: a}}
  - {id: b, type: TEMPLATE, config: {template: b}}
"""


def document(reader: str, edges: str) -> str:
    return f"{HEAD}  - {reader}\n  - {{id: end, type: END}}\nedges: [{edges}]\n"


def reads(*names: str) -> str:
    text = " ".join(braced(name) for name in names)
    return f'{{id: r, type: TEMPLATE, config: {{template: "{text}"}}}}'


WARNED = [("possibly_missing", "r", "config.template", 9)]
ONE_ARM = (
    "start -> p, start -> q, p.yes1 -> a, p.else -> r, a -> r, q.yes2 -> b, q.else -> end, b -> end, r -> end"
)


def test_possibly_missing_after_one_arm(examine: Examine) -> None:
    (problem,) = examine(document(reads("a.text"), ONE_ARM)).problems
    assert (problem.code, problem.severity, problem.node, problem.field, problem.line) == (
        "possibly_missing",
        "warning",
        *WARNED[0][1:],
    )
    assert "p.yes1 is taken" in problem.message
    assert problem.fix is not None
    assert "default" in problem.fix


@pytest.mark.parametrize(
    "name",
    [
        "a.text | default('')",
        "a.text is defined",
        "a is defined and a.text",
        "'x' if a.text is empty else 'y'",
    ],
)
def test_guarded_references_are_silent(found: Found, name: str) -> None:
    assert found(document(reads(name), ONE_ARM)) == []


TWO_ARMS = (
    "start -> p, p.yes1 -> a, p.else -> b, a -> r, b -> r, r -> end, start -> q, q.yes2 -> end, q.else -> end"
)


@pytest.mark.parametrize(
    "name",
    [
        "a.text | default(b.text)", "a.text or b.text", "a.text if a is defined else b.text", "b.text if a is undefined else a.text",
        "(a.text | default(b.text)) ~ '!'", "b.text | default(a.text) | upper",
    ],
)  # fmt: skip
def test_one_arm_stands_in_for_the_other(found: Found, name: str) -> None:
    assert found(document(reads(name), TWO_ARMS)) == []
    assert found(document(reads(name), TWO_ARMS.replace("p.else -> b", "p.else -> r, q.yes2 -> b"))) == WARNED


def test_a_default_beside_it_does_not_help(found: Found) -> None:
    assert found(document(reads("a.text | default('')", "b.text"), TWO_ARMS)) == WARNED


def test_the_branching_node_itself_is_always_there(found: Found) -> None:
    assert found(document(reads("p.matched"), ONE_ARM)) == []


def test_inside_the_arm_it_is_there(found: Found) -> None:
    edges = "start -> p, p.yes1 -> a, a -> r, p.else -> end, r -> end, start -> q, q.yes2 -> b, q.else -> end, b -> end"
    assert found(document(reads("a.text"), edges)) == []


def test_unconditional_parallel_branches_that_join(found: Found) -> None:
    edges = "start -> a, start -> b, a -> r, b -> r, r -> end, start -> p, p.yes1 -> end, p.else -> end, start -> q, q.yes2 -> end, q.else -> end"
    assert found(document(reads("a.text", "b.text"), edges)) == []


def test_branches_that_join_again_lose_their_condition(found: Found) -> None:
    edges = "start -> p, p.yes1 -> a, p.else -> b, a -> q, b -> q, q.yes2 -> r, q.else -> end, r -> end"
    assert found(document(reads("q.matched", "p.matched"), edges)) == []
    assert found(document(reads("a.text"), edges)) == WARNED


def test_join_all_of_two_arms_has_both(found: Found) -> None:
    edges = "start -> p, start -> q, p.yes1 -> a, q.yes2 -> b, p.else -> end, q.else -> end, a -> r, b -> r, r -> end"
    reader = reads("a.text", "b.text")
    assert found(document(reader, edges)) == WARNED * 2  # a and b
    assert found(document(reader.replace("TEMPLATE,", "TEMPLATE, join: all,"), edges)) == []


def test_every_match_can_take_both_arms(found: Found) -> None:
    text = document(
        reads("a.text"),
        "start -> p, p.yes1 -> a, p.else -> b, a -> r, b -> r, r -> end, start -> q, q.yes2 -> end, q.else -> end",
    )
    text = text.replace(
        "cases: [{id: yes1, when: inputs.n > 5}]", "mode: every, cases: [{id: yes1, when: inputs.n > 5}]"
    )
    assert found(text) == WARNED


def test_a_node_that_may_fail_into_a_branch(found: Found) -> None:
    edges = "start -> a, a -> r, a.error -> b, b -> r, r -> end, start -> p, p.yes1 -> end, p.else -> end, start -> q, q.yes2 -> end, q.else -> end"
    text = document(reads("a.text"), edges).replace(
        "id: a, type: TEMPLATE,", "id: a, type: TEMPLATE, on_error: branch,"
    )
    assert found(text) == WARNED
    assert found(text.replace("a.text", "a.error")) == []
    assert (
        found(
            text.replace("{{ a.text }}", "x").replace("{template: b}", '{template: "{{ a.error.message }}"}')
        )
        == []
    )
    assert found(
        text.replace("{{ a.text }}", "x").replace("{template: b}", '{template: "{{ a.text }}"}')
    ) == [("possibly_missing", "b", "config.template", 8)]


def test_on_error_continue_is_there(found: Found) -> None:
    edges = "start -> a, a -> r, r -> end, a -> b, b -> end, start -> p, p.yes1 -> end, p.else -> end, start -> q, q.yes2 -> end, q.else -> end"
    text = document(reads("a.text"), edges).replace(
        "id: a, type: TEMPLATE,", "id: a, type: TEMPLATE, on_error: continue,"
    )
    assert found(text) == []


def test_a_disabled_node_is_missing(examine: Examine) -> None:
    edges = "start -> a, a -> r, r -> end, a -> b, b -> end, start -> p, p.yes1 -> end, p.else -> end, start -> q, q.yes2 -> end, q.else -> end"
    text = document(reads("a.text"), edges).replace(
        "id: a, type: TEMPLATE,", "id: a, type: TEMPLATE, disabled: true,"
    )
    (problem,) = examine(text).problems
    assert problem.code == "possibly_missing"
    assert "'a' is disabled" in problem.message


def test_an_aggregator_reads_what_may_be_missing(found: Found) -> None:
    reader = '{id: r, type: VARIABLE_AGGREGATOR, config: {values: ["{{ a.text }}", "{{ b.text }}"]}}'
    assert (
        found(
            document(
                reader,
                "start -> p, p.yes1 -> a, p.else -> b, a -> r, b -> r, r -> end, start -> q, q.yes2 -> end, q.else -> end",
            )
        )
        == []
    )


@pytest.mark.parametrize(("operator", "silent"), [("exists", True), ("is empty", True), ("==", False)])
def test_rules_that_ask_for_presence_are_silent(found: Found, operator: str, silent: bool) -> None:
    reader = f'{{id: r, type: CONDITION, config: {{cases: [{{id: c, left: "{{{{ a.text }}}}", operator: "{operator}"}}]}}}}'
    text = document(reader, ONE_ARM.replace("r -> end", "r.c -> end, r.else -> end"))
    assert found(text) == ([] if silent else [("possibly_missing", "r", "config.cases[0].left", 9)])


def body(output: str, edges: str) -> str:
    reader = f"""id: r
    type: ITERATION
    config: {{items: "{{{{ inputs.l }}}}", output: "{output}"}}
    body:
      nodes:
        - {{id: test, type: CONDITION, config: {{cases: [{{id: big, when: item > 1}}]}}}}
        - {{id: work, type: TEMPLATE, config: {{template: x}}}}
      edges: [{edges}]"""
    return document(
        reader,
        "start -> a, start -> b, a -> r, b -> end, r -> end, start -> p, p.yes1 -> end, p.else -> end, start -> q, q.yes2 -> end, q.else -> end",
    )


def test_the_value_of_a_body_may_be_missing(found: Found) -> None:
    assert ("possibly_missing", "r", "config.output", 11) in found(
        body("{{ work.text }}", "test.big -> work")
    )
    assert not [
        c
        for c, *_ in found(body("{{ work.text | default(none) }}", "test.big -> work"))
        if c == "possibly_missing"
    ]


@pytest.mark.parametrize("target", ["$continue", "$break"])
def test_a_pass_that_ends_early_has_no_value(found: Found, target: str) -> None:
    assert found(body("{{ work.text }}", f"test.big -> work, test.else -> {target}")) == []


def test_inner_nodes_share_the_condition_of_their_container(found: Found) -> None:
    reader = """id: r
    type: ITERATION
    config: {items: "{{ inputs.l }}", output: "{{ work.text }}"}
    body: {nodes: [{id: work, type: TEMPLATE, config: {template: "{{ a.text }} {{ b.text }}"}}]}"""
    edges = "start -> p, p.yes1 -> a, a -> r, p.else -> b, b -> end, start -> q, q.yes2 -> r, q.else -> end, r -> end"
    names = [entry[:3] for entry in found(document(reader, edges))]
    assert names == [
        ("possibly_missing", "work", "config.template"),
        ("not_upstream", "work", "config.template"),
    ]


def test_many_branches_cost_no_more_than_their_number(found: Found) -> None:
    count = 150
    nodes = "".join(
        f"  - {{id: c{i}, type: CONDITION, config: {{cases: [{{id: h, when: inputs.n > {i}}}]}}}}\n"
        for i in range(count)
    )
    edges = ", ".join(
        [f"c{i}.h -> end" for i in range(count)] + [f"c{i}.else -> c{i + 1}" for i in range(count - 1)]
    )
    text = f"{HEAD}{nodes}  - {{id: end, type: END}}\nedges: [start -> a, a -> b, b -> p, p.yes1 -> q, p.else -> q, q.yes2 -> c0, q.else -> c0, {edges}, c{count - 1}.else -> end]\n"
    assert found(text) == []
