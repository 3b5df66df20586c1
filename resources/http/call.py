"""One call: connect, send, follow redirects, with every hop checked like the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlace.engine import origin
from interlace.engine.errors import NodeError
from interlace.resources.http.answer import Answer
from interlace.resources.http.auth import Outgoing
from interlace.resources.http.connection import Connection, Raw
from interlace.resources.http.decoding import ACCEPTED
from interlace.resources.http.dialer import Route, forwarded_target, proxy_headers
from interlace.resources.http.header import (
    Pairs,
    checked_headers,
    has_credentials,
    kept_across_origins,
    without,
)
from interlace.resources.http.message import HttpRequest
from interlace.resources.http.pool import Pool
from interlace.resources.http.url import Target, join_url, parse_url
from interlace.resources.http.wire import BrokenError

if TYPE_CHECKING:
    from interlace.resources.http.client import HttpClient

MAX_REDIRECTS = 5

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_METHOD = frozenset({307, 308})
_SEE_OTHER = 303
_UNAUTHORIZED = 401
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_BODY_HEADERS = ("content-type", "content-encoding", "content-language", "content-length")


class Call:
    """The state of one call while it goes from hop to hop."""

    def __init__(
        self, request: HttpRequest, *, client: HttpClient, pool: Pool, limit: int, user_agent: str
    ) -> None:
        self._request = request
        self._client = client
        self._pool = pool
        self._limit = limit
        self._user_agent = user_agent
        self.target = parse_url(request.url, request.query)
        self.sent = False
        """Whether the other side may have acted on the request."""
        self.redirects: list[str] = []
        """The addresses that redirected so far."""
        self._method = request.method.upper()
        self._headers = checked_headers(request.headers)
        self._body = request.body
        self._auth = request.auth

    async def open(self) -> Answer:
        """Send, and follow redirects where the request says so; the answer must be closed.

        Raises:
            NodeError: `bad_url`, `bad_header`, `blocked_address`, `too_many_redirects`, `insecure_redirect`, …
            WireError: the connection failed.
        """
        hops, renewed = 0, False
        while True:
            answer = await self._send()
            if answer.status == _UNAUTHORIZED and self._renews(renewed):
                renewed = True
                await answer.drain()
                continue
            location = answer.header("location")
            if location is None or answer.status not in _REDIRECTS or not self._request.follow_redirects:
                return answer
            await answer.drain()
            hops += 1
            if hops > MAX_REDIRECTS:
                raise NodeError(
                    f"{self.target.scheme}://{self.target.host_header} redirects more than {MAX_REDIRECTS} times.",
                    kind="too_many_redirects",
                    retryable=False,
                )
            self._redirect(answer.status, join_url(self.target, location))

    def _renews(self, renewed: bool) -> bool:
        replayable = self._body is None or isinstance(self._body, bytes)
        return not renewed and replayable and self._auth is not None and self._auth.renew(self._client)

    def _redirect(self, status: int, target: Target) -> None:
        """Change the request into the one for the next hop."""
        if (
            status not in _KEEP_METHOD
            and (status == _SEE_OTHER or self._method == "POST")
            and self._method != "HEAD"
        ):
            self._method, self._body = "GET", None
            for name in _BODY_HEADERS:
                self._headers = without(self._headers, name)
        elif self._body is not None and not isinstance(self._body, bytes):
            raise NodeError(
                f"redirect to {target.host!r} needs the body again, which was streamed; call that address directly.",
                kind="bad_redirect",
                retryable=False,
            )
        self._check_downgrade(target)
        if target.origin != self.target.origin:
            self._headers = kept_across_origins(self._headers)
            self._auth = None
        self.redirects.append(str(self.target))
        self.target = target

    def _check_downgrade(self, target: Target) -> None:
        if self.target.scheme != "https" or target.scheme != "http":
            return
        if self._auth is not None or self._body is not None or has_credentials(self._headers):
            raise NodeError(
                f"redirect from https to http at {target.host!r} is refused: the request carries headers or a body that "
                "would be sent unencrypted.",
                kind="insecure_redirect",
                retryable=False,
            )

    async def _send(self) -> Answer:
        body = self._body if isinstance(self._body, bytes) or self._body is None else None
        outgoing = Outgoing(
            self._method, self.target, list(self._headers), b"" if self._body is None else body
        )
        if self._auth is not None:
            await self._auth.apply(outgoing, self._client)
            outgoing.headers = checked_headers(outgoing.headers)
        route = Route(
            outgoing.target.scheme, outgoing.target.authority, self._request.verify, self._request.proxy
        )
        replayable = self._body is None or body is not None
        connection, (status, headers) = await self._attempt(route, outgoing, fresh=False, retry=replayable)
        return Answer(
            status,
            headers,
            target=self.target,
            pool=self._pool,
            route=route,
            connection=connection,
            limit=self._limit,
            has_body=self._method != "HEAD",
            redirects=self.redirects,
        )

    async def _attempt(
        self, route: Route, outgoing: Outgoing, *, fresh: bool, retry: bool
    ) -> tuple[Connection, tuple[int, Raw]]:
        """Send on a kept connection; when that turns out to be dead and a repetition is safe, once on a new one."""
        connection = await self._pool.acquire(route, fresh=fresh)
        try:
            connection.idle_timeout = self._request.idle_timeout
            target, headers = outgoing.target.target.encode("ascii"), self._all_headers(outgoing)
            if route.forwards and route.proxy is not None:
                target = forwarded_target(route, connection, outgoing.target.target)
                headers += proxy_headers(route.proxy)
            self.sent = True
            return connection, await connection.exchange(outgoing.method, target, headers, self._body)
        except BaseException as error:
            connection.close()
            self._pool.release(route, connection)
            stale = (
                isinstance(error, BrokenError) and connection.used and retry and self._request.is_repeatable
            )
            if not stale:
                raise
        return await self._attempt(route, outgoing, fresh=True, retry=False)

    def _all_headers(self, outgoing: Outgoing) -> Pairs:
        given = outgoing.headers
        names = {name.lower() for name, _ in given}
        headers: Pairs = [("Host", outgoing.target.host_header)]
        if "accept" not in names:
            headers.append(("Accept", "*/*"))
        if "accept-encoding" not in names:
            headers.append(("Accept-Encoding", ACCEPTED))
        if "user-agent" not in names:
            headers.append(("User-Agent", self._user_agent))
        traced = None if "traceparent" in names else origin.outgoing()
        if traced is not None:
            headers.append(("traceparent", traced))
        if isinstance(self._body, bytes) or self._body is None:
            given = without(given, "content-length") if "content-length" in names else given
            if self._body or self._method in _WITH_BODY:
                headers.append(("Content-Length", str(len(self._body or b""))))
        elif "content-length" not in names:
            headers.append(("Transfer-Encoding", "chunked"))
        return headers + given
