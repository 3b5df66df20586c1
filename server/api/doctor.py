"""`/api/v1/doctor`: how the installation is, and which settings count; for operators."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from interlace.server.auth import By, PlatformOf
from interlace.server.doctor import look_at
from interlace.server.problems import ApiError
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1", tags=["operation"])


@router.get("/doctor", dependencies=[needs("admin")])
async def get_doctor(request: Request, platform: PlatformOf, by: By) -> dict[str, Any]:
    """What `interlace doctor` says, of this server: `{ok, checks: [{name, state, detail, fix}], settings}`; secrets are masked."""
    if not by.operator:
        raise ApiError(403, "forbidden", "only an operator of this installation may see how it is set up")
    checks = await look_at(platform)
    link = request.app.state.prefect
    if link is not None and link.state()["failure"]:
        fix = "see the log of the server; runs go on without Prefect"
        checks.append(
            {"name": "prefect", "state": "warning", "detail": str(link.state()["failure"]), "fix": fix}
        )
    return {
        "ok": all(check["state"] != "failed" for check in checks),
        "checks": checks,
        "settings": platform.settings.masked(),
    }
