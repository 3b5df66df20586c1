"""`/api/v1/workflows/import`: another product's workflow as a document, without storing it."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field

from interlace.flows.node_types import node_types
from interlace.importers import import_text
from interlace.server.auth import Caller
from interlace.server.bodies import Body
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1/workflows", tags=["workflows"])


class ImportBody(Body):
    """The file of another product."""

    text: str = Field(
        description="The file's text: YAML of Dify, JSON of n8n or FIM One.", max_length=20_000_000
    )
    source: Literal["auto", "dify", "n8n", "fim-one"] = Field(
        "auto", alias="from", description="Whose file it is; found out by itself, if not said."
    )
    name: str = Field("", description="What the workflow is called if the file does not say.", max_length=200)


@router.post("/import", dependencies=[needs("workflows:read")])
async def import_workflow(body: ImportBody, caller: Caller) -> dict[str, Any]:
    """Turn another product's workflow into a document; nothing is stored, run or connected.

    A damaged file gives `ok: false`, no document, and the reason in the report.
    """
    del caller
    made = await asyncio.to_thread(
        import_text, body.text, registry=node_types(), source=body.source, name=body.name
    )
    return {**made.as_json(), "yaml": made.yaml() if made.ok else None}
