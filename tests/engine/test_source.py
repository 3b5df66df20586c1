from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem
from interlace.engine.source import Source, load, load_file

SMALL = """name: small
nodes:
  - {id: start, type: START}
  - {id: end, type: END}
edges:
  - start -> end
"""


def one(source: Source) -> Problem:
    assert source.document is None
    (problem,) = source.problems
    return problem


def value(text: str) -> Any:
    """What a YAML value reads as, in a place that takes any."""
    document = load(SMALL.replace("type: END}", f"type: END, config: {{outputs: {{x: {text}}}}}}}")).require()
    return document.nodes[1].config["outputs"]["x"]


def test_a_small_document() -> None:
    document = load(SMALL).require()
    assert [node.id for node in document.nodes] == ["start", "end"]
    assert [(edge.from_, edge.handle, edge.to) for edge in document.edges] == [("start", "out", "end")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True), ("false", False), ("True", True), ("no", "no"), ("on", "on"), ("yes", "yes"), ("off", "off"), ("y", "y"),
        ("12", 12), ("-3", -3), ("+4", 4), ("012", 12), ("0o17", 15), ("0x1F", 31), ("1_000", "1_000"), ("1.5", 1.5), ("1e3", 1000.0),
        (".5", 0.5), ("12:30", "12:30"), ("190:20:30", "190:20:30"), ("2026-01-31", "2026-01-31"), ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"),
        ("null", None), ("~", None), ("Null", None), ("'null'", "null"), ("'12'", "12"), ('"a\\u00e9"', "aé"), ("=", "="), ("<<", "<<"), ("1.2.3", "1.2.3"), ("日本", "日本"),
        ("a-b", "a-b"), ("0b11", "0b11"), ("'{{ a }}'", "{{ a }}"),
    ],
)  # fmt: skip
def test_plain_scalars_follow_yaml_1_2(text: str, expected: Any) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("start -> end", [("start", "out", "end")]),
        ("start->end", [("start", "out", "end")]),
        ("size.large -> ask", [("size", "large", "ask")]),
        ("ask.needs work -> end", [("ask", "needs work", "end")]),
        ("a -> b -> c", [("a", "out", "b"), ("b", "out", "c")]),
        ("a -> b.x -> c", [("a", "out", "b"), ("b", "x", "c")]),
        ("a.else -> $break", [("a", "else", "$break")]),
    ],
)
def test_short_edges(text: str, edges: list[tuple[str, str, str]]) -> None:
    document = load(SMALL.replace("start -> end", text)).require()
    assert [(edge.from_, edge.handle, edge.to) for edge in document.edges] == edges


@pytest.mark.parametrize(
    "text", ["start end", "-> end", "start ->", "start -> end.out", "start -> -> end", "'->'", "start => end"]
)
def test_bad_edge(text: str) -> None:
    problem = one(load(SMALL.replace("start -> end", text)))
    assert (problem.code, problem.field, problem.line) == ("bad_edge", "edges[0]", 6)
    assert problem.fix is not None


def test_lines_count_in_the_text_after_chains() -> None:
    text = SMALL.replace("start -> end", "start -> end -> start\n  - {from: start, to: end, handel: x}")
    problem = one(load(text))
    assert (problem.code, problem.node, problem.field, problem.line) == (
        "unknown_field",
        "start",
        "edges[2].handel",
        7,
    )


BODY = """name: b
nodes:
  - id: each
    type: ITERATION
    config:
      items: []
      body:
        nodes:
          - {id: a, type: TEMPLATE, config: {template: x}}
          - {id: b, type: TEMPLATE, joi: all}
        edges: [a -> b]
"""


def test_a_body_in_config_is_moved_to_the_node() -> None:
    node = load(BODY.replace(", joi: all", "")).require().nodes[0]
    assert node.body is not None
    assert [inner.id for inner in node.body.nodes] == ["a", "b"]
    assert node.body.edges[0].to == "b"
    assert node.config == {"items": []}


