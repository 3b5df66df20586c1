"""`POST /api/v1/templates/{template}/run`: a template tried as it is, on the data that comes with it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import Field

from interlace.server.api.starting import Start, Starting
from interlace.server.bodies import Body
from interlace.server.demo import examples_folder
from interlace.server.problems import ApiError
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1/templates", tags=["workflows"])

_DATA = "examples/data/"


class Trial(Body):
    """What a template is tried with."""

    inputs: dict[str, Any] = Field(
        default_factory=dict, description="Inputs; those that are not given are the template's own."
    )


@router.post("/{template}/run", status_code=202, dependencies=[needs("workflows:write", "runs:write")])
async def run_template(template: str, body: Trial, starting: Starting) -> Response:
    """Run a template without storing it; the answer is that of `POST /runs`."""
    folder = examples_folder()
    path = await asyncio.to_thread(_path, folder, template)
    pinned = await starting.platform.documents.from_file(path, owner=starting.by)
    own = {
        name: default.replace(_DATA, f"{folder / 'data'}/")
        for name, schema in pinned.document.inputs.get("properties", {}).items()
        if isinstance(default := schema.get("default"), str) and _DATA in default
    }
    return await starting.start(pinned, Start(inputs={**own, **body.inputs}, tags=["example"], via="direct"))


def _path(folder: Path, template: str) -> Path:
    """The file of a template; its name is looked up among those that there are."""
    for path in (*folder.glob("*.yaml"), *(folder / "templates").glob("*.yaml")):
        if path.stem == template:
            return path
    raise ApiError(404, "not_found", f"no template {template!r}")
