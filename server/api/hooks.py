"""`/hooks/{token}`: requests from outside that start runs; the token is the address, and a signature the proof."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from interlace.engine.errors import InvalidDocument
from interlace.flows.platform import Platform
from interlace.flows.report import waiting_json
from interlace.flows.runner import ClosingError
from interlace.flows.triggers.received import Received
from interlace.flows.triggers.starting import LostAccessError
from interlace.flows.triggers.webhooks import Accepted, Hook, RefusedError
from interlace.server.api.starting import answer
from interlace.server.auth import PlatformOf
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC

router = APIRouter(tags=["webhooks"])
PATH = "/hooks/"
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The outputs, END's own response, or the answer to a challenge.",
        "content": {"*/*": {"schema": {}}},
    },
    202: {"description": "It is durable.", "content": {"application/json": {"schema": {"type": "object"}}}},
}


@router.post(f"{PATH}{{token}}", responses=_ANSWERS, dependencies=[PUBLIC])
async def receive(token: str, request: Request, platform: PlatformOf) -> Response:
    """Take a request: 202 when it is durable, or where the webhook waits, how its run ended."""
    return await _receive(token, request, platform)


@router.api_route(
    f"{PATH}{{token}}",
    methods=["GET", "PUT", "PATCH", "DELETE"],
    dependencies=[PUBLIC],
    include_in_schema=False,
)
async def receive_otherwise(token: str, request: Request, platform: PlatformOf) -> Response:
    """The same by another method, where the webhook takes it."""
    return await _receive(token, request, platform)


async def _receive(token: str, request: Request, platform: Platform) -> Response:
    webhooks = platform.triggers.webhooks
    try:
        hook = await webhooks.find(token)
        received = await _read(hook, request, platform)
        accepted = await webhooks.receive(hook, received)
    except RefusedError as error:
        # Nobody learns more than that: neither why, nor of what.
        status = 404 if str(error).startswith("there is nothing") else 401
        raise ApiError(status, "not_found" if status == 404 else "refused", str(error)) from None  # noqa: PLR2004
    except (LostAccessError, ClosingError):
        raise ApiError(503, "not_available", "this address takes nothing at the moment") from None
    except InvalidDocument as error:
        problems = [{"field": problem.field, "message": problem.message} for problem in error.problems]
        raise ApiError(
            422, "validation", "the request does not fit what it starts", problems=problems
        ) from None
    if accepted.challenge is not None:
        return PlainTextResponse(accepted.challenge)
    if hook.spec.response.mode == "wait" and accepted.run_id is not None:
        return await _ended(platform, accepted, hook.spec.response.timeout)
    return JSONResponse(_accepted(accepted), status_code=202)


async def _read(hook: Hook, request: Request, platform: Platform) -> Received:
    """The request, as far as it is one that the webhook takes."""
    if hook.trigger.paused:
        raise ApiError(503, "paused", "this address takes nothing at the moment")
    if request.method not in hook.spec.methods:
        raise ApiError(405, "method_not_allowed", f"this address takes {', '.join(hook.spec.methods)}")
    headers: dict[str, str] = {}
    for raw_name, raw_value in request.headers.raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    received = Received(
        method=request.method, body=await _body(request, hook.spec.max_size), headers=headers,
        query=request.query_params.multi_items(), url=_called(request, platform),
    )  # fmt: skip
    wanted = [one.strip().lower() for one in hook.spec.content_types]
    if wanted and received.media_type not in wanted:
        raise ApiError(415, "unsupported_media_type", f"this address takes {', '.join(wanted)}")
    return received


async def _body(request: Request, most: int) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise _too_large(most)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def _too_large(most: int) -> ApiError:
    return ApiError(413, "too_large", f"a request to this address may have {most:,} bytes")


def _called(request: Request, platform: Platform) -> str:
    """The address that the sender knows: by the settings, never by what the request says of itself."""
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{platform.callbacks.base.rstrip('/')}{request.url.path}{query}"


def _accepted(accepted: Accepted) -> dict[str, Any]:
    found = {"status": "accepted", "delivery": accepted.delivery_id, "run_id": accepted.run_id}
    return {**found, "repeated": True} if accepted.repeated else found


async def _ended(platform: Platform, accepted: Accepted, seconds: float) -> Response:
    """How the run ended: 200 outputs or END's response, 500 failed, 504 not yet, 202 where it waits for somebody."""
    assert accepted.run_id is not None
    result = await platform.runner.wait(accepted.run_id, seconds)
    if result is not None and result.status == "suspended":
        waits = await platform.store.waits.of_run(accepted.run_id)
        waiting = [
            {name: value for name, value in waiting_json(wait).items() if name == "id"} for wait in waits
        ]
        return JSONResponse(
            {"run_id": accepted.run_id, "status": "suspended", "waiting": waiting}, status_code=202
        )
    return answer(accepted.run_id, result)
