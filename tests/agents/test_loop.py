"""The loop: model, calls, results, answer; what it does when models and tools do not do as they should."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.models.testing import Rule
from tests.agents.hosting import NUMBERS, SmallTool, World, add, call, calls, request_tools, stage


async def test_calls_are_made_and_their_results_shown() -> None:
    async with stage(calls(call("add", a=1, b=2)), calls(call("add", a=3, b=4)), "ten") as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("ten", "answer")
    assert run.world.done == [("add", {"a": 1, "b": 2}, "r:n:1.0"), ("add", {"a": 3, "b": 4}, "r:n:2.0")]
    assert [entry["result"] for entry in outputs["calls"]] == [3, 7]
    last = run.asked[-1].messages
    assert [message["role"] for message in last] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert [message["content"] for message in last if message["role"] == "tool"] == ["3", "7"]
    assert [tool["function"]["name"] for tool in run.asked[0].body["tools"]] == ["add"]


async def test_several_calls_of_a_turn_run_side_by_side() -> None:
    begun: list[int] = []
    all_there = asyncio.Event()

    async def meet(a: int, b: int) -> int:
        begun.append(a)
        if len(begun) == 3:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), 20)
        return a

    three = calls(*(call("meet", a=index, b=0) for index in range(3)))
    async with stage(three, "done", tools=lambda world: [SmallTool(world, "meet", meet, NUMBERS)]) as run:
        outputs = await run.outputs()
    assert [entry["result"] for entry in outputs["calls"]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"name": "ad", "arguments": {}}, "did you mean 'add'"),
        ({"name": "add", "arguments": "{broken"}, "not JSON"),
        ({"name": "add", "arguments": "[1]"}, "JSON object"),
        ({"name": "add", "arguments": {"a": 1}}, "b"),
        ({"name": "add", "arguments": {"a": "x", "b": 1}}, "arguments.a"),
        ({"name": "add", "arguments": {"a": 1, "b": 1, "c": 1}}, "c"),
    ],
)
async def test_calls_that_cannot_be_made_are_told_so(wanted: dict[str, Any], said: str) -> None:
    async with stage(calls(wanted), "sorry") as run:
        outputs = await run.outputs()
    [entry] = outputs["calls"]
    assert entry["is_error"]
    assert said in entry["result"]
    assert run.world.done == []
    assert said in run.asked[-1].messages[-1]["content"]


async def test_errors_of_tools_are_observations() -> None:
    def fail(a: int, b: int) -> int:
        if a == 1:
            raise NodeError("there is no 1 here; take 2", kind="bad_parameter")
        if a == 2:
            raise ZeroDivisionError("oh")
        return float("nan")  # type: ignore[return-value]

    wanted = calls(*(call("fail", a=index, b=0) for index in (1, 2, 3)))
    async with stage(wanted, "fine", tools=lambda world: [SmallTool(world, "fail", fail, NUMBERS)]) as run:
        first, second, third = (entry["result"] for entry in (await run.outputs())["calls"])
    assert first == {"error": "bad_parameter"}
    texts = [message["content"] for message in run.asked[-1].messages if message["role"] == "tool"]
    assert texts[0] == "Error: there is no 1 here; take 2"
    assert "ZeroDivisionError" in texts[1]
    del second, third


async def test_a_tool_that_takes_too_long_is_ended() -> None:
    async def sleep(a: int, b: int) -> None:
        await asyncio.Event().wait()

    tools = {"tools": lambda world: [SmallTool(world, "sleep", sleep, NUMBERS, kind="once")]}
    async with stage(calls(call("sleep", a=1, b=1)), "late", limits={"tool_seconds": 0.05}, **tools) as run:
        [entry] = (await run.outputs())["calls"]
    assert entry["is_error"]
    assert "took longer than 0.05 s" in run.asked[-1].messages[-1]["content"]
    assert "not known whether" in run.asked[-1].messages[-1]["content"]


async def test_the_last_model_call_is_kept_for_the_answer() -> None:
    more = [calls(call("add", a=index, b=0)) for index in range(10)]
    async with stage(*more[:2], "three so far", limits={"iterations": 3}) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("three so far", "iterations")
    assert "tools" not in run.asked[-1].body
    assert "last turn" in run.asked[-1].user
    async with stage(
        *more, limits={"iterations": 3}
    ) as run:  # it goes on calling, although there is nothing to call
        outputs = await run.outputs()
    assert len(run.asked) == 3
    assert outputs["why"] == "iterations"
    assert "No answer was reached" in outputs["text"]
    assert "add" in outputs["text"]


async def test_the_same_call_again_and_again_is_warned_about_and_then_ends_the_work() -> None:
    same = calls(call("add", a=1, b=1))
    async with stage(same, same, same, same, "it is 2") as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("it is 2", "repeated_call")
    assert run.world.names() == ["add"] * 3
    texts = [message["content"] for message in run.asked[-1].messages if message["role"] == "tool"]
    assert texts[1] == "2"
    assert "3 times" in texts[2]
    assert "not made again" in texts[3]


@pytest.mark.parametrize(
    "same",
    [call("nope", a=1), call("add", a="x", b=1), {"name": "add", "arguments": "{'a': 1"}],
    ids=["unknown", "wrong", "no json"],
)
async def test_a_wrong_call_again_and_again_ends_the_work_too(same: dict[str, Any]) -> None:
    """It is counted whether it can be made or not, and alike after a crash."""
    rule = Rule(reply=lambda asked: calls(same) if asked.body.get("tools") else "I cannot")
    async with stage(rules=[rule]) as run:
        whole = await run.outputs()
        assert (whole["text"], whole["why"], len(run.asked)) == ("I cannot", "repeated_call", 5)
        texts = [message["content"] for message in run.asked[-1].messages if message["role"] == "tool"]
        assert "asked for 3 times" in texts[2]
        assert "not made again" in texts[3]
        again = run.cut(
            next(i for i, event in enumerate(run.journal.events) if event.data.get("step") == "4")
        )
        assert await again.outputs() == whole


async def test_limits_of_tool_calls_tokens_and_money() -> None:
    several = calls(*(call("add", a=index, b=0) for index in range(3)))
    async with stage(several, "enough", limits={"tool_calls": 2}) as run:
        outputs = await run.outputs()
    assert (len(run.world.done), outputs["why"]) == (2, "tool_calls")
    used = {"usage": {"input": 3000, "output": 10}}
    one = calls(call("add", a=1, b=0)) | used
    async with stage(one, {"text": "short", **used}, limits={"tokens": 8000}) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("short", "tokens")
    assert run.asked[-1].body["max_tokens"] == 8000 - 3010 - 3000
    async with stage(one, "never asked", limits={"tokens": 3000}) as run:
        outputs = await run.outputs()
    assert (len(run.asked), outputs["why"]) == (1, "tokens")
    assert "limit of tokens" in outputs["text"]


async def test_a_tool_that_uses_up_the_time_leaves_some_for_the_answer() -> None:
    async def sleep(a: int, b: int) -> None:
        await asyncio.Event().wait()

    def tools(world: World) -> list[Any]:
        return [SmallTool(world, "sleep", sleep, NUMBERS)]

    async with stage(calls(call("sleep", a=1, b=1)), "in time", tools=tools, limits={"seconds": 16}) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("in time", "time")


async def test_a_model_that_uses_up_the_time_is_asked_once_more() -> None:
    async with stage({"text": "too slow", "delay": 60}, "in time", limits={"seconds": 16}) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("in time", "time")


async def test_a_model_that_says_nothing_is_asked_once_more() -> None:
    async with stage({"text": ""}, "now") as run:
        assert (await run.outputs())["text"] == "now"
    async with stage({"text": ""}) as run:
        outputs = await run.outputs()
    assert outputs["why"] == "no_answer"
    assert len(run.asked) == 2


async def test_refusals_and_cut_answers_are_no_success() -> None:
    async with stage({"refusal": "I will not."}) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("I will not.", "refused")
    async with stage({"text": "half of", "finish_reason": "length"}) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("half of", "length")


async def test_a_model_that_fails_fails_the_node_and_a_retry_goes_on_behind_the_last_step() -> None:
    document = {**_retrying()}
    async with stage(calls(call("add", a=1, b=2)), {"status": 500}, "three", document=document) as run:
        outputs = await run.outputs()
    assert outputs["text"] == "three"
    assert run.world.names() == ["add"]
    assert len(run.asked) == 3


def _retrying() -> dict[str, Any]:
    from tests.agents.hosting import ONE

    nodes = [
        {**node, "retry": {"max": 1, "delay": "1ms"}} if node["id"] == "n" else node for node in ONE["nodes"]
    ]
    return {**ONE, "nodes": nodes}


async def test_answers_stream_once() -> None:
    async with stage(
        calls(call("add", a=1, b=2), text="Let me see."), "It is three.", config={"stream": True}
    ) as run:
        outputs = await run.outputs()
    pieces: dict[str, str] = {}
    for event in run.of("node.delta"):
        pieces[event.data["step"]] = pieces.get(event.data["step"], "") + event.data["text"]
    assert pieces == {"1": "Let me see.", "2": "It is three."}
    assert outputs["text"] == "It is three."


async def test_synthesis_is_written_where_it_is_asked_for() -> None:
    async with stage(
        calls(call("add", a=1, b=2)), "3", "It is three.", config={"stream": True}, how={"synthesis": True}
    ) as run:
        outputs = await run.outputs()
    assert outputs["text"] == "It is three."
    assert "".join(event.data["text"] for event in run.of("node.delta")) == "It is three."


async def test_reflection_and_completion_check() -> None:
    replies = [calls(call("add", a=index, b=0)) for index in range(4)]
    check = {"data": {"complete": False, "missing": "the sum"}}
    async with stage(
        *replies[:3], "half", check, "the whole", how={"completion_check": True, "reflection_every": 2}
    ) as run:
        outputs = await run.outputs()
    assert (outputs["text"], outputs["why"]) == ("the whole", "answer")
    assert any("Stop for a moment" in str(message["content"]) for message in run.asked[2].messages)
    assert not any("Stop for a moment" in str(message["content"]) for message in run.asked[1].messages)
    assert "the sum" in run.asked[-1].user
    async with stage(calls(call("add", a=1, b=1)), "two", how={"completion_check": True}) as run:
        assert (await run.outputs())["text"] == "two"


async def test_a_tool_that_is_not_loaded_says_how_to_load_it() -> None:
    def tools(world: World) -> list[Any]:
        return [request_tools(world), add(world)]

    def others(world: World) -> list[Any]:
        return [SmallTool(world, "sub", lambda a, b: a - b, NUMBERS)]

    async with stage(calls(call("sub", a=1, b=2)), "no", tools=tools, unloaded=others) as run:
        [entry] = (await run.outputs())["calls"]
    assert "request_tools" in entry["result"]
