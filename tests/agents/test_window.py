"""What a model is shown of a long conversation: old results are left out, then old turns summed up; nothing is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlace.agents.loop import Profile, Task, Work
from interlace.agents.loop.conversation import Conversation, Entry
from interlace.agents.loop.job import Job
from interlace.agents.loop.observation import Observation
from interlace.agents.loop.reading import ReadResult
from interlace.agents.loop.spending import Budget
from interlace.agents.loop.window import Window
from interlace.agents.toolset import ToolSet
from interlace.engine.chat import Message, ModelFacts, ToolCall
from interlace.engine.errors import NodeError
from interlace.resources.agents.definition import Limits
from interlace.resources.models import tokens
from interlace.resources.models.testing import Asked, Rule
from interlace.resources.tools.tool import Tool
from tests.agents.hosting import NUMBERS, SmallTool, World, add, call, calls, stage

WORDS = "the quick brown fox jumps over the lazy dog and counts its bones "


def page(a: int, b: int) -> str:
    return f"page {a}: " + WORDS * b


def reader(world: World) -> list[Tool]:
    return [SmallTool(world, "page", page, NUMBERS)]


def of_context(window: int) -> dict[str, Any]:
    return {"context_window": window, "max_output": 500}


def count(asked: Asked) -> int:
    return tokens.count_messages(asked.messages, tools=asked.body.get("tools", ()))


def turns(most: int, size: int) -> Any:
    def reply(asked: Asked) -> Any:
        if "Sum up this part" in asked.system:
            return "page 0 to some page were read"
        seen = sum(message["role"] == "tool" for message in asked.messages)
        asked_for = [c["function"]["arguments"] for m in asked.messages for c in m.get("tool_calls") or ()]
        number = 1 + max((int(text.partition('"a":')[2].partition(",")[0]) for text in asked_for), default=-1)
        del seen
        return f"read {number}" if number >= most else calls(call("page", a=number, b=size))

    return [Rule(reply=reply)]


async def test_old_results_are_left_out_and_can_be_read_again() -> None:
    async with stage(rules=turns(8, 60), tools=reader, model=of_context(6000)) as run:
        outputs = await run.outputs()
        assert outputs["text"] == "read 8"
        for asked in run.asked:
            assert count(asked) <= 6000 - 500
            assert asked.messages[0]["role"] == "system"
            assert asked.messages[1] == {"role": "user", "content": "go"}
        last = run.asked[-1]
        noted = [m for m in last.messages if m["role"] == "tool" and "left out to save room" in m["content"]]
        assert noted
        assert 'read_result(ref="1.0")' in noted[0]["content"]
        assert "read_result" in [tool["function"]["name"] for tool in last.body["tools"]]
        assert "read_result" not in [tool["function"]["name"] for tool in run.asked[0].body["tools"]]
        assert not any("Sum up this part" in asked.system for asked in run.asked)
        assert outputs["calls"][0]["result"] == page(0, 60)  # the outputs have all of it


async def test_a_left_out_result_is_read_by_pages() -> None:
    def reply(asked: Asked) -> Any:
        seen = sum(message["role"] == "tool" for message in asked.messages)
        if seen < 5:
            return calls(call("page", a=seen, b=60))
        if seen == 5:
            return calls(
                call("read_result", ref="1.0"),
                call("read_result", ref="9.9"),
                call("read_result", ref="1.0", offset=99999),
            )
        return "done"

    async with stage(rules=[Rule(reply=reply)], tools=reader, model=of_context(6000)) as run:
        outputs = await run.outputs()
    whole, missing, behind = (entry["result"] for entry in outputs["calls"][-3:])
    assert whole == page(0, 60)
    assert missing == {"error": "bad_arguments"}
    assert behind == {"error": "bad_arguments"}


async def test_a_result_that_is_too_long_is_cut_with_a_way_to_read_on() -> None:
    async with stage(calls(call("page", a=0, b=3000)), "seen", tools=reader, model=of_context(8000)) as run:
        outputs = await run.outputs()
        shown = run.asked[-1].messages[-1]["content"]
    assert outputs["text"] == "seen"
    assert "Read on with read_result" in shown
    assert len(shown) < len(page(0, 3000)) / 4


async def test_old_turns_are_summed_up_where_that_is_not_enough() -> None:
    async with stage(
        rules=turns(60, 6), tools=reader, model=of_context(2200), limits={"iterations": 100}
    ) as run:
        outputs = await run.outputs()
        assert outputs["text"] == "read 60"
        summaries = [asked for asked in run.asked if "Sum up this part" in asked.system]
        assert summaries
        assert summaries[0].model == "scripted-mini"
        for asked in run.asked:
            if asked in summaries:
                continue
            assert count(asked) <= 2200 - 500
            roles = [message["role"] for message in asked.messages]
            assert roles[:2] == ["system", "user"]
            _check_pairs(asked.messages)
        assert any("page 0 to some page were read" in str(m["content"]) for m in run.asked[-1].messages)
        # A process that takes the run up again does not sum up what is summed up.
        length = next(
            i for i, e in enumerate(run.journal.events) if e.data.get("step", "").endswith("+summary")
        )
        before = len(run.asked)
        again = run.cut(length + 1)
        assert (await again.outputs())["text"] == "read 60"
        first = run.asked[before]
        assert any("page 0 to some page were read" in str(m["content"]) for m in first.messages)


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Each result stands behind its call, each call has its result."""
    open_: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_
            open_.discard(message["tool_call_id"])
        else:
            assert not open_
            open_ = {entry["id"] for entry in message.get("tool_calls") or ()}
    assert not open_


