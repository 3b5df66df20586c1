from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from interlace.engine.diff import Diff, diff
from interlace.engine.document import Document
from interlace.engine.source import load
from tests.engine.test_dump import documents

BEFORE = """name: flow
description: first
inputs: {type: object, properties: {a: {type: number}}, required: [a, b]}
variables: {v: {type: number, default: 0}}
settings: {timeout: 5m}
nodes:
  - {id: start, type: START}
  - {id: size, type: CONDITION, label: Size, config: {cases: [{id: large, when: a > 1}, {id: small, when: a < 1}]}}
  - {id: each, type: LOOP, body: {nodes: [{id: inner, type: TEMPLATE, config: {template: x}}], edges: [inner -> $break]}}
  - {id: gone, type: TEMPLATE, label: Going}
  - {id: end, type: END}
edges: [start -> size, size.large -> each, each -> end, size.small -> gone]
ui: {positions: {start: [0, 0]}}
"""


def text_of(after: str) -> list[str]:
    return str(diff(load(BEFORE).require(), load(after).require())).splitlines()


def test_the_same_document_has_no_differences() -> None:
    document = load(BEFORE).require()
    assert not diff(document, document)
    assert diff(document, document) == Diff()
    assert text_of(BEFORE) == []


def test_order_and_positions_do_not_count() -> None:
    after = BEFORE.replace("  - {id: start, type: START}\n", "").replace(
        "edges: [start -> size,", "  - {id: start, type: START}\nedges: ["
    )
    after = (
        after.replace("-> gone]", "-> gone, start -> size]")
        .replace("[0, 0]", "[9, 9]")
        .replace("[a, b]", "[b, a]")
    )
    assert text_of(after) == []


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("label: Size", "label: Größe", ['~ size.label: "Size" -> "Größe"']),
        (", label: Size", "", ['- size.label: "Size"']),
        ("type: LOOP,", "type: LOOP, timeout: 30s,", ["+ each.timeout: 30.0"]),
        ("when: a > 1", "when: a > 2", ['~ size.config.cases[large].when: "a > 1" -> "a > 2"']),
        ("{id: large, when: a > 1}, {id: small, when: a < 1}", "{id: small, when: a < 1}, {id: large, when: a > 1}",
         ['~ size.config.cases (order): ["large", "small"] -> ["small", "large"]']),
        (", {id: small, when: a < 1}", "", ['- size.config.cases[small]: {"id": "small", "when": "a < 1"}']),
        ("template: x", "template: y", ['~ inner.config.template: "x" -> "y"']),
        ("inner -> $break", "inner.error -> $break", ["+ edge inner.error -> $break (in each)", "- edge inner -> $break (in each)"]),
        ("  - {id: gone, type: TEMPLATE, label: Going}\n", "", ["- node gone (TEMPLATE) 'Going'"]),
        ("size.small -> gone", "size.else -> gone", ["+ edge size.else -> gone", "- edge size.small -> gone"]),
        ("type: number}}, required", "type: string}}, required", ['~ inputs.properties.a.type: "number" -> "string"']),
        ("[a, b]", "[a]", ['~ inputs.required: ["a", "b"] -> ["a"]']),
        ("default: 0", "default: false", ["~ variables.v.default: 0 -> false"]),
        ("timeout: 5m", "timeout: 6m", ["~ settings.timeout: 300.0 -> 360.0"]),
        ("description: first", "description: second", ['~ description: "first" -> "second"']),
        ("name: flow", "name: flow\ntriggers: [{type: cron}]", ['~ triggers: [] -> [{"type": "cron"}]']),
        ("type: END}", "type: TEMPLATE}", ['~ end.type: "END" -> "TEMPLATE"']),
    ],
)  # fmt: skip
def test_differences_in_words(old: str, new: str, lines: list[str]) -> None:
    assert text_of(BEFORE.replace(old, new, 1)) == lines


def test_a_node_that_moves_into_a_body() -> None:
    after = BEFORE.replace("  - {id: gone, type: TEMPLATE, label: Going}\n", "").replace(
        "{nodes: [", "{nodes: [{id: gone, type: TEMPLATE, label: Going}, "
    )
    assert text_of(after) == ['+ gone.inside: "each"']


def test_the_same_as_plain_data() -> None:
    after = BEFORE.replace("template: x", "template: y").replace("size.small -> gone", "size.else -> gone")
    data = diff(load(BEFORE).require(), load(after).require()).as_json()
    json.dumps(data)
    assert data["changed"] == [
        {
            "id": "inner",
            "type": "TEMPLATE",
            "changes": ({"path": "config.template", "before": "x", "after": "y"},),
        }
    ]
    assert data["edges_added"] == [{"handle": "else", "to": "gone", "inside": None, "from": "size"}]


@settings(max_examples=100, deadline=None)
@given(documents(), documents())
def test_there_is_a_difference_exactly_where_documents_differ(one: Document, other: Document) -> None:
    assert not diff(one, one)
    there, back = diff(one, other), diff(other, one)
    assert bool(there) == bool(back)
    assert [node.id for node in there.added] == [node.id for node in back.removed]
    assert set(there.edges_added) == set(back.edges_removed)
    json.dumps(there.as_json())
    assert len(str(there).splitlines()) >= bool(there)
