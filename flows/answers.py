"""Answers of chat turns: what a run gave, written into the session once, by whichever process sees its end first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlace.engine.events import Event
from interlace.engine.protocols import Said
from interlace.flows.conversation import SAID, answer_text, session_variables, streamed_text, taken_up
from interlace.flows.documents import Documents
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.run_row import FINAL, Run
from interlace.store.sessions import Message, Status

_PAGE = 1000


class StoreInbox:
    """What people say to turns, from the store. Implements `Inbox`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def after(self, run_id: str, last: str = "") -> Sequence[Said]:
        """What was said to a run after the entry of that id, in order."""
        return [
            Said(id=entry.id, text=entry.text) for entry in await self._store.sessions.injected(run_id, last)
        ]


class Answers:
    """The answers of all sessions."""

    def __init__(self, store: Store, documents: Documents) -> None:
        self._store = store
        self._documents = documents

    async def settle(self, message: Message) -> tuple[Message, Run | None]:
        """The message, with what its run gave where that has ended; and the run, where it was written by this call."""
        if message.status != "running" or message.run_id is None:
            return message, None
        sessions = self._store.sessions
        try:
            run = await self._store.runs.get(message.run_id)
        except NotFoundError:
            gone = {"error": {"type": "not_found", "message": "the run of this answer was deleted"}}
            await sessions.finish(message.id, "failed", "", gone)
            return await sessions.message(message.id), None
        if run.status not in FINAL:
            return message, None
        first = await sessions.finish(message.id, *await self._outcome(message, run))
        return await sessions.message(message.id), run if first else None

    async def not_taken_up(self, run_id: str) -> list[str]:
        """What was said to a run while it was at work, and came too late for it."""
        said = await self._store.sessions.injected(run_id)
        if said:
            try:
                await self._store.runs.get(run_id)
            except NotFoundError:
                return []  # nothing tells any more what was taken up
        taken = taken_up(await self._events(run_id)) if said else set()
        return [entry.text for entry in said if entry.id not in taken]

    async def _outcome(self, message: Message, run: Run) -> tuple[Status, str, dict[str, Any]]:
        full = await self._store.runs.resolve(run)
        document = await self._documents.read(run.document_hash)
        data: dict[str, Any] = {}
        injected = await self._store.sessions.injected(run.id)
        taken = taken_up(await self._events(run.id)) if injected else set()
        said = [*message.data.get(SAID, ()), *(entry.text for entry in injected if entry.id in taken)]
        if said:
            data[SAID] = said
        if names := session_variables(document):
            state = await self._store.events.fold(run.id)
            loaded = await self._store.journal(run.id, None).load_map(state.variables) or {}
            data["variables"] = {name: loaded[name] for name in names if name in loaded}
        if run.status == "succeeded":
            outputs = full.outputs or {}
            data |= {name: value for name, value in outputs.items() if name != "answer"}
            return "succeeded", answer_text(outputs), data
        if full.error:
            data["error"] = full.error
        status: Status = "cancelled" if run.status == "cancelled" else "failed"
        return status, streamed_text(await self._events(run.id)), data

    async def _events(self, run_id: str) -> list[Event]:
        found: list[Event] = []
        while events := await self._store.events.read(run_id, found[-1].seq if found else 0, _PAGE):
            found += events
            if len(events) < _PAGE:
                break
        return found
