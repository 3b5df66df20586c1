"""The same client under the API of httpx2, for SDKs that take an httpx2 client of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import httpx2

from interlace.engine.errors import NodeError
from interlace.resources.http.answer import Answer
from interlace.resources.http.call import Call
from interlace.resources.http.client import HttpClient
from interlace.resources.http.fault import plain_errors
from interlace.resources.http.message import HttpRequest

_SET_BY_CLIENT = frozenset({"host", "connection", "content-length", "transfer-encoding"})


class Transport(httpx2.AsyncBaseTransport):
    """Sends the requests of an httpx2 client through ours, redirects included, so that the guard's rules hold.

    Time-outs are httpx2's (per read and write, no total). Closing the httpx2 client leaves ours open.

    Args:
        client: the process's client.
        max_body: most bytes of a body as it comes over the wire; the client's limit when None.
        verify: as `HttpRequest.verify`.
    """

    def __init__(self, client: HttpClient, *, max_body: int | None = None, verify: bool | str = True) -> None:
        self._client = client
        self._max_body = max_body
        self._verify = verify

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request.

        Raises:
            httpx2.ConnectError, httpx2.ReadTimeout: as SDKs expect them, to try again.
            NodeError: the target is refused.
        """
        with _httpx_errors(request):
            call = self._client.call(self._translated(request))
            with plain_errors(call):
                answer = await call.open()
        return httpx2.Response(
            answer.status, headers=answer.raw_headers, stream=_Body(answer, call, request), request=request
        )

    def _translated(self, request: httpx2.Request) -> HttpRequest:
        timeouts = request.extensions.get("timeout", {})
        try:
            body: bytes | AsyncIterator[bytes] | None = request.content or None
        except httpx2.RequestNotRead:
            assert isinstance(request.stream, httpx2.AsyncByteStream)
            body = aiter(request.stream)
        return HttpRequest(
            method=request.method,
            url=str(request.url),
            headers=[
                (name, value)
                for name, value in request.headers.multi_items()
                if name.lower() not in _SET_BY_CLIENT
            ],
            body=body,
            timeout=None,
            idle_timeout=timeouts.get("read"),
            verify=self._verify,
            max_body=self._max_body,
        )


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: Answer, call: Call, request: httpx2.Request) -> None:
        self._answer = answer
        self._call = call
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _httpx_errors(self._request), plain_errors(self._call):
            async for piece in self._answer.pieces(decode=False):
                yield piece

    async def aclose(self) -> None:
        self._answer.close()


def sdk_client(
    client: HttpClient, *, max_body: int | None = None, verify: bool | str = True
) -> httpx2.AsyncClient:
    """An httpx2 client over ours, for the constructors of SDKs; they set their own time-outs."""
    transport = Transport(client, max_body=max_body, verify=verify)
    return httpx2.AsyncClient(transport=transport, trust_env=False)


@contextmanager
def _httpx_errors(request: httpx2.Request) -> Iterator[None]:
    try:
        yield
    except NodeError as error:
        if error.kind == "timeout":
            raise httpx2.ReadTimeout(error.message, request=request) from error
        if error.kind == "connection":
            raise httpx2.ConnectError(error.message, request=request) from error
        raise
