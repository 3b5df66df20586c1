"""`/hooks/callback/{token}`: other systems call back to runs that wait for them; the token is all they need."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request

from interlace.flows.answering import Answered
from interlace.resources.http.callback_setting import PATH
from interlace.server.auth import PlatformOf
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC

router = APIRouter(tags=["callbacks"])


@router.post(f"{PATH}{{token}}", dependencies=[PUBLIC])
async def call_back(token: str, request: Request, platform: PlatformOf) -> dict[str, Any]:
    """Take the one call of a callback URL; its body, JSON or text, becomes the node's output `callback`."""
    raw = await request.body()
    try:
        body = orjson.loads(raw) if raw else None
    except orjson.JSONDecodeError:
        body = raw.decode("utf-8", "replace")
    try:
        await platform.waits.call_back(token, body)
    except Answered as error:
        raise ApiError(409, error.code, "this callback was called already, or nobody waits for it") from None
    return {"status": "accepted"}
