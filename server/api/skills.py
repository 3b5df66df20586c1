"""`/api/v1/skills`: texts that agents read when they need them. Nothing in a skill is ever run here."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.datastructures import UploadFile

from interlace.resources.skills.archive import MAX_ARCHIVE, read_any, write_zip
from interlace.resources.skills.definition import Skill, SkillFile, read_definition
from interlace.resources.skills.markdown import parse, write
from interlace.resources.skills.skills import KIND
from interlace.server.api.shapes import content
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.problems import ApiError
from interlace.server.scopes import needs
from interlace.store.resources import Resource

PATH = "/api/v1/skills"
router = APIRouter(prefix=PATH, tags=["skills"])
_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": {"type": "string", "format": "binary"}},
}


class SkillBody(Body):
    """A skill: its fields, or the text of its `SKILL.md`."""

    definition: dict[str, Any] | None = Field(
        None,
        description="`{name, description, body, license, compatibility, allowed_tools, metadata, files}`.",
    )
    text: str | None = Field(None, description="The text of a `SKILL.md`.", max_length=500_000)
    files: list[SkillFile] = Field(default_factory=list, description="With `text`: the files beside it.")


class NewSkill(SkillBody):
    """A skill to keep."""

    org: str | None = Field(None, description="Name or id of the organisation that owns it.")
    visibility: Literal["private", "org"] = "private"


class SkillChange(SkillBody):
    """What is to be changed; the rest stays."""

    active: bool | None = Field(None, description="Agents are told of active skills only.")
    expected_version: int | None = Field(None, description="Refuse where it is at another version.")


class Import(BaseModel):
    """Where imported skills belong."""

    org: str | None = Field(None, description="Name or id of the organisation that owns them.")
    visibility: Literal["private", "org"] = "private"
    replace: bool = Field(False, description="Put them in the place of those of the same names.")


@router.get("", dependencies=[needs("resources:read")])
async def list_skills(
    platform: PlatformOf, by: By, limit: Annotated[int, Query(ge=1, le=200)] = 100, cursor: str | None = None
) -> dict[str, Any]:
    """The skills that the caller sees, without their texts."""
    page = await platform.store.resources.list(KIND, by=by, limit=limit, after=cursor)
    return {"items": [skill_json(found) for found in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("resources:write")])
async def add_skill(body: NewSkill, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Keep a skill."""
    org_id = None if body.org is None else (await platform.store.organisations.get(body.org, by=by)).id
    (added,) = await platform.skills.add(skill_of(body), by=by, org_id=org_id, visibility=body.visibility)
    return skill_json(added)


@router.post(
    "/import",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}},
    dependencies=[needs("resources:write")],
)
async def import_skills(
    request: Request, platform: PlatformOf, by: By, how: Annotated[Import, Query()]
) -> dict[str, Any]:
    """Keep the skills of a zip file of folders with `SKILL.md`, or of one `SKILL.md`; all of them or none."""
    async with request.form(max_files=1, max_fields=1) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise ApiError(422, "bad_request", "send the file as the part `file` of a multipart form")
        content = await file.read(MAX_ARCHIVE + 1)
    skills = await asyncio.to_thread(read_any, content, name=file.filename or "")
    org_id = None if how.org is None else (await platform.store.organisations.get(how.org, by=by)).id
    added = await platform.skills.add(
        skills, by=by, org_id=org_id, visibility=how.visibility, replace=how.replace
    )
    return {"items": [skill_json(found) for found in added]}


@router.get("/{skill}", dependencies=[needs("resources:read")])
async def get_skill(skill: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One skill, with its text and files."""
    found, known = await platform.skills.find(skill, by=by)
    return {**skill_json(found), "definition": known.model_dump(mode="json"), "text": write(known)}


@router.put("/{skill}", dependencies=[needs("resources:write")])
async def change_skill(skill: str, body: SkillChange, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Put another definition in its place, or switch it on or off."""
    found = await platform.store.resources.find(KIND, skill, by=by)
    if body.definition is not None or body.text is not None:
        made = skill_of(body)
        found = await platform.skills.update(found.id, made, by=by, expected_version=body.expected_version)
    if body.active is not None:
        found = await platform.skills.switch(found.id, active=body.active, by=by)
    return skill_json(found)


@router.delete("/{skill}", status_code=204, dependencies=[needs("resources:write")])
async def remove_skill(skill: str, platform: PlatformOf, by: By) -> None:
    """Remove a skill with its files."""
    await platform.skills.remove(skill, by=by)


@router.get(
    "/{skill}/export",
    responses=content("application/zip", "The folder."),
    response_class=Response,
    dependencies=[needs("resources:read")],
)
async def export_skill(skill: str, platform: PlatformOf, by: By) -> Response:
    """The skill as a zip file of its folder, in the Agent Skills format."""
    found, known = await platform.skills.find(skill, by=by)
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}.zip",
        "content-security-policy": "sandbox",
        "x-content-type-options": "nosniff",
    }
    return Response(
        await asyncio.to_thread(write_zip, [known]), media_type="application/zip", headers=headers
    )


def skill_of(body: SkillBody) -> Skill:
    """The skill that a body stands for.

    Raises:
        ApiError: not exactly one of its two forms is given.
        NodeError: `skill_definition`.
    """
    if (body.definition is None) == (body.text is None):
        raise ApiError(422, "bad_request", "give one of definition and text")
    if body.text is not None:
        return parse(body.text, body.files)
    return read_definition(body.definition or {})


def skill_json(resource: Resource) -> dict[str, Any]:
    """A skill as lists show it."""
    shown = asdict(resource)
    known = shown.pop("definition")
    files = [file.get("path") for file in known.get("files", ())]
    return {**shown, "description": known.get("description", ""), "files": files}
