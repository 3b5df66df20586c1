"""What an editor asks: drafts, documents as text and back, fixes, names in scope, and what expressions would give.

None of these routes runs, starts or connects anything.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from interlace.engine.diff import diff
from interlace.engine.document import Document
from interlace.engine.problems import Problem
from interlace.engine.rename import rename_node
from interlace.engine.source import dump, load
from interlace.engine.validate import Validation
from interlace.engine.validate.fixes import fixes
from interlace.flows.platform import Platform
from interlace.flows.preview import Kind, given_to, names_in, preview
from interlace.server.auth import By, PlatformOf
from interlace.server.encoding import to_json
from interlace.server.problems import ApiError
from interlace.server.scopes import needs
from interlace.store.drafts import Draft
from interlace.store.errors import ConflictError

router = APIRouter(prefix="/api/v1/workflows", tags=["workflows"])


class Given(BaseModel):
    """A document, which need not be valid."""

    document: dict[str, Any] | str = Field(description="The document as an object, or as YAML or JSON text.")


class Found(BaseModel):
    """A problem as validation gave it."""

    code: str
    node: str | None = None
    field: str | None = None
    message: str = ""
    fix: str | None = None


class Fixing(BaseModel):
    """A document and one of its problems."""

    document: dict[str, Any]
    problem: Found


class Renaming(BaseModel):
    """A node and what it is to be called."""

    document: dict[str, Any] | str
    old: str
    new: str


class Comparing(BaseModel):
    """Two documents."""

    before: dict[str, Any] | str
    after: dict[str, Any] | str


class Previewing(BaseModel):
    """An expression and where it stands."""

    document: dict[str, Any]
    text: str = Field(max_length=200_000)
    kind: Kind = "value"
    path: str = Field(
        "", description="Path of the node that it stands in, such as `each.call` or `each[2].call`."
    )
    run_id: str | None = Field(None, description="The run whose data it is shown with.")
    values: dict[str, Any] = Field(
        default_factory=dict, description="Names that win over the run's: `inputs`, nodes, `item` …."
    )


class Draftable(BaseModel):
    """A draft to keep."""

    document: dict[str, Any]
    seen: int | None = Field(
        None, description="The revision that it is an edit of; null when there was no draft."
    )
    base_version: int | None = Field(None, description="The version that it began from.")


class Version(BaseModel):
    """A document that becomes a version of one workflow."""

    document: dict[str, Any] | str
    note: str = Field("", max_length=2_000)
    publish: bool = False
    seen: int | None = Field(
        None,
        description="The revision of the draft that it is made of, null when there was none: another one is a "
        "conflict and stays. Not given, any draft ends.",
    )


def text_of(document: dict[str, Any] | str) -> str:
    """The document as text."""
    return document if isinstance(document, str) else to_json(document).decode()


def validation_json(found: Validation) -> dict[str, Any]:
    """What validation found, as editors get it."""
    return {
        "valid": found.valid, "problems": [p.as_json() for p in found.problems], "types": dict(found.types),
        "inside": {name: dict(names) for name, names in found.inside.items()},
        "handles": {name: list(handles) for name, handles in found.handles.items()},
    }  # fmt: skip


@router.post("/convert", dependencies=[needs("workflows:read")])
async def convert(body: Given, platform: PlatformOf, by: By) -> dict[str, Any]:
    """A document as an object and as YAML, with all its problems; both are null where the text cannot be read."""
    source = load(text_of(body.document))
    found = await platform.documents.check(source, owner=by)
    document = source.document or source.salvaged
    return {
        "document": None if document is None else plain(document),
        "complete": source.document is not None,
        "yaml": None if document is None else dump(document),
        **validation_json(found),
    }


def plain(document: Document) -> dict[str, Any]:
    """A document as plain data, without what is default."""
    found: dict[str, Any] = document.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return found


@router.post("/fix", dependencies=[needs("workflows:read")])
async def fix(body: Fixing, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Edits that remove a problem, each tried before it is offered; none where it takes a decision of a person's."""
    del by
    problem = Problem(**body.problem.model_dump())
    found = await asyncio.to_thread(fixes, body.document, problem, platform.registry)
    return {"fixes": [{"label": one.label, "document": one.document} for one in found]}


@router.post("/rename-node", dependencies=[needs("workflows:read")])
async def rename(body: Renaming, platform: PlatformOf, by: By) -> dict[str, Any]:
    """The document with a node renamed and every reference to it."""
    del by
    document = load(text_of(body.document)).require()
    return {"document": plain(rename_node(document, body.old, body.new, registry=platform.registry))}


@router.post("/compare", dependencies=[needs("workflows:read")])
async def compare(body: Comparing, by: By) -> dict[str, Any]:
    """What differs in meaning between two documents, and both as YAML."""
    del by
    before, after = load(text_of(body.before)).require(), load(text_of(body.after)).require()
    return {"diff": diff(before, after).as_json(), "before": dump(before), "after": dump(after)}


