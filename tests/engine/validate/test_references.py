"""One test for each rule about what expressions read; its name begins with the code."""

from __future__ import annotations

import pytest

from tests.engine.validate.conftest import Examine, Found, braced

TEXT = """name: test
inputs: {type: object, properties: {n: {type: number}, s: {type: string}, l: {type: array, items: {type: object, properties: {price: {type: number}}}}}, required: [n, s, l]}
variables: {total: {type: number, default: 0}}
nodes:
  - {id: start, type: START}
  - {id: a, type: HTTP, config: {url: "https://x", response_schema: {type: object, properties: {id: {type: integer}, tags: {type: array, items: {type: string}}}}}}
  - id: b
    type: HTTP
    config:
      url: "https://x/%s"
      headers: {authorization: "Bearer {{ secrets.token }}"}
  - {id: c, type: TEMPLATE, config: {template: side}}
  - {id: end, type: END}
edges: [start -> a, a -> b, b -> end, start -> c, c -> end]
"""
URL = ("b", "config.url", 10)


def at_url(code: str) -> tuple[str, str, str, int]:
    return (code, *URL)


def url(expression: str) -> str:
    return TEXT.replace("%s", expression)


@pytest.mark.parametrize(
    "expression",
    [
        "{{ a.body.id }}", "{{ inputs.s }}", "{{ vars.total }}", "{{ env.BASE }}", "{{ run.id }}", "{{ trigger.kind }}",
        "{{ a.status }}", "{{ a.error.message | default('') }}", "{{ inputs.l[0].price }}", "{{ start.n }}",
        "{{ a.body.tags | join(',') }}", "{{ env }}", "plain { text } }}",
    ],
)  # fmt: skip
def test_right_references_are_silent(found: Found, expression: str) -> None:
    assert found(url(expression)) == []


@pytest.mark.parametrize("expression", ["{{ a. }}", "{{ a b }}", "{{ (a }}", "{{ 'x }}", "{{ }}", "{{ a.b"])
def test_expression_syntax(found: Found, expression: str) -> None:
    assert found(url(expression)) == [at_url("expression_syntax")]


def test_expression_syntax_counts_lines_inside_a_text(found: Found) -> None:
    text = (
        url("x")
        .replace("{template: side}", "{template: side}")
        .replace(
            "{id: c, type: TEMPLATE, config: {template: side}}",
            "id: c\n    type: TEMPLATE\n    config:\n      template: |\n        one\n        {{ inputs.s }}\n        {{ inputs. }}",
        )
    )
    assert found(text) == [("expression_syntax", "c", "config.template", 18)]


def test_unknown_filter(examine: Examine) -> None:
    (problem,) = examine(url("{{ inputs.s | uper }}")).problems
    assert (problem.code, problem.node, problem.field, problem.line) == at_url("unknown_filter")
    assert "upper" in problem.message


def test_unknown_test(found: Found) -> None:
    assert found(url("{{ inputs.s is emty }}")) == [at_url("unknown_test")]


def test_unknown_function(found: Found) -> None:
    assert found(url("{{ frobnicate(1) }}")) == [at_url("unknown_function")]


def test_unknown_name(examine: Examine) -> None:
    (problem,) = examine(url("{{ input.s }}")).problems
    assert (problem.code, problem.node, problem.field, problem.line) == at_url("unknown_name")
    assert problem.fix == "Did you mean 'inputs'?"


@pytest.mark.parametrize(("name", "fix"), [("total", "vars.total"), ("n", "inputs.n")])
def test_unknown_name_says_how_variables_and_inputs_are_read(examine: Examine, name: str, fix: str) -> None:
    (problem,) = examine(url(braced(name))).problems
    assert problem.fix is not None
    assert fix in problem.fix


def test_unknown_name_inside_a_structure_names_the_place(found: Found) -> None:
    text = url("x").replace("{authorization: ", '{one: x, two: "{{ ghost.a }}", authorization: ')
    assert found(text) == [("unknown_name", "b", "config.headers.two", 11)]


