"""`/metrics`: numbers in Prometheus' text format."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlace.server.auth import PlatformOf, caller
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC, require

router = APIRouter(tags=["operation"])
SCOPE = "metrics:read"


@router.get("/metrics", dependencies=[PUBLIC], response_class=Response)
async def read_metrics(request: Request, platform: PlatformOf) -> Response:
    """Runs, queues, nodes, models, requests, of the whole installation: for operators, or as INTERLACE_METRICS says."""
    metrics = request.app.state.metrics
    if metrics is None:
        raise ApiError(404, "not_found", "metrics are switched off (INTERLACE_METRICS)")
    if platform.settings.metrics == "key":
        key = await caller(request)
        require(key, SCOPE)
        if not (await platform.store.users.principal(key.owner)).operator:
            raise ApiError(403, "forbidden", "only operators of this installation read its metrics")
    return Response(
        await metrics.text(), media_type=metrics.content_type, headers={"cache-control": "no-store"}
    )
