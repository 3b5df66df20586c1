"""`/api/v1/nodes` and health: what this server can do, and whether it does."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

import interlace
from interlace.server.api.listing import Wanted, in_order
from interlace.server.auth import Caller, PlatformOf
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC, needs
from interlace.ui_schema.catalogue import catalogue, describe, settings, shared

router = APIRouter(tags=["catalogue"])


@router.get("/api/v1/nodes", dependencies=[needs()])
async def list_nodes(platform: PlatformOf, _caller: Caller, wanted: Wanted) -> dict[str, Any]:
    """Every node type: config and output schema, handles, example; what all nodes share, and workflows have."""
    listed = in_order(catalogue(platform.registry), lambda entry: str(entry["type"]), wanted, dict)
    return {**listed, "shared": shared(), "settings": settings()}


@router.get("/api/v1/nodes/{kind}", dependencies=[needs()])
async def get_node(kind: str, platform: PlatformOf, _caller: Caller) -> dict[str, Any]:
    """One node type."""
    found = platform.registry.get(kind.upper())
    if found is None:
        raise ApiError(404, "not_found", platform.registry.unknown(kind))
    return describe(found)


@router.get("/health/live", tags=["health"], dependencies=[PUBLIC])
async def live() -> dict[str, Any]:
    """Whether the process answers."""
    return {"status": "ok", "version": interlace.__version__}


@router.get("/health/ready", tags=["health"], dependencies=[PUBLIC])
async def ready(request: Request, platform: PlatformOf) -> Response:
    """Whether runs can start here: database, values, code sandbox, Prefect.

    503 where they cannot, and while this server is leaving, so that a load balancer turns to others.
    """
    if request.app.state.leaving.is_set() or platform.runner.closing:
        raise ApiError(503, "leaving", "this server is ending; ask another one", headers={"retry-after": "5"})
    began = time.perf_counter()
    await platform.store.runs.list(limit=1)
    elapsed = round((time.perf_counter() - began) * 1000, 1)
    if not await asyncio.to_thread(os.access, platform.store.payloads.root, os.W_OK):
        where = platform.store.payloads.root
        raise ApiError(
            503, "store", f"values cannot be kept: the folder {where.name!r} is away or cannot be written"
        )
    sandbox = await platform.sandbox.check()
    link = request.app.state.prefect
    body = {
        "status": "ok",
        "database": {"kind": platform.store.database.location.kind, "ms": elapsed},
        "code": {"engine": sandbox.engine, "available": sandbox.available, "reason": sandbox.reason},
        "prefect": link.state() if link is not None else {"mode": "off"},
        "active_runs": len(platform.runner.active),
        "hosts": len(await platform.store.hosts.living()),
    }
    return JSONResponse(body)
