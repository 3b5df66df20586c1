"""Every kind of FIM One node: what it becomes, and every envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlace.importers import Imported
from tests.importers.running import imported, valid
from tests.importers.runs.test_fim_one import begin, blueprint


def one(made: Imported, name: str) -> dict[str, Any]:
    assert made.document is not None
    found = next(spec for spec, _ in made.document.walk() if spec.id == name)
    return {"type": found.type, **found.config}


@pytest.mark.parametrize(
    ("data", "type_", "config"),
    [
        ({"type": "LLM", "prompt": "Say {{input.q}}", "model": "m"}, "LLM", {"prompt": "Say {{ inputs.q }}"}),
        ({"type": "AGENT", "agent_id": "", "query": "{{input.q}}"}, "AGENT", {"instructions": "Answer the question.", "prompt": "{{ inputs.q }}"}),
        ({"type": "KNOWLEDGE_RETRIEVAL", "kb_ids": ["a", "b"], "query": "{{input.q}}", "top_k": 2}, "KB_RETRIEVAL", {"knowledge_bases": ["a", "b"], "query": "{{ inputs.q }}", "top_k": 2}),
        ({"type": "HTTP_REQUEST", "method": "post", "url": "https://x.org", "headers": {"A": "Bearer {{env_TOKEN}}"}, "body": '{"q": "{{input.q}}"}'}, "HTTP",
         {"method": "POST", "url": "https://x.org", "headers": {"A": "Bearer {{ secrets.TOKEN }}"}, "body": {"type": "json", "content": {"q": "{{ inputs.q }}"}}}),
        ({"type": "CODE_EXECUTION", "language": "python", "code": "output = variables['input.q'] + q"}, "CODE",
         {"code": "def main(q, variables):\n    output = variables['input.q'] + q\n    return {'output': output}\n", "inputs": {"q": "{{ inputs.q }}", "variables": {"input.q": "{{ inputs.q }}"}}}),
        ({"type": "TEMPLATE_TRANSFORM", "template": "{% if q %}{{ q.upper() }}{% endif %}"}, "TEMPLATE", {"template": "{% if inputs.q %}{{ inputs.q | upper }}{% endif %}"}),
        ({"type": "VARIABLE_ASSIGN", "assignments": [{"variable": "v", "value": "{{input.q}}"}]}, "VARIABLE_ASSIGN", {"assignments": [{"variable": "v", "value": "{{ inputs.q }}"}]}),
        ({"type": "VARIABLE_AGGREGATOR", "variables": ["{{input.q}}"], "mode": "concat", "separator": ", "}, "VARIABLE_AGGREGATOR", {"mode": "concat", "values": ["{{ inputs.q }}"], "separator": ", "}),
        ({"type": "PARAMETER_EXTRACTOR", "input_text": "{{input.q}}", "parameters": [{"name": "a", "type": "number", "required": True}]}, "PARAMETER_EXTRACTOR", {"input": "{{ inputs.q }}", "fields": [{"name": "a", "type": "number", "required": True}]}),
        ({"type": "DOCUMENT_EXTRACTOR", "input_variable": "input.q", "page_range": "1-2"}, "DOCUMENT_EXTRACTOR", {"file": "{{ inputs.q }}", "mode": "text", "page_range": "1-2"}),
        ({"type": "LIST_OPERATION", "input_variable": "{{input.q}}", "operation": "slice", "slice_start": 1, "slice_end": 3}, "LIST_OPERATION", {"input": "{{ inputs.q }}", "operations": [{"slice": [1, 3]}]}),
        ({"type": "LIST_OPERATION", "input_variable": "{{input.q}}", "operation": "map", "expression": "item.name"}, "LIST_OPERATION", {"input": "{{ inputs.q }}", "operations": [{"map": "item.name"}]}),
        ({"type": "TRANSFORM", "input_variable": "input.q", "operations": [{"type": "json_parse"}, {"type": "pick", "config": {"fields": ["a"]}}]}, "TRANSFORM", {"input": "{{ inputs.q }}", "steps": [{"parse": "json"}, {"pick": ["a"]}]}),
        ({"type": "QUESTION_UNDERSTANDING", "input_variable": "input.q", "mode": "decompose"}, "QUESTION_UNDERSTANDING", {"input": "{{ inputs.q }}", "mode": "decompose"}),
        ({"type": "HUMAN_INTERVENTION", "prompt_message": "Ok {{input.q}}?", "timeout_hours": 8, "assignee": "ann"}, "HUMAN", {"title": "x", "message": "Ok {{ inputs.q }}?", "actions": ["approved", "rejected"], "assignees": ["ann"], "timeout": "8h"}),
        ({"type": "CONNECTOR", "connector_id": "shop", "action": "get", "parameters": {"id": "{{input.q}}"}}, "CONNECTOR", {"connector": "shop", "action": "get", "parameters": {"id": "{{ inputs.q }}"}}),
        ({"type": "MCP", "server_id": "", "tool_name": "t", "parameters": {}}, "MCP", {"server": "x", "tool": "t"}),
        ({"type": "SUB_WORKFLOW", "workflow_id": "w", "input_mapping": {"a": "{{input.q}}"}}, "SUB_WORKFLOW", {"workflow": "w", "inputs": {"a": "{{ inputs.q }}"}}),
        ({"type": "ENV", "env_keys": ["REGION"]}, "ENV", {"values": {"REGION": "REGION"}}),
        ({"type": "LOOP", "condition": "input.q == 'go'", "max_iterations": 3, "body_nodes": ["y"]}, "LOOP", {"while": "inputs.q == 'go'", "max_rounds": 3, "on_max": "continue", "output": "{{ {'y': y.text | default(none)} }}"}),
    ],
)  # fmt: skip
def test_kinds(data: dict[str, Any], type_: str, config: dict[str, Any]) -> None:
    nodes = {
        "s": begin(q="string"),
        "x": data,
        "y": {"type": "TEMPLATE_TRANSFORM", "template": "y"},
        "e": {"type": "END"},
    }
    edges = ("s -> x", "x -> e") if data["type"] == "LOOP" else ("s -> x", "x -> y", "y -> e")
    made = valid(blueprint(nodes, *edges))
    assert one(made, "x") == {"type": type_, **config}


def test_every_envelope() -> None:
    whole = json.loads(blueprint({"s": begin(q="string"), "e": {"type": "END"}}, "s -> e"))
    inner = whole["workflow"]
    for given in (whole, {"data": inner}, inner, inner["blueprint"]):
        assert [spec.type for spec in valid(json.dumps(given)).document.nodes] == ["START", "END"]  # type: ignore[union-attr]
    made = imported(json.dumps({**whole, "format": "fim_workflow_v9"}), "fim-one")
    assert "'fim_workflow_v9'; known is 'fim_workflow_v1'" in made.report[-1].message


def test_outer_types_count_only_where_the_inner_is_missing() -> None:
    text = json.dumps({"blueprint": {"nodes": [{"id": "s", "type": "start", "data": {}}, {"id": "b", "type": "templateTransform", "data": {"template": "x"}}, {"id": "e", "type": "custom", "data": {"type": "end"}}],
                                     "edges": [{"source": "s", "target": "b"}, {"source": "b", "target": "e"}]}})  # fmt: skip
    made = valid(text)
    assert made.document is not None
    assert [spec.type for spec in made.document.nodes] == ["START", "TEMPLATE", "END"]


def test_an_unknown_type_is_a_placeholder_and_a_dangling_edge_is_damage() -> None:
    made = valid(
        blueprint({"s": begin(), "x": {"type": "TELEPORT"}, "e": {"type": "END"}}, "s -> x", "x -> e")
    )
    assert "was a node of type TELEPORT" in one(made, "x")["code"]
    made = imported(blueprint({"s": begin()}, "s -> gone"))
    assert [(entry.level, entry.code) for entry in made.report] == [("error", "damaged_connection")]
