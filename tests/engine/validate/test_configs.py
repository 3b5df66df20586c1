"""One test for each rule about a node's own fields; its name begins with the code."""

from __future__ import annotations

import pytest

from tests.engine.validate.conftest import Examine, Found

TEXT = """name: test
inputs: {{type: object, properties: {{n: {{type: integer}}, s: {{type: string}}}}, required: [n, s]}}
nodes:
  - {{id: start, type: START}}
  - id: node
    type: {type}
    config:
      {config}
  - {{id: end, type: END}}
edges:
  - start -> node
  - node -> end
"""


def http(config: str) -> str:
    return TEXT.format(type="HTTP", config=config)


def test_unknown_field_in_config(examine: Examine) -> None:
    (problem,) = examine(http("{url: https://x, headres: {}}")).problems
    assert (problem.code, problem.node, problem.field, problem.line) == (
        "unknown_field",
        "node",
        "config.headres",
        8,
    )
    assert problem.fix == "Did you mean 'headers'?"


def test_unknown_field_that_belongs_to_the_node_says_so(examine: Examine) -> None:
    (problem,) = examine(http("{url: https://x, timeout: 5s}")).problems
    assert problem.fix == "Write 'timeout' beside config: it belongs to the node itself."


def test_missing_field_in_config(examine: Examine) -> None:
    (problem,) = examine(http("{attempts: 2}")).problems
    assert (problem.code, problem.node, problem.field, problem.line) == (
        "missing_field",
        "node",
        "config.url",
        7,
    )


@pytest.mark.parametrize(
    ("config", "code", "field", "words"),
    [
        ("{url: 5}", "wrong_type", "config.url", "'url' must be text, not the number 5."),
        (
            "{url: https://x, headers: [a]}",
            "wrong_type",
            "config.headers",
            "must be a mapping of names to values, not a list",
        ),
        (
            "{url: https://x, headers: {a: [1]}}",
            "wrong_type",
            "config.headers.a",
            "'a' must be text, not a list",
        ),
        (
            "{url: https://x, attempts: many}",
            "wrong_type",
            "config.attempts",
            "a whole number, not the text 'many'",
        ),
        ("{url: https://x, attempts: 9}", "out_of_range", "config.attempts", "at most 5, not the number 9"),
        ("{url: https://x, tags: [1]}", "wrong_type", "config.tags[0]", "must be text"),
    ],
)
def test_wrong_type_in_config_is_said_in_words(
    examine: Examine, config: str, code: str, field: str, words: str
) -> None:
    (problem,) = examine(http(config)).problems
    assert (problem.code, problem.field, problem.line) == (code, field, 8)
    assert words in problem.message
    assert "pydantic" not in problem.message
    assert "input" not in problem.message.lower()


def test_bad_value_names_the_nearest(examine: Examine) -> None:
    (problem,) = examine(TEXT.format(type="TEMPLATE", config="{template: x, format: htm}")).problems
    assert (problem.code, problem.node, problem.field) == ("bad_value", "node", "config.format")
    assert problem.fix == "Did you mean 'html'?"
    assert "text, html" in problem.message


def test_wrong_parts_of_a_config_do_not_hide_the_rest(examine: Examine) -> None:
    codes = {p.code for p in examine(http('{url: "{{ ghost.x }}", headres: {}, attempts: 9}')).problems}
    assert codes == {"unknown_field", "out_of_range", "unknown_name"}


def test_a_broken_config_raises_no_alarm_at_edges_and_readers(found: Found) -> None:
    text = TEXT.format(type="CONDITION", config="{case: []}").replace("- node -> end", "- node.large -> end")
    text = text.replace(
        "{id: end, type: END}", '{id: end, type: END, config: {outputs: {x: "{{ node.matched }}"}}}'
    )
    assert [code for code, *_ in found(text)] == ["missing_field", "unknown_field"]


def test_bad_schema_in_config(found: Found) -> None:
    text = http("{url: https://x, response_schema: {type: object, properties: {a: {type: strin}}}}")
    assert found(text) == [("bad_schema", "node", "config.response_schema.properties.a.type", 8)]


def test_bad_default_in_config(found: Found) -> None:
    text = http(
        "{url: https://x, response_schema: {type: object, properties: {a: {type: integer, default: x}}}}"
    )
    assert found(text) == [("bad_default", "node", "config.response_schema.properties.a.default", 8)]


