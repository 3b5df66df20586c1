"""`/api/v1/workflows`: stored workflows, their versions, validation, runs and node tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from interlace.engine.diff import diff
from interlace.engine.source import dump, load
from interlace.flows.cutting import up_to
from interlace.flows.documents import Pinned
from interlace.flows.node_test import test_node
from interlace.server.api.editing import plain, text_of, validation_json
from interlace.server.api.listing import Wanted, part
from interlace.server.api.shapes import (
    RUNS_OR_WAITS,
    PublishedVersion,
    Pushed,
    WorkflowDocument,
    WorkflowPage,
    answers,
    content,
)
from interlace.server.api.starting import Start, Starting
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.problems import ApiError
from interlace.server.scopes import holds, needs
from interlace.store.workflows import Version as Stored

router = APIRouter(prefix="/api/v1/workflows", tags=["workflows"])
Version = Annotated[str, Query(description="published, latest or a number.")]


class Push(Body):
    """A document to store."""

    document: dict[str, Any] | str = Field(description="The document as an object, or as YAML or JSON text.")
    note: str = Field("", description="What is new in this version.")
    publish: bool = Field(False, description="Publish the version as well.")


class Text(Body):
    """A document to look at."""

    document: dict[str, Any] | str


class StartStored(Start):
    """What a run of a stored workflow is started with."""

    version: str | int = Field("published", description="published, latest or a number.")
    document: dict[str, Any] | str | None = Field(
        None, description="A document to run instead of a stored version, such as a draft; test runs only."
    )
    until: str | None = Field(None, description="Run up to this node only; test runs only.")


class NodeTest(Body):
    """One node and what it reads."""

    node: str
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="inputs, vars, item and earlier nodes by name."
    )
    version: str | int = "latest"
    document: dict[str, Any] | str | None = Field(
        None, description="A document to test instead of a stored version, such as a draft."
    )


class Publish(Body):
    """Which version becomes the published one."""

    version: int | None = Field(None, description="The newest by default.")


def _version(found: Stored) -> dict[str, Any]:
    return {"number": found.number, "created_at": found.created_at, "note": found.note}


class Wishes(BaseModel):
    """Which workflows are listed."""

    search: str | None = Field(
        None, max_length=200, description="Only those whose names contain this, in any case."
    )
    published: bool | None = Field(None, description="Only those with a published version, or without one.")
    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = None


@router.get("", responses=answers(200, WorkflowPage), dependencies=[needs("workflows:read")])
async def list_workflows(
    platform: PlatformOf,
    by: By,
    wanted: Annotated[Wishes, Query()],
) -> dict[str, Any]:
    """All stored workflows, by name."""
    page = await platform.store.workflows.list(
        owner=by, limit=wanted.limit, cursor=wanted.cursor, search=wanted.search, published=wanted.published
    )
    return {"items": [_workflow(item) for item in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, responses=answers(201, Pushed), dependencies=[needs("workflows:write")])
async def push(body: Push, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Store a document as a new version of the workflow of its name."""
    pinned = await platform.documents.from_text(text_of(body.document), owner=by)
    pushed = await platform.store.workflows.push(
        pinned.document.name, pinned.text, owner=by.user_id, note=body.note
    )
    if body.publish:
        await platform.store.workflows.publish(pushed.workflow_id, pushed.number, owner=by)
        await platform.triggers.published(pushed.workflow_id)
    return {
        "id": pushed.workflow_id, "name": pinned.document.name, "version": pushed.number, "created": pushed.created,
        "published": body.publish,
    }  # fmt: skip


@router.post("/validate", dependencies=[needs("workflows:read")])
async def validate_text(body: Text, platform: PlatformOf, by: By) -> dict[str, Any]:
    """All problems of a document that need not be stored; nothing is run, started or connected."""
    found = await platform.documents.check(load(text_of(body.document)), owner=by)
    return validation_json(found)


@router.get("/{workflow}", responses=answers(200, WorkflowDocument), dependencies=[needs("workflows:read")])
async def get_workflow(
    workflow: str, platform: PlatformOf, by: By, version: Version = "latest"
) -> dict[str, Any]:
    """A workflow with the document of one version."""
    found = await platform.store.workflows.get(workflow, owner=by)
    pinned = await platform.documents.stored(found.id, version, owner=by)
    return {**_workflow(found), "version": pinned.version, "document": plain(pinned.document)}


@router.delete("/{workflow}", status_code=204, dependencies=[needs("workflows:write")])
async def delete_workflow(workflow: str, platform: PlatformOf, by: By) -> None:
    """Delete a workflow; its triggers end, its runs stay."""
    found = await platform.store.workflows.get(workflow, owner=by)
    await platform.store.workflows.delete(found.id, owner=by)
    await platform.triggers.published(found.id)


