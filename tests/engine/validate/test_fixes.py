"""Fixes: each is tried before it is offered, so applying one always removes its problem and makes no new error."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import interlace.nodes
from interlace.engine.registry import Registry
from interlace.engine.source import load
from interlace.engine.validate import check
from interlace.engine.validate.fixes import fixes

REGISTRY = Registry()
REGISTRY.discover(interlace.nodes)
FLOW: dict[str, Any] = {
    "name": "Flow",
    "inputs": {"type": "object", "properties": {"amount": {"type": "number"}}},
    "nodes": [
        {"id": "start", "type": "START"},
        {"id": "size", "type": "CONDITION", "config": {"cases": [{"id": "large", "when": "inputs.amount > 10"}]}},
        {"id": "note", "type": "TEMPLATE", "config": {"template": "large: {{ inputs.amount }}"}},
        {"id": "end", "type": "END", "config": {"outputs": {"text": "{{ note.text | default(none) }}"}}},
    ],
    "edges": [
        {"from": "start", "to": "size"}, {"from": "size", "handle": "large", "to": "note"},
        {"from": "size", "handle": "else", "to": "end"}, {"from": "note", "to": "end"},
    ],
}  # fmt: skip


def _nodes(document: dict[str, Any]) -> dict[str, Any]:
    return {node["id"]: node for node in document["nodes"]}


def _set(node: str, **fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: _nodes(document)[node].update(fields)


def _config(node: str, **fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: _nodes(document)[node]["config"].update(fields)


CASES: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("unknown_input", _config("note", template="{{ inputs.amuont }}"), "Replace 'amuont' with 'amount'"),
    ("unknown_name", _config("end", outputs={"text": "{{ noet.text | default(none) }}"}), "Replace 'noet' with 'note'"),
    ("unknown_output", _config("end", outputs={"text": "{{ note.txet | default(none) }}"}), "Replace 'txet' with 'text'"),
    ("unknown_field", _config("note", tempalte="x"), "Remove tempalte"),
    ("possibly_missing", _config("end", outputs={"text": "{{ note.text }}"}), "Use null where it is missing"),
    ("possibly_missing", _config("end", outputs={"text": "it says {{ note.text }}!"}), "Use null where it is missing"),
    ("branch_without_error_edge", _set("note", on_error="branch"), "Stop the run when it fails"),
    ("unused_default_output", _set("note", default_output={"text": ""}), "Go on with it when the node fails"),
    ("duplicate_edge", lambda document: document["edges"].append({"from": "note", "to": "end"}), "Remove the edge"),
    ("unknown_node", lambda document: document["edges"].append({"from": "note", "to": "gone"}), "Remove the edge"),
    ("unknown_handle", lambda document: document["edges"].append({"from": "note", "handle": "huge", "to": "end"}), "Remove the edge"),
    ("unconnected_else", lambda document: document["edges"].pop(2), "Connect it to end"),
    ("unreachable", lambda document: document["nodes"].append({"id": "alone", "type": "TEMPLATE", "config": {"template": "x"}}), "Connect start to it"),
    ("side_branch", lambda document: (document["nodes"].append({"id": "side", "type": "TEMPLATE", "config": {"template": "x"}}), document["edges"].append({"from": "start", "to": "side"})), "Connect it to end"),
    ("no_end", lambda document: (document["nodes"].pop(), document["edges"].pop(), document["edges"].pop()), "Add END"),
    ("error_edge_without_branch", lambda document: document["edges"].append({"from": "note", "handle": "error", "to": "end"}), "Take the error edge when it fails"),
]  # fmt: skip


def _found(document: dict[str, Any]) -> Any:
    import json

    return check(load(json.dumps(document)), REGISTRY)


@pytest.mark.parametrize(
    ("code", "damage", "label"), CASES, ids=[f"{code}-{index}" for index, (code, _, _) in enumerate(CASES)]
)
def test_a_fix_removes_its_problem_and_nothing_else(
    code: str, damage: Callable[[dict[str, Any]], Any], label: str
) -> None:
    assert _found(FLOW).problems == ()
    document = copy.deepcopy(FLOW)
    damage(document)
    before = copy.deepcopy(document)
    problem = next(one for one in _found(document).problems if one.code == code)
    offered = fixes(document, problem, REGISTRY)
    assert document == before
    fix = next(one for one in offered if one.label == label)
    after = _found(fix.document)
    assert code not in {
        one.code for one in after.problems if (one.node, one.field) == (problem.node, problem.field)
    }
    assert {(one.code, one.node) for one in after.errors} <= {
        (one.code, one.node) for one in _found(document).errors
    }


def test_nothing_is_offered_where_it_takes_a_decision() -> None:
    document = copy.deepcopy(FLOW)
    _nodes(document)["note"]["config"] = {}
    [problem] = _found(document).errors
    assert fixes(document, problem, REGISTRY) == []


def test_a_fix_reaches_into_bodies() -> None:
    document = copy.deepcopy(FLOW)
    document["nodes"][2] = {
        "id": "note", "type": "ITERATION", "config": {"items": [1], "output": "{{ inner.text }}"},
        "body": {"nodes": [{"id": "inner", "type": "TEMPLATE", "config": {"template": "{{ inputs.amuont }}"}}], "edges": []},
    }  # fmt: skip
    document["nodes"][3]["config"] = {"outputs": {}}
    [problem] = _found(document).errors
    [fix] = fixes(document, problem, REGISTRY)
    assert fix.document["nodes"][2]["body"]["nodes"][0]["config"]["template"] == "{{ inputs.amount }}"
