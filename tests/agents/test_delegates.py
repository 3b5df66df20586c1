"""Agents that work for an agent: their answer comes back and nothing else, and all rules hold for them as well."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from interlace.agents.loop import Profile, run_agent
from interlace.agents.toolset import ToolSet
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.waits import Answer
from interlace.resources.agents.definition import Limits, read_hooks
from interlace.resources.agents.hooking import Hooks
from interlace.resources.models.testing import Asked, Rule
from interlace.resources.tools.tool import Gate, Tool, ToolContext, ToolResult
from tests.agents.hosting import World, add, call, calls, send, stage


class CallAgent:
    """Lets a mate work. Implements `Tool`."""

    name = "call_agent"
    description = "Lets a mate work."
    category: Any = "agents"
    parameters_schema: dict[str, Any] = {
        "type": "object",
        "properties": {"task": {"type": "string"}},
        "required": ["task"],
    }

    def __init__(
        self, world: World, tools: Any, limits: Mapping[str, Any] | None = None, hooks: Any = ()
    ) -> None:
        self.world = world
        self.tools = tools
        self.profile = Profile(
            instructions="You are the mate. SECRET PERSONA.",
            limits=Limits(**(limits or {})),
            hooks=Hooks(read_hooks(hooks)),
        )

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        return "idempotent"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        return None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        found = await run_agent(self.profile, ToolSet(self.tools(self.world)), str(arguments["task"]), ctx)
        return ToolResult(value={"answer": found.text, "stop_reason": found.stop_reason})


def seen(asked: Asked) -> int:
    return sum(message["role"] == "tool" for message in asked.messages)


def crew(mate: Any, chief: Any) -> list[Rule]:
    return [
        Rule.model_validate({"when": {"system": "SECRET PERSONA"}, "reply": mate}),
        Rule.model_validate({"reply": chief}),
    ]


def mate(asked: Asked) -> Any:
    who = asked.messages[1]["content"]
    if seen(asked) == 0:
        return calls(call("add", a=len(who), b=1), call("send", to=who)) | {
            "usage": {"input": 100, "output": 10}
        }
    return {"text": f"told {who}", "usage": {"input": 100, "output": 10}}


def chief(asked: Asked) -> Any:
    if seen(asked) == 0:
        return calls(call("call_agent", task="ada"), call("call_agent", task="bob")) | {
            "usage": {"input": 10, "output": 1}
        }
    return {"text": "both told", "usage": {"input": 10, "output": 1}}


def tools(world: World) -> list[Tool]:
    return [add(world), send(world, asks=lambda arguments: None)]


def chiefs(world: World) -> list[Tool]:
    return [CallAgent(world, tools)]


async def test_the_answer_alone_comes_back() -> None:
    async with stage(rules=crew(mate, chief), tools=chiefs) as run:
        outputs = await run.outputs()
    assert outputs["text"] == "both told"
    assert [entry["result"]["answer"] for entry in outputs["calls"]] == ["told ada", "told bob"]
    assert [entry["name"] for entry in outputs["calls"]] == ["call_agent"] * 2
    for asked in run.asked:
        if "SECRET PERSONA" not in asked.system:
            assert "SECRET PERSONA" not in str(asked.body)
            assert "sent to" not in str(asked.body)
    keys = sorted(key for name, _, key in run.world.done if name == "send")
    assert keys == ["r:n:1.0/1.1", "r:n:1.1/1.1"]
    steps = {event.data["step"] for event in run.of("model.finished")}
    assert steps == {"1", "2", "1.0/1", "1.0/2", "1.1/1", "1.1/2"}


@pytest.mark.parametrize("ref", ["1.0/1.1", "1.0/1", "1.0/1.0"])
async def test_what_a_delegate_did_is_not_read_as_a_result(ref: str) -> None:
    """Steps of a delegate stand below the call; `read_result` gives the caller's own results alone."""

    def chief(asked: Asked) -> Any:
        turns = {0: calls(call("call_agent", task="ada")), 1: calls(call("read_result", ref=ref))}
        return turns.get(seen(asked), "done")

    async with stage(rules=crew(mate, chief), tools=chiefs) as run:
        outputs = await run.outputs()
    assert outputs["calls"][1]["result"] == {"error": "bad_arguments"}
    assert "sent to" not in str(outputs)


async def test_what_delegates_use_counts_for_the_node() -> None:
    async with stage(rules=crew(mate, chief), tools=chiefs) as run:
        await run.turn()
        usage = next(e for e in run.of("node.succeeded") if e.path == "n").data["outputs"]["usage"]
        assert (usage["input_tokens"], usage["output_tokens"], usage["calls"]) == (420, 42, 6)
        cut = next(i for i, e in enumerate(run.journal.events) if e.data.get("step") == "2")
        again = run.cut(cut)  # the delegates' work is recorded with the calls that started them
        await again.turn()
        usage = next(e for e in again.of("node.succeeded") if e.path == "n").data["outputs"]["usage"]
        assert (usage["input_tokens"], usage["calls"]) == (420, 6)
    async with stage(rules=crew(mate, chief), tools=chiefs, limits={"tokens": 1600}) as run:
        outputs = await run.outputs()
    assert outputs["why"] == "tokens"  # the delegates' tokens are the chief's


