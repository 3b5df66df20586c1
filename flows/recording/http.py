"""The HTTP client as recorded and offline runs see it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from interlace.engine.errors import NodeError
from interlace.flows.recording.outside import Form, Outside
from interlace.resources.http import HttpClient
from interlace.resources.http.answer import Answer
from interlace.resources.http.call import Call
from interlace.resources.http.message import HttpRequest, HttpResponse
from interlace.resources.http.url import parse_url

_LONG = 64 * 1024
"""Longer bodies of requests stand in the record by their hash."""
_BOUNDARY = re.compile(r"boundary=\"?([0-9A-Za-z'()+_,./:=?-]+)\"?")
_HIDDEN: Final = frozenset(
    {
        "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token", "x-access-token",
        "x-csrf-token",
    }
)  # fmt: skip
_OPEN: Final = frozenset(
    {
        "accept",
        "accept-language",
        "content-type",
        "content-encoding",
        "user-agent",
        "idempotency-key",
        "range",
    }
)


class RecordedHttp(HttpClient):
    """The requests of one attempt of a node. Redirects are part of a request; each page is one of its own.

    Answers that are streamed elsewhere come whole here.
    """

    def __init__(self, client: HttpClient, outside: Outside) -> None:
        self.guard, self.tokens, self.max_body = client.guard, client.tokens, client.max_body
        self._client = client
        self._outside = outside

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and read the whole answer, whatever its status."""
        request = replace(request, body=await _whole(request.body))
        sink, pieces = request.stream_to, list[bytes]()

        async def pass_on(piece: bytes) -> None:
            assert sink is not None
            pieces.append(piece)
            await sink(piece)

        async def perform() -> HttpResponse:
            sent = request if sink is None else replace(request, stream_to=pass_on)
            response = await self._client.send(sent)
            return replace(response, body=b"".join(pieces)) if pieces else response

        response = await self._outside.ask("http", self._shown(request), perform, _FORM)
        if sink is None or not response.ok:
            return response
        if self._outside.offline and response.body:
            await sink(response.body)
        return replace(response, body=b"")

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[Answer]:
        """Send a request and give the answer, which is there whole."""
        yield KeptAnswer(await self.send(request))

    def call(self, request: HttpRequest) -> Call:
        """A request ready to be opened."""
        return KeptCall(self, request)

    async def close(self) -> None:
        """The client stays open: it is the process's."""

    def _shown(self, request: HttpRequest) -> dict[str, Any]:
        """What decides the answer, without what is secret or new in each run."""
        headers = request.headers.items() if isinstance(request.headers, Mapping) else request.headers
        pairs = sorted((name.lower(), value) for name, value in headers)
        found = _BOUNDARY.search(next((value for name, value in pairs if name == "content-type"), ""))
        boundary = found[1] if found else None
        return {
            "method": request.method.upper(),
            "url": request.url,
            "query": _pairs(request.query),
            "headers": [[name, self._header(name, _without(value, boundary))] for name, value in pairs],
            "body": None if request.body is None else _body(request.body, boundary),
            "auth": None if request.auth is None else type(request.auth).__name__,
            "follow_redirects": request.follow_redirects,
        }

    def _header(self, name: str, value: str) -> str:
        caller = self._outside.caller
        if name == "idempotency-key":
            return value.replace(caller.run_id, "[run]")
        if name in _HIDDEN or (name not in _OPEN and "secrets" in caller.config_text):
            return "[hidden]"
        return value


class KeptAnswer(Answer):
    """An answer that is there whole."""

    def __init__(self, response: HttpResponse) -> None:
        self.status = response.status
        # The body is decoded already.
        self.raw_headers = [
            pair
            for pair in response.raw_headers
            if pair[0].lower() not in ("content-encoding", "content-length")
        ]
        self.target = parse_url(response.url)
        self._body = response.body

    async def pieces(self, *, decode: bool = True) -> AsyncIterator[bytes]:
        """The body in one piece."""
        del decode
        if self._body:
            yield self._body

    async def read(self) -> bytes:
        """The body."""
        return self._body

    async def drain(self) -> None:
        """Nothing is on the wire."""

    def close(self) -> None:
        """Nothing is held."""


class KeptCall(Call):
    """A call whose answer comes whole."""

    def __init__(self, client: RecordedHttp, request: HttpRequest) -> None:
        self.target = parse_url(request.url, request.query)
        self.sent = False
        self._sender = client
        self._wanted = request

    async def open(self) -> Answer:
        """Send, and follow redirects where the request says so."""
        self.sent = True
        return KeptAnswer(await self._sender.send(self._wanted))


async def _whole(body: Any) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return b"".join([piece async for piece in body])


def _pairs(query: Any) -> list[list[Any]]:
    if not query:
        return []
    return [list(pair) for pair in (query.items() if isinstance(query, Mapping) else query)]


def _without(value: str, boundary: str | None) -> str:
    return value if boundary is None else value.replace(boundary, "boundary")


def _body(body: Any, boundary: str | None) -> Any:
    assert isinstance(body, bytes)
    if boundary is not None:
        body = body.replace(boundary.encode(), b"boundary")
    if len(body) > _LONG:
        return {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}
    return _text_or_base64(body)


def _text_or_base64(content: bytes) -> Any:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _bytes(kept: Any) -> bytes:
    if isinstance(kept, str):
        return kept.encode()
    try:
        return base64.b64decode(kept["base64"], validate=True)
    except ValueError:
        raise NodeError(
            "the recorded answer held a secret that was taken out of it, so it cannot be given again",
            kind="record_mismatch", retryable=False,
        ) from None  # fmt: skip


def _kept(response: HttpResponse) -> dict[str, Any]:
    return {
        "status": response.status, "headers": [list(pair) for pair in response.raw_headers],
        "body": _text_or_base64(response.body), "size": response.size, "url": response.url,
        "elapsed_ms": response.elapsed_ms, "redirects": response.redirects,
    }  # fmt: skip


def _restored(kept: Any) -> HttpResponse:
    return HttpResponse(
        status=kept["status"], raw_headers=[(name, value) for name, value in kept["headers"]],
        body=_bytes(kept["body"]), size=kept["size"], url=kept["url"], elapsed_ms=kept["elapsed_ms"],
        redirects=list(kept["redirects"]),
    )  # fmt: skip


_FORM: Form[HttpResponse] = Form(_kept, _restored)
