"""A loop whose process dies goes on behind its last recorded step: no call twice, no model asked twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlace.engine.node import Config, Node, OpenOutput, RunContext
from interlace.engine.waits import Answer
from interlace.resources.models.testing import Asked, Rule
from interlace.resources.tools.tool import Tool
from tests.agents.hosting import (
    KINDS,
    NUMBERS,
    ONE,
    SmallTool,
    Stage,
    World,
    add,
    call,
    calls,
    request_tools,
    send,
    stage,
    until,
)


def by_results(asked: Asked) -> Any:
    """A model whose turn follows from how many results it has seen."""
    seen = sum(message["role"] == "tool" for message in asked.messages)
    turns = {
        0: calls(call("add", a=1, b=2), call("note", text="x")),
        2: calls(call("add", a=3, b=4)),
        3: calls(call("note", text="y")),
    }
    return turns.get(seen, f"done after {seen}")


def tools(kind: Any) -> Any:
    def made(world: World) -> list[Tool]:
        return [
            add(world),
            SmallTool(world, "note", lambda text: f"noted {text}", {"text": {"type": "string"}}, kind=kind),
        ]

    return made


def finished(run: Stage, length: int) -> set[str]:
    return {event.data["step"] for event in run.journal.events[:length] if event.type == "tool.finished"}


async def test_a_crash_at_every_event_ends_in_the_same_outcome() -> None:
    async with stage(rules=[Rule(reply=by_results)], tools=tools("idempotent")) as run:
        whole = await run.outputs()
        events = len(run.journal.events)
        assert whole["text"] == "done after 4"
        assert events > 14
        for length in range(2, events):
            run.world.done.clear()
            asked = len(run.asked)
            again = run.cut(length)
            outputs = await again.outputs()
            assert outputs == whole, length
            keys = [key.rpartition(":")[2] for _, _, key in run.world.done]
            assert len(set(keys)) == len(keys)
            assert not finished(run, length) & set(keys), length
            answered = sum(event.type == "model.finished" for event in run.journal.events[:length])
            assert len(run.asked) - asked == 4 - answered, length


@pytest.mark.parametrize(
    ("policy", "status"), [("retry", "succeeded"), ("fail", "failed"), ("ask", "suspended")]
)
async def test_a_call_with_an_unknown_outcome(policy: str, status: str) -> None:
    nodes = [{**node, "on_unknown": policy} if node["id"] == "n" else node for node in ONE["nodes"]]
    async with stage(
        rules=[Rule(reply=by_results)], tools=tools("once"), document={**ONE, "nodes": nodes}
    ) as run:
        await run.outputs()
        begun = next(
            index for index, event in enumerate(run.journal.events)
            if event.type == "tool.started" and event.data["name"] == "note"
        )  # fmt: skip
        run.world.done.clear()
        again = run.cut(begun + 1)
        result = await again.turn()
    assert result.status == status
    if policy == "retry":
        assert ("note", {"text": "x"}, "r:n:1.1") in run.world.done
        return
    assert "note" not in run.world.names()
    assert run.world.names() == (["add"] if policy == "ask" else [])
    if policy == "fail":
        assert result.error is not None
        assert result.error["type"] == "unknown_outcome"


@pytest.mark.parametrize(
    ("action", "form", "result", "made"),
    [("happened", {"result": "yes"}, "yes", 0), ("happened", {}, "The call did its work; what it gave is not known.", 0),
     ("not_happened", {}, "noted x", 1)],
)  # fmt: skip
async def test_a_person_says_what_became_of_a_call(action: str, form: Any, result: str, made: int) -> None:
    async with stage(rules=[Rule(reply=by_results)], tools=tools("once")) as run:
        await run.outputs()
        begun = next(
            index for index, event in enumerate(run.journal.events)
            if event.type == "tool.started" and event.data["name"] == "note"
        )  # fmt: skip
        run.world.done.clear()
        again = run.cut(begun + 1)
        assert (await again.turn()).status == "suspended"
        [question] = again.requests().values()
        assert question["key"] == "1.1?"
        assert question["request"]["config"] == {"tool": "note", "arguments": {"text": "x"}}
        again.answer("1.1?", action, form=form)
        outputs = await again.outputs()
    assert outputs["calls"][1]["result"] == result
    assert [entry for entry in run.world.done if entry[1] == {"text": "x"}] == [
        ("note", {"text": "x"}, "r:n:1.1")
    ] * made


async def test_what_a_call_loaded_is_loaded_after_a_crash() -> None:
    def one(world: World) -> list[Tool]:
        return [request_tools(world)]

    replies = calls(call("request_tools", names=["sub", "zzz"])), calls(call("sub", a=5, b=2)), "three"
    async with stage(
        *replies, tools=one, unloaded=lambda world: [SmallTool(world, "sub", lambda a, b: a - b, NUMBERS)]
    ) as run:
        await run.outputs()
        names = [[tool["function"]["name"] for tool in asked.body["tools"]] for asked in run.asked]
        assert names == [["request_tools"], ["request_tools", "sub"], ["request_tools", "sub"]]
        cut = next(i for i, e in enumerate(run.journal.events) if e.type == "tool.finished")
        run.world.done.clear()
        again = run.cut(cut + 1)
        outputs = await again.outputs()
    assert run.world.names() == []  # the scripted model says its last words again
    assert [tool["function"]["name"] for tool in run.asked[3].body["tools"]] == ["request_tools", "sub"]
    assert outputs["text"] == "three"


async def test_the_question_is_the_one_that_was_asked_first() -> None:
    prompt = {"prompt": "at {{ now() }}"}
    nodes = [{**node, "config": prompt} if node["id"] == "n" else node for node in ONE["nodes"]]
    async with stage(calls(call("add", a=1, b=2)), "three", document={**ONE, "nodes": nodes}) as run:
        await run.outputs()
        first = run.asked[0].user
        length = next(i for i, event in enumerate(run.journal.events) if event.type == "tool.finished")
        again = run.cut(length + 1)
        await again.outputs()
        assert run.asked[-1].user == first


# -- people ------------------------------------------------------------------------------------------------------------


def mixed(asked: Asked) -> Any:
    seen = sum(message["role"] == "tool" for message in asked.messages)
    if seen == 0:
        return calls(
            call("send", to="ada"), call("add", a=1, b=2), call("send", to="bob"), call("send", to="eve")
        )
    return "all said"


def senders(world: World) -> list[Tool]:
    return [add(world), send(world)]


async def test_each_gated_call_of_a_turn_has_a_request_of_its_own() -> None:
    async with stage(rules=[Rule(reply=mixed)], tools=senders) as run:
        first = await run.turn()
        assert (first.status, len(first.waiting)) == ("suspended", 3)
        assert run.world.names() == ["add"]
        requests = run.requests()
        assert sorted(requests) == ["1.0", "1.2", "1.3"]
        assert [entry["request"]["title"] for entry in requests.values()] == [
            "Send to ada", "Send to bob", "Send to eve",
        ]  # fmt: skip
        assert len({entry["hash"] for entry in requests.values()}) == 3
        # The last one is answered first; each approved call is made at once, and only once.
        run.answer("1.3")
        second = await run.turn()
        assert second.waiting == first.waiting[:2]
        assert run.world.done[-1] == ("send", {"to": "eve"}, "r:n:1.3")
        run.answer("1.0", "reject", by="ada", comment="not to me")
        third = await run.turn()
        assert third.waiting == (requests["1.2"]["id"],)
        run.answers[requests["1.2"]["id"]] = Answer()  # nobody answered in time
        outputs = await run.outputs()
    assert run.world.names() == ["add", "send"]
    assert len(run.requests()) == 3
    texts = [message["content"] for message in run.asked[-1].messages if message["role"] == "tool"]
    assert texts == [
        "Error: ada refused this call of send: not to me; it was not made", "3",
        "Error: nobody agreed to this call of send in time; it was not made", "sent to eve",
    ]  # fmt: skip
    assert [entry["is_error"] for entry in outputs["calls"]] == [True, False, True, False]


async def test_a_crash_at_every_event_between_requests_and_answers() -> None:
    """Whatever was recorded when the process died: no request is lost or made twice, no call made twice."""
    async with stage(rules=[Rule(reply=mixed)], tools=senders) as run:
        await run.turn()
        for key in ("1.3", "1.0"):
            run.answer(key)
            await run.turn()
        run.answer("1.2", "reject")
        whole = await run.outputs()
        ids = {entry["id"]: key for key, entry in run.requests().items()}
        for length in range(2, len(run.journal.events)):
            again = run.cut(length)
            if again.journal.events[-1].type == "node.resumed":
                continue  # it is of one commit with what follows
            known = {event.data["id"] for event in again.of("node.suspended") if "key" in event.data}
            begun = {event.data["step"] for event in again.of("tool.started")}
            ended = {event.data["step"] for event in again.of("tool.finished")}
            again.answers = {wait: answer for wait, answer in run.answers.items() if wait in known}
            run.world.done.clear()
            for _ in range(6):
                result = await again.turn()
                if result.status != "suspended":
                    break
                for wait in result.waiting:
                    key = next(e.data["key"] for e in again.of("node.suspended") if e.data.get("id") == wait)
                    # An interrupted call is asked about; the others get the answers that they got before.
                    again.answers[wait] = (
                        Answer(
                            action="happened",
                            form={"result": "sent to " + {"1.0": "ada", "1.3": "eve"}[key[:-1]]},
                        )
                        if key.endswith("?")
                        else Answer(action="reject" if key == "1.2" else "approve")
                    )
            assert result.status == "succeeded", (length, result)
            assert [entry["is_error"] for entry in (result.outputs or {})["calls"]] == [
                entry["is_error"] for entry in whole["calls"]
            ]
            made = [key.rpartition(":")[2] for name, _, key in run.world.done if name == "send"]
            assert len(made) == len(set(made))
            assert not set(made) & (begun | ended), length
            per_key = [
                e.data["key"]
                for e in again.of("node.suspended")
                if "key" in e.data and "?" not in e.data["key"]
            ]
            assert len(per_key) == len(set(per_key)), length
            assert known <= {e.data["id"] for e in again.of("node.suspended") if "key" in e.data}
        assert len(ids) == 3


class Held(Node[Config, OpenOutput]):
    """Runs until a test lets it end."""

    kind = "HELD"

    async def run(self, config: Config, ctx: RunContext) -> OpenOutput:
        await ctx.service(asyncio.Event).wait()
        return OpenOutput()


if "HELD" not in KINDS:
    KINDS.add(Held)


async def test_answers_that_come_while_the_process_lives() -> None:
    """Another branch runs on, so the turn does not end; an answer comes while the node is at work for another one."""
    gate, began, over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(to: str) -> str:
        began.set()
        await gate.wait()
        return f"sent to {to}"

    document = {
        **ONE,
        "nodes": [*ONE["nodes"], {"id": "held", "type": "HELD"}],
        "edges": [*ONE["edges"], {"from": "start", "to": "held"}],
    }
    async with stage(
        rules=[Rule(reply=mixed)],
        tools=lambda world: [add(world), send(world, does=slow)],
        document=document,
    ) as run:
        run.services.register(asyncio.Event, over)
        execution = run.begin()
        task = asyncio.create_task(execution.run())
        await until(lambda: len(run.requests()) == 3)
        requests = run.requests()
        assert execution.waits.answer(requests["1.0"]["id"], Answer(action="approve"))
        await began.wait()
        # The node is at work: the answer is kept for it.
        assert not execution.waits.answer(requests["1.2"]["id"], Answer(action="reject", by="bob"))
        gate.set()
        await until(lambda: len(run.of("node.resumed")) == 2)
        await until(lambda: execution.waits.pending == [requests["1.3"]["id"]])
        execution.waits.answer(requests["1.3"]["id"], Answer(action="approve"))
        over.set()
        result = await task
    assert result.status == "succeeded"
    assert [entry["is_error"] for entry in (result.outputs or {})["calls"]] == [False, False, True, False]
    assert run.world.names() == ["add", "send", "send"]


async def test_requests_of_a_node_that_fails_are_given_up() -> None:
    """One approved call is interrupted, and the node fails for it while two others are still asked about."""
    nodes = [
        {**node, "on_error": "continue", "on_unknown": "fail"} if node["id"] == "n" else node
        for node in ONE["nodes"]
    ]
    async with stage(rules=[Rule(reply=mixed)], tools=senders, document={**ONE, "nodes": nodes}) as run:
        await run.turn()
        run.answer("1.0")
        await run.turn()
        begun = [i for i, e in enumerate(run.journal.events) if e.type == "tool.started"][-1]
        again = run.cut(begun + 1)
        result = await again.turn()
    assert result.status == "succeeded"  # by its error policy
    given_up = {event.data["id"] for event in again.of("node.cancelled")}
    assert given_up == {entry["id"] for key, entry in again.requests().items() if key != "1.0"}