async def test_a_crash_at_every_event_of_delegates() -> None:
    async with stage(rules=crew(mate, chief), tools=chiefs) as run:
        whole = await run.outputs()
        for length in range(2, len(run.journal.events)):
            run.world.done.clear()
            again = run.cut(length)
            finished = {e.data["step"] for e in again.of("tool.finished")}
            begun = {
                e.data["step"] for e in again.of("tool.started") if e.data.get("effects") == "once"
            } - finished
            result = await again.turn()
            while result.status == "suspended":  # interrupted mails
                for wait in result.waiting:
                    again.answers[wait] = Answer(action="not_happened")
                result = await again.turn()
            assert result.outputs == whole, length
            made = [key.partition("r:n:")[2] for _, _, key in run.world.done]
            assert len(made) == len(set(made))
            assert not finished & set(made)
            assert begun <= set(made) | finished


async def test_gates_inside_delegates_suspend_the_node_around_both() -> None:
    def gated(world: World) -> list[Tool]:
        return [CallAgent(world, lambda world: [add(world), send(world)])]

    async with stage(rules=crew(mate, chief), tools=gated) as run:
        first = await run.turn()
        assert (first.status, len(first.waiting)) == ("suspended", 2)
        assert sorted(run.requests()) == ["1.0/1.1", "1.1/1.1"]
        assert run.world.names() == ["add", "add"]
        run.answer("1.1/1.1")
        second = await run.turn()
        assert len(second.waiting) == 1
        assert run.world.done[-1] == ("send", {"to": "bob"}, "r:n:1.1/1.1")
        run.answer("1.0/1.1", "reject", by="eve", comment="not her")
        outputs = await run.outputs()
    assert outputs["text"] == "both told"
    assert run.world.names() == ["add", "add", "send"]
    assert len(run.asked) == 6
    refused = [asked for asked in run.asked if "eve refused" in str(asked.body)]
    assert len(refused) == 1
    assert "SECRET PERSONA" in refused[0].system


async def test_hooks_and_limits_hold_inside_delegates() -> None:
    deny = [{"event": "pre_tool_use", "match": "send", "do": "deny", "message": "no mail"}]

    def guarded(world: World) -> list[Tool]:
        return [CallAgent(world, tools, {"iterations": 2}, deny)]

    async with stage(rules=crew(mate, chief), tools=guarded) as run:
        outputs = await run.outputs()
    assert "send" not in run.world.names()
    assert [entry["result"]["stop_reason"] for entry in outputs["calls"]] == ["iterations"] * 2


async def test_a_delegate_without_an_answer_tells_nothing_of_its_work() -> None:
    """An agent that runs out shows its user the last result; its caller gets no more than an answer."""

    def silent(asked: Asked) -> Any:
        return calls(call("send", to="ada"))

    def guarded(world: World) -> list[Tool]:
        return [CallAgent(world, tools, {"iterations": 2})]

    async with stage(rules=crew(silent, chief), tools=guarded) as run:
        outputs = await run.outputs()
    assert run.world.names().count("send") == 2
    assert "No answer was reached" in str(outputs["calls"])
    assert "sent to" not in str(outputs["calls"])


async def test_delegates_work_side_by_side() -> None:
    there: list[str] = []
    met = asyncio.Event()

    async def meet(a: int, b: int) -> int:
        there.append("x")
        if len(there) == 2:
            met.set()
        await asyncio.wait_for(met.wait(), 20)
        return a + b

    from tests.agents.hosting import NUMBERS, SmallTool

    def meeting(world: World) -> list[Tool]:
        return [
            CallAgent(
                world,
                lambda world: [SmallTool(world, "add", meet, NUMBERS), send(world, asks=lambda _: None)],
            )
        ]

    async with stage(rules=crew(mate, chief), tools=meeting) as run:
        assert (await run.outputs())["text"] == "both told"


async def test_a_failing_delegate_is_an_observation() -> None:
    async with stage(rules=crew({"status": 401}, chief), tools=chiefs) as run:
        outputs = await run.outputs()
    assert outputs["text"] == "both told"
    assert all(entry["is_error"] for entry in outputs["calls"])


async def test_only_agents_have_delegates() -> None:
    ctx: Any = object()
    with pytest.raises(NodeError, match="works for an agent only"):
        await run_agent(Profile(), ToolSet(()), "x", ctx)
