"""The MCP server: the SDK's, with our tools. Loading it takes a second, so it is loaded by the first request."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from typing import Any

from mcp import types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from interlace import __version__
from interlace.engine.principal import Principal
from interlace.flows.platform import Platform
from interlace.server.mcp.calls import Calls
from interlace.server.mcp.catalogue import listed
from interlace.server.mcp.tasks import Tasks
from interlace.server.mcp.who import SCOPE, Caller, Context, caller_of
from interlace.store.keys import Key

_STATE_SECONDS = 7 * 86_400.0
"""So long a client may take to come back with the answers to what was asked."""


class Protocol:
    """The server of one process."""

    def __init__(self, platform: Platform, leaving: asyncio.Event) -> None:
        self._platform = platform
        calls = Calls(platform, leaving)
        server: Server[Any] = Server(
            "interlace", version=__version__, title="Interlace", on_list_tools=self._list, on_call_tool=calls.call,
            instructions="Each tool is a published workflow. One that waits for a person says so, and how to go on.",
            cache_hints={"tools/list": CacheHint(ttl_ms=0, scope="private")},
        )  # fmt: skip
        Tasks(platform, calls).install(server)
        key = hashlib.sha256(f"mcp {platform.callbacks.key}".encode()).digest()
        security = RequestStateSecurity(keys=[key], ttl=_STATE_SECONDS, bind_principal=_principal)
        server.middleware.append(RequestStateBoundary(security, default_audience="interlace"))
        self._manager = StreamableHTTPSessionManager(
            server, max_request_body_size=platform.settings.max_request
        )
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(), name="mcp-server")

    async def _run(self) -> None:
        """Enter and leave the SDK's task group in one task, as its cancel scopes want it."""
        async with self._manager.run():
            self._ready.set_result(None)
            await self._stop.wait()

    async def close(self) -> None:
        """End all sessions."""
        self._stop.set()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def handle(
        self, scope: Scope, receive: Receive, send: Send, *, key: Key, by: Principal, depth: int
    ) -> None:
        """Answer a request of a caller; a session belongs to the key that began it."""
        await self._ready
        caller = Caller(key=key, by=by, depth=depth)
        token = AccessToken(
            token=caller.key.id,
            client_id=caller.key.id,
            scopes=list(caller.key.scopes),
            subject=caller.by.user_id,
        )
        await self._manager.handle_request(
            {**scope, "user": AuthenticatedUser(token), SCOPE: caller}, receive, send
        )

    async def _list(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        del params
        return types.ListToolsResult(
            tools=await listed(self._platform, caller_of(ctx).by, ctx.protocol_version)
        )


def _principal(ctx: Context) -> str | None:
    return caller_of(ctx).by.user_id
