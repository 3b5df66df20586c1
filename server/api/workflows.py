"""`/api/v1/workflows`: stored workflows, their versions, validation, runs and node tests."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from interlace.engine.diff import diff
from interlace.engine.source import dump, load
from interlace.engine.validate import Validation
from interlace.flows.node_test import test_node
from interlace.server.api.starting import Start, Starting
from interlace.server.auth import Caller, PlatformOf
from interlace.server.encoding import to_json

router = APIRouter(prefix="/api/v1/workflows", tags=["workflows"])
Version = Annotated[str, Query(description="published, latest or a number.")]


class Push(BaseModel):
    """A document to store."""

    document: dict[str, Any] | str = Field(description="The document as an object, or as YAML or JSON text.")
    note: str = Field("", description="What is new in this version.")
    publish: bool = Field(False, description="Publish the version as well.")


class Text(BaseModel):
    """A document to look at."""

    document: dict[str, Any] | str


class StartStored(Start):
    """What a run of a stored workflow is started with."""

    version: str | int = Field("published", description="published, latest or a number.")


class NodeTest(BaseModel):
    """One node and what it reads."""

    node: str
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="inputs, vars, item and earlier nodes by name."
    )
    version: str | int = "latest"


class Publish(BaseModel):
    """Which version becomes the published one."""

    version: int | None = Field(None, description="The newest by default.")


def _text(document: dict[str, Any] | str) -> str:
    return document if isinstance(document, str) else to_json(document).decode()


@router.get("")
async def list_workflows(
    platform: PlatformOf,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """All stored workflows."""
    page = await platform.store.workflows.list(owner=caller.owner, limit=limit, cursor=cursor)
    return {"items": [_workflow(item) for item in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201)
async def push(body: Push, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """Store a document as a new version of the workflow of its name."""
    pinned = await platform.documents.from_text(_text(body.document), owner=caller.owner)
    pushed = await platform.store.workflows.push(
        pinned.document.name, pinned.text, owner=caller.owner, note=body.note
    )
    if body.publish:
        await platform.store.workflows.publish(pushed.workflow_id, pushed.number, owner=caller.owner)
    return {
        "id": pushed.workflow_id, "name": pinned.document.name, "version": pushed.number, "created": pushed.created,
        "published": body.publish,
    }  # fmt: skip


@router.post("/validate")
async def validate_text(body: Text, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """All problems of a document that need not be stored; nothing is run, started or connected."""
    found = await platform.documents.check(load(_text(body.document)), owner=caller.owner)
    return _validation(found)


@router.get("/{workflow}")
async def get_workflow(
    workflow: str, platform: PlatformOf, caller: Caller, version: Version = "latest"
) -> dict[str, Any]:
    """A workflow with the document of one version."""
    found = await platform.store.workflows.get(workflow, owner=caller.owner)
    pinned = await platform.documents.stored(found.id, version, owner=caller.owner)
    return {**_workflow(found), "version": pinned.version, "document": _document(pinned.document)}


@router.delete("/{workflow}", status_code=204)
async def delete_workflow(workflow: str, platform: PlatformOf, caller: Caller) -> None:
    """Delete a workflow; its runs stay."""
    await platform.store.workflows.delete(workflow, owner=caller.owner)


@router.get("/{workflow}/versions")
async def list_versions(workflow: str, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """All versions, the newest first."""
    found = await platform.store.workflows.versions(workflow, owner=caller.owner)
    return {"items": [{"number": v.number, "created_at": v.created_at, "note": v.note} for v in found]}


@router.post("/{workflow}/publish")
async def publish(workflow: str, body: Publish, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """Make a version the one that runs by name, triggers and other workflows use."""
    number = await platform.store.workflows.publish(workflow, body.version, owner=caller.owner)
    return {"published_version": number}


@router.post("/{workflow}/validate")
async def validate_stored(
    workflow: str, platform: PlatformOf, caller: Caller, version: Version = "latest"
) -> dict[str, Any]:
    """All problems of a stored version as of now: workflows that it calls may have changed."""
    pinned = await platform.documents.stored(workflow, version, owner=caller.owner)
    result = await platform.documents.check(load(pinned.text), owner=caller.owner)
    return _validation(result)


@router.get("/{workflow}/diff")
async def get_diff(
    workflow: str,
    platform: PlatformOf,
    caller: Caller,
    before: Version = "published",
    after: Version = "latest",
) -> dict[str, Any]:
    """What differs in meaning between two versions."""
    one = await platform.documents.stored(workflow, before, owner=caller.owner)
    other = await platform.documents.stored(workflow, after, owner=caller.owner)
    return diff(one.document, other.document).as_json()


@router.post("/{workflow}/run", status_code=202)
async def run_workflow(workflow: str, body: StartStored, starting: Starting) -> Response:
    """Start a run; with `wait` the answer is how it ended: 200 outputs, 500 failed, 504 still running."""
    owner = starting.caller.owner
    pinned = await starting.platform.documents.stored(workflow, body.version, owner=owner)
    return await starting.start(pinned, body)


@router.post("/{workflow}/test-node")
async def run_node_test(
    workflow: str, body: NodeTest, platform: PlatformOf, caller: Caller
) -> dict[str, Any]:
    """Run one node alone with given results of the nodes before it."""
    pinned = await platform.documents.stored(workflow, body.version, owner=caller.owner)
    return await test_node(platform, pinned.document, body.node, body.inputs)


@router.get("/{workflow}/document")
async def get_document(
    workflow: str, platform: PlatformOf, caller: Caller, version: Version = "latest"
) -> Response:
    """The document as YAML."""
    pinned = await platform.documents.stored(workflow, version, owner=caller.owner)
    return Response(dump(pinned.document), media_type="application/yaml")


def _validation(found: Validation) -> dict[str, Any]:
    return {
        "valid": found.valid, "problems": [p.as_json() for p in found.problems], "types": dict(found.types),
    }  # fmt: skip


def _document(document: Any) -> dict[str, Any]:
    found: dict[str, Any] = document.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return found


def _workflow(found: Any) -> dict[str, Any]:
    return {
        "id": found.id, "name": found.name, "published_version": found.published_version,
        "created_at": found.created_at, "updated_at": found.updated_at,
    }  # fmt: skip