def test_lines_in_a_moved_body() -> None:
    problem = one(load(BODY))
    assert (problem.code, problem.node, problem.field, problem.line) == ("unknown_field", "b", "joi", 10)


def test_a_body_in_the_config_of_another_type_stays() -> None:
    node = load(BODY.replace("ITERATION", "HTTP").replace(", joi: all", "")).require().nodes[0]
    assert node.body is None
    assert "body" in node.config


def test_body_twice() -> None:
    problem = one(load(BODY.replace(", joi: all", "") + "    body: {nodes: []}\n"))
    assert (problem.code, problem.node, problem.field, problem.line) == (
        "body_twice",
        "each",
        "config.body",
        7,
    )


NODE = SMALL.replace("{id: start, type: START}", "{id: start, type: START, %s}")


@pytest.mark.parametrize(
    ("extra", "code", "field", "words"),
    [
        ("lable: x", "unknown_field", "lable", "no field 'lable' of a node"),
        ("join: some", "bad_value", "join", "'join' must be one of any, all, not the text 'some'"),
        ("timeout: soon", "bad_duration", "timeout", "'soon' is no duration"),
        ("timeout: -1", "out_of_range", "timeout", "at least 0"),
        ("timeout: [1]", "wrong_type", "timeout", "'timeout' must be a number, not a list"),
        ("label: 5", "wrong_type", "label", "'label' must be text, not the number 5"),
        ("disabled: maybe", "wrong_type", "disabled", "must be true or false"),
        ("config: [1]", "wrong_type", "config", "must be a mapping of names to values, not a list"),
        ("retry: {max: many}", "wrong_type", "retry.max", "a whole number, not the text 'many'"),
        ("retry: {max: 1.5}", "wrong_type", "retry.max", "a whole number"),
        ("retry: {maxx: 1}", "unknown_field", "retry.maxx", "no field 'maxx' in retry"),
        ("retry: {max: 500}", "out_of_range", "retry.max", "at most 100, not the number 500"),
        ("wait: {}", "bad_value", "wait", "exactly one of 'for' and 'until'"),
        ("wait: {for: 1 day}", "bad_duration", "wait.for", "is no duration"),
        ("body: {node: []}", "unknown_field", "body.node", "in body"),
    ],
)
def test_faults_of_a_node_in_words(extra: str, code: str, field: str, words: str) -> None:
    problem = one(load(NODE % extra))
    assert (problem.code, problem.node, problem.field, problem.line) == (code, "start", field, 3)
    assert words in problem.message


def test_unknown_fields_name_the_nearest() -> None:
    assert one(load(NODE % "lable: x")).fix == "Did you mean 'label'?"
    assert one(load(NODE % "on_eror: stop")).fix == "Did you mean 'on_error'?"
    fix = one(load(NODE % "zzzzz: 1")).fix
    assert fix is not None
    assert fix.startswith("Known: ")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name: small", "nmae: small", ("missing_field", None, "name", 1)),
        ("name: small", "name: ''", ("out_of_range", None, "name", 1)),
        ("name: small", "name: small\nschema: interlace/v2", ("bad_value", None, "schema", 2)),
        ("nodes:", "node:", ("missing_field", None, "nodes", 1)),
        ("{id: end, type: END}", "{type: END}", ("missing_field", None, "nodes[1].id", 4)),
        ("{id: end, type: END}", "{id: end}", ("missing_field", "end", "type", 4)),
        ("{id: end, type: END}", "{id: 1end, type: END}", ("bad_id", "1end", "id", 4)),
        ("{id: end, type: END}", "{id: 7, type: END}", ("wrong_type", None, "nodes[1].id", 4)),
        ("{id: end, type: END}", "{id: end, type: [END]}", ("wrong_type", "end", "type", 4)),
        ("id: end, type", "id: %s, type" % ("e" * 65), ("bad_id", "e" * 65, "id", 4)),
        ("{id: end, type: END}", "END", ("wrong_type", None, "nodes[1]", 4)),
        ("start -> end", "{from: start}", ("missing_field", "start", "edges[0].to", 6)),
        ("start -> end", "{form: start, to: end}", ("unknown_field", None, "edges[0].form", 6)),
        ("edges:\n  - start -> end", "edges: start -> end", ("wrong_type", None, "edges", 5)),
        ("name: small", "name: small\nsettings: {timeout: x}", ("bad_duration", None, "settings.timeout", 2)),
        ("name: small", "name: small\nvariables: {v: {type: text}}", ("bad_value", None, "variables.v.type", 2)),
        ("name: small", "name: small\nvariables: {1a: {type: string}}", ("bad_id", None, "variables.1a", 2)),
        ("name: small", "name: small\nui: {positions: {start: [1]}}", ("missing_field", None, "ui.positions.start[1]", 2)),
    ],
)  # fmt: skip
def test_faults_of_the_document(old: str, new: str, expected: tuple[str, str | None, str, int]) -> None:
    found = [(p.code, p.node, p.field, p.line) for p in load(SMALL.replace(old, new)).problems]
    assert expected in found