def test_what_the_type_itself_finds_stands_at_node_and_line(examine: Examine) -> None:
    (problem,) = examine(http("{url: ftp}")).problems
    assert (problem.code, problem.severity, problem.node, problem.field, problem.line, problem.fix) == (
        "bad_url", "error", "node", "config.url", 8, "Write https://….",
    )  # fmt: skip


def test_bad_schema_of_inputs(found: Found) -> None:
    text = http("{url: https://x}").replace("n: {type: integer}", "n: {type: int}")
    assert found(text) == [("bad_schema", None, "inputs.properties.n.type", 2)]


def test_bad_schema_when_inputs_are_no_object(found: Found) -> None:
    text = http("{url: https://x}").replace("inputs: {type: object,", "inputs: {type: array,")
    assert found(text) == [("bad_schema", None, "inputs.type", 2)]


def test_bad_default_of_an_input(found: Found) -> None:
    text = http("{url: https://x}").replace("{type: integer}", "{type: integer, default: few}")
    assert found(text) == [("bad_default", None, "inputs.properties.n.default", 2)]


@pytest.mark.parametrize(
    ("declared", "default", "right"),
    [
        ("number", "0", True), ("number", "1.5", True), ("number", "zero", False), ("number", "true", False),
        ("integer", "2.0", True), ("integer", "2.5", False), ("boolean", "true", True), ("boolean", "1", False),
        ("boolean", "no", False), ("string", "no", True), ("array", "[]", True), ("array", "{}", False),
        ("object", "{}", True), ("any", "[1]", True), ("string", "null", True),
    ],
)  # fmt: skip
def test_bad_default_of_a_variable(found: Found, declared: str, default: str, right: bool) -> None:
    text = http("{url: https://x}").replace(
        "nodes:", f"variables: {{v: {{type: {declared}, default: {default}}}}}\nnodes:", 1
    )
    assert found(text) == ([] if right else [("bad_default", None, "variables.v.default", 3)])


def test_a_variable_of_all_runs_is_no_problem(found: Found) -> None:
    text = http("{url: https://x}").replace(
        "nodes:", "variables: {v: {type: any, scope: workflow}}\nnodes:", 1
    )
    assert found(text) == []


def test_failure_loop_is_a_warning(examine: Examine) -> None:
    text = http("{url: https://x}").replace("nodes:", "settings: {on_failure: test}\nnodes:", 1)
    (problem,) = examine(text).problems
    assert (problem.code, problem.severity, problem.field, problem.line) == (
        "failure_loop",
        "warning",
        "settings.on_failure",
        3,
    )


def test_types_are_computed_for_every_node(examine: Examine) -> None:
    types = examine(
        http("{url: https://x, response_schema: {type: object, properties: {a: {type: integer}}}}")
    ).types
    assert types["node"]["properties"]["body"]["properties"]["a"] == {"type": "integer"}
    assert types["start"]["properties"]["n"] == {"type": "integer"}


CHAT = """name: chat
settings: {chat: true}
inputs: {type: object, properties: {message: {type: string}}, required: [message]}
nodes:
  - {id: start, type: START}
  - {id: end, type: END, config: {outputs: {answer: "{{ inputs.message }}"}}}
edges: [start -> end]
"""


def test_chat_message_and_chat_answer_are_warnings(examine: Examine) -> None:
    assert examine(CHAT).problems == ()
    (problem,) = examine(CHAT.replace("message", "question")).problems
    assert (problem.code, problem.severity, problem.field, problem.line) == (
        "chat_message",
        "warning",
        "inputs.properties",
        3,
    )
    (problem,) = examine(CHAT.replace("answer:", "text:")).problems
    assert (problem.code, problem.severity, problem.field, problem.line) == (
        "chat_answer",
        "warning",
        "settings.chat",
        2,
    )
    assert examine(CHAT.replace("chat: true", "chat: false").replace("answer:", "text:")).problems == ()


def test_no_pool_here(examine: Examine) -> None:
    text = "name: x\nnodes:\n  - {id: start, type: START}\n  - {id: end, type: END, pool: gpu}\nedges: [start -> end]\n"
    (problem,) = examine(text).problems
    assert (problem.code, problem.node, problem.field, problem.line) == ("no_pool_here", "end", "pool", 4)