@router.get("/{workflow}/versions", dependencies=[needs("workflows:read")])
async def list_versions(workflow: str, platform: PlatformOf, by: By, wanted: Wanted) -> dict[str, Any]:
    """All versions, the newest first."""
    found = await platform.store.workflows.versions(workflow, owner=by)
    return part(found, lambda version: f"{version.number:010}", wanted, _version, newest=True)


@router.post(
    "/{workflow}/publish", responses=answers(200, PublishedVersion), dependencies=[needs("workflows:write")]
)
async def publish(workflow: str, body: Publish, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Make a version the one that runs by name, triggers and other workflows use."""
    found = await platform.store.workflows.get(workflow, owner=by)
    number = await platform.store.workflows.publish(found.id, body.version, owner=by)
    await platform.triggers.published(found.id)
    return {"published_version": number}


@router.post(
    "/{workflow}/unpublish", responses=answers(200, PublishedVersion), dependencies=[needs("workflows:write")]
)
async def unpublish(workflow: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Let no version be published: runs by name are refused, and the triggers of the document end."""
    found = await platform.store.workflows.get(workflow, owner=by)
    await platform.store.workflows.unpublish(found.id, owner=by)
    await platform.triggers.published(found.id)
    return {"published_version": None}


@router.post("/{workflow}/validate", dependencies=[needs("workflows:read")])
async def validate_stored(
    workflow: str, platform: PlatformOf, by: By, version: Version = "latest"
) -> dict[str, Any]:
    """All problems of a stored version as of now: workflows that it calls may have changed."""
    pinned = await platform.documents.stored(workflow, version, owner=by)
    result = await platform.documents.check(load(pinned.text), owner=by)
    return validation_json(result)


@router.get("/{workflow}/diff", dependencies=[needs("workflows:read")])
async def get_diff(
    workflow: str,
    platform: PlatformOf,
    by: By,
    before: Version = "published",
    after: Version = "latest",
) -> dict[str, Any]:
    """What differs in meaning between two versions."""
    one = await platform.documents.stored(workflow, before, owner=by)
    other = await platform.documents.stored(workflow, after, owner=by)
    return diff(one.document, other.document).as_json()


@router.post("/{workflow}/run", status_code=202, responses=RUNS_OR_WAITS, dependencies=[needs("runs:write")])
async def run_workflow(workflow: str, body: StartStored, starting: Starting) -> Response:
    """Start a run; with `wait` the answer is how it ended: 200 outputs, 500 failed, 504 still running."""
    owner = starting.by
    stored = await starting.platform.store.workflows.get(workflow, owner=owner)
    pinned = await _wanted(starting, stored.id, body)
    return await starting.start(pinned, body, org_id=stored.org_id if stored.visibility == "org" else None)


async def _wanted(starting: Starting, workflow_id: str, body: StartStored) -> Pinned:
    """What is to run: a stored version, a document in its place, and all of it or the part up to a node."""
    documents, owner = starting.platform.documents, starting.by
    if (body.document is not None or body.until is not None) and not body.test:
        raise ApiError(
            422, "bad_request", "a draft, and a run up to a node, are test runs; say `test: true` as well"
        )
    if body.document is not None and not holds(starting.caller.scopes, "workflows:write"):
        raise ApiError(
            403, "missing_scope", "running a document that is not stored takes the scope workflows:write",
            missing=["workflows:write"],
        )  # fmt: skip
    pinned = (
        await documents.stored(workflow_id, body.version, owner=owner)
        if body.document is None
        else await documents.from_text(text_of(body.document), owner=owner)
    )
    if body.until is not None:
        pinned = await documents.from_text(dump(up_to(pinned.document, body.until), "json"), owner=owner)
    return replace(pinned, workflow_id=workflow_id)


@router.post("/{workflow}/test-node", dependencies=[needs("runs:write")])
async def run_node_test(workflow: str, body: NodeTest, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Run one node alone with given results of the nodes before it."""
    pinned = (
        await platform.documents.stored(workflow, body.version, owner=by)
        if body.document is None
        else await platform.documents.from_text(text_of(body.document), owner=by)
    )
    return await test_node(platform, pinned.document, body.node, body.inputs, principal=by)


@router.get(
    "/{workflow}/document",
    responses=content("application/yaml", "The document."),
    response_class=Response,
    dependencies=[needs("workflows:read")],
)
async def get_document(workflow: str, platform: PlatformOf, by: By, version: Version = "latest") -> Response:
    """The document as YAML."""
    pinned = await platform.documents.stored(workflow, version, owner=by)
    return Response(dump(pinned.document), media_type="application/yaml")


def _workflow(found: Any) -> dict[str, Any]:
    return {
        "id": found.id, "name": found.name, "published_version": found.published_version,
        "created_at": found.created_at, "updated_at": found.updated_at, "owner": found.owner, "org_id": found.org_id,
        "visibility": found.visibility, "publish_status": found.publish_status,
    }  # fmt: skip
