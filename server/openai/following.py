"""Turns as they are made: the journal of a run as pieces of an answer. Reading it, or not, changes nothing of the run."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

from interlace.agents.client_tools import REQUEST
from interlace.engine.document import Document
from interlace.engine.events import FINAL_EVENTS, Event
from interlace.flows.chat_document import ANSWERER
from interlace.flows.platform import Platform
from interlace.server.asked import Pending, pending_of
from interlace.store.sessions import Message

T = TypeVar("T")
Status = Literal["done", "length", "calls", "asked", "running", "failed", "cancelled"]
_TEXT_OF = re.compile(r"\s*\{\{\s*([A-Za-z_]\w*)\.text\s*\}\}\s*")
BEAT_SECONDS: Final = 15.0
_SUSPENDED_SECONDS = 60.0
"""So long a turn is followed while it waits for something that is neither a person nor the client."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of what the model thinks."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a turn ended, for now or for good.

    Args:
        status: `calls` of the client's tools, `asked` of people, `running` on without a listener.
        answer: the message of the session.
        seq: the number of the last event that was read.
        pending: what is waited for.
        error: of a turn that failed.
        text: the whole answer, where that is another than what was streamed.
    """

    status: Status
    answer: Message
    seq: int
    pending: Pending = field(default_factory=Pending)
    error: Mapping[str, Any] | None = None
    text: str | None = None

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls of the client's tools, `{id, name, arguments}`."""
        return [dict(wait.request[REQUEST]) for wait in self.pending.calls]


Piece = Text | Reasoning | Ended


def streamed_nodes(document: Document | None) -> frozenset[str]:
    """The nodes whose text is the answer, so that it can be passed on while it is made."""
    if document is None:
        return frozenset({ANSWERER})
    found: set[str] = set()
    for node in document.nodes:
        if node.type == "END":
            text = (node.config.get("outputs") or {}).get("answer")
            match = _TEXT_OF.fullmatch(text) if isinstance(text, str) else None
            if match is None:
                return frozenset()
            found.add(match[1])
    return frozenset(found)


class _Steps:
    """What was passed on of each step of the answer; a step that begins anew is passed on from where it differs."""

    def __init__(self) -> None:
        self.sent = ""
        self._step: tuple[str, Any] | None = None
        self._said = ""
        self._anew: str | None = None

    def take(self, event: Event) -> str:
        """What is passed on of a piece."""
        step = (event.path, event.data.get("step"))
        text = str(event.data.get("text", ""))
        before = ""
        if step != self._step:
            if self._said and not self._said.isspace():
                before = "\n\n"
            self._step, self._said, self._anew = step, "", None
        if event.data.get("restart") and self._said:
            self._anew = ""
        if self._anew is None:
            self._said += text
            out = text
        else:
            self._anew += text
            out = self._caught_up()
        if not out:
            return ""
        out = (before if self.sent else "") + out
        self.sent += out
        return out

    def _caught_up(self) -> str:
        """What of a step that begins anew goes beyond what was passed on of it."""
        anew = self._anew or ""
        if self._said.startswith(anew):
            return ""
        new = anew[len(self._said) :] if anew.startswith(self._said) else f"\n\n{anew}"
        self._said, self._anew = anew, None
        return new


async def beats(source: AsyncIterator[T], leaving: asyncio.Event) -> AsyncIterator[T | None]:
    """The entries of a source, None whenever nothing came for a while; ends early when the server leaves."""
    end = asyncio.ensure_future(leaving.wait())
    pending: asyncio.Future[Any] | None = None
    try:
        while not end.done():
            pending = pending or asyncio.ensure_future(_next(source))
            await asyncio.wait([pending, end], timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not pending.done():
                if not end.done():
                    yield None
                continue
            found, pending = pending.result(), None
            if found is _OVER:
                return
            yield found
    finally:
        for task in (pending, end):
            if task is not None:
                task.cancel()


_OVER = object()


async def _next(source: AsyncIterator[Any]) -> Any:
    return await anext(source, _OVER)


@dataclass(slots=True, kw_only=True)
class Following:
    """One turn as it is followed.

    Args:
        platform: where it is run.
        answer: its answer.
        after: the number of the event after which it is followed.
        leaving: set when the server ends.
        nodes: those whose text is the answer.
        as_data: the answer is the data that was asked for.
        until: when it is followed no longer, by the event loop's clock.
        patient: followed however long it waits.
    """

    platform: Platform
    answer: Message
    after: int
    leaving: asyncio.Event
    nodes: frozenset[str]
    as_data: bool = False
    until: float | None = None
    patient: bool = False
    _steps: _Steps = field(default_factory=_Steps)
    _waiting_since: float | None = None

    async def pieces(self) -> AsyncIterator[Piece | None]:
        """The pieces of the answer, and how it ended; None whenever nothing came for a while."""
        run_id = str(self.answer.run_id)
        async for event in beats(self.platform.store.events.follow(run_id, self.after), self.leaving):
            if self._gives_up():
                break
            if event is None:
                yield None
                continue
            self.after = event.seq
            for piece in self._shown(event):
                yield piece
            if event.type == "run.suspended" and (pending := await pending_of(self.platform, run_id)):
                status: Status = "calls" if pending.calls else "asked"
                yield Ended(status=status, answer=self.answer, seq=event.seq, pending=pending)
                return
            if event.type in FINAL_EVENTS:
                break
        for piece in await self._end(run_id):
            yield piece

    def _gives_up(self) -> bool:
        now = asyncio.get_running_loop().time()
        waited = 0.0 if self.patient or self._waiting_since is None else now - self._waiting_since
        return waited > _SUSPENDED_SECONDS or (self.until is not None and now > self.until)

    def _shown(self, event: Event) -> Iterator[Piece]:
        if event.type == "run.suspended":
            self._waiting_since = asyncio.get_running_loop().time()
        elif event.type == "run.resumed":
            self._waiting_since = None
        elif event.type == "node.delta" and event.path in self.nodes:
            if text := self._steps.take(event):
                yield Text(text)
            if thought := event.data.get("reasoning"):
                yield Reasoning(str(thought))

    async def _end(self, run_id: str) -> list[Piece]:
        settled = await self.platform.chat.settle(self.answer)
        if settled.status == "running":
            pending = await pending_of(self.platform, run_id)
            return [Ended(status="running", answer=self.answer, seq=self.after, pending=pending)]
        return _rest(settled, self._steps.sent, self.after, as_data=self.as_data)


def _rest(answer: Message, sent: str, seq: int, *, as_data: bool) -> list[Piece]:
    """What of a written answer was not passed on yet, and its end."""
    if answer.status != "succeeded":
        error = answer.data.get("error")
        status: Status = "cancelled" if answer.status == "cancelled" else "failed"
        return [Ended(status=status, answer=answer, seq=seq, error=error)]
    text = answer.content
    if as_data and answer.data.get("data") is not None:
        text = json.dumps(answer.data["data"], ensure_ascii=False)
    stopped = answer.data.get("stop_reason", "answer")
    status = "done" if stopped in ("answer", "refused") else "length"
    if sent.endswith(text):
        return [Ended(status=status, answer=answer, seq=seq, text=text)]
    new = text[len(sent) :] if text.startswith(sent) else f"\n\n{text}"
    return [Text(new), Ended(status=status, answer=answer, seq=seq, text=text)]