def test_all_faults_come_at_once_and_the_rest_is_salvaged() -> None:
    source = load((NODE % "lable: x, timeout: soon").replace("name: small", "name: small\ndescripton: y"))
    assert sorted(p.code for p in source.problems) == ["bad_duration", "unknown_field", "unknown_field"]
    assert source.document is None
    assert source.salvaged is not None
    assert source.salvaged.nodes[0].timeout is None
    with pytest.raises(InvalidDocument, match="and 2 more"):
        source.require()


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("name: a\nname: b\n", "repeated_key", 2),
        ('{\n "name": "a",\n "nodes": [],\n "name": "b"}', "repeated_key", 4),
        ('{"name": "a", "x": {"k": 1,\n\t"k": 2}}', "repeated_key", 2),
        ("name: [a\nb: c", "syntax", 2),
        ('{\n "name": "a"\n "nodes": []}', "syntax", 3),
        ('{"name": "a",', "syntax", 1),
        ("a: 'x", "syntax", None),
        ("a:\n\tb: 1", "syntax", 2),
        ("---\na: 1\n---\nb: 1\n", "syntax", 3),
        ("1: a", "bad_key", 1),
        ("x: 1\n[a]: 1", "bad_key", 2),
        ("x: 1\ny: {{ 1 }}", "bad_key", 2),
        ("a: !!python/object:os.system x", "yaml_tag", 1),
        ("a: 1\nb: !secret x", "yaml_tag", 2),
        ("a: !!int 3", "yaml_tag", 1),
        ("a: *b", "yaml_alias", 1),
        ("a: &x [*x]", "yaml_alias", 1),
        ("a: 1\nb: .inf", "not_finite", 2),
        ("a: 1e999", "not_finite", 1),
        ('{"name": NaN}', "not_finite", None),
        ('{"name": 1e999}', "not_finite", None),
        ('{"name": "\\ud800"}', "encoding", None),
        ("a: \ud800", "encoding", None),
        ("a: \x01", "encoding", 1),
        ("", "not_a_document", 1),
        ("# nothing\n", "not_a_document", 1),
        ("[1, 2]", "not_a_document", 1),
        ("hello", "not_a_document", 1),
        ("null", "not_a_document", 1),
        ("a: " + "[" * 150 + "]" * 150, "too_deep", 1),
        ('{"a": ' + "[" * 150 + "]" * 150 + "}", "too_deep", None),
        ("[" * 100_000, "too_deep", 1),
        ('{"a": ' * 100_000, "too_deep", None),
        ("a: " + "9" * 5000, "syntax", 1),
        ('{"a": ' + "9" * 5000 + "}", "syntax", None),
    ],
)
def test_texts_that_are_no_documents(text: str, code: str, line: int | None) -> None:
    problem = one(load(text))
    assert problem.code == code
    assert line is None or problem.line == line
    assert "Traceback" not in problem.message