@router.post("/preview", dependencies=[needs("workflows:read", "runs:read")])
async def preview_expression(body: Previewing, platform: PlatformOf, by: By) -> dict[str, Any]:
    """What an expression gives with the data of a run; secrets read as missing, and no code of users is run."""
    if body.run_id is not None:
        await platform.store.runs.get(body.run_id, owner=by)
    source = load(text_of(body.document))
    document = source.document or source.salvaged
    if document is None:
        raise ApiError(422, "validation", "the document cannot be read")
    names = await names_in(platform, document, run_id=body.run_id, path=body.path, given=body.values)
    return await asyncio.to_thread(preview, body.text, body.kind, names)


@router.get("/{workflow}/draft", dependencies=[needs("workflows:read")])
async def get_draft(workflow: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """What was changed and not yet kept as a version; `draft` is null where there is nothing."""
    found = await platform.store.workflows.get(workflow, owner=by)
    draft = await platform.store.drafts.of(found.id)
    return {"draft": None if draft is None else await _draft(platform, draft)}


@router.put("/{workflow}/draft", dependencies=[needs("workflows:write")])
async def put_draft(workflow: str, body: Draftable, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Keep a draft; it need not be valid. A revision that its author has not seen is a conflict."""
    found = await platform.store.workflows.writable(workflow, owner=by)
    try:
        draft = await platform.store.drafts.save(
            found.id,
            to_json(body.document).decode(),
            seen=body.seen,
            base_version=body.base_version,
            by=by.user_id,
        )
    except ConflictError as error:
        current = await platform.store.drafts.of(found.id)
        raise await _conflict(platform, str(error), current) from None
    return {"draft": await _draft(platform, draft)}


@router.delete("/{workflow}/draft", status_code=204, dependencies=[needs("workflows:write")])
async def delete_draft(
    workflow: str,
    platform: PlatformOf,
    by: By,
    seen: Annotated[
        int | None, Query(description="The revision to discard; another one is a conflict.")
    ] = None,
) -> None:
    """Discard a draft."""
    found = await platform.store.workflows.writable(workflow, owner=by)
    if seen is not None:
        await _only_seen(platform, found.id, seen)
    await platform.store.drafts.remove(found.id, seen=seen)


@router.post("/{workflow}/versions", status_code=201, dependencies=[needs("workflows:write")])
async def push_version(workflow: str, body: Version, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Store a document as the newest version of this workflow, which takes the document's name; its draft ends."""
    pinned = await platform.documents.from_text(text_of(body.document), owner=by)
    told = "seen" in body.model_fields_set
    if told:
        found = await platform.store.workflows.writable(workflow, owner=by)
        await _only_seen(platform, found.id, body.seen)
    pushed = await platform.store.workflows.push_to(
        workflow, pinned.document.name, pinned.text, owner=by, note=body.note
    )
    if not told or body.seen is not None:
        await platform.store.drafts.remove(pushed.workflow_id, seen=body.seen)
    if body.publish:
        await platform.store.workflows.publish(pushed.workflow_id, pushed.number, owner=by)
        await platform.triggers.published(pushed.workflow_id)
    return {
        "id": pushed.workflow_id, "name": pinned.document.name, "version": pushed.number, "created": pushed.created,
        "published": body.publish,
    }  # fmt: skip


async def _only_seen(platform: Platform, workflow_id: str, seen: int | None) -> None:
    """Refuse to end a draft that the caller has not seen."""
    current = await platform.store.drafts.of(workflow_id)
    if current is not None and current.revision != seen:
        said = "the draft was changed by somebody else, or in another window, since you read it"
        raise await _conflict(platform, said, current)


async def _conflict(platform: Platform, said: str, current: Draft | None) -> ApiError:
    more = {} if current is None else {"current": await _draft(platform, current)}
    return ApiError(409, "draft_conflict", said, **more)


async def _draft(platform: Platform, draft: Draft) -> dict[str, Any]:
    return {
        "document": orjson.loads(draft.document), "revision": draft.revision, "base_version": draft.base_version,
        "updated_at": draft.updated_at,
        "updated_by": await platform.store.users.name_of(draft.updated_by) or draft.updated_by,
    }  # fmt: skip


runs = APIRouter(prefix="/api/v1/runs", tags=["runs"])


@runs.get("/{run_id}/given/{path:path}", dependencies=[needs("runs:read")])
async def get_given(run_id: str, path: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """What a node of a run was given: its fields with the values that their expressions had."""
    run = await platform.store.runs.get(run_id, owner=by)
    document = await platform.documents.read(run.document_hash)
    return await given_to(platform, document, run_id, path)


@runs.get("/{run_id}/document", dependencies=[needs("runs:read")])
async def get_run_document(
    run_id: str,
    platform: PlatformOf,
    by: By,
    yaml: Annotated[bool, Query(description="As YAML too.")] = False,
) -> dict[str, Any]:
    """The document that a run was pinned to."""
    run = await platform.store.runs.get(run_id, owner=by)
    document = await platform.documents.read(run.document_hash)
    return {"document": plain(document), "yaml": dump(document) if yaml else None}
