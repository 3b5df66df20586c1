from __future__ import annotations

from typing import Any

import pytest

from interlace.engine.document import Document
from interlace.engine.expressions import compile_text
from interlace.engine.fields import Lazy
from interlace.engine.node import Config, Node, OpenOutput, TypeContext
from interlace.engine.registry import Registry
from interlace.engine.rename import RenameRefused, rename_node
from interlace.engine.schema import Schema
from interlace.engine.source import load
from interlace.engine.validate import validate
from tests.engine.validate.kinds import make_registry
from tests.engine.validate.test_mutations import DOCUMENTS

REGISTRY: Registry = make_registry()
TEXT = """name: rename
inputs: {type: object, properties: {get: {type: array}}, required: [get]}
nodes:
  - {id: start, type: START}
  - {id: get, type: HTTP, label: get, note: "{{ get.body }}", config: {url: "https://get/{{ inputs.get }}", headers: {get: "x get"}}}
  - {id: size, type: CONDITION, wait: {until: "{{ get.body.until }}"}, config: {cases: [{id: get, when: "get.body.get > 1 and 'get' == get.body['get']"}]}}
  - id: each
    type: ITERATION
    config: {items: "{{ inputs.get }}", output: "{{ inner.text ~ get.status }}"}
    body:
      nodes:
        - {id: inner, type: TEMPLATE, config: {template: "get {{ get.body }}{% for get in [1] %}{{ get }}{% endfor %}{{ getter | default(get.status) }}"}}
        - {id: later, type: TEMPLATE, config: {template: "{{ inner.text }}"}}
      edges: [inner -> later]
  - {id: end, type: END, config: {outputs: {get: "{{ each.results }}", all: ["{{ get.status }}", "get", 5]}}}
edges: [start -> get, get -> size, size.get -> each, size.else -> end, each -> end]
ui: {positions: {get: [1, 2], end: [3, 4]}, zoom: 2}
"""


class NamedConfig(Config):
    value: Lazy[str]


class Named(Node[NamedConfig, OpenOutput]):
    """Gives its value under the name of the node it reads."""

    kind = "NAMED"

    def output_schema(self, types: TypeContext) -> Schema:
        name = compile_text(self.config.value).references[0].root
        return {"type": "object", "properties": {name: {}}, "required": [name]}


def renamed(old: str, new: str, text: str = TEXT) -> Document:
    return rename_node(load(text).require(), old, new, registry=REGISTRY)


def config(document: Document, name: str) -> dict[str, Any]:
    return next(node.config for node, _ in document.walk() if node.id == name)


def test_every_reference_is_rewritten_and_nothing_else() -> None:
    document = renamed("get", "fetch")
    assert config(document, "fetch") == {"url": "https://get/{{ inputs.get }}", "headers": {"get": "x get"}}
    assert config(document, "size")["cases"] == [
        {"id": "get", "when": "fetch.body.get > 1 and 'get' == fetch.body['get']"}
    ]
    assert config(document, "each")["output"] == "{{ inner.text ~ fetch.status }}"
    assert config(document, "inner")["template"] == (
        "get {{ fetch.body }}{% for get in [1] %}{{ get }}{% endfor %}{{ getter | default(fetch.status) }}"
    )
    assert config(document, "end")["outputs"] == {
        "get": "{{ each.results }}",
        "all": ["{{ fetch.status }}", "get", 5],
    }
    node = next(node for node in document.nodes if node.id == "fetch")
    assert (node.label, node.note) == ("get", "{{ get.body }}")
    size = next(node for node in document.nodes if node.id == "size")
    assert size.wait is not None
    assert size.wait.until == "{{ fetch.body.until }}"


def test_edges_and_positions_follow() -> None:
    document = renamed("get", "fetch")
    assert [(e.from_, e.handle, e.to) for e in document.edges][:3] == [
        ("start", "out", "fetch"),
        ("fetch", "out", "size"),
        ("size", "get", "each"),
    ]
    assert document.ui.positions == {"fetch": (1, 2), "end": (3, 4)}
    assert document.ui.model_extra == {"zoom": 2}


def test_a_node_inside_a_body() -> None:
    document = renamed("inner", "work")
    assert config(document, "each")["output"] == "{{ work.text ~ get.status }}"
    assert config(document, "later")["template"] == "{{ work.text }}"
    body = next(node.body for node in document.nodes if node.id == "each")
    assert body is not None
    assert (body.edges[0].from_, body.edges[0].to) == ("work", "later")


def test_back_and_forth_is_the_same_document() -> None:
    document = load(TEXT).require()
    there = rename_node(document, "get", "fetch", registry=REGISTRY)
    assert rename_node(there, "fetch", "get", registry=REGISTRY) == document
    assert rename_node(document, "get", "get", registry=REGISTRY) is document


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_renamed_document_stays_valid(name: str) -> None:
    document = load(DOCUMENTS[name]).require()
    for node, _ in document.walk():
        changed = rename_node(document, node.id, "zz_renamed", registry=REGISTRY)
        assert validate(changed, REGISTRY).problems == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ghost", "x", "no node 'ghost'"), ("get", "end", "'end' is taken"), ("get", "later", "'later' is taken"),
        ("get", "vars", "a name of the expression language"), ("get", "9a", "no valid id"), ("get", "a b", "no valid id"),
        ("get", "a" * 65, "no valid id"), ("get", "", "no valid id"),
    ],
)  # fmt: skip
def test_what_is_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(RenameRefused, match=words):
        renamed(old, new)


def test_the_name_of_a_loop_variable_is_taken() -> None:
    with pytest.raises(RenameRefused, match="'page' is taken"):
        renamed("fetch", "page", DOCUMENTS["poll"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("type: CONDITION", "type: CONDITOIN", "unknown type 'CONDITOIN'"),
        ("cases: [{id: get,", "cases: [{idd: get,", "config of 'size' is not valid"),
        ("get.body.get > 1", "get.body.get >", "expression of 'size' cannot be read"),
    ],
)
def test_nothing_is_missed_in_what_cannot_be_read(old: str, new: str, words: str) -> None:
    with pytest.raises(RenameRefused, match=words):
        renamed("get", "fetch", TEXT.replace(old, new))


def test_an_id_that_is_part_of_a_value_is_not_torn_off() -> None:
    text = TEXT.replace("getter | default(get.status)", "get.status").replace(
        'output: "{{ inner.text ~ get.status }}"', 'output: "{{ inner.text }}"'
    )
    text = text.replace(
        'type: TEMPLATE, config: {template: "{{ inner.text }}"}',
        'type: NAMED, config: {value: "{{ inner.text }}"}',
    )
    text = text.replace("edges: [inner -> later]", "edges: [inner -> later -> last]").replace(
        "      edges: [inner",
        '        - {id: last, type: TEMPLATE, config: {template: "{{ later.inner }}"}}\n      edges: [inner',
    )
    registry = make_registry()
    registry.add(Named)
    document = load(text).require()
    assert validate(document, registry).valid
    with pytest.raises(RenameRefused, match="would break the workflow"):
        rename_node(document, "inner", "work", registry=registry)
