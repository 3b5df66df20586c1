"""`/api/v1/runs`: start, list, watch, explain and cancel runs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from interlace.engine.events import RunStatus
from interlace.flows.report import event_json, run_report, summary, why
from interlace.flows.retention import delete_run, end_run
from interlace.flows.trace import agent_trace
from interlace.server.api.shapes import (
    EVENTS_OR_LIST,
    RUNS_OR_WAITS,
    RunPage,
    RunReport,
    RunStatusNow,
    answers,
)
from interlace.server.api.starting import Start, Starting
from interlace.server.auth import By, PlatformOf, is_on_this_machine
from interlace.server.encoding import to_json
from interlace.server.problems import ApiError
from interlace.server.scopes import needs
from interlace.server.streaming import event_stream, last_event_id, streaming

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])
_CANCEL_SECONDS = 5.0


class StartDocument(Start):
    """A document to run without storing it."""

    document: dict[str, Any] | str = Field(description="The document as an object, or as YAML or JSON text.")
    folder: str | None = Field(
        None, description="Where relative sub-workflows are looked up; callers on the server's machine only."
    )


@router.post(
    "", status_code=202, responses=RUNS_OR_WAITS, dependencies=[needs("runs:write", "workflows:write")]
)
async def start_document(request: Request, body: StartDocument, starting: Starting) -> Response:
    """Run a document; without `wait` the answer is its run id."""
    if body.folder is not None and not is_on_this_machine(request):
        raise ApiError(403, "forbidden", "a folder of the server can be named on its own machine only")
    text = body.document if isinstance(body.document, str) else to_json(body.document).decode()
    owner = starting.by
    pinned = await starting.platform.documents.from_text(text, folder=body.folder, owner=owner)
    return await starting.start(pinned, body)


class Wanted(BaseModel):
    """Which runs are listed."""

    status: list[RunStatus] | None = None
    workflow_id: str | None = None
    since: float | None = Field(None, description="Earliest creation, Unix time in seconds.")
    until: float | None = Field(None, description="Latest creation, Unix time in seconds.")
    trigger: str | None = Field(
        None,
        max_length=50,
        description="Kind of what started them: manual, api, cron, webhook, event, replay ….",
    )
    parent_run_id: str | None = Field(None, description="Only runs that this run started.")
    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = None


@router.get("", responses=answers(200, RunPage), dependencies=[needs("runs:read")])
async def list_runs(
    platform: PlatformOf, by: By,
    wanted: Annotated[Wanted, Query()],
) -> dict[str, Any]:  # fmt: skip
    """The newest runs first."""
    page = await platform.store.runs.list(
        owner=by, status=set(wanted.status) if wanted.status else None, workflow_id=wanted.workflow_id,
        since=wanted.since, until=wanted.until, trigger=wanted.trigger, parent_run_id=wanted.parent_run_id,
        limit=wanted.limit, cursor=wanted.cursor,
    )  # fmt: skip
    return {"items": [summary(run) for run in page.items], "next_cursor": page.cursor}


@router.get("/{run_id}", responses=answers(200, RunReport), dependencies=[needs("runs:read")])
async def get_run(run_id: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One run with its nodes, outputs and error."""
    await platform.store.runs.get(run_id, owner=by)
    return await run_report(platform.store, platform.documents, run_id)


@router.get("/{run_id}/why/{path:path}", dependencies=[needs("runs:read")])
async def get_why(run_id: str, path: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Why a node has the state that it has."""
    await platform.store.runs.get(run_id, owner=by)
    return await why(platform.store, platform.documents, run_id, path)


@router.get("/{run_id}/trace", dependencies=[needs("runs:read")])
async def get_trace(run_id: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """What agents did, step by step: model calls with their tokens by source, tool calls, approvals, delegates."""
    await platform.store.runs.get(run_id, owner=by)
    return await agent_trace(platform.store, run_id)


@router.post("/{run_id}/cancel", responses=answers(200, RunStatusNow), dependencies=[needs("runs:write")])
async def cancel_run(run_id: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Cancel a run; a run that has ended already is a conflict."""
    await platform.store.runs.get(run_id, owner=by)
    if not await platform.runner.cancel(run_id):
        run = await platform.store.runs.get(run_id)
        raise ApiError(409, "conflict", f"the run is {run.status} already")
    result = await platform.runner.wait(run_id, _CANCEL_SECONDS)
    return {"run_id": run_id, "status": result.status if result is not None else "running"}


@router.delete("/{run_id}", status_code=204, dependencies=[needs("runs:write")])
async def remove_run(run_id: str, platform: PlatformOf, by: By, *, force: bool = False) -> None:
    """Delete a run that has ended, with its payloads and the runs that it started; `force` cancels it before."""
    await platform.store.runs.get(run_id, owner=by)
    if force:
        await end_run(platform.runner, run_id)
    await delete_run(platform.store, run_id, force=force)


@router.get("/{run_id}/payloads/{ref}", dependencies=[needs("runs:read")])
async def get_payload(run_id: str, ref: str, platform: PlatformOf, by: By) -> Response:
    """A value that events and outputs give by reference."""
    await platform.store.runs.get(run_id, owner=by)
    value = await platform.store.payload_of(run_id, ref)
    return Response(to_json(value), media_type="application/json")


@router.get(
    "/{run_id}/events",
    response_class=StreamingResponse,
    responses=EVENTS_OR_LIST,
    dependencies=[needs("runs:read")],
)
async def get_events(
    request: Request, run_id: str, platform: PlatformOf, by: By,
    after: Annotated[int, Query(ge=0, description="Only events with a greater number.")] = 0,
) -> Response:  # fmt: skip
    """The journal as server-sent events, to the end of the run; `Last-Event-ID` goes on after an interruption.

    With `Accept: application/json` the events so far come as one object.
    """
    await platform.store.runs.get(run_id, owner=by)
    start_after = last_event_id(request, after)
    if "application/json" in request.headers.get("accept", ""):
        events = await platform.store.events.read(run_id, start_after)
        return JSONResponse({"items": [event_json(event) for event in events]})
    return streaming(event_stream(platform, run_id, start_after, request.app.state.leaving))
