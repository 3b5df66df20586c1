from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from interlace.nodes.loop import LoopConfig
from tests.nodes.runs import NodeRun, check, run_node

INC = {
    "id": "inc",
    "type": "VARIABLE_ASSIGN",
    "config": {"assignments": [{"variable": "n", "op": "increment"}]},
}
BODY = {"nodes": [INC]}


async def loop(
    config: dict[str, Any], *, body: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None
) -> NodeRun:
    return await run_node(
        "LOOP", {"variables": {"n": 0}, "max_rounds": 10, **config}, inputs, body=body or BODY
    )


@pytest.mark.parametrize(
    ("config", "outputs"),
    [
        ({"while": "n < 3"}, {"n": 3, "rounds": 3, "reason": "while"}),
        ({"while": "n < 0"}, {"n": 0, "rounds": 0, "reason": "while"}),
        ({"until": "n >= 3"}, {"n": 3, "rounds": 3, "reason": "until"}),
        ({"until": "true"}, {"n": 1, "rounds": 1, "reason": "until"}),
        ({"until": "inc.n == 2"}, {"n": 2, "rounds": 2, "reason": "until"}),
        ({"while": "loop.round < 2"}, {"n": 2, "rounds": 2, "reason": "while"}),
        ({"while": "loop.first or inc.n < 4"}, {"n": 4, "rounds": 4, "reason": "while"}),
        ({"while": "n < 5", "until": "n == 2"}, {"n": 2, "rounds": 2, "reason": "until"}),
        (
            {"while": "true", "max_rounds": 4, "on_max": "continue"},
            {"n": 4, "rounds": 4, "reason": "max_rounds"},
        ),
        ({"while": "n < 4", "max_rounds": 4}, {"n": 4, "rounds": 4, "reason": "while"}),
        (
            {"while": "n < 2", "variables": {"n": "{{ inputs.begin }}", "other": [1]}},
            {"n": 2, "other": [1], "rounds": 1, "reason": "while"},
        ),
        (
            {"while": "n < 2", "output": "{{ inc.n }} of {{ n }}"},
            {"n": 2, "rounds": 2, "reason": "while", "output": "2 of 2"},
        ),
    ],
)
async def test_ends(config: dict[str, Any], outputs: dict[str, Any]) -> None:
    run = await loop(config, inputs={"begin": 1})
    assert run.outputs == outputs


async def test_rounds_are_recorded() -> None:
    run = await loop({"while": "n < 2"})
    assert run.of("loop.round") == [{"round": 0, "variables": {"n": 1}}, {"round": 1, "variables": {"n": 2}}]
    assert [e.path for e in run.events if e.type == "node.started" and "#" in e.path] == [
        "n#0.inc",
        "n#1.inc",
    ]


async def test_reaching_max_rounds_is_an_error() -> None:
    run = await loop({"while": "true", "max_rounds": 2})
    assert run.kind == "max_rounds"
    assert run.message.startswith("the loop ran 2 rounds, its max_rounds, and nothing ended it")


async def test_loop_has_round_and_first() -> None:
    note = {
        "id": "note",
        "type": "VARIABLE_ASSIGN",
        "config": {
            "assignments": [{"variable": "seen", "op": "append", "value": "{{ [loop.round, loop.first] }}"}]
        },
    }
    run = await loop({"variables": {"seen": []}, "until": "loop.round == 1"}, body={"nodes": [note]})
    assert run["seen"] == [[0, True], [1, False]]


def jump(target: str) -> dict[str, Any]:
    condition = {
        "id": "c",
        "type": "CONDITION",
        "config": {"cases": [{"id": "out", "when": "loop.round == 1"}]},
    }
    return {
        "nodes": [condition, INC],
        "edges": [{"from": "c", "handle": "out", "to": target}, {"from": "c", "handle": "else", "to": "inc"}],
    }


async def test_break_ends_the_loop_and_keeps_the_variables() -> None:
    run = await loop({}, body=jump("$break"))
    assert run.outputs == {"n": 1, "rounds": 2, "reason": "break"}
    run = await loop({"output": "{{ inc.n }}"}, body=jump("$break"))
    assert run["output"] is None


async def test_continue_ends_the_round() -> None:
    run = await loop({"while": "n < 2"}, body=jump("$continue"))
    assert run.outputs == {"n": 2, "rounds": 3, "reason": "while"}


async def test_zero_rounds_give_no_output() -> None:
    assert (await loop({"while": "false", "output": "{{ inc.n }}"}))["output"] is None


async def test_a_missing_output_is_an_error() -> None:
    run = await loop({"until": "n == 1", "output": "{{ inc.zzz }}"})
    assert run.kind == "missing"


async def test_a_failing_round_names_the_inner_node() -> None:
    bad = {"id": "bad", "type": "TRANSFORM", "config": {"input": "{{ n }}", "steps": [{"parse": "json"}]}}
    run = await loop({"while": "true"}, body={"nodes": [bad]})
    assert run.error is not None
    assert (run.error["node"], run.error["path"], run.kind) == ("bad", "n#0.bad", "type")


async def test_a_condition_that_cannot_be_evaluated() -> None:
    run = await loop({"while": "n < 'x'"})
    assert "cannot compare number 0 < text 'x'" in run.message


async def test_run_variables_and_inner_loops() -> None:
    inner = {"id": "inner", "type": "LOOP", "config": {"variables": {"m": 0}, "while": "m < 2", "max_rounds": 5}, "body": {"nodes": [
        {"id": "both", "type": "VARIABLE_ASSIGN", "config": {"assignments": [
            {"variable": "m", "op": "increment"}, {"variable": "n", "op": "increment"}, {"variable": "total", "op": "increment", "value": "{{ n * 10 + m }}"},
        ]}},
    ]}}  # fmt: skip
    run = await run_node(
        "LOOP", {"variables": {"n": 0}, "while": "n < 4", "max_rounds": 5}, body={"nodes": [inner]},
        variables={"total": {"type": "number", "default": 0}},
    )  # fmt: skip
    assert run.outputs == {"n": 4, "rounds": 2, "reason": "while"}
    totals = [
        e.data["variables"]["total"]
        for e in run.events
        if e.path.endswith(".both") and e.type == "node.succeeded"
    ]
    assert totals == [11, 33, 64, 106]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "max_rounds"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_rounds": 1, "on_max": "stop"}, "on_max"),
        ({"max_rounds": 1, "variables": {"a b": 1}}, "variables"),
    ],
)
def test_bad_configs(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        LoopConfig.model_validate(config)


def test_static_check() -> None:
    body = {"nodes": [INC]}
    assert [f.code for f in check("LOOP", {"max_rounds": 1}, body=body)] == ["endless_loop"]
    assert not check("LOOP", {"max_rounds": 1, "on_max": "continue"}, body=body)
    assert not check(
        "LOOP", {"max_rounds": 1}, body={"nodes": [INC], "edges": [{"from": "inc", "to": "$break"}]}
    )
    found = check("LOOP", {"max_rounds": 1, "while": "x", "variables": {"rounds": 1, "n": 1}}, body=body)
    assert [(f.code, f.field) for f in found] == [("reserved_name", "config.variables.rounds")]