def test_not_upstream(examine: Examine) -> None:
    (problem,) = examine(url("{{ c.text }}")).problems
    assert (problem.code, problem.node, problem.field, problem.line) == at_url("not_upstream")
    assert problem.fix == "Add an edge c -> b, or read a node before it."


def test_not_upstream_for_a_node_that_comes_later(found: Found) -> None:
    text = url("x").replace('{url: "https://x", response', '{url: "https://{{ b.status }}", response')
    assert found(text) == [("not_upstream", "a", "config.url", 6)]


def test_own_output(found: Found) -> None:
    assert found(url("{{ b.status }}")) == [at_url("own_output")]


def test_unknown_output(examine: Examine) -> None:
    (problem,) = examine(url("{{ a.bdy.id }}")).problems
    assert (problem.code, problem.node, problem.field, problem.line) == at_url("unknown_output")
    assert "'body'" in problem.message


def test_unknown_output_deep_inside(examine: Examine) -> None:
    (problem,) = examine(url("{{ a.body.idd }}")).problems
    assert (problem.code, problem.line) == ("unknown_output", 10)
    assert "'id'" in problem.message


def test_unknown_input(examine: Examine) -> None:
    (problem,) = examine(url("{{ inputs.nn }}")).problems
    assert (problem.code, problem.node, problem.field, problem.line) == at_url("unknown_input")


def test_unknown_input_not_where_more_inputs_are_allowed(found: Found) -> None:
    text = url("{{ inputs.other }}").replace(
        "required: [n, s, l]", "required: [n, s, l], additionalProperties: true"
    )
    assert found(text) == []
    assert (
        found(
            TEXT.replace(TEXT.splitlines()[1], "inputs: {type: object}").replace("%s", "{{ inputs.other }}")
        )
        == []
    )


def test_unknown_variable(found: Found) -> None:
    assert found(url("{{ vars.totl }}")) == [at_url("unknown_variable")]


@pytest.mark.parametrize("name", ["item", "index", "loop"])
def test_misplaced_name(found: Found, name: str) -> None:
    assert found(url(braced(name))) == [at_url("misplaced_name")]


def test_secret_leak(examine: Examine) -> None:
    (problem,) = examine(url("{{ secrets.token }}")).problems
    assert (problem.code, problem.severity, problem.node, problem.field, problem.line) == (
        "secret_leak",
        "error",
        *URL,
    )


def test_secret_leak_in_a_template_and_an_output(found: Found) -> None:
    text = url("x").replace("template: side", 'template: "{{ secrets.a }}"')
    text = text.replace("type: END}", 'type: END, config: {outputs: {x: ["{{ secrets.b }}"]}}}')
    assert found(text) == [
        ("secret_leak", "c", "config.template", 12),
        ("secret_leak", "end", "config.outputs.x[0]", 13),
    ]


def test_secret_leak_in_a_wait(found: Found) -> None:
    text = url("x").replace("id: c, type", 'id: c, wait: {until: "{{ secrets.when }}"}, type')
    assert found(text) == [("secret_leak", "c", "wait.until", 12)]


@pytest.mark.parametrize(
    ("config", "right"),
    [
        ('attempts: "{{ inputs.n }}"', True),
        ('attempts: "{{ a.body.id }}"', True),
        ('attempts: "{{ a.body.tags }}"', False),
        ('attempts: "{{ inputs.n }} times"', False),
        ('tags: "{{ a.body.tags }}"', True),
        ('tags: "{{ inputs.s }}"', False),
        ('tags: "{{ inputs.l }}"', False),
        ('attempts: "{{ a.body }}"', False),
        ('attempts: "{{ env.N }}"', True),
    ],
)
def test_wrong_type_for_the_consuming_field(found: Found, config: str, right: bool) -> None:
    text = url("x").replace("      headers:", f"      {config}\n      headers:")
    name = config.partition(":")[0]
    assert found(text) == ([] if right else [("wrong_type", "b", f"config.{name}", 11)])


