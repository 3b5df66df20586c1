"""What stands around a run: its inputs, where it came from, what it started, and all of it as one file."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlace.flows.export import export_run
from interlace.flows.report import summary
from interlace.server.auth import By, PlatformOf
from interlace.server.encoding import to_json
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])
_MOST = 200


@router.get("/{run_id}/context", dependencies=[needs("runs:read")])
async def get_context(run_id: str, request: Request, platform: PlatformOf, by: By) -> dict[str, Any]:
    """The inputs of a run, the runs that it started (of each node) and that repeat it, and its page in Prefect if any."""
    run = await platform.store.runs.resolve(await platform.store.runs.get(run_id, owner=by))
    children = await platform.store.runs.list(owner=by, parent_run_id=run.id, limit=_MOST)
    replays = await platform.store.runs.list(owner=by, replayed_from=run.id, limit=_MOST)
    link = request.app.state.prefect
    in_prefect = link is not None and link.ui_url and run.flow_run_id
    return {
        "run_id": run.id,
        "inputs": run.inputs,
        "options": {name: value for name, value in run.options.items() if isinstance(value, bool | str | int)},
        "children": [summary(child) for child in children.items],
        "replays": [summary(replay) for replay in replays.items],
        "prefect_url": link.flow_run_url(run.flow_run_id) if in_prefect else None,
    }  # fmt: skip


@router.get("/{run_id}/export", dependencies=[needs("runs:read")])
async def get_export(run_id: str, platform: PlatformOf, by: By) -> Response:
    """Document, inputs, report and events of a run as one JSON file, large values included."""
    run = await platform.store.runs.get(run_id, owner=by)
    found = await export_run(platform.store, platform.documents, run.id)
    name = f"run-{run.id}.json"
    return Response(
        to_json(found, indent=True),
        media_type="application/json",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
