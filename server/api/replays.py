"""Replays and differences of runs: `/api/v1/runs/{id}/replay` and `/diff`; pins of stored workflows."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, Response
from pydantic import Field

from interlace.engine.principal import Principal
from interlace.flows.documents import Pinned
from interlace.flows.platform import Platform
from interlace.flows.replay import Wish, plan_replay, start_replay, version_for
from interlace.flows.run_diff import diff_runs
from interlace.flows.run_options import store_pin
from interlace.server.api.shapes import Started, answers
from interlace.server.auth import By, Caller, PlatformOf, is_on_this_machine, name_of
from interlace.server.bodies import Body
from interlace.server.encoding import to_json
from interlace.server.problems import ApiError
from interlace.server.scopes import holds, needs
from interlace.store.keys import Key
from interlace.store.run_row import Run

router = APIRouter(prefix="/api/v1", tags=["runs"])


class Replay(Body):
    """What is done again, and with what."""

    from_: str | None = Field(
        None, alias="from", description="Node that runs again with all that follows it; all nodes by default."
    )
    set_: dict[str, Any] = Field(
        default_factory=dict, alias="set", description="New values of reused outputs by `node.path`."
    )
    inputs: dict[str, Any] = Field(default_factory=dict, description="New values of single inputs.")
    version: str | int = Field(
        "pinned", description="pinned (the run's own), published, latest or a number of its stored workflow."
    )
    document: dict[str, Any] | str | None = Field(
        None, description="A document to replay with instead of a version."
    )
    folder: str | None = Field(
        None, description="Where relative sub-workflows are looked up; callers on the server's machine only."
    )
    offline: bool = Field(False, description="Answer everything from the record of the run; reach nothing.")
    record: bool = Field(False, description="Record the outside answers of the new run.")
    dry_run: bool = Field(False, description="Only say what would be reused and what would run again.")


_REPLAYED: dict[int | str, dict[str, Any]] = {
    **answers(202, Started),
    200: {
        "description": "How the run ended, where it was waited for; of a dry run what would be reused.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    },
}


class Pin(Body):
    """Outputs that stand in for a node in test runs."""

    outputs: dict[str, Any] | None = Field(None, description="The outputs.")
    handle: str | None = Field(
        None, description="The handle that the node takes, where the outputs do not tell it."
    )
    run_id: str | None = Field(None, description="Take what the node gave in this run instead.")


@router.post(
    "/runs/{run_id}/replay", status_code=202, responses=_REPLAYED, dependencies=[needs("runs:write")]
)
async def replay_run(  # noqa: PLR0917 - FastAPI gives them by name
    request: Request, run_id: str, body: Replay, platform: PlatformOf, caller: Caller, by: By,
    idempotency_key: Annotated[str | None, Header(max_length=255)] = None,
) -> Response:  # fmt: skip
    """Start a new run that reuses what the run had before a node and does the rest again."""
    if body.folder is not None and not is_on_this_machine(request):
        raise ApiError(403, "forbidden", "a folder of the server can be named on its own machine only")
    run = await platform.store.runs.get(run_id, owner=by)
    pinned = await _version(platform, run, body, caller, by)
    wish = Wish(
        from_node=body.from_, edits=body.set_, inputs=body.inputs, offline=body.offline, record=body.record,
        by=await name_of(platform, caller), idempotency_key=idempotency_key or None,
    )  # fmt: skip
    plan = await plan_replay(platform.runner, run_id, pinned, wish)
    if body.dry_run:
        return JSONResponse(plan.as_json())
    new = await start_replay(platform.runner, plan)
    status = (await platform.store.runs.get(new)).status
    return JSONResponse(
        {"run_id": new, "status": "running" if status == "queued" else status, **plan.as_json()},
        status_code=202,
    )


@router.get("/runs/{run_id}/diff/{other}", dependencies=[needs("runs:read")])
async def get_diff(run_id: str, other: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """What differs between two runs, node by node; durations make no difference."""
    for one in (run_id, other):
        await platform.store.runs.get(one, owner=by)
    return await diff_runs(platform.store, platform.documents, run_id, other)


@router.get("/workflows/{workflow}/pins", dependencies=[needs("workflows:read")], tags=["workflows"])
async def get_pins(workflow: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """The pinned outputs, used by test runs only."""
    found = await platform.store.workflows.get(workflow, owner=by)
    return {"pins": await platform.store.pins.of(found.id)}


@router.put("/workflows/{workflow}/pins/{node}", dependencies=[needs("workflows:write")], tags=["workflows"])
async def put_pin(  # noqa: PLR0917 - FastAPI gives them by name
    workflow: str, node: str, body: Pin, platform: PlatformOf, caller: Caller, by: By
) -> dict[str, Any]:
    """Pin a node; the outputs are checked against the newest version."""
    if body.run_id is not None:
        _scope(caller, "runs:read")
        await platform.store.runs.get(body.run_id, owner=by)
    if (body.outputs is None) == (body.run_id is None):
        raise ApiError(422, "bad_request", "give either outputs or run_id")
    found = await store_pin(
        platform.store, platform.documents, workflow, node, outputs=body.outputs, handle=body.handle,
        run_id=body.run_id, owner=by,
    )  # fmt: skip
    return {"pins": found}


@router.delete(
    "/workflows/{workflow}/pins/{node}",
    status_code=204,
    dependencies=[needs("workflows:write")],
    tags=["workflows"],
)
async def delete_pin(workflow: str, node: str, platform: PlatformOf, by: By) -> None:
    """Unpin a node."""
    found = await platform.store.workflows.writable(workflow, owner=by)
    await platform.store.pins.remove(found.id, node)


async def _version(platform: Platform, run: Run, body: Replay, caller: Key, by: Principal) -> Pinned:
    if body.document is None:
        return await version_for(platform.documents, run, str(body.version))
    _scope(caller, "workflows:write")
    text = body.document if isinstance(body.document, str) else to_json(body.document).decode()
    pinned = await platform.documents.from_text(text, folder=body.folder, owner=by)
    # A test of a draft stays among the tests of its workflow.
    return replace(pinned, workflow_id=run.workflow_id) if run.test else pinned


def _scope(caller: Key, scope: str) -> None:
    """What a request asks for beyond its route."""
    if not holds(caller.scopes, scope):
        raise ApiError(403, "missing_scope", f"the key {caller.name!r} has no scope {scope}", missing=[scope])
