"""The one outgoing HTTP client: everything that fetches uses it."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager

import httpcore2

import interlace
from interlace.engine.errors import NodeError
from interlace.resources.http.allow import AllowList
from interlace.resources.http.answer import Answer
from interlace.resources.http.call import Call
from interlace.resources.http.guard import Guard, Resolver, system_resolver
from interlace.resources.http.message import HttpRequest, HttpResponse
from interlace.resources.http.oauth import TokenCache
from interlace.resources.http.pool import Pool
from interlace.resources.http.stream import GuardedBackend

MAX_BODY = 50 * 1024 * 1024
USER_AGENT = f"Interlace/{interlace.__version__}"


class HttpClient:
    """Sends requests to targets that the guard allows, over kept connections. One for a process, in one event loop.

    Args:
        allow: the private targets and extra ports that the operator opened.
        max_body: most bytes of a decoded body.
        own_addresses: (ip, port) pairs this platform listens on; refused whatever is allowed, read at each check.
        resolver: how names become addresses.
        user_agent: sent where the request has none.
    """

    def __init__(
        self,
        *,
        allow: AllowList | None = None,
        max_body: int = MAX_BODY,
        own_addresses: AbstractSet[tuple[str, int]] = frozenset(),
        resolver: Resolver = system_resolver,
        user_agent: str = USER_AGENT,
    ) -> None:
        self.guard = Guard(allow or AllowList(), own_addresses=own_addresses, resolver=resolver)
        self.tokens = TokenCache()
        self.max_body = max_body
        self._user_agent = user_agent
        self._pool = Pool(GuardedBackend(self.guard))

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and read the whole answer, whatever its status.

        Raises:
            NodeError: `bad_url`, `bad_header`, `blocked_address`, `connection`, `timeout`, `too_large`,
                `too_many_redirects`, `insecure_redirect`, `bad_response` (damaged compression).
        """
        started = time.perf_counter()
        async with self.stream(request) as answer:
            body, size = b"", 0
            if request.stream_to is not None and answer.status < 400:  # noqa: PLR2004 - HTTP's boundary
                async for piece in answer.pieces():
                    size += len(piece)
                    await request.stream_to(piece)
            else:
                body = await answer.read()
                size = len(body)
        return HttpResponse(
            status=answer.status,
            raw_headers=answer.raw_headers,
            body=body,
            size=size,
            url=str(answer.target),
            elapsed_ms=(time.perf_counter() - started) * 1000,
        )

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[Answer]:
        """Send a request and give the answer while its body arrives; the time-out covers the whole block.

        Raises:
            NodeError: as `send`; a body that breaks off inside the block is one too.
        """
        limit = self.max_body if request.max_body is None else request.max_body
        call = Call(request, client=self, pool=self._pool, limit=limit, user_agent=self._user_agent)
        deadline = asyncio.timeout(request.timeout)
        try:
            async with deadline:
                answer = await call.open()
                try:
                    yield answer
                finally:
                    await answer.close()
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise _timeout(call, f"no complete answer within {request.timeout:g} s") from error
        except httpcore2.TimeoutException as error:
            raise _timeout(call, str(error)) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise _broken(call, error) from error

    async def close(self) -> None:
        """Close all idle connections."""
        await self._pool.close()


def _place(call: Call) -> str:
    return f"{call.target.scheme}://{call.target.host_header}"


def _timeout(call: Call, what: str) -> NodeError:
    return NodeError(f"{_place(call)}: {what}.", kind="timeout", retryable=call.may_repeat)


def _broken(call: Call, error: Exception) -> NodeError:
    where = _place(call)
    if isinstance(error, httpcore2.LocalProtocolError):
        return NodeError(
            f"the request to {where} cannot be sent: {error}.", kind="bad_header", retryable=False
        )
    if isinstance(error, httpcore2.ConnectError):
        lasting = isinstance(error.__cause__, ssl.SSLCertVerificationError)
        return NodeError(f"no connection to {where}: {error}.", kind="connection", retryable=not lasting)
    return NodeError(
        f"{where} broke off: {str(error) or type(error).__name__}.",
        kind="connection",
        retryable=call.may_repeat,
    )
