"""FIM One blueprints of our own, run: what comes out is what the file says, worked out by hand."""

from __future__ import annotations

import json
from typing import Any

from tests.importers.running import workshop
from tests.importers.standin import StandIn


def blueprint(nodes: dict[str, dict[str, Any]], *edges: str) -> str:
    """`a -> b`, `a:handle -> b`."""
    made = []
    for edge in edges:
        left, right = (part.strip() for part in edge.split("->"))
        source, _, handle = left.partition(":")
        made.append({"source": source, "target": right, "sourceHandle": handle or None})
    listed = [
        {"id": name, "type": "custom", "position": {"x": 0, "y": 0}, "data": data}
        for name, data in nodes.items()
    ]
    flow = {"name": "Test", "blueprint": {"nodes": listed, "edges": made, "viewport": {}}}
    return json.dumps({"format": "fim_workflow_v1", "workflow": flow})


def begin(**types: str) -> dict[str, Any]:
    return {
        "type": "START",
        "variables": [{"name": name, "type": kind, "required": True} for name, kind in types.items()],
    }


async def test_conditions_templates_and_ends() -> None:
    text = blueprint(
        {
            "start": begin(amount="number", who="string"),
            "split": {"type": "CONDITION_BRANCH", "conditions": [{"id": "big", "expression": "amount > 100 and who != 'me'"}, {"id": "mine", "variable": "input.who", "operator": "equals", "value": "me"}], "default_handle": "source-default"},
            "t1": {"type": "TEMPLATE_TRANSFORM", "template": "Big: {{input.amount}}", "output_variable": "text"},
            "e1": {"type": "END", "output_mapping": {"out": "{{t1.text}}"}},
            "e2": {"type": "END", "output_mapping": {"out": "{{start.who}} it is"}},
            "e3": {"type": "END", "output_schema": {"variables": [{"name": "out", "value": "small"}]}},
        },
        "start -> split", "split:condition-big -> t1", "t1 -> e1", "split:condition-mine -> e2", "split:source-default-1 -> e3",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"amount": 200, "who": "you"}) == {"out": "Big: 200"}
        assert await shop.run(text, {"amount": 200, "who": "me"}) == {"out": "me it is"}


async def test_http_code_list_and_transform() -> None:
    with StandIn(
        {
            "GET /feed": [
                {"price": 3, "previous": 1},
                {"price": None, "previous": 1},
                {"price": 2, "previous": 5},
            ]
        }
    ) as api:
        text = blueprint(
            {
                "start": begin(url="string"),
                "fetch": {"type": "HTTP_REQUEST", "method": "GET", "url": "{{input.url}}", "output_variable": "feed"},
                "parse": {"type": "CODE_EXECUTION", "language": "python", "code": "import json\nrows = feed if isinstance(feed, list) else json.loads(feed)\nresult = [r for r in rows if r['price'] is not None]\nassert variables['fetch.status_code'] == 200", "output_variable": "rows"},
                "rose": {"type": "LIST_OPERATION", "input_variable": "parse.rows", "operation": "filter", "expression": "item['price'] > item['previous']"},
                "shape": {"type": "TRANSFORM", "input_variable": "{{rose.output}}", "operations": [{"type": "type_cast", "config": {"target_type": "json"}}]},
                "end": {"type": "END", "output_mapping": {"json": "{{shape.output}}", "status": "{{fetch.status_code}}"}},
            },
            "start -> fetch", "fetch -> parse", "parse -> rose", "rose -> shape", "shape -> end",
        )  # fmt: skip
        async with workshop() as shop:
            found = await shop.run(text, {"url": f"{api.url}/feed"})
    assert (json.loads(found["json"]), found["status"]) == ([{"price": 3, "previous": 1}], 200)


async def test_an_iterator_and_variables() -> None:
    text = blueprint(
        {
            "start": begin(names="array"),
            "each": {"type": "ITERATOR", "list_variable": "input.names", "iterator_variable": "name", "index_variable": "i"},
            "say": {"type": "TEMPLATE_TRANSFORM", "template": "{{i}}: {{name}}"},
            "end": {"type": "END", "output_mapping": {"lines": "{{say.output}}"}},
        },
        "start -> each", "each -> say", "say -> end",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"names": ["a", "b"]}) == {"lines": ["0: a", "1: b"]}


async def test_a_model_and_what_ran_first() -> None:
    text = blueprint(
        {
            "start": begin(q="string"),
            "cls": {"type": "question-classifier", "input_variable": "input.q", "classes": [{"id": "c0", "label": "Bills"}, {"label": "Parts", "handle": "parts"}], "default_handle": "other"},
            "write": {"type": "LLM", "system_prompt": "One line", "prompt_template": "About {{input.q}}", "temperature": 0.2, "output_variable": "text"},
            "set": {"type": "VARIABLE_ASSIGN", "assignments": [{"variable": "msg", "value": "Call us"}, {"variable": "n", "expression": "1 + 1"}]},
            "join": {"type": "VARIABLE_AGGREGATOR", "variables": ["{{msg}}", "{{write.text}}"], "mode": "first_non_empty"},
            "end": {"type": "END", "output_mapping": {"reply": "{{join.output}}"}},
        },
        "start -> cls", "cls:class-c0 -> write", "cls:parts -> write", "cls:other -> set", "write -> join", "set -> join", "join -> end",
    )  # fmt: skip
    chosen = {"text": '{"id": "bills", "confidence": 0.9, "reason": "r"}'}
    async with workshop(chosen, {"text": "Paid."}) as shop:
        assert await shop.run(text, {"q": "invoice"}) == {"reply": "Paid."}
    chosen = {"text": '{"id": "else", "confidence": 0.0, "reason": "r"}'}
    async with workshop(chosen) as shop:
        assert await shop.run(text, {"q": "weather"}) == {"reply": "Call us"}
