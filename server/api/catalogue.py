"""`/api/v1/nodes` and health: what this server can do, and whether it does."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

import interlace
from interlace.server.auth import Caller, PlatformOf
from interlace.server.problems import ApiError
from interlace.ui_schema.catalogue import catalogue, describe

router = APIRouter(tags=["catalogue"])


@router.get("/api/v1/nodes")
async def list_nodes(platform: PlatformOf, _caller: Caller) -> dict[str, Any]:
    """Every node type: config and output schema, handles, example."""
    return {"items": catalogue(platform.registry)}


@router.get("/api/v1/nodes/{kind}")
async def get_node(kind: str, platform: PlatformOf, _caller: Caller) -> dict[str, Any]:
    """One node type."""
    found = platform.registry.get(kind.upper())
    if found is None:
        raise ApiError(404, "not_found", platform.registry.unknown(kind))
    return describe(found)


@router.get("/health/live", tags=["health"])
async def live() -> dict[str, Any]:
    """Whether the process answers."""
    return {"status": "ok", "version": interlace.__version__}


@router.get("/health/ready", tags=["health"])
async def ready(request: Request, platform: PlatformOf) -> Response:
    """Whether runs can start: database, code sandbox, Prefect."""
    await platform.store.runs.list(limit=1)
    sandbox = await platform.sandbox.check()
    link = request.app.state.prefect
    body = {
        "status": "ok",
        "code": {"engine": sandbox.engine, "available": sandbox.available, "reason": sandbox.reason},
        "prefect": link.state() if link is not None else {"mode": "off"},
        "active_runs": len(platform.runner.active),
    }
    return JSONResponse(body)
