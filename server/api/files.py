"""`/api/v1/files`: files that inputs refer to."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import UploadFile

from interlace.server.api.shapes import content
from interlace.server.auth import Caller, PlatformOf
from interlace.server.problems import ApiError
from interlace.server.scopes import needs

PATH = "/api/v1/files"
MAX_BYTES = 200_000_000

router = APIRouter(prefix=PATH, tags=["files"])
_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": {"type": "string", "format": "binary"}},
}


@router.post(
    "",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}},
    dependencies=[needs("files:write")],
)
async def upload(request: Request, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """Store a file; the answer is the value to give as an input of format `file`."""
    # Read here and not as a parameter: nothing is taken from a caller who is not known yet.
    async with request.form(max_files=1, max_fields=1) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise ApiError(422, "bad_request", "send the file as the part `file` of a multipart form")
        content = await file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ApiError(413, "too_large", f"a file may have {MAX_BYTES:,} bytes")
    files = platform.store.files.of_owner(caller.owner)
    media_type = file.content_type or "application/octet-stream"
    return asdict(await files.save(content, name=file.filename or "file", media_type=media_type))


@router.get(
    "/{ref}",
    responses=content("*/*", "The file, as what it is."),
    response_class=Response,
    dependencies=[needs("files:read")],
)
async def download(ref: str, platform: PlatformOf, caller: Caller) -> Response:
    """The bytes of a file; always as a download, never shown by the browser."""
    files = platform.store.files.of_owner(caller.owner)
    found = await files.find(ref)
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
        "content-security-policy": "sandbox",
        "x-content-type-options": "nosniff",
    }
    return Response(await files.load(ref), media_type=found.media_type, headers=headers)
