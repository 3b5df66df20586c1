"""Sessions: turns as runs, branches, what is written once, and what goes on when a process has died."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.principal import LOCAL, Principal
from interlace.flows.chat import Turn
from interlace.flows.conversation import BadMessage, first_title, history_of
from interlace.flows.platform import Platform
from interlace.resources.models.testing import Asked, ScriptedModels
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.sessions import Message
from tests.flows.chatting import ECHO, chat_settings, chatting

ANN = Principal("ann")
SLOW = [{"reply": {"text": "word " * 400, "chunk_delay": 0.05}}]


def told(asked: Asked) -> str:
    """Answers with what it was told, so that histories can be seen."""
    said = [str(message["content"]) for message in asked.messages if message["role"] != "system"]
    return f"heard {len(said)}: {' | '.join(said)}"


async def done(platform: Platform, turn: Turn) -> Message:
    assert turn.answer.run_id is not None
    assert await platform.runner.wait(turn.answer.run_id, 30) is not None
    await platform.runner.idle()
    return await platform.store.sessions.message(turn.answer.id)


async def ask(platform: Platform, session_id: str, text: str, **more: Any) -> Message:
    return await done(platform, await platform.chat.send(session_id, text, by=LOCAL, **more))


async def test_a_conversation_with_its_history(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", [{"reply": told}]) as (platform, _):
        session = await platform.chat.create(by=LOCAL)
        first = await ask(platform, session.id, "\n How many?  \nReally.")
        assert (first.status, first.content) == ("succeeded", "heard 1: \n How many?  \nReally.")
        assert first.data["usage"]["calls"] == 1
        second = await ask(platform, session.id, "And why?")
        assert second.content.startswith("heard 3: ")
        found, messages = await platform.chat.read(session.id, by=LOCAL)
        assert (found.title, found.head) == ("How many?", second.id)
        assert [message.role for message in messages] == ["user", "assistant"] * 2
        assert [message.parent_id for message in messages] == [None, *(m.id for m in messages[:3])]
        with pytest.raises(NotFoundError):
            await platform.chat.read(session.id, by=ANN)
        for text, error in ((" ", BadMessage), ("x" * 200_001, BadMessage)):
            with pytest.raises(error):
                await platform.chat.send(session.id, text, by=LOCAL)
        with pytest.raises(NotFoundError, match="upload it first"):
            await platform.chat.send(session.id, "see", by=LOCAL, files=["sha256-" + "0" * 64])


async def test_branches_keep_what_was_said(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", [{"reply": told}]) as (platform, _):
        chat = platform.chat
        session = await chat.create(by=LOCAL)
        one = await ask(platform, session.id, "one")
        two = await ask(platform, session.id, "two")
        again = await done(platform, await chat.regenerate(session.id, two.id, by=LOCAL))
        assert (again.parent_id, again.content) == (two.parent_id, two.content)
        edited = await done(platform, await chat.edit(session.id, str(two.parent_id), "zwei", by=LOCAL))
        assert "two" not in edited.content
        assert edited.content.endswith("| zwei")
        beside = await ask(platform, session.id, "three", parent=one.id)
        found, messages = await chat.read(session.id, by=LOCAL)
        assert found.head == beside.id
        assert len([message for message in messages if message.parent_id == one.id]) == 3
        assert len([message for message in messages if message.parent_id == two.parent_id]) == 2
        fresh = await ask(platform, session.id, "anew", parent=None)
        assert fresh.content == "heard 1: anew"
        with pytest.raises(ConflictError, match="only answers"):
            await chat.regenerate(session.id, str(two.parent_id), by=LOCAL)
        with pytest.raises(ConflictError, match="not edited"):
            await chat.edit(session.id, two.id, "x", by=LOCAL)
        with pytest.raises(ConflictError, match="after an answer"):
            await chat.send(session.id, "x", by=LOCAL, parent=two.parent_id)
        with pytest.raises(NotFoundError):
            await chat.regenerate(session.id, "none", by=LOCAL)


async def test_one_turn_at_a_time_where_the_session_stands(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", SLOW) as (platform, _):
        session = await platform.chat.create(by=LOCAL)
        tries = [platform.chat.send(session.id, f"tab {n}", by=LOCAL) for n in range(2)]
        results = await asyncio.gather(*tries, return_exceptions=True)
        assert sorted(type(result) for result in results if not isinstance(result, Turn)) == [ConflictError]
        with pytest.raises(ConflictError, match="is being made"):
            await platform.chat.send(session.id, "impatient", by=LOCAL)
        answer = await platform.chat.cancel(session.id, by=LOCAL)
        assert answer.status == "cancelled"
        with pytest.raises(ConflictError, match="no answer is being made"):
            await platform.chat.cancel(session.id, by=LOCAL)


async def test_a_cancelled_turn_keeps_what_was_said(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", SLOW) as (platform, _):
        session = await platform.chat.create(by=LOCAL)
        turn = await platform.chat.send(session.id, "tell", by=LOCAL)
        assert turn.answer.run_id is not None
        async for event in platform.store.events.follow(turn.answer.run_id):
            if event.type == "node.delta":
                break
        answer = await platform.chat.cancel(session.id, by=LOCAL)
        assert (answer.status, answer.content.startswith("word")) == ("cancelled", True)
        path = [turn.question, answer]
        assert [entry["role"] for entry in history_of(path)] == ["user", "assistant"]


async def test_the_same_key_asks_once(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", ECHO) as (platform, models):
        session = await platform.chat.create(by=LOCAL)
        first = await platform.chat.send(session.id, "hello", by=LOCAL, key="k")
        assert (await platform.chat.send(session.id, "hello", by=LOCAL, key="k")).answer.id == first.answer.id
        await done(platform, first)
        again = await platform.chat.send(session.id, "hello", by=LOCAL, key="k")
        assert (again.answer.content, len(models.requests)) == ("fine", 1)


async def test_what_fails_is_said_in_the_session(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", [{"reply": {"status": 401}}]) as (platform, _):
        session = await platform.chat.create(by=LOCAL)
        answer = await ask(platform, session.id, "hello")
        assert (answer.status, answer.content, answer.data["error"]["type"]) == ("failed", "", "http_401")
        again = await platform.chat.regenerate(session.id, answer.id, by=LOCAL)
        assert (await done(platform, again)).status == "failed"


async def test_a_process_that_died_before_the_run_began(tmp_path: Path) -> None:
    """The question is durable; the next process begins the turn."""
    async with chatting(tmp_path / "home", ECHO) as (platform, models):
        session = await platform.chat.create(by=LOCAL)
        store = platform.store.sessions
        question = Message(id="q", session_id=session.id, parent_id=None, role="user", content="hello")
        answer = Message(
            id="a", session_id=session.id, parent_id="q", role="assistant", content="", status="running"
        )
        await store.add(session, [question, answer])
        await asyncio.gather(platform.chat.catch_up(), platform.chat.catch_up())
        await platform.runner.idle()
        assert (await store.message("a")).content == "fine"
        assert len(models.requests) == 1


async def test_an_answer_whose_process_died_is_written_by_a_reader(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", ECHO) as (platform, _):
        session = await platform.chat.create(by=LOCAL)
        platform.runner.ended_of.clear()  # as if the process ended with the run
        turn = await platform.chat.send(session.id, "hello", by=LOCAL)
        assert (await done(platform, turn)).status == "running"
        _, messages = await platform.chat.read(session.id, by=LOCAL)
        assert (messages[-1].status, messages[-1].content) == ("succeeded", "fine")


async def test_a_turn_goes_on_in_the_next_process(tmp_path: Path) -> None:
    with ScriptedModels(ECHO) as models:
        settings = chat_settings(tmp_path / "home", models.url)
        first = await Platform.open(settings)
        session = await first.chat.create(by=LOCAL)
        turn = await first.chat.send(session.id, "slow please", by=LOCAL)
        await first.close()
        assert (await _status(settings, turn)) == "running"
        second = await Platform.open(settings)
        assert turn.answer.run_id is not None
        await second.runner.resume(await second.store.runs.get(turn.answer.run_id))
        answer = await done(second, turn)
        await second.close()
        assert (answer.status, answer.content) == ("succeeded", "slowly " * 40)


async def _status(settings: Any, turn: Turn) -> str:
    opened = await Platform.open(settings)
    found = await opened.store.sessions.message(turn.answer.id)
    await opened.close()
    return found.status


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


async def published(platform: Platform, text: str) -> str:
    pinned = await platform.documents.from_text(text)
    pushed = await platform.store.workflows.push(pinned.document.name, pinned.text)
    await platform.store.workflows.publish(pushed.workflow_id)
    return pinned.document.name


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


async def test_what_was_said_meanwhile_is_asked_by_the_next_process(tmp_path: Path) -> None:
    """The process died between the answer and the question after it; nothing is asked twice either."""
    async with chatting(tmp_path / "home", [*ECHO[:1], {"reply": told}]) as (platform, _):
        session = await platform.chat.create(by=LOCAL, workflow=await published(platform, LISTENING))
        platform.runner.ended_of.clear()  # as if the process ended with the run
        turn = await platform.chat.send(session.id, "slow", by=LOCAL)
        await platform.chat.inject(session.id, "and be brief", by=LOCAL)
        answer = await done(platform, turn)
        assert await platform.store.sessions.finish(answer.id, "succeeded", "slow", {})
        with pytest.raises(ConflictError):
            await platform.store.sessions.inject(str(answer.run_id), answer.id, "it came too late")
        for _ in range(2):
            await platform.chat.catch_up()
            await platform.runner.idle()
        _, messages = await platform.chat.read(session.id, by=LOCAL)
        assert [message.content for message in messages if message.role == "user"] == ["slow", "and be brief"]
        assert await platform.store.sessions.unasked() == []


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


async def test_attachments_are_files_of_the_user(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", [{"reply": told}]) as (platform, models):
        session = await platform.chat.create(by=LOCAL)
        mine = await platform.store.files.of_owner("local").save(
            b"the fee is 5", name="fee.txt", media_type="text/plain"
        )
        anns = await platform.store.files.of_owner("ann").save(
            b"secret", name="a.txt", media_type="text/plain"
        )
        answer = await ask(platform, session.id, "what is it?", files=[mine.ref])
        assert "the fee is 5" in str(models.requests[-1].messages)
        with pytest.raises(NotFoundError):
            await platform.chat.send(session.id, "and this", by=LOCAL, files=[anns.ref])
        page = b"<html><body><h1>Fees</h1><p>Seven euros.</p></body></html>"
        broken = b"%PDF-1.4 broken"
        refs = [
            (await platform.store.files.of_owner("local").save(content, name=name, media_type=kind)).ref
            for content, name, kind in (
                (page, "fees.html", "text/html"),
                (broken, "b.pdf", "application/pdf"),
            )
        ]
        read = await ask(platform, session.id, "and these?", files=refs, parent=None)
        assert "Seven euros." in read.content
        assert "this file cannot be read" in read.content
        await platform.store.sessions.stand_at(session.id, answer.id)
        follow_up = await ask(platform, session.id, "and now?")
        assert "[attached: fee.txt]" in follow_up.content
        edited = await platform.chat.edit(session.id, str(answer.parent_id), "what fee?", by=LOCAL)
        assert [file["name"] for file in edited.question.files] == ["fee.txt"]
        await done(platform, edited)


CHAT_FLOW = """
name: counter
settings: {chat: true}
inputs: {type: object, required: [message], properties: {message: {type: string}, history: {type: array}}}
variables: {count: {type: integer, default: 0, scope: session}, mine: {type: integer, default: 0}}
nodes:
  - {id: start, type: START}
  - {id: up, type: VARIABLE_ASSIGN, config: {assignments: [{variable: count, op: increment}, {variable: mine, op: increment}]}}
  - {id: say, type: LLM, config: {prompt: "{{ inputs.message }}", history: 1, stream: false}}
  - {id: end, type: END, config: {outputs: {answer: "{{ vars.count }}/{{ vars.mine }} {{ say.text }}"}}}
