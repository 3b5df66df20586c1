"""HTTP below an MCP session: requests leave by the guarded client, and failures come back as protocol errors.

The SDK ends the whole session, with every call in it, when one request of it fails on the wire. Here such a request
gets an error of its own, which also says whether the server can have seen it.
"""

from __future__ import annotations

import json
from typing import Any

import httpx2

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient
from interlace.resources.http.transport import Transport
from interlace.resources.mcp.connection import DEPTH, WIRE_FAULT

_UNAUTHORIZED = 401
_REFUSED = (400, 404)
_SERVER_ERROR = 500
_EXCERPT = 500
DEPTH_HEADER = "x-interlace-depth"
"""How many runs called each other through MCP until a request; a server of ours stops at its limit."""


class WireTransport(httpx2.AsyncBaseTransport):
    """The guarded transport for one MCP server.

    Args:
        client: the process's client.
    """

    def __init__(self, client: HttpClient) -> None:
        self._inner = Transport(client)
        self.unauthorized = False
        """Whether the last answer was a 401."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; a failure of it is an answer too."""
        if depth := _depth(request):
            request.headers[DEPTH_HEADER] = depth
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            cause = error.__cause__
            sent = not (isinstance(cause, NodeError) and cause.outcome_known)
            return _fault(request, str(error), kind="connection", sent=sent)
        except NodeError as error:
            return _fault(request, error.message, kind=error.kind, sent=not error.outcome_known)
        if response.status_code in _REFUSED and "mcp-session-id" in request.headers:
            await response.aread()
            if not _answers(response, request):
                # Servers answer so to a session they do not know: 404 by the protocol, many 400. Nothing was done.
                return _fault(request, "it does not know the session any more", kind="connection", sent=False)
        self.unauthorized = response.status_code == _UNAUTHORIZED
        is_json = response.headers.get("content-type", "").lower().startswith("application/json")
        if response.status_code >= _SERVER_ERROR and not is_json:
            excerpt = (await response.aread())[:_EXCERPT].decode(errors="replace").strip()
            text = f"the server answered {response.status_code}: {excerpt}".removesuffix(": ")
            return _fault(request, text, kind=f"http_{response.status_code}", sent=True)
        return response


def _fault(request: httpx2.Request, message: str, *, kind: str, sent: bool) -> httpx2.Response:
    asked = _message(request)
    if request.method != "POST" or asked is None:
        return httpx2.Response(405 if request.method == "GET" else 502, request=request)
    error = {"code": WIRE_FAULT, "message": message, "data": {"kind": kind, "sent": sent}}
    return httpx2.Response(
        502, json={"jsonrpc": "2.0", "id": asked.get("id"), "error": error}, request=request
    )


def _answers(response: httpx2.Response, request: httpx2.Request) -> bool:
    """Whether an answer is one to this very request, and not a refusal to look at it."""
    asked = _message(request)
    try:
        found = response.json()
    except ValueError:
        return False
    return asked is not None and isinstance(found, dict) and found.get("id") == asked.get("id") is not None


def _depth(request: httpx2.Request) -> str:
    """The depth that a call names."""
    asked = _message(request) or {}
    params = asked.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    found = meta.get(DEPTH) if isinstance(meta, dict) else None
    return str(found) if isinstance(found, int) else ""


def _message(request: httpx2.Request) -> dict[str, Any] | None:
    try:
        found = json.loads(request.content)
    except (httpx2.RequestNotRead, ValueError):
        return None
    return found if isinstance(found, dict) else None
