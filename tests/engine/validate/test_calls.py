"""Rules that reach beyond one document, and what ENDs give together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from interlace.engine.schema import Schema
from tests.engine.validate.conftest import Examine, Found

TEXT = """name: main
inputs: {type: object, properties: {n: {type: number}}, required: [n]}
nodes:
  - {id: start, type: START}
  - {id: call, type: SUB_WORKFLOW, config: {workflow: %s, inputs: {%s}}}
  - {id: end, type: END, config: {outputs: {x: "{{ call.total }}"}}}
edges: [start -> call, call -> end]
"""
CHILD = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "note": {"type": "string", "default": ""}},
    "required": ["amount", "note"],
}
OUTPUT = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}


class Stored:
    """Workflows by name, with what each calls. Implements `Workflows`."""

    def __init__(self, calls: Mapping[str, list[str]]) -> None:
        self._calls = calls

    def signature(self, workflow: str, version: str | int) -> tuple[Schema, Schema] | None:
        return (CHILD, OUTPUT) if workflow in self._calls else None

    def callees(self, workflow: str, version: str | int) -> frozenset[str]:
        return frozenset(self._calls.get(workflow, ()))


def call(
    found: Found, workflow: str = "child", inputs: str = "amount: 1", calls: Mapping[str, Any] | None = None
) -> Any:
    return found(TEXT % (workflow, inputs), workflows=Stored(calls if calls is not None else {"child": []}))


def test_a_right_call_is_silent(found: Found) -> None:
    assert call(found) == []
    assert call(found, inputs='amount: "{{ inputs.n }}", note: x') == []


def test_nothing_is_claimed_without_the_other_workflows(found: Found) -> None:
    assert found(TEXT % ("anything", "a: 1")) == []


def test_unknown_workflow(found: Found) -> None:
    assert ("unknown_workflow", "call", "config.workflow", 5) in call(found, workflow="chidl")


def test_missing_input(found: Found) -> None:
    assert call(found, inputs="note: x") == [("missing_input", "call", "config.inputs", 5)]


def test_unknown_input_of_a_child(found: Found) -> None:
    assert call(found, inputs="amount: 1, amuont: 2") == [
        ("unknown_input", "call", "config.inputs.amuont", 5)
    ]


@pytest.mark.parametrize("value", ["[1]", "many", '"{{ inputs }}"'])
def test_wrong_type_of_an_input_of_a_child(found: Found, value: str) -> None:
    assert call(found, inputs=f"amount: {value}") == [("wrong_type", "call", "config.inputs.amount", 5)]


def test_the_childs_outputs_are_typed(found: Found) -> None:
    text = (TEXT % ("child", "amount: 1")).replace("call.total", "call.totl")
    assert found(text, workflows=Stored({"child": []})) == [("unknown_output", "end", "config.outputs.x", 6)]


def test_recursion_direct(found: Found) -> None:
    assert ("recursion", "call", "config.workflow", 5) in call(found, workflow="main")
    assert ("recursion", "call", "config.workflow", 5) in found(TEXT % ("main", "n: 1"))


def test_recursion_through_others(examine: Examine) -> None:
    stored = Stored({"child": ["b", "c"], "b": [], "c": ["d"], "d": ["main"]})
    (problem,) = examine(TEXT % ("child", "amount: 1"), workflows=stored).problems
    assert (problem.code, problem.node) == ("recursion", "call")
    assert "main -> child -> c -> d -> main" in problem.message


def test_recursion_among_the_others(found: Found) -> None:
    assert call(found, calls={"child": ["b"], "b": ["c"], "c": ["b"]}) == [
        ("recursion", "call", "config.workflow", 5)
    ]


@pytest.mark.parametrize(("levels", "right"), [(10, True), (11, False)])
def test_call_depth(found: Found, levels: int, right: bool) -> None:
    calls = {"child": ["w2"], **{f"w{i}": [f"w{i + 1}"] for i in range(2, levels)}, f"w{levels}": []}
    assert call(found, calls=calls) == ([] if right else [("call_depth", "call", "config.workflow", 5)])


def test_call_depth_follows_the_longest_way(found: Found) -> None:
    calls = {"child": ["w2", "w9"], **{f"w{i}": [f"w{i + 1}"] for i in range(2, 12)}, "w12": []}
    assert call(found, calls=calls) == [("call_depth", "call", "config.workflow", 5)]


def test_a_wide_web_of_calls_is_followed_once(found: Found) -> None:
    calls: dict[str, list[str]] = {"child": [f"a1_{k}" for k in range(12)]}
    for level in range(1, 9):
        for k in range(12):
            calls[f"a{level}_{k}"] = [f"a{level + 1}_{j}" for j in range(12)] if level < 8 else []
    assert call(found, calls=calls) == []


ENDS = """name: ends
inputs: {type: object, properties: {n: {type: number}}, required: [n]}
nodes:
  - {id: start, type: START}
  - {id: p, type: CONDITION, config: {%scases: [{id: big, when: inputs.n > 5}]}}
  - {id: one, type: END, config: {outputs: {x: 1, y: 1}}}
  - {id: two, type: END, config: {outputs: {x: 2}}}
edges: [start -> p, p.big -> one, p.else -> two]
"""


def test_output_conflict(found: Found) -> None:
    text = (ENDS % "").replace("p.else -> two", "p.else -> one, start -> two")
    assert found(text) == [("output_conflict", "two", "config.outputs.x", 7)]


def test_output_conflict_not_between_exclusive_arms(found: Found) -> None:
    assert found(ENDS % "") == []


def test_output_conflict_where_every_match_is_taken(found: Found) -> None:
    assert found(ENDS % "mode: every, ") == [("output_conflict", "two", "config.outputs.x", 7)]
