"""`/api/v1/knowledge-bases`: made, filled, watched while they ingest, searched."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from interlace.engine.chat import CallSite
from interlace.resources.documents.source import Source
from interlace.resources.knowledge import KIND
from interlace.resources.knowledge import Query as Search
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.problems import ApiError
from interlace.server.resources import resource_json
from interlace.server.scopes import needs
from interlace.store.knowledge_rows import Entry, KbDocument

router = APIRouter(prefix="/api/v1/knowledge-bases", tags=["knowledge"])


class NewBase(Body):
    """A knowledge base to make."""

    name: str
    definition: dict[str, Any] = Field(
        default_factory=dict,
        description="`{description, embedding, chunking, fusion, refuse_below, duplicates}`; all may be left out.",
    )
    org: str | None = Field(None, description="Name or id of the organisation that owns it.")
    visibility: Literal["private", "org"] = "private"


class NewDocument(Body):
    """A document to add: one of `url`, `file`, `text` and `base64`."""

    url: str | None = Field(None, description="Where it is fetched from, now.")
    file: str | None = Field(None, description="Reference of an uploaded file of yours.")
    text: str | None = None
    base64: str | None = None
    name: str = Field("", description="File name; its suffix tells the format where the content does not.")
    source: str | None = Field(
        None, description="What it is known by; URL or name if not given. The same again replaces it."
    )
    metadata: dict[str, Any] = Field(default_factory=dict, description="What filters may ask for.")


class SearchQuery(Body):
    """What is looked for; see KB_RETRIEVAL."""

    query: str
    mode: Literal["hybrid", "dense", "text"] = "hybrid"
    top_k: int = Field(5, ge=1, le=100)
    min_score: float = Field(0.0, ge=0, le=1)
    filter: dict[str, Any] = Field(default_factory=dict)
    rerank: bool = False
    grounded: bool = False


@router.get("", dependencies=[needs("resources:read")])
async def list_bases(
    platform: PlatformOf, by: By, limit: Annotated[int, Query(ge=1, le=200)] = 100, cursor: str | None = None
) -> dict[str, Any]:
    """The knowledge bases that the caller sees."""
    page = await platform.store.resources.list(KIND, by=by, limit=limit, after=cursor)
    return {"items": [resource_json(found) for found in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("resources:write")])
async def add_base(body: NewBase, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Make a knowledge base; it is empty."""
    org_id = None if body.org is None else (await platform.store.organisations.get(body.org, by=by)).id
    added = await platform.knowledge.add(
        body.name, body.definition, by=by, org_id=org_id, visibility=body.visibility
    )
    return resource_json(added)


@router.get("/{base}", dependencies=[needs("resources:read")])
async def get_base(base: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One knowledge base, and how far ingestion is."""
    found = await platform.store.resources.find(KIND, base, by=by)
    return {**resource_json(found), "progress": await platform.knowledge.progress(found.id, by=by)}


@router.put("/{base}", dependencies=[needs("resources:write")])
async def update_base(base: str, definition: dict[str, Any], platform: PlatformOf, by: By) -> dict[str, Any]:
    """Change the definition; where documents are cut or embedded in another way, a new index is built beside the old."""
    return resource_json(await platform.knowledge.update(base, definition, by=by))


@router.delete("/{base}", status_code=204, dependencies=[needs("resources:write")])
async def remove_base(base: str, platform: PlatformOf, by: By) -> None:
    """Remove a knowledge base with its documents."""
    await platform.knowledge.remove(base, by=by)


@router.post("/{base}/reindex", status_code=202, dependencies=[needs("resources:write")])
async def reindex(base: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Build the index anew, beside the one in use."""
    await platform.knowledge.reindex(base, by=by)
    return await platform.knowledge.progress(base, by=by)


@router.post("/{base}/search", dependencies=[needs("resources:use")])
async def search(base: str, body: SearchQuery, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Search."""
    given = body.model_dump()
    query = Search(text=given.pop("query"), **given)
    return (await platform.knowledge.search([base], query, site=CallSite(principal=by))).as_json()


@router.get("/{base}/documents", dependencies=[needs("resources:read")])
async def list_documents(
    base: str,
    platform: PlatformOf,
    by: By,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Documents with their state: waiting, ready, or failed with the reason."""
    page = await platform.knowledge.documents(base, by=by, limit=limit, after=cursor)
    return {"items": [document_json(*item) for item in page.items], "next_cursor": page.cursor}


@router.post("/{base}/documents", status_code=202, dependencies=[needs("resources:write")])
async def add_document(base: str, body: NewDocument, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Add a document, or replace the one of the same source. It is stored when this answers, and found a little later."""
    source: Source | str
    given = [name for name in ("url", "file", "text", "base64") if getattr(body, name) is not None]
    if len(given) != 1:
        raise ApiError(422, "bad_request", "give one of url, file, text and base64")
    if body.url is not None:
        source = body.url
    elif body.file is not None:
        files = platform.store.files.of_owner(by.user_id)
        file = await files.find(body.file)
        source = Source(
            content=await files.load(file.ref), name=body.name or file.name, media_type=file.media_type
        )
    else:
        source = Source(content=_content(body), name=body.name)
    document, changed = await platform.knowledge.put(
        base, source, by=by, metadata=body.metadata, key=body.source
    )
    return {**document_json(document, None), "changed": changed}


@router.get("/{base}/documents/{document}", dependencies=[needs("resources:read")])
async def get_document(base: str, document: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One document, by its id or source, with its state."""
    return document_json(*await platform.knowledge.document(base, document, by=by))


@router.get("/{base}/documents/{document}/chunks", dependencies=[needs("resources:read")])
async def list_chunks(
    base: str, document: str, *, platform: PlatformOf, by: By,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[int, Query(ge=-1, description="`next_cursor` of the page before.")] = -1,
) -> dict[str, Any]:  # fmt: skip
    """What searches find of a document: its chunks in order, each with its text and position."""
    page = await platform.knowledge.chunks(base, document, by=by, limit=limit, after=cursor)
    items = [{"seq": seq, "text": text, "position": position} for seq, text, position in page.items]
    return {"items": items, "next_cursor": None if page.cursor is None else int(page.cursor)}


@router.delete("/{base}/documents/{document}", status_code=204, dependencies=[needs("resources:write")])
async def remove_document(base: str, document: str, platform: PlatformOf, by: By) -> None:
    """Remove a document by its id or source; it is not found from now on."""
    await platform.knowledge.drop(base, document, by=by)


def _content(body: NewDocument) -> bytes:
    if body.text is not None:
        return body.text.encode()
    try:
        return base64.b64decode(body.base64 or "", validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(422, "bad_request", "base64 cannot be decoded") from None


def document_json(document: KbDocument, entry: Entry | None) -> dict[str, Any]:
    """A document as JSON, with its state."""
    shown = asdict(document)
    for name in ("lease_until", "kb_id"):
        del shown[name]
    current = entry if entry is not None and entry.version == document.version else None
    return {
        **shown,
        "state": "waiting" if current is None else current.state,
        "chunks": 0 if entry is None else entry.chunks,
        "error": None if current is None else current.error,
    }
