"""Every kind of n8n node that is known: what it becomes, and what the report says."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.importers import Imported
from tests.importers.n8n_files import called, conditions, manual, node, rule, set_, workflow
from tests.importers.running import imported, valid

AI = "@n8n/n8n-nodes-langchain."
CREDENTIAL = {"credentials": {"api": {"id": "1", "name": "My Account"}}}


def one(made: Imported, name: str) -> dict[str, Any]:
    found = [spec for spec, _ in made.document.walk() if spec.id == name] if made.document else []
    assert found, [spec.id for spec, _ in made.document.walk()] if made.document else None
    return {"type": found[0].type, **found[0].config}


def codes(made: Imported, source: str | None = None) -> set[str]:
    return {entry.code for entry in made.report if source is None or entry.source_node == source}


@pytest.mark.parametrize(
    ("kind", "version", "parameters", "type_", "config"),
    [
        ("set", 3.4, {"assignments": {"assignments": [{"name": "a", "type": "number", "value": "3"}]}}, "TRANSFORM", {"input": {"a": 3}}),
        ("set", 3.4, {"mode": "raw", "jsonOutput": '={ "a": "{{ $json.q }}", "b": {{ $json.q }} }'}, "TRANSFORM", {"input": {"a": "{{ inputs.q }}", "b": "{{ inputs.q }}"}}),
        ("set", 1, {"values": {"string": [{"name": "a", "value": "x"}]}, "keepOnlySet": True}, "TRANSFORM", {"input": {"a": "x"}}),
        ("set", 3, {"fields": {"values": [{"name": "a", "stringValue": "={{ $json.q }}"}]}, "include": "none"}, "TRANSFORM", {"input": {"a": "{{ inputs.q }}"}}),
        ("dateTime", 2, {"operation": "formatDate", "date": "={{ $json.q }}", "format": "yyyy-MM-dd", "outputFieldName": "d"}, "TRANSFORM", {"input": {"d": "{{ inputs.q | format_date('%Y-%m-%d') }}"}}),
        ("dateTime", 2, {"operation": "addToDate", "magnitude": "={{ $json.q }}", "timeUnit": "days", "duration": 2}, "TRANSFORM", {"input": {"newDate": "{{ inputs.q | add_time(days=2) }}"}}),
        ("crypto", 1, {"action": "hash", "type": "SHA256", "value": "={{ $json.q }}", "dataPropertyName": "h"}, "TRANSFORM", None),
        ("if", 1, {"conditions": {"number": [{"value1": "={{ $json.q }}", "operation": "larger", "value2": 5}]}}, "CONDITION", {"cases": [{"id": "yes", "when": "inputs.q > 5"}]}),
        ("if", 2, conditions(rule("={{ $json.q }}", "notEmpty"), rule("={{ $json.q }}", "startsWith", "a"), combinator="or"), "CONDITION", {"cases": [{"id": "yes", "when": "inputs.q is not empty or inputs.q | default('') is startingwith('a')"}]}),
        ("filter", 2, conditions(rule("={{ $json.q }}", "true", "", "boolean")), "CONDITION", {"cases": [{"id": "kept", "when": "inputs.q is true"}]}),
        ("switch", 1, {"dataType": "string", "value1": "={{ $json.q }}", "rules": {"rules": [{"value2": "a"}, {"value2": "b", "output": 1}]}}, "CONDITION", None),
        ("switch", 3, {"mode": "expression", "output": "={{ $json.q }}", "numberOutputs": 2}, "CONDITION", {"cases": [{"id": "way_0", "when": "inputs.q == 0"}, {"id": "way_1", "when": "inputs.q == 1"}]}),
        ("limit", 1, {"maxItems": 3, "keep": "lastItems"}, "LIST_OPERATION", {"input": "{{ [{'q': inputs.q}] }}", "operations": [{"slice": [-3, None]}]}),
        ("splitOut", 1, {"fieldToSplitOut": "q.rows", "destinationFieldName": "row"}, "LIST_OPERATION", {"input": "{{ inputs.q.rows }}", "operations": [{"map": "{'row': item}"}]}),
        ("itemLists", 3, {"operation": "limit", "maxItems": 1}, "LIST_OPERATION", None),
        ("aggregate", 1, {"fieldsToAggregate": {"fieldToAggregate": [{"fieldToAggregate": "q", "renameField": True, "outputFieldName": "qs"}]}}, "TRANSFORM", None),
        ("summarize", 1, {"fieldsToSummarize": {"values": [{"field": "q", "aggregation": "count"}]}}, "CODE", None),
        ("wait", 1.1, {"amount": 5, "unit": "minutes"}, "TRANSFORM", {"input": {"q": "{{ inputs.q }}"}}),
        ("wait", 1.1, {"resume": "webhook"}, "HUMAN", {"title": "X", "actions": ["go_on"]}),
        ("stopAndError", 1, {"errorMessage": "=No {{ $json.q }}"}, "CODE", None),
        ("executeWorkflow", 1.2, {"workflowId": {"__rl": True, "mode": "list", "value": "9", "cachedResultName": "Child"}, "workflowInputs": {"value": {"a": "={{ $json.q }}"}}}, "SUB_WORKFLOW", {"workflow": "Child", "inputs": {"a": "{{ inputs.q }}"}}),
        ("xml", 1, {"dataPropertyName": "q"}, "TRANSFORM", {"input": "{{ inputs.q }}", "steps": [{"parse": "xml"}]}),
        ("extractFromFile", 1, {"operation": "pdf", "binaryPropertyName": "q"}, "DOCUMENT_EXTRACTOR", {"file": "{{ inputs.q }}", "mode": "text"}),
        ("postgres", 2, {"operation": "executeQuery", "query": "SELECT 1"}, "DATABASE", {"connector": "postgres", "operation": "query", "sql": "SELECT 1"}),
        ("googleSheets", 4, {"operation": "append", "sheetName": "S", "columns": {"value": {"a": "={{ $json.q }}"}}}, "CONNECTOR", {"connector": "google_sheets", "action": "append", "parameters": {"sheetName": "S", "columns": {"a": "{{ inputs.q }}"}}}),
        ("slack", 2, {"resource": "message", "operation": "post", "text": "=Hi {{ $json.q }}"}, "CONNECTOR", {"connector": "slack", "action": "message_post", "parameters": {"text": "Hi {{ inputs.q }}"}}),
        ("code", 2, {"language": "python", "pythonCode": "return []"}, "CODE", None),
        (AI + "agent", 1.7, {"promptType": "define", "text": "={{ $json.q }}", "options": {"systemMessage": "Be kind", "maxIterations": 4}}, "AGENT", {"instructions": "Be kind", "prompt": "{{ inputs.q | string }}", "limits": {"iterations": 4}}),
        (AI + "chainLlm", 1.5, {"promptType": "define", "text": "=Say {{ $json.q }}"}, "LLM", {"prompt": "Say {{ inputs.q }}"}),
        (AI + "openAi", 1, {"modelId": {"value": "gpt-4o"}, "messages": {"values": [{"role": "system", "content": "S"}, {"content": "=U {{ $json.q }}"}]}, "jsonOutput": True}, "LLM", {"system": "S", "prompt": "U {{ inputs.q }}", "output_schema": {"type": "object"}}),
        (AI + "informationExtractor", 1, {"text": "={{ $json.q }}", "attributes": {"attributes": [{"name": "city", "description": "where", "required": True}]}}, "PARAMETER_EXTRACTOR", {"input": "{{ inputs.q | string }}", "schema": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string", "description": "where"}}}}),
        (AI + "sentimentAnalysis", 1, {"inputText": "={{ $json.q }}"}, "CLASSIFIER", {"input": "{{ inputs.q | string }}", "classes": [{"id": "positive", "name": "Positive"}, {"id": "neutral", "name": "Neutral"}, {"id": "negative", "name": "Negative"}]}),
        (AI + "chainSummarization", 2, {}, "LLM", None),
    ],
)  # fmt: skip
def test_kinds(
    kind: str, version: float, parameters: dict[str, Any], type_: str, config: dict[str, Any] | None
) -> None:
    text = workflow([called("q"), node("X", kind, version, **parameters)], "Go -> X")
    made = valid(text)
    found = one(made, "x")
    assert found.pop("type") == type_
    if config is not None:
        assert found == config
    assert codes(made, "X")


def test_http_of_all_versions() -> None:
    new = node("New", "httpRequest", 4.2, method="POST", url="=https://x.org/{{ $json.q }}", authentication="genericCredentialType", genericAuthType="httpBasicAuth",
               sendQuery=True, queryParameters={"parameters": [{"name": "a", "value": "1"}]}, sendHeaders=True, headerParameters={"parameters": [{"name": "X-A", "value": "={{ $env.A }}"}]},
               sendBody=True, specifyBody="json", jsonBody='={ "q": {{ JSON.stringify($json.q) }} }', options={"timeout": 2000, "response": {"response": {"neverError": True, "fullResponse": True}}, "redirect": {"redirect": {"followRedirects": False}}},
               raw=CREDENTIAL)  # fmt: skip
    old = node(
        "Old",
        "httpRequest",
        1,
        requestMethod="PUT",
        url="https://x.org",
        authentication="headerAuth",
        jsonParameters=True,
        bodyParametersJson='{"a": 1}',
        headerParametersUi={"parameter": [{"name": "B", "value": "2"}]},
        options={},
        raw=CREDENTIAL,
    )
    made = valid(workflow([called("q"), new, old], "Go -> New", "New -> Old"))
    assert one(made, "new") == {
        "type": "HTTP", "method": "POST", "url": "https://x.org/{{ inputs.q }}", "query": {"a": "1"}, "headers": {"X-A": "{{ env.A }}"},
        "auth": {"type": "basic", "username": "{{ secrets.my_account_user }}", "password": "{{ secrets.my_account_password }}"},
        "body": {"type": "json", "content": {"q": "{{ inputs.q }}"}}, "ok_statuses": ["200-599"], "follow_redirects": False,
    }  # fmt: skip
    assert one(made, "old") == {
        "type": "HTTP", "method": "PUT", "url": "https://x.org", "headers": {"B": "2"}, "body": {"type": "json", "content": {"a": 1}},
        "auth": {"type": "header", "name": "Authorization", "value": "{{ secrets.my_account }}"},
    }  # fmt: skip
    assert {"set_secret", "header_name"} <= codes(made)


@pytest.mark.parametrize(
    ("pagination", "paginate"),
    [
        ({"paginationMode": "responseContainsNextURL", "nextURL": "={{ $response.body.links.next }}", "limitPagesFetched": True, "maxRequests": 4}, {"type": "next_link", "next": "links.next", "max_pages": 4}),
        ({"paginationMode": "updateAParameterInEachRequest", "parameters": {"parameters": [{"type": "qs", "name": "cursor", "value": "={{ $response.body.next }}"}]}, "requestInterval": 500}, {"type": "cursor", "cursor": "next", "parameter": "cursor", "delay": 0.5}),
        ({"paginationMode": "updateAParameterInEachRequest", "parameters": {"parameters": [{"name": "offset", "value": "={{ $pageCount * 50 }}"}]}}, {"type": "offset", "parameter": "offset", "limit": 50, "limit_parameter": "limit"}),
    ],
)  # fmt: skip
def test_pages(pagination: dict[str, Any], paginate: dict[str, Any]) -> None:
    made = valid(
        workflow(
            [
                manual(),
                node(
                    "X",
                    "httpRequest",
                    4.2,
                    url="https://x.org",
                    options={"pagination": {"pagination": pagination}},
                ),
            ],
            "Go -> X",
        )
    )
    assert one(made, "x")["paginate"] == paginate


@pytest.mark.parametrize(
    ("rule_", "cron"),
    [
        ({"field": "seconds", "secondsInterval": 10}, "*/10 * * * * *"),
        ({"field": "minutes", "minutesInterval": 45}, "*/45 * * * *"),
        ({"field": "hours", "hoursInterval": 6, "triggerAtMinute": 15}, "15 */6 * * *"),
        ({"field": "days", "triggerAtHour": 7, "triggerAtMinute": 30}, "30 7 * * *"),
        ({"field": "weeks", "triggerAtDay": [1, 3], "triggerAtHour": 9}, "0 9 * * 1,3"),
        ({"field": "months", "triggerAtDayOfMonth": 5, "triggerAtHour": 1}, "0 1 5 * *"),
        ({"field": "cronExpression", "expression": "11 */1 * * *"}, "11 */1 * * *"),
    ],
)
def test_schedules(rule_: dict[str, Any], cron: str) -> None:
    text = workflow(
        [node("At", "scheduleTrigger", 1.2, rule={"interval": [rule_]}), set_("X", a="b")],
        "At -> X",
        settings={"timezone": "Europe/Berlin"},
    )
    made = valid(text)
    assert made.document is not None
    assert made.document.triggers == [{"type": "cron", "id": "at", "cron": cron, "timezone": "Europe/Berlin"}]


def test_a_form_and_a_chat() -> None:
    form = node(
        "Form",
        "formTrigger",
        2,
        formFields={
            "values": [
                {"fieldLabel": "Your name", "requiredField": True},
                {
                    "fieldLabel": "Size",
                    "fieldType": "dropdown",
                    "fieldOptions": {"values": [{"option": "S"}, {"option": "L"}]},
                    "requiredField": True,
                },
            ]
        },
    )
    made = valid(workflow([form, set_("X", a="={{ $json['Your name'] }} {{ $json.Size }}")], "Form -> X"))
    assert made.document is not None
    assert made.document.inputs["properties"]["size"] == {
        "title": "Size",
        "type": "string",
        "enum": ["S", "L"],
    }
    assert one(made, "x")["input"] == {"a": "{{ inputs.your_name }} {{ inputs.size }}"}
    made = valid(
        workflow(
            [node("Chat", AI + "chatTrigger", 1), node("Bot", AI + "agent", 1.7, options={})], "Chat -> Bot"
        )
    )
    assert made.document is not None
    assert made.document.settings.chat
    assert one(made, "bot") == {"type": "AGENT", "prompt": "{{ inputs.message }}"}


def test_an_unknown_node_stands_as_a_placeholder() -> None:
    made = valid(workflow([manual(), node("Odd", "n8n-nodes-odd.teleport", 1, where="moon")], "Go -> Odd"))
    assert one(made, "odd")["type"] == "CODE"
    assert "was a node n8n-nodes-odd.teleport in n8n" in one(made, "odd")["code"]
    assert '"where": "moon"' in one(made, "odd")["code"]
    assert [entry.level for entry in made.report if entry.source_node == "Odd"] == ["unsupported"]


def test_names_notes_positions_and_what_nothing_leads_to() -> None:
    named = set_("設定 Ünïcode", a="b")
    named["notes"], named["position"] = "why it is", [10, 20]
    note = node("Sticky", "stickyNote", content="## Read me", width=200, height=100)
    made = valid(
        workflow(
            [manual(), named, note, set_("Alone", a="b"), node("Nothing", "noOp")],
            "Go -> 設定 Ünïcode",
            "設定 Ünïcode -> Nothing",
        )
    )
    assert made.document is not None
    spec = next(spec for spec in made.document.nodes if spec.label == "設定 Ünïcode")
    assert (spec.id, spec.note, made.document.ui.positions[spec.id]) == ("unicode", "why it is", (10, 20))
    assert made.document.ui.model_extra == {
        "notes": [{"text": "## Read me", "at": [0.0, 0.0], "size": [200, 100]}]
    }
    assert "not_connected" in codes(made, "Alone")
    assert "passed" in codes(made, "Nothing")


def test_damaged_files() -> None:
    for text, why in (
        ('{"nodes": [{"name": "A"}], "connections": {}}', "nodes[0] has no name or no type"),
        ('{"nodes": [], "connections": {}}', "the file has no nodes"),
        (workflow([manual()], "Go -> Gone"), "there is no node 'Gone'"),
        (workflow([manual(), manual()]), "two nodes are called 'Go'"),
        ('[{"nodes": [], "connections": {}}, {"nodes": [], "connections": {}}]', "holds 2 workflows"),
        ('{"nodes": [', "the file is damaged"),
    ):
        made = imported(text, "n8n")
        assert not made.ok
        assert why in made.report[-1].message
