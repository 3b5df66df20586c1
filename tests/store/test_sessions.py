"""Sessions: a tree of messages, one turn at a time where the conversation stands, answers written once."""

from __future__ import annotations

import asyncio

import pytest

from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError, UnfitError
from interlace.store.ids import uuid7
from interlace.store.sessions import Message, Session


def turn(session: Session, text: str, parent: str | None) -> list[Message]:
    question = Message(id=uuid7(), session_id=session.id, parent_id=parent, role="user", content=text)
    answer = Message(
        id=uuid7(),
        session_id=session.id,
        parent_id=question.id,
        role="assistant",
        content="",
        status="running",
    )
    return [question, answer]


async def test_a_session_is_its_owners_alone(store: Store) -> None:
    made = await store.sessions.create(owner="ann", agent_id="a1")
    assert await store.sessions.get(made.id, owner="ann") == made
    with pytest.raises(NotFoundError):
        await store.sessions.get(made.id, owner="ben")
    assert (await store.sessions.list(owner="ben")).items == []
    others = [await store.sessions.create(owner="ann") for _ in range(3)]
    first = await store.sessions.list(owner="ann", limit=2)
    assert [entry.id for entry in first.items] == [others[2].id, others[1].id]
    rest = await store.sessions.list(owner="ann", limit=2, cursor=first.cursor)
    assert ([entry.id for entry in rest.items], rest.cursor) == ([others[0].id, made.id], None)


async def test_turns_follow_each_other_and_branch(store: Store) -> None:
    session = await store.sessions.create(owner="ann")
    first = turn(session, "one", None)
    await store.sessions.add(session, first)
    with pytest.raises(ConflictError, match="just now"):
        await store.sessions.add(session, turn(session, "late", None))
    assert [message.content for message in await store.sessions.messages(session.id)] == ["one", ""]
    session = await store.sessions.get(session.id, owner="ann")
    assert session.head == first[1].id
    tries = [turn(session, f"two {n}", session.head) for n in range(5)]
    done = await asyncio.gather(*(store.sessions.add(session, new) for new in tries), return_exceptions=True)
    assert [type(result) for result in done].count(ConflictError) == 4
    assert len(await store.sessions.messages(session.id)) == 4
    branch = turn(session, "instead", None)
    await store.sessions.add(session, branch, anywhere=True)
    assert (await store.sessions.get(session.id, owner="ann")).head == branch[1].id
    await store.sessions.stand_at(session.id, first[1].id)
    assert (await store.sessions.get(session.id, owner="ann")).head == first[1].id


async def test_an_answer_is_written_once(store: Store) -> None:
    session = await store.sessions.create(owner="ann")
    question, answer = turn(session, "one", None)
    await store.sessions.add(session, [question, answer])
    await store.sessions.started(answer.id, "run-1")
    assert [message.run_id for message in await store.sessions.running()] == ["run-1"]
    found = await store.sessions.of_run("run-1")
    assert found is not None
    assert found.id == answer.id
    done = await asyncio.gather(
        *(store.sessions.finish(answer.id, "succeeded", f"text {n}", {"n": n}) for n in range(3))
    )
    assert done.count(True) == 1
    written = await store.sessions.message(answer.id, session_id=session.id)
    assert written.content == f"text {written.data['n']}"
    assert written.finished_at is not None
    assert await store.sessions.running() == []
    with pytest.raises(NotFoundError):
        await store.sessions.message(answer.id, session_id="other")


async def test_titles_of_people_stay(store: Store) -> None:
    session = await store.sessions.create(owner="ann")
    assert await store.sessions.rename(session.id, "first line", who="question")
    assert await store.sessions.rename(session.id, "better", who="model")
    assert await store.sessions.rename(session.id, "mine", who="user")
    assert not await store.sessions.rename(session.id, "better still", who="model")
    assert await store.sessions.rename(session.id, "mine too", who="user")
    assert (await store.sessions.get(session.id, owner="ann")).title == "mine too"
    assert (await store.sessions.create(owner="ann", title="given")).titled_by == "user"


async def test_what_is_said_to_a_turn_and_the_end_of_it_all(store: Store) -> None:
    session = await store.sessions.create(owner="ann")
    new = turn(session, "one", None)
    await store.sessions.add(session, new)
    first = await store.sessions.inject("run-1", new[1].id, "and this")
    second = await store.sessions.inject("run-1", new[1].id, "and that")
    assert [entry.text for entry in await store.sessions.injected("run-1")] == ["and this", "and that"]
    assert await store.sessions.injected("run-1", first.id) == [second]
    await store.sessions.delete(session.id)
    assert await store.sessions.messages(session.id) == await store.sessions.injected("run-1") == []
    with pytest.raises(NotFoundError):
        await store.sessions.get(session.id, owner="ann")
    with pytest.raises(ConflictError, match="deleted it"):
        await store.sessions.add(session, turn(session, "late", None), anywhere=True)


async def test_what_does_not_fit_is_refused_alone(store: Store) -> None:
    """Not with what others commit at the same moment, and as their fault who sent it."""
    titles = [*map(str, range(20)), "half \ud800"]
    made = await asyncio.gather(
        *(store.sessions.create(owner="ann", title=title) for title in titles), return_exceptions=True
    )
    assert [isinstance(one, BaseException) for one in made] == [False] * 20 + [True]
    assert isinstance(made[-1], UnfitError)
    with pytest.raises((UnfitError, NotFoundError)):
        await store.sessions.get("half \ud800")
