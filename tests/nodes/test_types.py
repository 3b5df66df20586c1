"""What every type says about itself, and that its output schema is what it gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import BaseModel

from interlace.engine.document import Document
from interlace.engine.node import Node
from interlace.engine.testing import edges
from interlace.engine.validate import validate
from tests.nodes.runs import REGISTRY, run_node

OURS = [
    "CODE", "CONDITION", "END", "ENV", "ITERATION", "LIST_OPERATION", "LOOP", "START", "SUB_WORKFLOW", "TEMPLATE", "TRANSFORM",
    "VARIABLE_AGGREGATOR", "VARIABLE_ASSIGN",
]  # fmt: skip
INLINE = set(OURS) - {"CODE", "ITERATION", "LOOP", "SUB_WORKFLOW"}
BODY = {"nodes": [{"id": "t", "type": "TRANSFORM", "config": {"input": "{{ item.name }}"}}]}
ROUND = {
    "nodes": [
        {
            "id": "inc",
            "type": "VARIABLE_ASSIGN",
            "config": {"assignments": [{"variable": "m", "op": "increment"}]},
        }
    ]
}


def models(annotation: Any, seen: set[Any]) -> Iterator[type[BaseModel]]:
    """The config models inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in seen:
        seen.add(annotation)
        yield annotation
        for info in annotation.model_fields.values():
            yield from models(info.annotation, seen)
    for part in get_args(annotation):
        yield from models(part, seen)


@pytest.mark.parametrize("kind", OURS)
def test_every_field_is_documented_and_the_example_is_valid(kind: str) -> None:
    node_type = REGISTRY[kind]
    for model in models(node_type.config_type, set()):
        assert model.__doc__
        for name, info in model.model_fields.items():
            assert all((info.title, info.description, info.examples)), f"{kind}: {model.__name__}.{name}"
            assert str(info.description).endswith("."), f"{kind}: {model.__name__}.{name}"
    node = node_type(node_type.config_type.model_validate(node_type.example))
    assert "error" not in node.handles()
    jsonschema.Draft202012Validator.check_schema(node_type.config_type.model_json_schema())
    assert (node_type.__doc__ or "").splitlines()[0].endswith(".")
    assert (node_type.group, node_type.icon) != (Node.group, Node.icon)
    assert node_type.inline is (kind in INLINE)


TYPED: list[tuple[str, dict[str, Any], dict[str, Any] | None, list[str], list[str]]] = [
    ("TEMPLATE", {"template": "x"}, None, ["text"], ["data"]),
    ("TEMPLATE", {"template": "1", "format": "json"}, None, ["data", "data.any.thing"], ["text"]),
    ("CONDITION", {"cases": [{"id": "a", "when": "true"}]}, None, ["matched"], ["matched.x", "match"]),
    ("TRANSFORM", {"input": "{{ inputs.order }}"}, None, ["result", "result.name"], ["result.nme"]),
    ("TRANSFORM", {"input": "{{ inputs.order }}", "steps": [{"rename": {"name": "title"}}]}, None, ["result.title"], ["results", "result.name"]),
    ("TRANSFORM", {"input": "{{ inputs.orders }}", "steps": [{"pick": ["price"]}, {"set": {"double": "{{ item.price * 2 }}"}}, {"cast": {"price": "string"}}]}, None,
     ["result[0].price", "result[0].double"], ["result[0].name"]),
    ("TRANSFORM", {"input": "{{ inputs.order }}", "steps": [{"omit": ["name"]}, {"merge": {"with": {"a": 1}}}]}, None, ["result.a"], ["reslt"]),
    ("TRANSFORM", {"input": "x", "steps": [{"schema": {"type": "object", "properties": {"a": {}}, "additionalProperties": False}}]}, None,
     ["result.a"], ["result.b"]),
    ("LIST_OPERATION", {"input": "{{ inputs.orders }}", "operations": [{"filter": "item.price > 1"}]}, None,
     ["result", "result[0].price", "first.name", "count"], ["result[0].prize", "last.zzz"]),
    ("LIST_OPERATION", {"input": "{{ inputs.orders }}", "operations": [{"group_by": {"by": "item.name"}}]}, None,
     ["result[0].key", "first['items'][0].price"], ["first.price", "first['items'][0].prize"]),
    ("LIST_OPERATION", {"input": "{{ inputs.orders }}", "operations": [{"map": "item.price"}, {"sum": True}]}, None, ["result + 1"], ["result.x"]),
    ("VARIABLE_ASSIGN", {"assignments": [{"variable": "total", "value": 1}]}, None, ["total + 1"], ["totl", "total.x"]),
    ("VARIABLE_AGGREGATOR", {"values": ["{{ inputs.order }}"]}, None, ["value.name"], ["values", "value.nme"]),
    ("VARIABLE_AGGREGATOR", {"mode": "all", "values": [{"name": "a", "value": "{{ inputs.order }}"}]}, None, ["value.a.name"], ["value.a.nme"]),
    ("VARIABLE_AGGREGATOR", {"groups": [{"name": "g", "mode": "list", "values": ["{{ inputs.order }}"]}]}, None, ["g[0].name"], ["value", "g[0].nme"]),
    ("ENV", {"values": {"url": "URL"}}, None, ["url", "url.any"], ["uri"]),
    ("CODE", {"code": "def main(): return {}"}, None, ["anything", "meta.stdout"], ["meta.stdot"]),
    ("CODE", {"code": "def main(): return {}", "output_schema": {"type": "object", "properties": {"n": {"type": "number"}}, "additionalProperties": False}}, None,
     ["n", "meta.cpu_ms"], ["m"]),
    ("ITERATION", {"items": "{{ inputs.orders }}", "output": "{{ {'n': t.result} }}"}, BODY,
     ["results", "results[0].n", "errors[0].index", "count"], ["result", "results[0].m", "errors[0].idx"]),
    ("LOOP", {"variables": {"m": 0, "o": {}}, "while": "m < 3", "max_rounds": 5, "output": "{{ inc.m }}"}, ROUND,
     ["m + 1", "o.any", "rounds", "reason", "output"], ["n", "reason.x"]),
]  # fmt: skip


