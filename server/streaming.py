"""Server-sent events: a run's journal as a stream. A stream only reads; when it ends, nothing happens to the run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import Request
from fastapi.responses import StreamingResponse

from interlace.engine.events import Event
from interlace.flows.platform import Platform
from interlace.flows.report import event_json
from interlace.server.encoding import to_json

_HEARTBEAT_SECONDS = 15.0
_MOST = 10_000_000_000_000_000
"""A greater number was never that of an event, and is none that a database looks for."""
_DIGITS = 17
Show = Callable[[Event], dict[str, Any]]


def streaming(stream: AsyncIterator[bytes]) -> StreamingResponse:
    """A stream as an answer."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


def last_event_id(request: Request, after: int = 0) -> int:
    """The number of the last event that a client has seen, by `Last-Event-ID`."""
    given = request.headers.get("last-event-id", "")
    number = int(given[:_DIGITS]) if given.isascii() and given.isdigit() else after
    return min(number, _MOST)


def server_event(kind: str, data: Any, number: int | None = None) -> bytes:
    """One event of a stream; without a number it leaves `Last-Event-ID` as it is."""
    head = f"event: {kind}\ndata: ".encode()
    return (b"" if number is None else f"id: {number}\n".encode()) + head + to_json(data) + b"\n\n"


async def event_stream(
    platform: Platform, run_id: str, after: int, leaving: asyncio.Event, show: Show = event_json
) -> AsyncIterator[bytes]:
    """The events of a run after a number, to its end; ends early when the server leaves."""
    events = aiter(platform.store.events.follow(run_id, after))
    end = asyncio.ensure_future(leaving.wait())
    pending: asyncio.Task[Any] | None = None
    try:
        while not end.done():
            pending = pending or asyncio.ensure_future(_next(events))
            await asyncio.wait(
                [pending, end], timeout=_HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if not pending.done():
                yield b": still here\n\n"
                continue
            event, pending = pending.result(), None
            if event is None:
                return
            yield server_event(event.type, show(event), event.seq)
    finally:
        for task in (pending, end):
            if task is not None:
                task.cancel()


async def _next(events: AsyncIterator[Event]) -> Event | None:
    return await anext(events, None)
