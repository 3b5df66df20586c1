"""What is said to a turn at work: taken up, or asked afterwards; neither lost nor doubled."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.answers import Answers
from interlace.flows.chat import Turn
from interlace.store.errors import ConflictError
from tests.flows.chatting import ECHO, chatting, done, published, told

LISTENING = """
name: listener
settings: {chat: true}
inputs: {type: object, required: [message], properties: {message: {type: string}, history: {type: array}}}
nodes:
  - {id: start, type: START}
  - {id: say, type: LLM, config: {prompt: "{{ inputs.message }}", history: 5}}
  - {id: end, type: END, config: {outputs: {answer: "{{ say.text }}"}}}
edges: [start -> say, say -> end]
"""


async def test_what_is_said_meanwhile_is_asked_afterwards(tmp_path: Path) -> None:
    """Of a turn that takes nothing up; the agent's does."""
    async with chatting(tmp_path / "home", [*ECHO[:1], {"reply": told}]) as (platform, _):
        session = await platform.chat.create(by=LOCAL, workflow=await published(platform, LISTENING))
        turn = await platform.chat.send(session.id, "slow", by=LOCAL)
        run_id = await platform.chat.inject(session.id, "and be brief", by=LOCAL)
        assert run_id == turn.answer.run_id
        await done(platform, turn)
        _, messages = await platform.chat.read(session.id, by=LOCAL)
        assert [message.content for message in messages if message.role == "user"] == ["slow", "and be brief"]
        assert messages[-1].content.endswith("| and be brief")
        with pytest.raises(ConflictError):
            await platform.chat.inject(session.id, "too late", by=LOCAL)


async def test_what_was_said_is_asked_after_a_crash_and_once(tmp_path: Path) -> None:
    """The answer is written, and the process dies before it asks what came too late; two look after it then."""
    async with chatting(tmp_path / "home", [*ECHO[:1], {"reply": told}]) as (platform, _):
        session = await platform.chat.create(by=LOCAL, workflow=await published(platform, LISTENING))
        turn = await platform.chat.send(session.id, "slow", by=LOCAL)
        assert turn.answer.run_id is not None
        for text in ("and be brief", "please"):
            await platform.chat.inject(session.id, text, by=LOCAL)
        follow = platform.runner.ended_of.pop("chat")
        await platform.runner.wait(turn.answer.run_id)
        platform.runner.ended_of["chat"] = follow
        written, run = await Answers(platform.store, platform.documents).settle(turn.answer)
        assert (written.status, run is not None) == ("succeeded", True)
        with pytest.raises(ConflictError, match="next question"):
            await platform.store.sessions.inject(turn.answer.run_id, turn.answer.id, "too late")
        await asyncio.gather(platform.chat.catch_up(), platform.chat.catch_up())
        _, messages = await platform.chat.read(session.id, by=LOCAL)
        said = [message.content for message in messages if message.role == "user"]
        assert said == ["slow", "and be brief\n\nplease"]
        await done(platform, Turn(session=session, question=messages[-2], answer=messages[-1]))
        assert await platform.store.sessions.left() == []


WORKING = """
name: worker
settings: {chat: true}
inputs: {type: object, required: [message], properties: {message: {type: string}, history: {type: array}}}
nodes:
  - {id: start, type: START}
  - {id: work, type: AGENT, config: {prompt: "{{ inputs.message }}"}}
  - {id: end, type: END, config: {outputs: {answer: "{{ work.text }}"}}}
edges: [start -> work, work -> end]
"""


async def test_an_agent_takes_up_what_is_said_meanwhile(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", [*ECHO[:1], {"reply": told}]) as (platform, models):
        session = await platform.chat.create(by=LOCAL, workflow=await published(platform, WORKING))
        turn = await platform.chat.send(session.id, "slow", by=LOCAL)
        assert turn.answer.run_id is not None
        async for event in platform.store.events.follow(turn.answer.run_id):
            if event.type == "node.delta":
                break
        for text in ("and be brief", "please"):
            await platform.chat.inject(session.id, text, by=LOCAL)
        answer = await done(platform, turn)
        assert answer.content.startswith("heard 4: slow | slowly")
        assert answer.content.endswith("| and be brief | please")
        assert len(models.requests) == 2
        _, messages = await platform.chat.read(session.id, by=LOCAL)
        assert len(messages) == 2, "nothing is left to be asked"
        assert answer.data["said"] == ["and be brief", "please"]
        again = await done(platform, await platform.chat.regenerate(session.id, answer.id, by=LOCAL))
        assert models.requests[-1].user == "slow\n\nand be brief\n\nplease", "it counts for a new try too"
        assert again.data["said"] == answer.data["said"]
        [question, _] = await platform.chat.history(session.id, by=LOCAL)
        assert question["content"] == "slow\n\nand be brief\n\nplease", "what follows knows of it"