edges: [start -> up, up -> say, say -> end]
"""


async def test_a_workflow_with_variables_of_the_conversation(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", [{"reply": told}]) as (platform, _):
        pinned = await platform.documents.from_text(CHAT_FLOW)
        pushed = await platform.store.workflows.push("counter", pinned.text)
        with pytest.raises(ConflictError):
            await platform.chat.create(by=LOCAL, workflow="counter")  # not published
        await platform.store.workflows.publish(pushed.workflow_id)
        session = await platform.chat.create(by=LOCAL, workflow="counter")
        assert (await ask(platform, session.id, "a")).content == "1/1 heard 1: a"
        second = await ask(platform, session.id, "b")
        assert second.content == "2/1 heard 3: a | 1/1 heard 1: a | b"
        third = await ask(platform, session.id, "c")
        assert third.content.startswith("3/1 heard 3: b | ")
        # A branch goes on with the values of its place, not with the newest.
        again = await platform.chat.regenerate(session.id, second.id, by=LOCAL)
        assert (await done(platform, again)).content == second.content
        other = await platform.chat.create(by=LOCAL, workflow="counter")
        assert (await ask(platform, other.id, "a")).content == "1/1 heard 1: a"
        plain = await platform.documents.from_text(
            CHAT_FLOW.replace("chat: true", "chat: false").replace("counter", "p")
        )
        pushed = await platform.store.workflows.push("p", plain.text)
        await platform.store.workflows.publish(pushed.workflow_id)
        with pytest.raises(ConflictError, match="not for chats"):
            await platform.chat.create(by=LOCAL, workflow="p")
        with pytest.raises(ConflictError, match="not to both"):
            await platform.chat.create(by=LOCAL, workflow="p", agent="a")
        for what in ("agent", "workflow"):
            with pytest.raises(NotFoundError):
                await platform.chat.create(by=LOCAL, **{what: "nope"})


async def test_titles_by_a_quick_model_where_one_was_chosen(tmp_path: Path) -> None:
    rules = [{"when": {"model": "scripted-mini"}, "reply": ' "Fees and refunds" '}, {"reply": "fine"}]
    async with chatting(tmp_path / "plain", rules) as (platform, models):
        session = await platform.chat.create(by=LOCAL)
        await ask(platform, session.id, "What are the fees?")
        assert (await platform.chat.read(session.id, by=LOCAL))[0].title == "What are the fees?"
        assert len(models.requests) == 1
    with ScriptedModels(rules) as models:
        provider = {
            "name": "p", "base_url": models.url, "models": [{"name": "scripted"}, {"name": "scripted-mini"}],
            "roles": {"general": "scripted", "fast": "scripted-mini"},
        }  # fmt: skip
        given = {"models": {"providers": [provider]}}
        opened = await Platform.open(chat_settings(tmp_path / "fast", models.url, **given))
        session = await opened.chat.create(by=LOCAL)
        named = await opened.chat.create(by=LOCAL, title="Mine")
        for each in (session, named):
            await ask(opened, each.id, "What are the fees?")
        assert (await opened.chat.read(session.id, by=LOCAL))[0].title == "Fees and refunds"
        assert (await opened.chat.read(named.id, by=LOCAL))[0].title == "Mine"
        await opened.close()


async def test_a_deleted_session_takes_its_runs_along(tmp_path: Path) -> None:
    async with chatting(tmp_path / "home", SLOW) as (platform, _):
        session = await platform.chat.create(by=LOCAL)
        turn = await platform.chat.send(session.id, "tell", by=LOCAL)
        with pytest.raises(NotFoundError):
            await platform.chat.delete(session.id, by=ANN)
        await platform.chat.delete(session.id, by=LOCAL)
        await platform.runner.idle()
        assert turn.answer.run_id is not None
        with pytest.raises(NotFoundError):
            await platform.store.runs.get(turn.answer.run_id)


def test_titles_are_the_first_line() -> None:
    assert first_title("\n  Hello there \n more") == "Hello there"
    assert len(first_title("x" * 300)) == 80
    assert first_title("  \n ") == ""
