"""VARIABLE_ASSIGN and VARIABLE_AGGREGATOR."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.engine.testing import edges, run_document
from tests.nodes.runs import REGISTRY, NodeRun, check, run_node

VARIABLES: dict[str, Any] = {
    "total": {"type": "number", "default": 0}, "count": {"type": "integer", "default": 1}, "items": {"type": "array", "default": []},
    "text": {"type": "string", "default": "a"}, "object": {"type": "object", "default": {"a": 1, "b": {"c": 1}}}, "any": {},
    "flag": {"type": "boolean", "default": False}, "empty": {"type": "array"},
}  # fmt: skip


async def assign(*assignments: dict[str, Any], inputs: dict[str, Any] | None = None) -> NodeRun:
    return await run_node("VARIABLE_ASSIGN", {"assignments": list(assignments)}, inputs, variables=VARIABLES)


@pytest.mark.parametrize(
    ("variable", "op", "value", "expected"),
    [
        ("total", "set", 1.5, 1.5), ("total", "set", "{{ inputs.n }}", 7), ("any", "set", None, None), ("empty", "set", None, None),
        ("count", "set", 2.0, 2.0), ("flag", "set", True, True), ("total", "increment", 2, 2), ("count", "increment", "{{ inputs.n }}", 8),
        ("items", "append", {"x": 1}, [{"x": 1}]), ("items", "append", None, [None]), ("empty", "append", 1, [1]), ("text", "append", "b", "ab"),
        ("object", "merge", {"b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}), ("any", "merge", {"a": 1}, {"a": 1}), ("object", "remove", "a", {"b": {"c": 1}}),
        ("object", "remove", ["a", "b", "zzz"], {}), ("items", "remove", 1, []),
    ],
)  # fmt: skip
async def test_operations(variable: str, op: str, value: Any, expected: Any) -> None:
    run = await assign({"variable": variable, "op": op, "value": value}, inputs={"n": 7})
    assert run.outputs == {variable: expected}


async def test_set_is_the_default_and_increment_counts_by_one() -> None:
    run = await assign({"variable": "count", "op": "increment"}, {"variable": "total", "value": 3})
    assert run.outputs == {"count": 2, "total": 3}


async def test_remove_takes_out_all_that_are_equal() -> None:
    run = await assign(
        {"variable": "items", "value": [1, "1", 2, 1.0, True]},
        {"variable": "items", "op": "remove", "value": 1},
    )
    assert run.outputs == {"items": [2, True]}


async def test_in_order_and_later_ones_see_earlier_ones() -> None:
    run = await assign(
        {"variable": "total", "op": "increment", "value": 2},
        {"variable": "total", "op": "increment", "value": "{{ vars.total * 10 }}"},
        {"variable": "text", "value": "{{ vars.total }} done"},
    )
    assert run.outputs == {"total": 22, "text": "22 done"}


async def test_the_default_of_the_document_is_not_changed() -> None:
    for _ in range(2):
        run = await assign({"variable": "items", "op": "append", "value": 1})
        assert run.outputs == {"items": [1]}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (
            {"variable": "total", "value": "5"},
            "variable 'total' has type number, which text '5' does not fit",
        ),
        (
            {"variable": "count", "value": 1.5},
            "variable 'count' has type integer, which number 1.5 does not fit",
        ),
        (
            {"variable": "total", "value": True},
            "variable 'total' has type number, which boolean true does not fit",
        ),
        ({"variable": "total", "value": None}, "variable 'total' has type number, which null does not fit"),
        ({"variable": "object", "value": []}, "variable 'object' has type object, which list does not fit"),
        ({"variable": "totl", "value": 1}, "there is no variable 'totl'; did you mean 'total'?"),
        (
            {"variable": "zzz", "op": "increment"},
            "there is no variable 'zzz'; declare it under the document's variables",
        ),
        (
            {"variable": "text", "op": "increment"},
            "cannot increment variable 'text': variable 'text' is text 'a', not a number",
        ),
        (
            {"variable": "total", "op": "increment", "value": None},
            "cannot increment variable 'total': the value is null, not a number",
        ),
        (
            {"variable": "total", "op": "append", "value": 1},
            "cannot append to variable 'total', which is number 0; append takes a list or a text",
        ),
        (
            {"variable": "text", "op": "append", "value": 1},
            "cannot append number 1 to variable 'text', which is a text",
        ),
        (
            {"variable": "object", "op": "merge", "value": 1},
            "cannot merge into variable 'object': the value is number 1, not an object",
        ),
        (
            {"variable": "text", "op": "merge", "value": {}},
            "cannot merge into variable 'text': variable 'text' is text 'a', not an object",
        ),
        (
            {"variable": "text", "op": "remove", "value": "a"},
            "cannot remove from variable 'text', which is text 'a'; remove takes a list or an object",
        ),
    ],
)
async def test_what_does_not_fit(assignment: dict[str, Any], message: str) -> None:
    run = await assign(assignment)
    assert run.message == message


async def test_a_missing_value_is_an_error() -> None:
    run = await assign({"variable": "any", "value": "{{ inputs.gone }}"})
    assert run.kind == "missing"


async def test_static_check_wants_values() -> None:
    found = check(
        "VARIABLE_ASSIGN",
        {"assignments": [{"variable": "a", "op": "increment"}, {"variable": "a", "op": "append"}]},
    )
    assert [(f.field, f.message) for f in found] == [
        ("config.assignments[1].value", "operation 'append' needs a value.")
    ]


async def aggregate(config: dict[str, Any], inputs: dict[str, Any]) -> Any:
    """Branches a and b behind a condition each; c always runs. Gives the outputs of the aggregator, or the error."""
    when = {"cases": [{"id": "a", "when": "inputs.a"}, {"id": "b", "when": "inputs.b"}], "mode": "every"}
    nodes = [
        {"id": "start", "type": "START"}, {"id": "which", "type": "CONDITION", "config": when},
        {"id": "a", "type": "TRANSFORM", "config": {"input": "{{ inputs.av }}"}}, {"id": "b", "type": "TRANSFORM", "config": {"input": "{{ inputs.bv }}"}},
        {"id": "join", "type": "VARIABLE_AGGREGATOR", "config": config},
        {"id": "done", "type": "END", "config": {"outputs": {"all": "{{ join }}"}}},
    ]  # fmt: skip
    arrows = edges(
        "start -> which",
        "which.a -> a",
        "which.b -> b",
        "which.else -> join",
        "a -> join",
        "b -> join",
        "join -> done",
    )
    result = await run_document({"name": "t", "nodes": nodes, "edges": arrows}, inputs, registry=REGISTRY)
    return result.outputs["all"] if result.outputs else result.error


VALUES = ["{{ a.result }}", "{{ b.result }}"]
BOTH = {"a": True, "b": True, "av": 1, "bv": 2}
ONLY_B = {**BOTH, "a": False}
NONE = {**BOTH, "a": False, "b": False}


@pytest.mark.parametrize(
    ("mode", "inputs", "value"),
    [
        ("first", BOTH, 1), ("first", ONLY_B, 2), ("first", {**BOTH, "av": None}, None),
        ("all", BOTH, {"a": 1, "b": 2}), ("all", ONLY_B, {"b": 2}), ("all", NONE, {}), ("all", {**BOTH, "av": None}, {"a": None, "b": 2}),
        ("list", BOTH, [1, 2]), ("list", ONLY_B, [2]), ("list", NONE, []), ("list", {**BOTH, "av": None}, [None, 2]),
        ("concat", {**BOTH, "av": [1, 2], "bv": [3]}, [1, 2, 3]), ("concat", {**BOTH, "av": "x", "bv": "y"}, "xy"), ("concat", NONE, []),
        ("merge", {**BOTH, "av": {"x": 1, "y": 1}, "bv": {"y": 2}}, {"x": 1, "y": 2}), ("merge", NONE, {}),
    ],
)  # fmt: skip
async def test_modes(mode: str, inputs: dict[str, Any], value: Any) -> None:
    assert await aggregate({"mode": mode, "values": VALUES}, inputs) == {"value": value}


async def test_the_order_given_counts_not_the_order_of_running() -> None:
    assert await aggregate({"values": VALUES[::-1]}, BOTH) == {"value": 2}


async def test_a_value_of_which_a_part_is_missing_is_left_out() -> None:
    values = ["{{ a.result ~ '!' }}", "got {{ b.result }}"]
    assert await aggregate({"mode": "list", "values": values}, ONLY_B) == {"value": ["got 2"]}
    assert await aggregate({"values": values}, ONLY_B) == {"value": "got 2"}


async def test_nothing_ran() -> None:
    error = await aggregate({"values": VALUES}, NONE)
    assert error["type"] == "nothing_ran"
    assert error["message"] == (
        "none of the branches ran: a was skipped: edge which.a not taken (inputs.a is false (inputs.a = false));"
        " b was skipped: edge which.b not taken (inputs.b is false (inputs.b = false))"
    )


async def test_names_and_constants() -> None:
    values = [{"name": "left", "value": "{{ a.result }}"}, {"value": "{{ b.result }}"}, "constant"]
    assert await aggregate({"mode": "all", "values": values}, BOTH) == {
        "value": {"left": 1, "b": 2, "2": "constant"}
    }


async def test_a_failed_branch_that_was_passed_over_counts_as_run() -> None:
    before = [
        {
            "id": "bad",
            "type": "TRANSFORM",
            "config": {"input": "x", "steps": [{"parse": "json"}]},
            "on_error": "continue",
        }
    ]
    run = await run_node("VARIABLE_AGGREGATOR", {"values": ["{{ bad.result }}", 5]}, before=before)
    assert run["value"] is None


async def test_groups() -> None:
    config = {
        "mode": "first",
        "groups": [{"name": "one", "values": VALUES}, {"name": "many", "values": VALUES, "mode": "list"}],
    }
    assert await aggregate(config, ONLY_B) == {"one": 2, "many": [2]}


async def test_separator() -> None:
    assert await aggregate(
        {"mode": "concat", "separator": ", ", "values": VALUES}, {**BOTH, "av": "x", "bv": "y"}
    ) == {"value": "x, y"}


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("concat", "concat joins lists or texts; the branches gave a: number 1, b: list"),
        ("merge", "merge joins objects; the branches gave a: number 1, b: list"),
    ],
)
async def test_values_that_do_not_go_together(mode: str, message: str) -> None:
    error = await aggregate({"mode": mode, "values": VALUES}, {**BOTH, "bv": []})
    assert (error["type"], error["message"]) == ("type", message)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "neither values nor groups are given."),
        (
            {"values": ["{{ a }}"], "groups": [{"name": "g", "values": ["{{ a }}"]}]},
            "both values and groups are given.",
        ),
        (
            {"groups": [{"name": "g", "values": ["{{ a }}"]}, {"name": "g", "values": ["{{ a }}"]}]},
            "two groups are called 'g'.",
        ),
        ({"mode": "all", "values": ["{{ a.x }}", "{{ a.y }}"]}, "two branches are called 'a'."),
    ],
)
async def test_static_check(config: dict[str, Any], message: str) -> None:
    assert [f.message for f in check("VARIABLE_AGGREGATOR", config)] == [message]
