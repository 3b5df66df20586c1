"""The one outgoing HTTP client: everything that fetches uses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager

import interlace
from interlace.resources.http.allow import AllowList
from interlace.resources.http.answer import Answer
from interlace.resources.http.call import Call
from interlace.resources.http.dialer import Dialer
from interlace.resources.http.fault import plain_errors, timed_out
from interlace.resources.http.guard import Guard, Resolver, system_resolver
from interlace.resources.http.message import HttpRequest, HttpResponse
from interlace.resources.http.oauth import TokenCache
from interlace.resources.http.pool import Pool

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
        self._pool = Pool(Dialer(self.guard))

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
            redirects=answer.redirects,
        )

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[Answer]:
        """Send a request and give the answer while its body arrives; the time-out covers the whole block.

        Raises:
            NodeError: as `send`; a body that breaks off inside the block is one too.
        """
        call = self.call(request)
        deadline = asyncio.timeout(request.timeout)
        try:
            with plain_errors(call):
                async with deadline:
                    answer = await call.open()
                    try:
                        yield answer
                    finally:
                        answer.close()
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise timed_out(call, f"no complete answer within {request.timeout:g} s") from error

    def call(self, request: HttpRequest) -> Call:
        """A request ready to be opened: no deadline, errors of the wire as they are; for other front ends.

        Raises:
            NodeError: `bad_url`, `bad_header`.
        """
        limit = self.max_body if request.max_body is None else request.max_body
        return Call(request, client=self, pool=self._pool, limit=limit, user_agent=self._user_agent)

    async def close(self) -> None:
        """Close all idle connections."""
        await self._pool.close()
