"""Files that were cut, changed or mixed up never crash an importer: there is a document or a reason."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlace.importers import import_text
from tests.importers.dify_files import code, compare, end, export, field, llm, node, start, template
from tests.importers.n8n_files import called, conditions, keep_and_set, python, rule, set_, workflow
from tests.importers.n8n_files import node as n8n_node
from tests.importers.running import REGISTRY

DIFY = export(
    [start(field("q"), field("n", "number", required=False)), code("c", "def main(a):\n    return {'x': a}", {"x": "string"}, a=["s", "q"]),
     template("t", "{{ x | upper }} {{ x.strip() }}", x=["c", "x"]), llm("l", ("system", "Hi {{#sys.query#}} {{#env.A#}}"), ("user", "{{#t.output#}}"), memory={"window": {"enabled": True, "size": 3}}),
     node("if", "if-else", cases=[{"case_id": "true", "logical_operator": "and", "conditions": [compare(["c", "x"], "contains", "a")]}]),
     node("h", "http-request", method="post", url="http://x/{{#s.q#}}", headers="A:b", params="", body={"type": "json", "data": [{"value": '{"a": "{{#s.q#}}"}'}]}, authorization={"type": "api-key", "config": {"type": "bearer", "api_key": "k"}}),
     node("it", "iteration", iterator_selector=["c", "x"], output_selector=["b", "output"], output_type="array[string]"), template("b", "{{ i }}", parent="it", i=["it", "item"]),
     node("as", "assigner", items=[{"variable_selector": ["conversation", "v"], "operation": "append", "value": "1"}]),
     node("a", "answer", answer="{{#l.text#}} {{#it.output#}}"), node("u", "unheard-of", x={"y": 1}), end(o=["h", "body"])],
    "s -> c", "c -> t", "t -> if", "if:true -> l", "if:false -> h", "h -> it", "it -> as", "l -> a", "as -> a", "as -> u", "u -> e",
    mode="advanced-chat", conversation_variables=[{"name": "v", "value_type": "array[string]", "value": []}],
    environment_variables=[{"name": "A", "value": "x", "value_type": "string"}],
)  # fmt: skip
N8N = workflow(
    [called("a"), keep_and_set("Set", b="={{ $json.a.toUpperCase() }}", **{"c.d": 1}), n8n_node("If", "if", 2, **conditions(rule("={{ $json.a }}", "contains", "x"))),
     n8n_node("Get", "httpRequest", 4.2, url="=http://x/{{ $json.a }}", sendBody=True, method="POST", bodyParameters={"parameters": [{"name": "q", "value": "={{ $json.b }}"}]}, authentication="genericCredentialType", genericAuthType="httpHeaderAuth"),
     n8n_node("Loop", "splitInBatches", 3, options={}), set_("In", v="={{ $('Get').item.json.x ?? 'y' }}"), python("Py", "return _input.all()"), n8n_node("JS", "code", 2, jsCode="return items"),
     n8n_node("Split", "splitOut", 1, fieldToSplitOut="x"), n8n_node("Merge", "merge", 3, mode="combine", fieldsToMatchString="id"), n8n_node("Slack", "slack", 2, resource="message", operation="post", text="=hi {{ $now.toISO() }}"),
     n8n_node("Ask", "@n8n/n8n-nodes-langchain.agent", 1.7, promptType="define", text="=Hello {{ $json.a }}"), n8n_node("Model", "@n8n/n8n-nodes-langchain.lmChatOpenAi", 1, model="m", options={"temperature": 0.5})],
    "Go -> Set", "Set -> If", "If.0 -> Get", "If.1 -> Py", "Get -> Loop", "Loop.1 -> In", "In -> Loop", "Loop.0 -> Split", "Py -> JS", "Split -> Merge.0", "JS -> Merge.1", "Merge -> Slack", "Slack -> Ask",
    helpers=("Model ai_languageModel Ask",),
)  # fmt: skip
FIM = json.dumps({"format": "fim_workflow_v1", "workflow": {"name": "x", "blueprint": {
    "nodes": [{"id": "s", "data": {"type": "START", "variables": [{"name": "q", "type": "string"}]}}, {"id": "c", "data": {"type": "CONDITION_BRANCH", "conditions": [{"id": "a", "expression": "q == 'x'"}]}},
              {"id": "i", "data": {"type": "ITERATOR", "list_variable": "{{input.q}}", "iterator_variable": "one"}}, {"id": "t", "data": {"type": "TEMPLATE_TRANSFORM", "template": "{{one}} {{input.q}}"}},
              {"id": "k", "data": {"type": "CODE_EXECUTION", "code": "result = q"}}, {"id": "e", "data": {"type": "END", "output_mapping": {"o": "{{t.output}}"}}}],
    "edges": [{"source": "s", "target": "c"}, {"source": "c", "target": "i", "sourceHandle": "condition-a"}, {"source": "c", "target": "k", "sourceHandle": "source-default"}, {"source": "i", "target": "t"}, {"source": "t", "target": "e"}, {"source": "k", "target": "e"}]}}})  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**6) | st.floats(allow_nan=False) | st.sampled_from(["", "={{ $json.x }}", "={{", "{{#s.q#}}", "{{#", "{{ a.b.c() }}", "{% for %}", "a.b.c", "Go", "s", "\u2028\0x", "x" * 300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "id", "name", "value", "data", "node", "nodes", "x"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at] if at else []
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in entries:
        found += places(inner, (*at, key))
    return found


def changed(value: Any, place: tuple[Any, ...], change: Any, *, gone: bool) -> Any:
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    if gone:
        del holder[place[-1]]
    else:
        holder[place[-1]] = change
    return value


def check(text: str) -> None:
    for source in ("auto", "dify", "n8n", "fim-one"):
        made = import_text(text, registry=REGISTRY, source=source)
        assert made.ok or made.report[-1].level == "error"
        if made.ok:
            made.yaml()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([DIFY, N8N, FIM]), st.data())
def test_a_changed_file(text: str, data: st.DataObject) -> None:
    value = yaml.safe_load(text)
    for _ in range(data.draw(st.integers(1, 3))):
        found = places(value)
        if found:
            value = changed(
                value, data.draw(st.sampled_from(found)), data.draw(JUNK), gone=data.draw(st.booleans())
            )
    check(json.dumps(value))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([DIFY, N8N, FIM]), st.integers(0, 10_000), st.text(max_size=5))
def test_a_cut_file(text: str, where: int, more: str) -> None:
    check(text[: where % len(text)] + more)


@settings(max_examples=60, deadline=None)
@given(JUNK)
def test_anything(value: Any) -> None:
    check(json.dumps(value))
    check(json.dumps({"nodes": [value], "connections": {"a": value}}))
    check(
        json.dumps({"app": {"mode": "workflow"}, "workflow": {"graph": {"nodes": [value], "edges": [value]}}})
    )
    check(json.dumps({"blueprint": {"nodes": [value], "edges": value}}))
