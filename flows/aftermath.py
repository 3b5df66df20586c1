"""What follows a chat turn that has ended: what was said to it and not taken up is asked, and the session gets its title.

What was said stays kept until the question that it becomes is, in one commit: a process that dies between the end of a
turn and that loses nothing, and two that look after it at once do not ask it twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.answers import Answers
from interlace.flows.titles import Titles
from interlace.store import Store
from interlace.store.errors import ConflictError
from interlace.store.sessions import Message

log = structlog.get_logger("interlace.chat")


class Aftermath:
    """Looks after turns that have ended.

    Args:
        store: where sessions are kept.
        answers: says what of that which was said was taken up.
        titles: makes better titles than the first line of the question.
        ask: asks something in a session, as `Chat.send` does.
    """

    def __init__(
        self, store: Store, answers: Answers, titles: Titles, ask: Callable[..., Awaitable[Any]]
    ) -> None:
        self._store = store
        self._answers = answers
        self._titles = titles
        self._ask = ask

    async def follow(self, message: Message) -> None:
        """Do what follows an answer that was just written."""
        try:
            await self._said(message)
            if message.status == "succeeded":
                session = await self._store.sessions.get(message.session_id)
                by = await self._store.users.principal(session.owner)
                await self._titles.improve(session, await self._store.sessions.messages(session.id), by=by)
        except InterlaceError as error:
            log.warning("something after a turn was not done", message=message.id, error=str(error))

    async def catch_up(self) -> None:
        """Ask what was said to turns whose process died when they had ended."""
        for message in await self._store.sessions.left():
            try:
                await self._said(message)
            except InterlaceError as error:
                log.warning("what was said to a turn is asked later", message=message.id, error=str(error))

    async def _said(self, message: Message) -> None:
        if message.run_id is None:
            return
        try:
            await self._ask_left(message, message.run_id)
        except ConflictError:  # somebody asked something else just now, or this
            await self._ask_left(message, message.run_id)

    async def _ask_left(self, message: Message, run_id: str) -> None:
        left = await self._answers.not_taken_up(run_id) if message.status != "cancelled" else []
        if not left:
            await self._store.sessions.forget_said(run_id)
            return
        session = await self._store.sessions.get(message.session_id)
        by = await self._store.users.principal(session.owner)
        await self._ask(session.id, "\n\n".join(left), by=by, parent=message.id, said_to=run_id)
