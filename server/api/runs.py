"""`/api/v1/runs`: start, list, watch, explain and cancel runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from interlace.engine.durations import parse_duration
from interlace.engine.events import FINAL_EVENTS
from interlace.engine.run import RunResult
from interlace.flows.documents import Pinned
from interlace.flows.platform import Platform
from interlace.flows.report import run_report, summary, why
from interlace.flows.runner import Request as RunRequest
from interlace.server.auth import Caller, PlatformOf
from interlace.server.problems import ApiError, problem

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])
_HEARTBEAT_SECONDS = 15.0


class StartDocument(BaseModel):
    """A document to run without storing it."""

    document: dict[str, Any] | str = Field(description="The document as an object, or as YAML or JSON text.")
    inputs: dict[str, Any] = Field(default_factory=dict)
    folder: str | None = Field(None, description="Where relative sub-workflows are looked up; the owner's machine only.")
    tags: list[str] = Field(default_factory=list)


@router.post("", status_code=202)
async def start_document(
    body: StartDocument, platform: PlatformOf, _caller: Caller,
    wait: Annotated[str | None, Query(description="How long to wait for the outputs, such as 30s.")] = None,
    idempotency_key: Annotated[str | None, Header()] = None,
) -> Response:  # fmt: skip
    """Run a document; without `wait` the answer is its run id."""
    text = body.document if isinstance(body.document, str) else orjson.dumps(body.document).decode()
    pinned = await platform.documents.from_text(text, folder=body.folder)
    return await start(platform, pinned, body.inputs, wait=wait, tags=tuple(body.tags), idempotency_key=idempotency_key)


async def start(
    platform: Platform, pinned: Pinned, inputs: dict[str, Any], *, wait: str | None, tags: tuple[str, ...] = (),
    idempotency_key: str | None = None,
) -> Response:  # fmt: skip
    """Start a run in this process; with `wait` the answer is how it ended."""
    request = RunRequest(
        inputs=inputs, trigger={"kind": "api"}, environment=platform.settings.environment, tags=tags,
        idempotency_key=idempotency_key,
    )  # fmt: skip
    seconds = _seconds(wait)
    run_id = await platform.runner.start(pinned, request)
    if seconds is None:
        return JSONResponse({"run_id": run_id, "status": "running"}, status_code=202)
    result = await platform.runner.wait(run_id, timeout=seconds)
    return answer(run_id, result)


def _seconds(wait: str | None) -> float | None:
    if wait is None:
        return None
    try:
        return float(parse_duration(float(wait) if wait.replace(".", "", 1).isdigit() else wait))
    except ValueError as error:
        raise ApiError(422, "bad_request", f"wait: {error}") from None


def answer(run_id: str, result: RunResult | None) -> Response:
    """What a caller who waited is told."""
    if result is None:
        return problem(504, "still_running", "the run goes on; ask for it again later", run_id=run_id)
    if result.status == "suspended":
        return JSONResponse({"run_id": run_id, "status": "suspended"}, status_code=202)
    if result.status == "succeeded":
        if result.response is not None:
            return custom(result.response)
        return JSONResponse({"run_id": run_id, "status": "succeeded", "outputs": result.outputs})
    message = (result.error or {}).get("message", result.status)
    return problem(500, f"run_{result.status}", str(message), run_id=run_id, error=result.error)


def custom(response: dict[str, Any]) -> Response:
    """END's own `response`."""
    body = response.get("body")
    headers = {str(name): str(value) for name, value in (response.get("headers") or {}).items()}
    status = int(response.get("status") or 200)
    if isinstance(body, str):
        return Response(body, status_code=status, headers=headers, media_type=headers.get("content-type", "text/plain"))
    return JSONResponse(body, status_code=status, headers=headers)


@router.get("")
async def list_runs(
    platform: PlatformOf, caller: Caller,
    status: Annotated[list[str] | None, Query()] = None,
    workflow_id: str | None = None,
    since: Annotated[float | None, Query(description="Earliest creation, Unix time in seconds.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The newest runs first."""
    page = await platform.store.runs.list(
        owner=caller.owner, status=set(status) if status else None, workflow_id=workflow_id, since=since, limit=limit,
        cursor=cursor,
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
    result = await platform.runner.wait(run_id, timeout=5.0)
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
    return Response(orjson.dumps(value), media_type="application/json")


@router.get("/{run_id}/events", response_class=StreamingResponse)
async def get_events(
    request: Request, run_id: str, platform: PlatformOf, caller: Caller,
    after: Annotated[int, Query(ge=0, description="Only events with a greater number.")] = 0,
    last_event_id: Annotated[int | None, Header()] = None,
) -> Response:  # fmt: skip
    """The journal as server-sent events, to the end of the run; `Last-Event-ID` goes on after an interruption.

    With `Accept: application/json` the events so far come as one object.
    """
    await platform.store.runs.get(run_id, owner=caller.owner)
    start_after = last_event_id if last_event_id is not None else after
    if "application/json" in request.headers.get("accept", ""):
        events = await platform.store.events.read(run_id, start_after)
        return JSONResponse({"items": [_event(event) for event in events]})
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_stream(platform, run_id, start_after), media_type="text/event-stream", headers=headers)


async def _stream(platform: Platform, run_id: str, after: int) -> AsyncIterator[bytes]:
    events = aiter(platform.store.events.follow(run_id, after))
    pending: asyncio.Task[Any] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(events, None))
            done, _ = await asyncio.wait([pending], timeout=_HEARTBEAT_SECONDS)
            if not done:
                yield b": still here\n\n"
                continue
            event, pending = pending.result(), None
            if event is None:
                return
            yield f"id: {event.seq}\nevent: {event.type}\ndata: ".encode() + orjson.dumps(_event(event)) + b"\n\n"
            if event.type in FINAL_EVENTS:
                return
    finally:
        if pending is not None:
            pending.cancel()


def _event(event: Any) -> dict[str, Any]:
    return {
        "seq": event.seq, "at": event.at, "type": event.type, "path": event.path, "attempt": event.attempt,
        "data": event.data,
    }  # fmt: skip
