"""Nearly every seeded defect is found at its node and field, and valid documents raise no alarm."""

from __future__ import annotations

import pytest

from interlace.engine.registry import Registry
from interlace.engine.source import load
from interlace.engine.validate import CODES, check
from tests.engine.validate.mutations import MAKERS, missed, mutations

DOCUMENTS = {
    "invoice": """name: Invoice check
inputs: {type: object, required: [amount], properties: {amount: {type: number}, vendor: {type: string, default: unknown}}}
nodes:
  - {id: start, type: START}
  - {id: size, type: CONDITION, label: Large?, config: {cases: [{id: large, when: "inputs.amount > 1000"}]}}
  - id: ask
    type: HUMAN
    config:
      title: "Approve {{ inputs.amount }} for {{ inputs.vendor }}?"
      form: {type: object, properties: {note: {type: string}}}
  - {id: record, type: TEMPLATE, config: {template: "{{ ask.action }} {{ size.matched }}"}}
  - {id: done, type: END, config: {outputs: {approved: "{{ ask.action == 'approve' }}", note: "{{ ask.form.note | default(none) }}"}}}
edges: [start -> size, size.large -> ask, size.else -> done, ask.approve -> record, ask.reject -> record, ask.timeout -> done, record -> done]
""",
    "batch": """name: Batch
inputs: {type: object, required: [orders], properties: {orders: {type: array, items: {type: object, properties: {id: {type: string}, total: {type: number}}}}}}
variables: {sum: {type: number, default: 0}}
nodes:
  - {id: start, type: START}
  - {id: large, type: LIST_OPERATION, config: {input: "{{ inputs.orders }}", filter: item.total > 100}}
  - id: each
    type: ITERATION
    config: {items: "{{ inputs.orders }}", output: "{{ send.status }}"}
    body:
      nodes:
        - {id: send, type: HTTP, config: {url: "https://shop/{{ item.id }}", headers: {authorization: "Bearer {{ secrets.shop }}"}}}
        - {id: add, type: VARIABLE_ASSIGN, config: {assignments: [{variable: sum, op: increment, value: "{{ item.total }}"}]}}
      edges: [send -> add]
  - {id: report, type: TEMPLATE, config: {template: "{{ large.result | length }} large, {{ vars.sum }} in all"}}
  - {id: end, type: END, config: {outputs: {text: "{{ report.text }}", states: "{{ each.results }}"}}}
edges: [start -> large, large -> each, each -> report, report -> end]
""",
    "poll": """name: Poll
nodes:
  - {id: start, type: START}
  - id: fetch
    type: HTTP
    on_error: branch
    retry: {max: 2, delay: 5s}
    config: {url: "https://x", response_schema: {type: object, properties: {next: {type: string}}}}
  - id: pages
    type: LOOP
    config: {variables: {page: 1, link: "{{ fetch.body.next }}"}, until: page > 3, max_rounds: 10}
    body:
      nodes:
        - {id: get, type: HTTP, config: {url: "{{ link }}"}}
        - {id: more, type: CONDITION, config: {cases: [{id: last, when: get.status == 204}]}}
        - {id: turn, type: VARIABLE_ASSIGN, config: {assignments: [{variable: page, op: increment, value: 1}]}}
      edges: [get -> more, more.last -> $break, more.else -> turn]
  - {id: failed, type: END, config: {outputs: {error: "{{ fetch.error.message }}"}}}
  - {id: end, type: END, config: {outputs: {pages: "{{ pages.page }}"}}}
edges: [start -> fetch, fetch -> pages, fetch.error -> failed, pages -> end]
""",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_originals_raise_no_alarm(registry: Registry, name: str) -> None:
    assert check(load(DOCUMENTS[name]), registry).problems == ()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_seeded_defects_are_found(registry: Registry, name: str) -> None:
    seeded = mutations(load(DOCUMENTS[name]).require(), registry)
    failures = [text for text in (missed(mutation, registry) for mutation in seeded) if text]
    assert len(seeded) > 90
    assert not failures, "\n".join(failures)


def test_every_kind_of_defect_is_seeded_somewhere(registry: Registry) -> None:
    kinds = {m.kind for text in DOCUMENTS.values() for m in mutations(load(text).require(), registry)}
    assert kinds == set(MAKERS)
    assert len(kinds) >= 30


def test_the_codes_of_mutations_are_documented(registry: Registry) -> None:
    for text in DOCUMENTS.values():
        for mutation in mutations(load(text).require(), registry):
            assert mutation.code in CODES