def problems(
    kind: str, config: Mapping[str, Any], body: Mapping[str, Any] | None, expression: str
) -> list[tuple[str, str | None]]:
    inputs = {
        "type": "object",
        "required": ["orders", "order"],
        "properties": {
            "order": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name"],
                "properties": {"name": {"type": "string"}},
            },
            "orders": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
                },
            },
        },
    }
    spec = {"id": "n", "type": kind, "config": config, **({"body": body} if body else {})}
    done = {"id": "done", "type": "END", "config": {"outputs": {"x": f"{{{{ n.{expression} }}}}"}}}
    document = {
        "name": "t", "inputs": inputs, "variables": {"total": {"type": "number", "default": 0}},
        "nodes": [{"id": "start", "type": "START"}, spec, done], "edges": edges("start -> n", *(f"n.{h} -> done" for h in _handles(kind, config))),
    }  # fmt: skip
    found = validate(Document.model_validate(document), REGISTRY).problems
    return [(problem.code, problem.node) for problem in found if problem.severity == "error"]


def _handles(kind: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    node_type = REGISTRY[kind]
    handles: tuple[str, ...] = node_type(node_type.config_type.model_validate(config)).handles()
    return handles


@pytest.mark.parametrize(("kind", "config", "body", "right", "wrong"), TYPED)
def test_references_are_checked_against_the_output_schema(
    kind: str, config: dict[str, Any], body: dict[str, Any] | None, right: list[str], wrong: list[str]
) -> None:
    for expression in right:
        assert problems(kind, config, body, expression) == [], expression
    for expression in wrong:
        assert problems(kind, config, body, expression) != [], expression


@pytest.mark.parametrize(
    ("kind", "config", "body", "right", "wrong"),
    [entry for entry in TYPED if entry[0] not in ("CODE", "ENV")],
)
async def test_outputs_match_the_output_schema(
    kind: str, config: dict[str, Any], body: dict[str, Any] | None, right: list[str], wrong: list[str]
) -> None:
    if config.get("input") == "x":
        config = {**config, "input": {"a": 1}}
    variables = {"total": {"type": "number", "default": 0}}
    document = {
        "name": "t", "variables": variables,
        "nodes": [{"id": "start", "type": "START"}, {"id": "n", "type": kind, "config": config, **({"body": body} if body else {})}],
    }  # fmt: skip
    schema = validate(Document.model_validate(document), REGISTRY).types["n"]
    given = {"order": {"name": "a"}, "orders": [{"name": "a", "price": 5}, {"name": "b", "price": 7}]}
    run = await run_node(kind, config, given, body=body, variables=variables)
    assert run.error is None
    jsonschema.validate(run.outputs, schema)


def test_start_and_end_types() -> None:
    done = {
        "id": "done",
        "type": "END",
        "config": {"outputs": {"a": "{{ start.b }}", "k": "{{ start.trigger.kind }}"}},
    }
    inputs = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "number", "default": 1}},
    }
    document = {
        "name": "t",
        "inputs": inputs,
        "nodes": [{"id": "start", "type": "START"}, done],
        "edges": edges("start -> done"),
    }
    found = validate(Document.model_validate(document), REGISTRY)
    assert [p for p in found.problems if p.severity == "error"] == []
    assert set(found.types["start"]["required"]) == {"b", "trigger"}
    assert found.types["done"]["properties"]["a"]["type"] == "number"
