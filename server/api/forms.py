"""`/api/v1/workflows/{workflow}/form`: the public form of a workflow."""

from __future__ import annotations

import secrets

from fastapi import APIRouter
from pydantic import BaseModel, Field

from interlace.flows.platform import Platform
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.forms.access import PATH, link
from interlace.server.scopes import needs
from interlace.store.forms import PublicForm

_MOST = 2**31

router = APIRouter(prefix="/api/v1/workflows/{workflow}/form", tags=["workflows"])


class FormInfo(BaseModel):
    """The forms of a workflow."""

    signed_in: str = Field(
        description="Path of the form for everybody who is signed in and sees the workflow."
    )
    public: str | None = Field(
        description="Address of the form for everybody who has it; null where it is closed."
    )


class OpenForm(Body):
    """A public form."""

    rotate: bool = Field(False, description="Let the address so far lead nowhere, and give another one.")


_AS_IT_IS = OpenForm(rotate=False)


def _info(platform: Platform, workflow_id: str, form: PublicForm | None) -> FormInfo:
    base = platform.callbacks.base.rstrip("/")
    public = None if form is None else f"{base}{link(platform, form)}"
    return FormInfo(signed_in=f"{PATH}/{workflow_id}", public=public)


@router.get("", dependencies=[needs("triggers:read")], operation_id="get_form")
async def get_form(workflow: str, platform: PlatformOf, by: By) -> FormInfo:
    """Where the forms of a workflow are. The public address is told to those who may change the workflow."""
    found = await platform.store.workflows.writable(workflow, owner=by)
    return _info(platform, found.id, await platform.store.forms.of(found.id))


@router.put("", dependencies=[needs("triggers:write")], operation_id="open_form")
async def open_form(workflow: str, platform: PlatformOf, by: By, body: OpenForm = _AS_IT_IS) -> FormInfo:
    """Let everybody who has the address start the published version; its runs have the rights of the workflow's owner."""
    found = await platform.store.workflows.writable(workflow, owner=by)
    known = await platform.store.forms.of(found.id)
    # By chance, so that a form that was closed comes back at another address.
    generation = secrets.randbelow(_MOST) if known is None or body.rotate else known.generation
    form = await platform.store.forms.put(found.id, found.owner, generation)
    await platform.store.audit.record(
        by,
        "form.open",
        "workflow",
        found.id,
        name=found.name,
        org_id=found.org_id,
        detail={"generation": generation},
    )
    return _info(platform, found.id, form)


@router.delete("", status_code=204, dependencies=[needs("triggers:write")], operation_id="close_form")
async def close_form(workflow: str, platform: PlatformOf, by: By) -> None:
    """Close the public form; its address leads nowhere, and a form that is opened later has another one."""
    found = await platform.store.workflows.writable(workflow, owner=by)
    await platform.store.forms.remove(found.id)
    await platform.store.audit.record(
        by, "form.close", "workflow", found.id, name=found.name, org_id=found.org_id
    )