def test_wrong_type_inside_a_typed_mapping(found: Found) -> None:
    text = url("x").replace("{authorization: ", '{tags: "{{ a.body.tags }}", authorization: ')
    assert found(text) == [("wrong_type", "b", "config.headers.tags", 11)]


def test_expression_type(found: Found) -> None:
    assert found(url("{{ inputs.l - 1 }}")) == [at_url("expression_type")]


def test_bad_comparison(found: Found) -> None:
    assert found(url("{{ inputs.l < 3 }}")) == [at_url("bad_comparison")]


def test_names_of_items_have_the_type_of_the_list(found: Found) -> None:
    text = url("x").replace(
        "type: TEMPLATE, config: {template: side}",
        'type: ITERATION, config: {items: "{{ inputs.l }}", output: "{{ w.text }}"}, body: {nodes: [{id: w, type: TEMPLATE, config: {template: "{{ item.prize }}"}}]}',
    )
    assert found(text) == [("unknown_output", "w", "config.template", 12)]


def test_item_and_index_stand_in_the_fields_marked_for_them(found: Found) -> None:
    text = url("x").replace(
        "type: TEMPLATE, config: {template: side}",
        'type: LIST_OPERATION, config: {input: "{{ inputs.l }}", filter: "item.price > index and item.price > inputs.n"}',
    )
    assert found(text) == []
    assert found(text.replace('"{{ inputs.l }}"', '"{{ item }}"')) == [
        ("misplaced_name", "c", "config.input", 12)
    ]


BODY = """name: test
inputs: {type: object, properties: {l: {type: array}}, required: [l]}
nodes:
  - {id: start, type: START}
  - {id: before, type: TEMPLATE, config: {template: x}}
  - {id: beside, type: TEMPLATE, config: {template: x}}
  - id: each
    type: ITERATION
    config: {items: "{{ inputs.l }}", output: "{{ inner.text }}"}
    body:
      nodes:
        - {id: inner, type: TEMPLATE, config: {template: "%s"}}
        - {id: second, type: TEMPLATE, config: {template: "{{ inner.text }}"}}
      edges: [inner -> second]
  - {id: end, type: END, config: {outputs: {x: "{{ each.results }}"}}}
edges: [start -> before, before -> each, each -> end, start -> beside, beside -> end]
"""


@pytest.mark.parametrize("name", ["before.text", "item", "index", "inputs.l"])
def test_inner_nodes_read_outer_ancestors_and_items(found: Found, name: str) -> None:
    assert found(BODY.replace("%s", braced(name))) == []


@pytest.mark.parametrize("name", ["beside.text", "second.text", "each.results", "end"])
def test_not_upstream_inside_a_body(found: Found, name: str) -> None:
    assert found(BODY.replace("%s", braced(name))) == [("not_upstream", "inner", "config.template", 12)]


def test_not_upstream_from_outside_a_body(examine: Examine) -> None:
    (problem,) = examine(BODY.replace("each.results", "inner.text").replace("%s", "x")).problems
    assert (problem.code, problem.node, problem.field, problem.line) == (
        "not_upstream",
        "end",
        "config.outputs.x",
        15,
    )
    assert problem.fix == "Read the output of 'each'."


def test_own_output_of_a_container(found: Found) -> None:
    text = BODY.replace("%s", "x").replace('output: "{{ inner.text }}"', 'output: "{{ each.results }}"')
    assert found(text) == [("own_output", "each", "config.output", 9)]


def test_name_taken(found: Found) -> None:
    text = BODY.replace("%s", "x").replace("type: ITERATION", "type: LOOP")
    text = text.replace(
        '{items: "{{ inputs.l }}", output: "{{ inner.text }}"}', "{variables: {before: 1}, max_rounds: 3}"
    )
    text = text.replace("each.results", "each.rounds")
    assert found(text) == [("name_taken", "each", "config.variables.before", 9)]
    assert found(text.replace("before: 1}", "inputs: 1}")) == [
        ("name_taken", "each", "config.variables.inputs", 9)
    ]
