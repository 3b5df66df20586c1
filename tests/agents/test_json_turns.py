"""Models that call no tools natively: one JSON object a turn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlace.agents.loop.conversation import action_of
from tests.agents.hosting import stage

JSON = {"calling": "json"}


def act(tool: str, **arguments: Any) -> str:
    return json.dumps({"thought": "hm", "tool": tool, "arguments": arguments})


async def test_calls_and_answer_in_json() -> None:
    async with stage(
        act("add", a=1, b=2), {"data": {"answer": "three"}}, how=JSON, config={"stream": True}
    ) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("three", "answer")
    assert run.world.names() == ["add"]
    first, second = run.asked
    assert "tools" not in first.body
    assert first.body["response_format"]["type"] == "json_schema"
    assert '"a":{"type":"integer"}' in first.system
    assert second.messages[-1] == {"role": "user", "content": "Result of add:\n3"}
    assert json.loads(second.messages[-2]["content"]) == {"tool": "add", "arguments": {"a": 1, "b": 2}}
    assert "".join(event.data["text"] for event in run.of("node.delta")) == "three"


async def test_what_cannot_be_read_costs_one_turn() -> None:
    async with stage("I would add them", {"data": {"answer": "three"}}, how=JSON) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("three", "answer")
    assert "not one JSON object" in run.asked[-1].user
    async with stage("I would add them", "really", how=JSON) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"], len(run.asked)) == ("really", "invalid_format", 2)


async def test_a_provider_that_refuses_tools_is_asked_without_them() -> None:
    refusal = {"status": 400, "error": "this model does not support tools"}
    async with stage(refusal, act("add", a=1, b=2), {"data": {"answer": "three"}}) as run:
        outputs = await run.outputs()
    assert (outputs["text"], run.world.names()) == ("three", ["add"])
    async with stage(
        {"status": 400, "error": "this model does not support tools"}, how={"calling": "native"}
    ) as run:
        assert (await run.turn()).status == "failed"


async def test_the_last_turn_has_no_tools() -> None:
    async with stage(
        act("add", a=1, b=2), {"data": {"answer": "three"}}, how=JSON, limits={"iterations": 2}
    ) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("three", "iterations")
    assert "- add:" not in run.asked[-1].system


@pytest.mark.parametrize(
    ("text", "tool", "answer"),
    [
        ('{"tool": "a", "arguments": {"x": 1}}', "a", None),
        ('{"answer": "yes"}', None, "yes"),
        ('{"answer": {"n": 1}}', None, '{"n":1}'),
        ('Sure:\n```json\n{"tool": "a"}\n```', "a", None),
        ('<think>{"tool": "b"}</think>{"answer": "c"}', None, "c"),
        ('{"tool": "", "answer": "c"}', None, "c"),
        ("[1, 2]", None, None),
        ("nothing", None, None),
    ],
)
def test_actions(text: str, tool: str | None, answer: str | None) -> None:
    action = action_of(text)
    assert (action.tool, action.answer) == (tool, answer)
