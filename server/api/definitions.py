"""`/api/v1/resource-schemas`: what definitions of resources may say, as JSON Schemas that forms are drawn from."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from fastapi import APIRouter
from pydantic import BaseModel

from interlace.resources.agents.definition import Agent
from interlace.resources.connectors.definition import Connector
from interlace.resources.databases.stored import DatabaseDefinition
from interlace.resources.knowledge.definition import KnowledgeBase
from interlace.resources.mcp.definition import HttpServer, StdioServer
from interlace.resources.models.definition import ProviderDefinition
from interlace.server.problems import ApiError
from interlace.server.scopes import needs
from interlace.ui_schema.catalogue import gathered

router = APIRouter(prefix="/api/v1/resource-schemas", tags=["catalogue"])

DEFINITIONS: Final[dict[str, type[BaseModel]]] = {
    "agent": Agent, "connector": Connector, "database": DatabaseDefinition, "knowledge-base": KnowledgeBase,
    "mcp-http": HttpServer, "mcp-stdio": StdioServer, "model-provider": ProviderDefinition,
}  # fmt: skip


@router.get("/{kind}", dependencies=[needs("resources:read")])
async def get_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of the definitions of a kind; what only forms read stands under `ui`."""
    if kind not in DEFINITIONS:
        raise ApiError(404, "not_found", f"no kind of resource {kind!r}; known: {', '.join(DEFINITIONS)}")
    return _schema(kind)


@cache
def _schema(kind: str) -> dict[str, Any]:
    made: dict[str, Any] = gathered(DEFINITIONS[kind].model_json_schema(by_alias=True))
    return made
