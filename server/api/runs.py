"""`/api/v1/runs`: start, list, watch, explain and cancel runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from interlace.engine.events import Event, RunStatus
from interlace.flows.platform import Platform
from interlace.flows.report import event_json, run_report, summary, why
from interlace.server.api.starting import Start, Starting
from interlace.server.auth import Caller, PlatformOf, is_on_this_machine
from interlace.server.encoding import to_json
from interlace.server.problems import ApiError

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])
_HEARTBEAT_SECONDS = 15.0
_CANCEL_SECONDS = 5.0


class StartDocument(Start):
    """A document to run without storing it."""

    document: dict[str, Any] | str = Field(description="The document as an object, or as YAML or JSON text.")
    folder: str | None = Field(
        None, description="Where relative sub-workflows are looked up; callers on the server's machine only."
    )


@router.post("", status_code=202)
async def start_document(request: Request, body: StartDocument, starting: Starting) -> Response:
    """Run a document; without `wait` the answer is its run id."""
    if body.folder is not None and not is_on_this_machine(request):
        raise ApiError(403, "forbidden", "a folder of the server can be named on its own machine only")
    text = body.document if isinstance(body.document, str) else to_json(body.document).decode()
    owner = starting.caller.owner
    pinned = await starting.platform.documents.from_text(text, folder=body.folder, owner=owner)
    return await starting.start(pinned, body)


class Wanted(BaseModel):
    """Which runs are listed."""

    status: list[RunStatus] | None = None
    workflow_id: str | None = None
    since: float | None = Field(None, description="Earliest creation, Unix time in seconds.")
    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = None


@router.get("")
async def list_runs(
    platform: PlatformOf, caller: Caller,
    wanted: Annotated[Wanted, Query()],
) -> dict[str, Any]:  # fmt: skip
    """The newest runs first."""
    page = await platform.store.runs.list(
        owner=caller.owner, status=set(wanted.status) if wanted.status else None, workflow_id=wanted.workflow_id,
        since=wanted.since, limit=wanted.limit, cursor=wanted.cursor,
    )  # fmt: skip
    return {"items": [summary(run) for run in page.items], "next_cursor": page.cursor}


@router.get("/{run_id}")
async def get_run(run_id: str, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """One run with its nodes, outputs and error."""
    await platform.store.runs.get(run_id, owner=caller.owner)
    return await run_report(platform.store, platform.documents, run_id)


@router.get("/{run_id}/why/{path:path}")
async def get_why(run_id: str, path: str, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """Why a node has the state that it has."""
    await platform.store.runs.get(run_id, owner=caller.owner)
    return await why(platform.store, platform.documents, run_id, path)


@router.post("/{run_id}/cancel")
async def cancel_run(run_id: str, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """Cancel a run; a run that has ended already is a conflict."""
    await platform.store.runs.get(run_id, owner=caller.owner)
    if not await platform.runner.cancel(run_id):
        run = await platform.store.runs.get(run_id)
        raise ApiError(409, "conflict", f"the run is {run.status} already")
    result = await platform.runner.wait(run_id, _CANCEL_SECONDS)
    return {"run_id": run_id, "status": result.status if result is not None else "running"}


@router.delete("/{run_id}", status_code=204)
async def delete_run(run_id: str, platform: PlatformOf, caller: Caller) -> None:
    """Delete a run that has ended, with its payloads."""
    await platform.store.runs.delete(run_id, owner=caller.owner)


@router.get("/{run_id}/payloads/{ref}")
async def get_payload(run_id: str, ref: str, platform: PlatformOf, caller: Caller) -> Response:
    """A value that events and outputs give by reference."""
    await platform.store.runs.get(run_id, owner=caller.owner)
    value = await platform.store.payload_of(run_id, ref)
    return Response(to_json(value), media_type="application/json")


@router.get("/{run_id}/events", response_class=StreamingResponse)
async def get_events(
    request: Request, run_id: str, platform: PlatformOf, caller: Caller,
    after: Annotated[int, Query(ge=0, description="Only events with a greater number.")] = 0,
) -> Response:  # fmt: skip
    """The journal as server-sent events, to the end of the run; `Last-Event-ID` goes on after an interruption.

    With `Accept: application/json` the events so far come as one object.
    """
    await platform.store.runs.get(run_id, owner=caller.owner)
    start_after = _last_event_id(request, after)
    if "application/json" in request.headers.get("accept", ""):
        events = await platform.store.events.read(run_id, start_after)
        return JSONResponse({"items": [event_json(event) for event in events]})
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    stream = _stream(platform, run_id, start_after, request.app.state.leaving)
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


def _last_event_id(request: Request, after: int) -> int:
    given = request.headers.get("last-event-id", "")
    return int(given) if given.isascii() and given.isdigit() else after


async def _stream(
    platform: Platform, run_id: str, after: int, leaving: asyncio.Event
) -> AsyncIterator[bytes]:
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
            head = f"id: {event.seq}\nevent: {event.type}\ndata: ".encode()
            yield head + to_json(event_json(event)) + b"\n\n"
    finally:
        for task in (pending, end):
            if task is not None:
                task.cancel()


async def _next(events: AsyncIterator[Event]) -> Event | None:
    return await anext(events, None)
