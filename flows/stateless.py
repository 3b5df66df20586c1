"""Conversations of clients that send the whole of it with each question, as sessions.

What the client sends is the history. Its beginning is looked up by a chain of hashes over what was said, so that the
session in which it came about goes on; what was edited, and what came about elsewhere, is taken into the session as
another branch. Nothing is there twice, and nothing that the client does not send is read by the model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from interlace.engine.principal import Principal
from interlace.flows.chat import Chat, Turn
from interlace.flows.conversation import ASKED, BadMessage, first_title
from interlace.resources.models.attachments import fenced
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.ids import uuid7
from interlace.store.places import Place
from interlace.store.sessions import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Who is talked to: an agent, a workflow, or neither (Auto)."""

    name: str
    agent_id: str | None = None
    workflow_id: str | None = None

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return f"agent:{self.agent_id}" if self.agent_id else f"workflow:{self.workflow_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFile:
    """A file that a client sends within a message."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message as a client sends it. `calls` are those of tools of its own, `call_id` the one that a result is of."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    call_id: str | None = None
    files: tuple[GivenFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a conversation goes on.

    Args:
        session_id: the session.
        parent_id: the answer after which something is asked; None for a first question.
        place: what is known of that answer, where this client got it from here.
        said: what is new: questions and results.
        before: the chain's keys up to there.
    """

    session_id: str
    parent_id: str | None
    place: Place | None
    said: tuple[Entry, ...]
    before: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is asked; `asked` says what for besides its text."""

    text: str
    files: tuple[GivenFile, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)


class Stateless:
    """Finds the sessions of conversations."""

    def __init__(self, store: Store, chat: Chat) -> None:
        self._store = store
        self._chat = chat

    async def find(self, target: Target, entries: Sequence[Entry], *, by: Principal) -> Found:
        """Where a conversation goes on, with all that was said before in its session.

        Raises:
            BadMessage: nothing is asked.
        """
        before, said = split(entries)
        last = len(before) - 1
        if not said:
            raise BadMessage(
                "the conversation ends with a message of the assistant; end it with a question or a result"
            )
        keys = chain(target.key, before)
        place, known = await self._longest(keys, before, by)
        start = keys[-1] if keys else chain_start(target.key)
        if place is not None and known == last:
            return Found(
                session_id=place.session_id, parent_id=place.message_id, place=place, said=said, before=start
            )
        session_id, parent = (
            (place.session_id, place.message_id)
            if place is not None
            else (await self._new(target, entries, by), None)
        )
        if before:
            parent = await self._take_in(session_id, parent, before[known + 1 :], keys[known + 1 :], by)
        return Found(session_id=session_id, parent_id=parent, place=None, said=said, before=start)

    async def _longest(
        self, keys: Sequence[str], before: Sequence[Entry], by: Principal
    ) -> tuple[Place | None, int]:
        """The last answer of the conversation that is known, and its index."""
        at = [index for index, entry in enumerate(before) if entry.role == "assistant"]
        places = await self._store.places.find(by.user_id, [keys[index] for index in at]) if at else {}
        for index in reversed(at):
            place = places.get(keys[index])
            if place is None:
                continue
            try:
                await self._store.sessions.get(place.session_id, owner=by.user_id)
                await self._store.sessions.message(place.message_id, session_id=place.session_id)
            except NotFoundError:
                continue
            return place, index
        return None, -1

    async def _new(self, target: Target, entries: Sequence[Entry], by: Principal) -> str:
        session = await self._chat.create(by=by, agent=target.agent_id, workflow=target.workflow_id)
        question = next((entry.text for entry in entries if entry.role == "user"), "")
        await self._store.sessions.rename(session.id, first_title(question), who="question")
        return session.id

    async def _take_in(
        self,
        session_id: str,
        parent: str | None,
        entries: Sequence[Entry],
        keys: Sequence[str],
        by: Principal,
    ) -> str:
        """Add what was said elsewhere to a session; gives its last answer."""
        session = await self._store.sessions.get(session_id, owner=by.user_id)
        added: list[Message] = []
        places: list[Place] = []
        for index, entry in enumerate(entries):
            role: Literal["user", "assistant"] = "assistant" if entry.role == "assistant" else "user"
            text = history_text(entry)
            if added and added[-1].role == role:
                one = added.pop()
                text = f"{one.content}\n\n{text}"
            message = Message(
                id=uuid7(), session_id=session_id, parent_id=added[-1].id if added else parent, role=role, content=text,
                data={"from": "client"}, created_at=session.updated_at,
            )  # fmt: skip
            added.append(message)
            if role == "assistant":
                places = [place for place in places if place.message_id in {one.id for one in added}]
                places.append(Place(key=keys[index], session_id=session_id, message_id=message.id))
        await self._store.sessions.add(session, added, anywhere=True)
        await self._store.places.put(by.user_id, *places)
        return added[-1].id

    async def ask(self, found: Found, asked: Asked, *, by: Principal, key: str | None = None) -> Turn:
        """Ask something where a conversation goes on; a question that stands there already gets one more answer.

        Raises:
            InterlaceError: as `Chat.send`.
        """
        if not asked.files:
            for message in await self._store.sessions.messages(found.session_id):
                same = message.parent_id == found.parent_id and message.role == "user"
                if (
                    same
                    and message.content == asked.text
                    and message.data.get(ASKED, {}) == dict(asked.asked)
                ):
                    return await self._chat.again(found.session_id, message.id, by=by)
        uploads = self._store.files.of_owner(by.user_id)
        refs = [
            (await uploads.save(file.content, name=file.name, media_type=file.media_type)).ref
            for file in asked.files
        ]
        return await self._chat.send(
            found.session_id,
            asked.text,
            by=by,
            files=refs,
            parent=found.parent_id,
            key=key,
            asked=asked.asked,
        )


def split(entries: Sequence[Entry]) -> tuple[Sequence[Entry], tuple[Entry, ...]]:
    """What was said up to the last answer, and what is new."""
    last = max((index for index, entry in enumerate(entries) if entry.role == "assistant"), default=-1)
    return entries[: last + 1], tuple(entries[last + 1 :])


def chain_start(target: str) -> str:
    """The key of a conversation in which nothing was said."""
    return hashlib.sha256(f"conversation {target}".encode()).hexdigest()


def chain(target: str, entries: Sequence[Entry], start: str | None = None) -> list[str]:
    """The key of a conversation after each of its messages."""
    found, key = [], start or chain_start(target)
    for entry in entries:
        key = hashlib.sha256(f"{key} {_canonical(entry)}".encode()).hexdigest()
        found.append(key)
    return found


def _canonical(entry: Entry) -> str:
    calls = [[call.get("id"), call.get("name"), _arguments(call.get("arguments"))] for call in entry.calls]
    files = [hashlib.sha256(file.content).hexdigest() for file in entry.files]
    return json.dumps([entry.role, entry.text.strip(), calls, entry.call_id, files])


def _arguments(given: Any) -> Any:
    """The arguments of a call by what they say: clients write them anew."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return given
    return json.dumps(given, sort_keys=True)


def history_text(entry: Entry) -> str:
    """A message as it is read in a history."""
    if entry.role == "tool":
        return f"Result of {entry.call_id}:\n{fenced(entry.text, 'result')}"
    calls = [
        f"[called {call.get('name')} as {call.get('id')} with {call.get('arguments')}]"
        for call in entry.calls
    ]
    names = [f"[attached: {', '.join(file.name for file in entry.files)}]"] if entry.files else []
    return "\n".join(part for part in (entry.text, *calls, *names) if part)


def question_of(said: Sequence[Entry]) -> tuple[str, tuple[GivenFile, ...]]:
    """Several messages as one question, and its files."""
    texts = [entry.text if entry.role == "user" else history_text(entry) for entry in said]
    files = tuple(file for entry in said for file in entry.files)
    return "\n\n".join(text for text in texts if text), files
