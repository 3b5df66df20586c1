"""Every kind of Dify node that is known: what it becomes, and what the report says."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from interlace.importers import Imported
from tests.importers.dify_files import code, compare, end, export, field, llm, node, start, template
from tests.importers.running import imported, valid


def one(made: Imported, name: str) -> dict[str, Any]:
    assert made.document is not None
    found = [spec for spec, _ in made.document.walk() if spec.id == name]
    assert found, [spec.id for spec, _ in made.document.walk()]
    return {"type": found[0].type, **found[0].config}


def codes(made: Imported) -> set[str]:
    return {entry.code for entry in made.report}


@pytest.mark.parametrize(
    ("kind", "data", "type_", "config"),
    [
        ("code", {"code": "def main(a: str):\n    return {'x': a}  \n", "code_language": "python3", "outputs": {"x": {"type": "string"}}, "variables": [{"variable": "a", "value_selector": ["s", "q"]}]}, "CODE",
         {"code": "def main(a: str):\n    return {'x': a}\n", "inputs": {"a": "{{ inputs.q }}"}, "output_schema": {"type": "object", "required": ["x"], "properties": {"x": {"type": ["string", "null"]}}}}),
        ("template-transform", {"template": "{{ a.split(',')[0] | upper }}", "variables": [{"variable": "a", "value_selector": ["s", "q"]}]}, "TEMPLATE", {"template": "{{ (inputs.q | split(','))[0] | upper }}"}),
        ("knowledge-retrieval", {"dataset_ids": ["d1", "d2"], "query_variable_selector": ["s", "q"], "multiple_retrieval_config": {"top_k": 4, "score_threshold": 0.5, "reranking_enable": True}}, "KB_RETRIEVAL",
         {"knowledge_bases": ["knowledge_1", "knowledge_2"], "query": "{{ inputs.q }}", "top_k": 4, "min_score": 0.5, "rerank": True}),
        ("tool", {"provider_type": "builtin", "provider_name": "time", "tool_name": "current_time", "tool_parameters": {}, "tool_configurations": {"timezone": "UTC"}}, "TOOL", {"tool": "current_time", "arguments": {"time_zone": "UTC"}}),
        ("tool", {"provider_type": "builtin", "provider_name": "a/b/jina", "tool_name": "jina_reader", "tool_parameters": {"url": {"type": "mixed", "value": "{{#s.q#}}"}}}, "CONNECTOR", {"connector": "jina", "action": "jina_reader", "parameters": {"url": "{{ inputs.q }}"}}),
        ("tool", {"provider_type": "mcp", "provider_name": "files", "tool_name": "read", "tool_parameters": {"p": {"type": "variable", "value": ["s", "q"]}}}, "MCP", {"server": "files", "tool": "read", "arguments": {"p": "{{ inputs.q }}"}}),
        ("tool", {"provider_type": "workflow", "provider_name": "x", "tool_name": "child", "tool_parameters": {"p": {"type": "constant", "value": 3}}}, "SUB_WORKFLOW", {"workflow": "child", "inputs": {"p": 3}}),
        ("agent", {"agent_parameters": {"instruction": {"value": "Help"}, "query": {"value": "{{#s.q#}}"}, "maximum_iterations": {"value": 3}}}, "AGENT", {"instructions": "Help", "prompt": "{{ inputs.q }}", "limits": {"iterations": 3}}),
        ("document-extractor", {"variable_selector": ["s", "f"], "is_array_file": False}, "DOCUMENT_EXTRACTOR", {"file": "{{ inputs.f }}", "mode": "text"}),
        ("document-extractor", {"variable_selector": ["s", "fs"], "is_array_file": True}, "ITERATION", {"items": "{{ inputs.fs }}", "output": "{{ x_text.text }}"}),
        ("list-operator", {"variable": ["s", "fs"], "filter_by": {"enabled": True, "conditions": [{"key": "name", "comparison_operator": "end with", "value": ".pdf"}]}, "extract_by": {"enabled": True, "serial": "2"}}, "LIST_OPERATION",
         {"input": "{{ inputs.fs }}", "operations": [{"filter": "item.name is endingwith('.pdf')"}, {"slice": [1, 2]}]}),
        ("human-input", {"form_content": "Ok? {{#s.q#}}", "inputs": [{"output_variable_name": "note"}], "user_actions": [{"id": "yes", "title": "Yes"}, {"id": "no", "title": "No"}], "timeout": 3, "timeout_unit": "day"}, "HUMAN",
         {"title": "X", "message": "Ok? {{ inputs.q }}", "form": {"type": "object", "properties": {"note": {"type": "string"}}}, "actions": ["yes", "no"], "timeout": "3d"}),
        ("variable-aggregator", {"variables": [], "advanced_settings": {"group_enabled": True, "groups": [{"group_name": "G1", "variables": [["s", "q"]]}]}}, "VARIABLE_AGGREGATOR", {"groups": [{"name": "g1", "values": ["{{ inputs.q }}"]}]}),
        ("assigner", {"assigned_variable_selector": ["conversation", "v"], "write_mode": "append", "input_variable_selector": ["s", "q"]}, "VARIABLE_ASSIGN", {"assignments": [{"variable": "v", "op": "append", "value": "{{ inputs.q }}"}]}),
        ("assigner", {"items": [{"variable_selector": ["conversation", "v"], "operation": "clear"}, {"variable_selector": ["conversation", "v"], "operation": "remove-first"}, {"variable_selector": ["conversation", "n"], "operation": "*=", "value": 2}]}, "VARIABLE_ASSIGN",
         {"assignments": [{"variable": "v", "value": []}, {"variable": "v", "value": "{{ vars.v[1:] }}"}, {"variable": "n", "value": "{{ vars.n * 2 }}"}]}),
    ],
)  # fmt: skip
def test_kinds(kind: str, data: dict[str, Any], type_: str, config: dict[str, Any]) -> None:
    begin = start(field("q"), field("f", "file"), field("fs", "file-list"))
    variables = [{"name": "v", "value_type": "array[string]"}, {"name": "n", "value_type": "number"}]
    made = valid(
        export(
            [begin, node("x", kind, title="X", **data), end()],
            "s -> x",
            "x -> e",
            *(["x:yes -> e"] if kind == "human-input" else []),
            conversation_variables=variables,
        )
    )
    assert one(made, "x") == {"type": type_, **config}


def test_http_with_all_its_settings() -> None:
    call = node(
        "x", "http-request", title="X", method="PUT", url="https://x.org/{{#s.q#}}", headers="A: {{#env.KEY#}}\nContent-Type:text/csv", params="a:1", timeout={"max_read_timeout": 9},
        authorization={"type": "api-key", "config": {"type": "custom", "header": "X-Key", "api_key": "plain text key"}}, body={"type": "raw-text", "data": [{"value": "a;{{#s.q#}}"}]},
        retry_config={"retry_enabled": True, "max_retries": 2, "retry_interval": 500}, ssl_verify=False,
    )  # fmt: skip
    made = valid(
        export(
            [start(field("q")), call, end(out=["x", "body"])],
            "s -> x",
            "x -> e",
            environment_variables=[{"name": "KEY", "value_type": "secret", "value": ""}],
        )
    )
    assert one(made, "x") == {
        "type": "HTTP", "method": "PUT", "url": "https://x.org/{{ inputs.q }}", "query": {"a": "1"}, "headers": {"A": "{{ secrets.KEY }}"},
        "auth": {"type": "header", "name": "X-Key", "value": "{{ secrets.x_key }}"}, "body": {"type": "raw", "content": "a;{{ inputs.q }}", "media_type": "text/csv"},
        "response_as": "text", "verify": False,
    }  # fmt: skip
    assert made.document is not None
    spec = next(spec for spec in made.document.nodes if spec.id == "x")
    assert spec.retry is not None
    assert (spec.timeout, spec.retry.max, spec.retry.delay) == (9, 2, 0.5)
    assert "plain text key" not in made.yaml()


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ({"type": "form-data", "data": [{"type": "text", "key": "a", "value": "{{#s.q#}}"}, {"type": "file", "key": "f", "file": ["s", "q"]}]}, {"type": "multipart", "fields": {"a": "{{ inputs.q }}", "f": "{{ inputs.q }}"}}),
        ({"type": "x-www-form-urlencoded", "data": "a:1\nb:{{#s.q#}}"}, {"type": "form", "fields": {"a": "1", "b": "{{ inputs.q }}"}}),
        ({"type": "json", "data": "{{#s.q#}}"}, {"type": "raw", "content": "{{ inputs.q }}", "media_type": "application/json"}),
        ({"type": "json", "data": '{"a": ["{{#s.q#}}", {{#s.q#}}], "b": "{{ braces }}"}'}, {"type": "json", "content": {"a": ["{{ inputs.q }}", "{{ inputs.q | fromjson }}"], "b": "{{ '{{' }} braces }}"}}),
        ({"type": "binary", "data": [{"file": ["s", "q"]}]}, {"type": "file", "file": "{{ inputs.q }}"}),
    ],
)  # fmt: skip
def test_http_bodies(body: dict[str, Any], made: dict[str, Any]) -> None:
    call = node(
        "x",
        "http-request",
        title="X",
        method="post",
        url="https://x.org",
        headers="",
        params="",
        authorization={"type": "no-auth"},
        body=body,
    )
    assert one(valid(export([start(field("q")), call, end()], "s -> x", "x -> e")), "x")["body"] == made


def test_the_fields_of_a_form() -> None:
    fields = [field("a", max_length=9), field("b", "paragraph", required=False, default="x"), field("c", "select", options=["k", "l"], required=False), field("d", "number", required=False),
              field("e", "checkbox", required=False, default=True), field("f", "file", required=False), field("g", "file-list", required=False), field("h", "json_object", json_schema='{"properties": {"z": {"type": "string"}}}')]  # fmt: skip
    made = valid(export([start(*fields), end()], "s -> e"))
    assert made.document is not None
    assert made.document.inputs == {
        "type": "object", "required": ["a", "h"],
        "properties": {
            "a": {"type": "string", "maxLength": 9}, "b": {"type": "string", "default": "x"}, "c": {"type": "string", "enum": ["k", "l", ""], "default": ""},
            "d": {"type": ["number", "null"], "default": None}, "e": {"type": "boolean", "default": True}, "f": {"type": ["object", "null"], "format": "file", "default": None},
            "g": {"type": "array", "items": {"type": "object", "format": "file"}, "default": []}, "h": {"type": "object", "properties": {"z": {"type": "string"}}},
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("trigger", "entry"),
    [
        (node("t", "trigger-schedule", mode="cron", cron_expression="*/5 * * * *", timezone="Asia/Tokyo"), {"type": "cron", "id": "t", "cron": "*/5 * * * *", "timezone": "Asia/Tokyo"}),
        (node("t", "trigger-schedule", mode="visual", frequency="weekly", visual_config={"time": "1:05 PM", "weekdays": ["mon", "fri"]}), {"type": "cron", "id": "t", "cron": "5 13 * * 1,5", "timezone": "UTC"}),
        (node("t", "trigger-webhook", body=[{"name": "order", "type": "object", "required": True}]), {"type": "webhook", "id": "t", "methods": ["POST"], "inputs": {"order": "{{ trigger.body.order }}"}}),
        (node("t", "trigger-plugin", plugin_id="github"), {"type": "webhook", "id": "t"}),
    ],
)  # fmt: skip
def test_triggers(trigger: dict[str, Any], entry: dict[str, Any]) -> None:
    made = valid(export([trigger, end(out=["t", "order"])], "t -> e"))
    assert made.document is not None
    assert made.document.triggers == [entry]


def test_notes_javascript_and_unknown_kinds() -> None:
    words = {
        "root": {
            "children": [
                {
                    "type": "paragraph",
                    "children": [{"type": "text", "text": "Hello "}, {"type": "text", "text": "there"}],
                }
            ]
        }
    }
    note = node("n", "", title="", text=json.dumps(words))
    note["type"] = "custom-note"
    script = node(
        "j",
        "code",
        title="J",
        code="async function main() { return {a: await fetch(1)} }",
        code_language="javascript",
        outputs={"a": {"type": "number"}},
        variables=[],
    )
    made = valid(
        export(
            [start(), note, script, node("u", "teleport", title="U", to="moon"), end(a=["j", "a"])],
            "s -> j",
            "j -> u",
            "u -> e",
        )
    )
    assert made.document is not None
    assert made.document.ui.model_extra == {"notes": [{"text": "Hello there", "at": [0, 0]}]}
    assert "# async function main() { return {a: await fetch(1)} }" in one(made, "j")["code"]
    assert "was a node of kind 'teleport' in Dify" in one(made, "u")["code"]
    assert {entry.source_node for entry in made.report if entry.level == "unsupported"} == {"J", "U"}


def test_a_template_without_a_counterpart_is_a_placeholder() -> None:
    made = valid(
        export(
            [
                start(field("q")),
                template("t", "{% include 'x' %}{{ a }}", a=["s", "q"]),
                end(o=["t", "output"]),
            ],
            "s -> t",
            "t -> e",
        )
    )
    assert one(made, "t")["type"] == "CODE"
    assert [entry.code for entry in made.report if entry.level == "unsupported"] == ["template"]


def test_where_values_may_be_missing_there_is_a_default() -> None:
    cases = [{"case_id": "true", "logical_operator": "and", "conditions": [compare(["s", "q"], "is", "x")]}]
    made = valid(export([start(field("q")), node("if", "if-else", cases=cases), code("c", "def main():\n    return {'x': 'a'}", {"x": "string"}), template("t", "{{ v }}!", v=["c", "x"]), end(o=["t", "output"], x=["c", "x"])],
                        "s -> if", "if:true -> c", "if:false -> t", "c -> t", "t -> e"))  # fmt: skip
    assert one(made, "t")["template"] == "{{ c.x | default('') }}!"
    assert one(made, "e")["outputs"]["x"] == "{{ c.x | default(none) }}"


def test_a_model_says_what_it_was() -> None:
    made = valid(
        export(
            [
                start(field("q")),
                llm("l", ("system", "Be short\r\nplease  "), ("user", "{{#s.q#}}")),
                end(o=["l", "text"]),
            ],
            "s -> l",
            "l -> e",
        )
    )
    assert one(made, "l") == {
        "type": "LLM",
        "system": "Be short\nplease",
        "prompt": "{{ inputs.q }}",
        "temperature": 0.7,
    }
    assert [entry.message for entry in made.report if entry.code == "model_role"] == [
        "Dify asks openai/gpt-4o; here the model of the node's role answers. Write `model:` at the node for another."
    ]


@pytest.mark.parametrize(
    ("mode", "types"),
    [
        ("completion", ["START", "LLM", "END"]),
        ("chat", ["START", "KB_RETRIEVAL", "LLM", "END"]),
        ("agent-chat", ["START", "KB_RETRIEVAL", "AGENT", "END"]),
    ],
)
def test_apps_without_a_graph(mode: str, types: list[str]) -> None:
    settings: dict[str, Any] = {
        "pre_prompt": "Answer {{topic}}",
        "user_input_form": [{"text-input": {"variable": "topic", "label": "Topic", "required": True}}],
        "model": {"provider": "p", "name": "m", "completion_params": {}},
    }
    if mode != "completion":
        settings["dataset_configs"] = {
            "top_k": 2,
            "datasets": {"datasets": [{"dataset": {"id": "d", "enabled": True}}]},
        }
    settings["agent_mode"] = {
        "enabled": mode == "agent-chat",
        "tools": [{"enabled": True, "provider_name": "x", "tool_name": "y"}],
    }
    made = valid(yaml.safe_dump({"app": {"name": "A", "mode": mode}, "model_config": settings}))
    assert made.document is not None
    assert [spec.type for spec in made.document.nodes] == types
    assert made.document.settings.chat == (mode != "completion")


def test_damaged_files() -> None:
    for text, why in (
        ("app: {mode: workflow}", "an app of mode workflow has `workflow.graph`"),
        ("app: {mode: sing}\nworkflow: {}", "app.mode is 'sing'"),
        (export([start(), start()]), "two nodes have the id 's'"),
        (export([start()], "s -> gone"), "there is no node 'gone'"),
        (export([template("t", "x", parent="t")]), "stands inside itself"),
        (export([]), "there is nothing to import"),
        ("app: [", "the file is damaged: line"),
        ("kind: rag_pipeline\nworkflow: {}", "knowledge pipeline"),
    ):
        made = imported(text, "dify")
        assert not made.ok, text
        assert why in made.report[-1].message