def test_an_alias_stands_for_a_copy() -> None:
    text = SMALL.replace("type: START}", "type: START, config: &c {a: [1]}}").replace(
        "type: END}", "type: END, config: *c}"
    )
    first, second = load(text).require().nodes
    assert first.config == second.config == {"a": [1]}
    assert first.config is not second.config


def test_an_alias_bomb_is_refused_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert one(load("\n".join(lines))).code == "yaml_alias"


def test_flow_yaml_that_begins_like_json() -> None:
    assert load("{name: small, nodes: [{id: start, type: START}]}").require().name == "small"


def test_json_with_emoji_escapes_keeps_its_lines() -> None:
    text = '{\n"name": "\\ud83d\\ude00",\n"nodes": [],\n"nam": 1}'
    assert one(load(text)).line == 4


def test_a_byte_order_mark_and_windows_lines() -> None:
    assert load("\ufeff" + SMALL.replace("\n", "\r\n")).require().name == "small"


def test_too_large() -> None:
    assert one(load("x" * 20_000_001)).code == "too_large"


def test_load_file(tmp_path: Path) -> None:
    path = tmp_path / "flow.yaml"
    path.write_text(SMALL)
    source = load_file(path)
    assert source.require().name == "small"
    assert source.name == str(path)
    assert one(load_file(tmp_path / "no.yaml")).code == "unreadable_file"
    assert one(load_file(tmp_path)).code == "unreadable_file"
    path.write_bytes(b"name: \xff\xfe")
    assert one(load_file(path)).code == "encoding"


LINES = """name: lines
nodes:
  - id: a
    type: TEMPLATE
    config:
      template: |
        first
        second
      folded: "one
        two"
      headers:
        X-Rate.Limit: 5
  - id: each
    type: LOOP
    body:
      nodes:
        - {id: inner, type: TEMPLATE}
      edges:
        - inner -> $break
edges:
  - a -> each
"""


@pytest.mark.parametrize(
    ("node", "field", "inner", "line"),
    [
        ("a", "id", 0, 3), ("a", "config", 0, 5), ("a", "config.template", 0, 7), ("a", "config.template", 1, 8),
        ("a", "config.folded", 1, 10), ("a", "config.headers.X-Rate.Limit", 0, 12), ("a", "config.nothing", 0, 5),
        ("a", None, 0, 3), ("inner", "edges[0]", 0, 19), ("a", "edges[0]", 0, 21), ("inner", "type", 0, 17), (None, "nodes", 0, 2),
        ("ghost", "id", 0, None), ("ghost", "edges[0]", 0, 21),
    ],
)  # fmt: skip
def test_lines_of_fields(node: str | None, field: str | None, inner: int, line: int | None) -> None:
    assert load(LINES).line(node, field, inner=inner) == line


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("template: {{ inputs.x }}", 'template: "{{ inputs.x }}"'),
        ("- {id: a, config: {template: {{ inputs.x }}}}", 'template: "{{ inputs.x }}"'),
        ("- {{ inputs.x }}", '"{{ inputs.x }}"'),
        ("- text: {{ a.b }} and more  # why", 'text: "{{ a.b }} and more"'),
        ('url: {{ a["b"] }}', "url: '{{ a[\"b\"] }}'"),
    ],
)
def test_an_expression_without_quotes(line: str, fix: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        load(f"nodes:\n  {line}\n").require()
    (problem,) = caught.value.problems
    assert (problem.code, problem.line) == ("bad_key", 2)
    assert problem.fix == f"An expression must be quoted: {fix}"


def test_an_expression_without_quotes_that_is_no_yaml() -> None:
    (problem,) = load("x: {y: {{ a | join(', ') }}}\n").problems
    assert problem.code == "syntax"
    assert "must be quoted" in str(problem.fix)
