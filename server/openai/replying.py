"""One response: made whole, as a stream of events, or in the background; kept by its id."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from interlace.flows.platform import Platform
from interlace.server.encoding import to_json
from interlace.server.openai.completions import about
from interlace.server.openai.errors import WireError, error_body, run_error, wire_error
from interlace.server.openai.following import Ended, Text
from interlace.server.openai.items import begin_message, call_events, end_message, output_items
from interlace.server.openai.turns import Begun, Turns

_STATUS = {
    "done": "completed", "length": "incomplete", "calls": "completed", "asked": "completed", "running": "completed",
    "failed": "failed", "cancelled": "cancelled",
}  # fmt: skip
_LAST = {"incomplete": "response.incomplete", "failed": "response.failed"}


def place_key(response_id: str) -> str:
    """The key of a response's place."""
    return f"response:{response_id}"


class Reply:
    """One response at work.

    Args:
        platform: where.
        turns: the caller's.
        begun: the turn.
        echo: what of the request stands in the response.
        response_id: its id; made of the turn's, if not given.
    """

    def __init__(
        self,
        platform: Platform,
        turns: Turns,
        begun: Begun,
        echo: Mapping[str, Any],
        response_id: str | None = None,
    ) -> None:
        self._platform, self._turns, self._begun = platform, turns, begun
        self._echo = dict(echo)
        self._echo.setdefault("created_at", int(time.time()))
        self._first = begun.answer.id
        self.error: WireError | None = None
        """Why the turn failed, once it has."""
        self.id = response_id or f"resp_{begun.answer.id}" + (f"_{begun.after}" if begun.after else "")

    @property
    def kept(self) -> bool:
        """Whether it can be looked up by its id."""
        return bool(self._echo.get("store", True))

    async def keep_open(self, items: Any) -> None:
        """Let it be found by its id while it is made; `items` are its input."""
        self._echo["input_items"] = items
        if self.kept:
            place = {"seq": self._begun.after, "echo": self._echo, "open": True}
            await self._turns.name(self._begun, {place_key(self.id): place})

    def body(self, status: str, **more: Any) -> dict[str, Any]:
        """The response as JSON."""
        shown = {name: value for name, value in self._echo.items() if name != "input_items"}
        return {
            "id": self.id, "object": "response", "status": status, "error": None, "incomplete_details": None,
            "output": [], "usage": None, **shown, **more,
        }  # fmt: skip

    async def whole(self) -> dict[str, Any]:
        """The finished response."""
        text = ""
        async for piece in self._turns.pieces(self._begun):
            if isinstance(piece, Text):
                text += piece.text
            elif isinstance(piece, Ended):
                found = await self._finish(piece, text)
                if found["status"] == "in_progress" and not self._echo.get("background"):
                    self.error = self._turns.left()
                return found
        raise AssertionError("a turn ends")

    async def _finish(self, ended: Ended, text: str) -> dict[str, Any]:
        if ended.status == "running" and (self._turns.leaving or self._echo.get("background")):
            return self.body("in_progress")  # the run goes on, and the place stays open for its end
        status, calls = _STATUS[ended.status], ended.calls if ended.status == "calls" else []
        taken, made, cached, thought = await self._turns.usage(self._begun)
        found = self.body(
            status, output=output_items(self._first, text, calls) if text or calls else [],
            x_interlace=about(self._platform, self._begun, ended),
            usage={
                "input_tokens": taken, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": made,
                "output_tokens_details": {"reasoning_tokens": thought}, "total_tokens": taken + made,
            },
        )  # fmt: skip
        if status == "incomplete":
            found["incomplete_details"] = {"reason": "max_output_tokens"}
        if status == "failed":
            error = self.error = run_error(ended.error, ended.status)
            code = "rate_limit_exceeded" if error.status == 429 else "server_error"  # noqa: PLR2004
            found["error"] = {"code": code, "message": error.message}
        named = {place_key(self.id): {"response": found, "echo": self._echo}} if self.kept else {}
        await self._turns.remember(self._begun, text, ended, named)
        return found

    async def stream(self, after: int = -1) -> AsyncIterator[bytes]:
        """The events of the response, those with a greater number than `after`; closing it changes nothing."""
        number = -1
        async for event in self._events():
            if event is None:
                yield b": still here\n\n"
                continue
            number += 1
            if number > after:
                yield sent(event, number)

    async def _events(self) -> AsyncIterator[dict[str, Any] | None]:
        head = self.body("in_progress")
        yield {"type": "response.created", "response": head}
        yield {"type": "response.in_progress", "response": head}
        text = ""
        try:
            async for piece in self._turns.pieces(self._begun):
                if piece is None:
                    yield None
                elif isinstance(piece, Text) and piece.text:
                    for event in self._said(piece.text, first=not text):
                        yield event
                    text += piece.text
                elif isinstance(piece, Ended):
                    for event in self._last(await self._finish(piece, text), text):
                        yield event
        except Exception as error:  # noqa: BLE001 - the status was sent already
            said = error_body(wire_error(error))["error"]
            yield {"type": "error", "code": said["code"], "message": said["message"], "param": said["param"]}

    def _said(self, text: str, *, first: bool) -> Iterator[dict[str, Any]]:
        if first:
            yield from begin_message(self._first, 0)
        yield {
            "type": "response.output_text.delta", "item_id": f"msg_{self._first}", "output_index": 0,
            "content_index": 0, "delta": text, "logprobs": [],
        }  # fmt: skip

    def _last(self, response: Mapping[str, Any], text: str) -> Iterator[dict[str, Any]]:
        if response["status"] == "in_progress":
            return  # a stream without an end says that it is to be taken up again
        if text:
            yield from end_message(self._first, 0, text)
        for index, item in enumerate(response["output"]):
            if item["type"] == "function_call":
                yield from call_events(item, index)
        yield {"type": _LAST.get(response["status"], "response.completed"), "response": response}


def sent(event: Mapping[str, Any], number: int) -> bytes:
    """One event of a stream."""
    return (
        f"event: {event['type']}\ndata: ".encode() + to_json({**event, "sequence_number": number}) + b"\n\n"
    )
