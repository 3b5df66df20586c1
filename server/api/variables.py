"""`/api/v1/workflows/{workflow}/variables`: what a workflow's runs hand to later runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from interlace.flows.kept import holder_of, kept_list, set_kept
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1/workflows", tags=["workflows"])


class Setting(Body):
    """New values."""

    values: dict[str, Any] = Field(default_factory=dict, description="The new values by name; others stay.")
    forget: list[str] = Field(
        default_factory=list, description="Variables that begin anew with their initial value."
    )


@router.get("/{workflow}/variables", dependencies=[needs("workflows:read")])
async def list_variables(workflow: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """The kept variables of a workflow; of your runs of files of a name for `file:NAME`."""
    holder = await holder_of(platform.store, platform.documents, workflow, by=by)
    return {"items": await kept_list(platform.store, holder)}


@router.put("/{workflow}/variables", dependencies=[needs("workflows:write")])
async def set_variables(workflow: str, body: Setting, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Set kept variables, all at once; runs that change one at this moment come before or after."""
    holder = await holder_of(platform.store, platform.documents, workflow, by=by, write=True)
    await set_kept(platform.store, holder, body.values, body.forget, by=by)
    return {"items": await kept_list(platform.store, holder)}