async def test_a_model_that_says_that_it_is_too_long_is_asked_with_less() -> None:
    said: list[int] = []

    def reply(asked: Asked) -> Any:
        seen = sum(message["role"] == "tool" for message in asked.messages)
        if seen == 3 and not said:
            said.append(count(asked))
            return {"status": 400, "code": "context_length_exceeded", "error": "maximum context length"}
        return "fine" if seen >= 3 else calls(call("page", a=seen, b=40))

    async with stage(rules=[Rule(reply=reply)], tools=reader) as run:  # nothing is known of its context
        assert (await run.outputs())["text"] == "fine"
    assert count(run.asked[-1]) < said[0]


async def test_a_question_that_has_no_room_is_an_error() -> None:
    async with stage(
        "never", tools=lambda world: [add(world)], model=of_context(1000), config={"prompt": WORDS * 200}
    ) as run:
        result = await run.turn()
    assert result.error is not None
    assert result.error["type"] == "context_length"
    assert run.asked == []


# -- any conversation --------------------------------------------------------------------------------------------------


class _Record:
    """A node's steps, kept in a list; models that sum up in a sentence."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Any]] = []

    def get(self, name: str) -> Any:
        return None

    def record(self, kind: str, name: str, data: Any) -> Any:
        self.kept.append((name, data))
        return data


SIZES = st.integers(0, 400)
ENTRIES = st.lists(st.tuples(st.integers(1, 3), SIZES, st.sampled_from(["", "note", "user"])), max_size=12)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(entries=ENTRIES, history=st.lists(SIZES, max_size=6), window=st.integers(1500, 9000))
def test_what_is_shown_always_fits_and_keeps_what_must_stay(
    entries: list[tuple[int, int, str]], history: list[int], window: int
) -> None:
    asyncio.run(_fits(entries, history, window))


async def _fits(entries: list[tuple[int, int, str]], history: list[int], window: int) -> None:
    ctx: Any = type("Ctx", (), {"substeps": _Record(), "now": lambda self: 0.0, "seconds": None})()
    work = Work(ctx)
    summed = _Summing(work)
    job = Job(
        summed,
        Profile(),
        ToolSet(()),
        Task(prompt="q"),
        Budget(Limits(), work.spending, 100.0, 0.0),
        ReadResult(work),
    )
    said = [
        Message(role="user" if i % 2 == 0 else "assistant", content=WORDS * (n // 12))
        for i, n in enumerate(history)
    ]
    job.conversation = Conversation(
        [Message(role="system", content="Rules."), *said, Message(role="user", content="The question?")]
    )
    users = []
    for turn, (several, size, more) in enumerate(entries, 1):
        wanted = tuple(ToolCall(id=f"c{i}", name="page", arguments="{}") for i in range(several))
        job.conversation.say(Message(role="assistant", content=None, tool_calls=wanted))
        job.conversation.observe(
            Observation(f"{turn}.{i}", entry, {"value": WORDS * (size // 10), "text": None})
            for i, entry in enumerate(wanted)
        )
        if more:
            text = f"{more} {turn}"
            job.conversation.entries.append(Entry(Message(role="user", content=text), kept=more == "user"))
            users += [text] if more == "user" else []
    view = Window(job)
    view.facts = ModelFacts(name="p/m", context_window=window, max_output=300)
    try:
        found = await view.fit("99", (), ["Go on."])
    except NodeError as error:
        if error.kind != "context_length":
            raise
        return
    wire = [message.wire() for message in found]
    assert sum(tokens.count_messages([message], "p/m") for message in wire) <= window - min(300, window // 4)
    assert wire[0]["content"] == "Rules."
    texts = [message["content"] for message in wire]
    assert "The question?" in texts
    assert texts[-1] == "Go on."
    assert [text for text in texts if text in users] == users
    _check_pairs(wire)


class _Summing(Work):
    """Work whose summaries need no server."""

    def __init__(self, work: Work) -> None:
        super().__init__(work.ctx)

    def models(self, name: str) -> Any:
        from interlace.engine.chat import ChatResult

        class Models:
            async def chat(self, request: Any, *, site: Any) -> ChatResult:
                return ChatResult(text="a short summary")

        return Models()

    @property
    def site(self) -> Any:
        return None


@pytest.mark.parametrize("tools", [0, 40])
async def test_schemas_count(tools: int) -> None:
    many = [
        {
            "name": f"tool_{i}",
            "parameters": {f"field_{j}": {"type": "string", "description": WORDS} for j in range(4)},
        }
        for i in range(tools)
    ]

    def made(world: World) -> list[Tool]:
        return [
            *reader(world),
            *(SmallTool(world, str(t["name"]), page, dict(t["parameters"])) for t in many),
        ]  # type: ignore[call-overload]

    window = 6000 + 110 * tools
    async with stage(rules=turns(8, 60), tools=made, model=of_context(window)) as run:
        await run.outputs()
        for asked in run.asked:
            assert count(asked) <= window - 500
