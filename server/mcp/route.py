"""`/mcp`: published workflows as tools, by the Model Context Protocol over streamable HTTP."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from interlace.engine.principal import Principal
from interlace.flows.platform import Platform
from interlace.resources.mcp.wire import DEPTH_HEADER
from interlace.server.auth import By, Caller
from interlace.server.problems import ApiError
from interlace.server.scopes import needs
from interlace.store.keys import Key

if TYPE_CHECKING:
    from interlace.server.mcp.protocol import Protocol

router = APIRouter(tags=["mcp"])
PATH = "/mcp"
_KINDS: dict[str, Any] = {"application/json": {"schema": {}}, "text/event-stream": {"schema": {}}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "A message, or a stream of them.", "content": _KINDS},
    202: {"description": "A notification was taken.", "content": {"application/json": {"schema": {}}}},
    "4XX": {
        "description": "An error of the protocol, or a problem.",
        "content": {"application/json": {"schema": {}}, "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    },
}  # fmt: skip


class McpServer:
    """The MCP server of a process, begun by its first request."""

    def __init__(self, platform: Platform, leaving: asyncio.Event) -> None:
        self._platform = platform
        self._leaving = leaving
        self._begin = asyncio.Lock()
        self._protocol: Protocol | None = None

    async def protocol(self) -> Protocol:
        """The server."""
        async with self._begin:
            if self._protocol is None:
                await asyncio.to_thread(importlib.import_module, "interlace.server.mcp.protocol")
                from interlace.server.mcp.protocol import Protocol  # noqa: PLC0415

                self._protocol = Protocol(self._platform, self._leaving)
            return self._protocol

    async def close(self) -> None:
        """End it, if it was begun."""
        if self._protocol is not None:
            await self._protocol.close()
            self._protocol = None


class _Delegated(Response):
    """An answer that the SDK writes."""

    def __init__(self, server: McpServer, key: Key, by: Principal) -> None:
        super().__init__()
        self._server = server
        self._key = key
        self._by = by

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write it."""
        protocol = await self._server.protocol()
        given = Headers(scope=scope).get(DEPTH_HEADER, "")
        depth = int(given) if given.isascii() and given.isdigit() and len(given) < 4 else 0  # noqa: PLR2004
        await protocol.handle(dict(scope), receive, send, key=self._key, by=self._by, depth=depth)


@router.post(PATH, responses=_ANSWERS, dependencies=[needs("runs:write")], operation_id="mcp_message")
async def post_message(request: Request, caller: Caller, by: By) -> Response:
    """Take a message of the protocol; the answer is JSON or a stream of events."""
    if not request.headers.get("content-type", "").lower().startswith("application/json"):
        raise ApiError(415, "unsupported_media_type", "a message is application/json")
    return _Delegated(request.app.state.mcp, caller, by)


@router.get(PATH, dependencies=[needs("runs:write")], operation_id="mcp_stream", include_in_schema=False)
async def get_stream(request: Request, caller: Caller, by: By) -> Response:
    """The stream of a session, of clients of the protocol's era before."""
    return _Delegated(request.app.state.mcp, caller, by)


@router.delete(PATH, dependencies=[needs("runs:write")], operation_id="mcp_end", include_in_schema=False)
async def end_session(request: Request, caller: Caller, by: By) -> Response:
    """End a session."""
    return _Delegated(request.app.state.mcp, caller, by)
