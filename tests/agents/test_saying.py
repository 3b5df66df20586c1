"""What the user says while the agent works is taken up between its turns, once, after the results of that turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlace.engine.protocols import Inbox, Said
from interlace.resources.models.testing import Asked, Rule
from tests.agents.hosting import NUMBERS, SmallTool, Stage, World, call, calls, stage


class Letters:
    """What was said, by id. Implements `Inbox`."""

    def __init__(self) -> None:
        self.said: list[Said] = []

    def say(self, text: str) -> None:
        self.said.append(Said(id=f"{len(self.said):04}", text=text))

    async def after(self, run_id: str, last: str = "") -> Sequence[Said]:
        return [entry for entry in self.said if entry.id > last]


def chat(run: Stage, letters: Letters) -> None:
    run.services.register(Inbox, letters)
    run.trigger = {"kind": "chat"}


def shown(asked: Asked) -> list[str]:
    return [f"{m['role']}:{m['content'] or 'calls'}" for m in asked.messages[1:]]


async def test_it_stands_after_the_results_of_the_turn() -> None:
    letters = Letters()

    def work(a: int, b: int) -> int:
        letters.say(f"and {a} too")
        return b

    def tools(world: World) -> list[Any]:
        return [SmallTool(world, "work", work, NUMBERS)]

    replies = calls(call("work", a=1, b=5), call("work", a=2, b=6)), calls(call("work", a=3, b=7)), "done"
    async with stage(*replies, tools=tools) as run:
        chat(run, letters)
        outputs = await run.outputs()
        assert outputs["text"] == "done"
        assert shown(run.asked[1]) == [
            "user:go",
            "assistant:calls",
            "tool:5",
            "tool:6",
            "user:and 1 too",
            "user:and 2 too",
        ]
        assert shown(run.asked[2])[-3:] == ["assistant:calls", "tool:7", "user:and 3 too"]
        assert [event.data.get("injected") for event in run.of("model.finished")] == [
            None,
            ["0000", "0001"],
            ["0002"],
        ]


async def test_what_comes_while_the_answer_is_made_is_answered_too() -> None:
    letters = Letters()

    def reply(asked: Asked) -> Any:
        if len(asked.messages) == 2:
            letters.say("wait")
            return "the first answer"
        return "the second answer"

    async with stage(rules=[Rule(reply=reply)]) as run:
        chat(run, letters)
        outputs = await run.outputs()
        assert outputs["text"] == "the second answer"
        assert shown(run.asked[1]) == ["user:go", "assistant:the first answer", "user:wait"]
        # A process that dies in between takes up what is not recorded as taken up, and nothing twice.
        for length in range(2, len(run.journal.events)):
            asked = len(run.asked)
            again = run.cut(length)
            done = sum(event.type == "model.finished" for event in again.journal.events)
            assert (await again.outputs())["text"] == "the second answer", length
            assert len(run.asked) - asked <= 2 - done + 1
            assert str(run.asked[-1].body).count("wait") == 1 or done == 2


async def test_other_runs_and_later_agents_of_the_run_hear_nothing() -> None:
    letters = Letters()
    letters.say("hello")
    async with stage("fine") as run:
        run.services.register(Inbox, letters)
        await run.outputs()  # no chat
        assert shown(run.asked[0]) == ["user:go"]
    two = {
        "name": "two",
        "nodes": [
            {"id": "start", "type": "START"}, {"id": "m", "type": "HOSTED"}, {"id": "n", "type": "HOSTED"},
            {"id": "done", "type": "END", "config": {"outputs": {"text": "{{ n.text }}", "why": "{{ m.text }}"}}},
        ],
        "edges": [{"from": "start", "to": "m"}, {"from": "m", "to": "n"}, {"from": "n", "to": "done"}],
    }  # fmt: skip
    async with stage("fine", document=two) as run:
        chat(run, letters)
        await run.outputs()
        assert [shown(asked) for asked in run.asked] == [["user:go", "user:hello"], ["user:go"]]
        cut = next(i for i, e in enumerate(run.journal.events) if e.type == "node.started" and e.path == "n")
        again = run.cut(cut + 1)
        await again.outputs()
        assert shown(run.asked[-1]) == ["user:go"]
