"""`/api/v1/workflows/{workflow}/call`: a published workflow as an operation of its own, with the types of its document."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Request
from fastapi.responses import JSONResponse, Response

from interlace.flows.platform import Platform
from interlace.flows.published import Published
from interlace.server.api.shapes import Started, answers
from interlace.server.api.starting import Start, Starting, answer
from interlace.server.auth import By, PlatformOf
from interlace.server.encoding import to_json
from interlace.server.scopes import needs
from interlace.server.streaming import event_stream, server_event, streaming

router = APIRouter(prefix="/api/v1/workflows", tags=["workflows"])
_WAIT_SECONDS = 60.0
RUN_HEADER = "x-interlace-run"
_CALLED: dict[int | str, dict[str, Any]] = {
    **answers(202, Started),
    200: {
        "description": "The outputs, or END's own response; with `Accept: text/event-stream` the events of the run.",
        "content": {"application/json": {"schema": {}}, "text/event-stream": {"schema": {}}},
    },
}


@router.post(
    "/{workflow}/call", responses=_CALLED, dependencies=[needs("runs:write")], operation_id="call_workflow"
)
async def call_workflow(
    request: Request, workflow: str, inputs: Annotated[dict[str, Any], Body()], starting: Starting, *,
    prefer: Annotated[str | None, Header(description="`respond-async`: answer at once with the run's id.")] = None,
) -> Response:  # fmt: skip
    """Call the published version: the body is its inputs, the answer its outputs, both as its own OpenAPI says.

    Waits for a minute, or as `wait` says. With `Prefer: respond-async` the run's id comes at once; with
    `Accept: text/event-stream` its events, and `result` with the outputs at the end.
    """
    platform = starting.platform
    found = await platform.published.find(workflow, starting.by)
    later = prefer is not None and "respond-async" in prefer
    placed, status = await starting.begin(
        found.pinned, Start(inputs=inputs), org_id=found.org_id, at_once=not later
    )
    headers = {RUN_HEADER: placed.run_id}
    if later:
        location = {"location": f"/api/v1/runs/{placed.run_id}", "preference-applied": "respond-async"}
        return JSONResponse(
            {"run_id": placed.run_id, "status": status}, status_code=202, headers={**headers, **location}
        )
    if "text/event-stream" in request.headers.get("accept", ""):
        stream = streaming(_events(platform, placed.run_id, request.app.state.leaving))
        stream.headers.update(headers)
        return stream
    result = await platform.runner.wait(
        placed.run_id, _WAIT_SECONDS if starting.wait is None else starting.wait
    )
    if result is not None and result.status == "suspended":
        response = await starting.suspended(placed.run_id)
    elif result is not None and result.status == "succeeded" and result.response is None:
        response = Response(to_json(result.outputs or {}), media_type="application/json")
    else:
        response = answer(placed.run_id, result)
    response.headers.update(headers)
    return response


async def _events(platform: Platform, run_id: str, leaving: asyncio.Event) -> AsyncIterator[bytes]:
    async for piece in event_stream(platform, run_id, 0, leaving):
        yield piece
    if leaving.is_set():
        return
    result = await platform.runner.result(run_id)
    if result.status == "succeeded":
        yield server_event("result", result.outputs or {})
    else:
        error = result.error or {"message": result.status}
        yield server_event("problem", {"run_id": run_id, "status": result.status, "error": error})


@router.get(
    "/{workflow}/openapi.json", dependencies=[needs("workflows:read")], operation_id="get_workflow_openapi"
)
async def get_openapi(workflow: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """The published version's own OpenAPI document: one operation, with the types of its inputs and outputs."""
    found = await platform.published.find(workflow, by)
    return described(found, await platform.published.outputs(found, by), platform.callbacks.base)


def described(found: Published, outputs: Mapping[str, Any], base: str) -> dict[str, Any]:
    """An OpenAPI document for one workflow."""
    document, workflow = found.document, found.workflow

    def told(text: str, ref: str | None = None) -> dict[str, Any]:
        kind = (
            "application/json" if ref in ("Outputs", "Started", "Suspended") else "application/problem+json"
        )
        schema = {"$ref": f"#/components/schemas/{ref}"} if ref else {"type": "object"}
        return {"description": text, "content": {kind: {"schema": schema}}}

    operation = {
        "operationId": "call", "summary": workflow.name, "description": document.description or "",
        "parameters": [
            {"name": "wait", "in": "query", "schema": {"type": "string", "default": "60s"}, "description": "How long to wait."},
            {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 255}},
            {"name": "Prefer", "in": "header", "schema": {"type": "string", "enum": ["respond-async"]}},
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Inputs"}}},
        },
        "responses": {
            "200": told("The outputs.", "Outputs"), "202": told("It runs on, or waits for a person.", "Started"),
            "401": told("No valid key.", "Problem"), "422": told("The inputs do not fit.", "Problem"),
            "500": told("The run failed.", "Problem"), "504": told("It takes longer; it goes on.", "Problem"),
        },
    }  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {"title": workflow.name, "version": str(found.pinned.version), "description": document.description or ""},
        "servers": [{"url": base.rstrip("/")}],
        "security": [{"key": []}],
        "paths": {f"/api/v1/workflows/{workflow.id}/call": {"post": operation}},
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Inputs": _moved(found.inputs, "Inputs"), "Outputs": _moved(outputs, "Outputs"),
                "Started": {
                    "type": "object", "required": ["run_id", "status"],
                    "properties": {"run_id": {"type": "string"}, "status": {"type": "string"}},
                },
                "Problem": {
                    "type": "object", "required": ["code", "detail", "status"],
                    "properties": {
                        "code": {"type": "string"}, "detail": {"type": "string"}, "status": {"type": "integer"},
                        "run_id": {"type": "string"},
                    },
                },
            },
        },
    }  # fmt: skip


def _moved(schema: Any, name: str) -> Any:
    """A schema as a component: what it refers to within itself is found where it stands now."""
    if isinstance(schema, Mapping):
        found = {key: _moved(value, name) for key, value in schema.items()}
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref.startswith("#"):
            found["$ref"] = f"#/components/schemas/{name}{ref[1:]}"
        return found
    return [_moved(entry, name) for entry in schema] if isinstance(schema, list) else schema
