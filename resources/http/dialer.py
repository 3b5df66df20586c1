"""Opens connections for routes: straight, through a forwarding proxy, or through a tunnel; with TLS where asked for."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from dataclasses import dataclass

from interlace.engine.errors import NodeError
from interlace.resources.http.connection import Connection
from interlace.resources.http.guard import Guard
from interlace.resources.http.message import Proxy
from interlace.resources.http.stream import CONNECT_TIMEOUT, Stream, dial
from interlace.resources.http.url import DEFAULT_PORTS, Authority, Target, parse_url

_MOST_CONTEXTS = 64
_PROXY_REFUSED = 407


@dataclass(frozen=True, slots=True)
class Route:
    """What a connection is bound to."""

    scheme: str
    authority: Authority
    verify: bool | str = True
    proxy: Proxy | None = None

    @property
    def forwards(self) -> bool:
        """Whether requests are handed to a proxy as they are, not through a tunnel."""
        return self.proxy is not None and self.scheme == "http"


class Dialer:
    """Opens connections to what the guard allows; a name is resolved once, and what was checked is what is dialled."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._contexts: dict[bool | str, ssl.SSLContext] = {}

    async def connect(self, route: Route) -> Connection:
        """A new connection.

        Raises:
            NodeError: `blocked_address`, `bad_url`, or `connection`.
            ConnectError, SilenceError: nobody answers.
        """
        if route.proxy is not None:
            return await self._through(route, route.proxy)
        stream = await self._open(route.authority)
        if route.scheme == "https":
            stream = await self._tls(stream, route.authority.host, route.verify)
        return Connection(stream)

    async def _through(self, route: Route, proxy: Proxy) -> Connection:
        """By a proxy; it is told the checked address, so that it cannot resolve the name to another one."""
        target = proxy_target(proxy)
        address = route.authority.host
        if not self._guard.trusts_name(route.authority):
            address = str((await self._guard.addresses(route.authority))[0])
        bracketed = f"[{address}]" if ":" in address else address
        stream = await self._open(target.authority)
        if target.scheme == "https":
            stream = await self._tls(stream, target.host, verify=True)
        if route.forwards:
            return Connection(stream, bracketed)
        try:
            await self._tunnel(stream, proxy, target, f"{bracketed}:{route.authority.port}")
        except BaseException:
            stream.close()
            raise
        return Connection(await self._tls(stream, route.authority.host, route.verify))

    async def _tunnel(self, stream: Stream, proxy: Proxy, target: Target, goal: str) -> None:
        connection = Connection(stream)
        connection.idle_timeout = CONNECT_TIMEOUT
        headers = [("Host", goal), *proxy_headers(proxy)]
        status, _ = await connection.exchange("CONNECT", goal.encode(), headers, None)
        if not 200 <= status < 300:  # noqa: PLR2004 - HTTP's class of success
            hint = "; check its user name and password" if status == _PROXY_REFUSED else ""
            raise NodeError(
                f"proxy {str(target)!r} refused to connect to {goal}: status {status}{hint}.",
                kind="connection",
            )
        if connection.leftover:
            raise NodeError(f"proxy {str(target)!r} sent data before the tunnel was used.", kind="connection")

    async def _open(self, authority: Authority) -> Stream:
        return await dial(await self._guard.addresses(authority), authority.port, CONNECT_TIMEOUT)

    async def _tls(self, stream: Stream, host: str, verify: bool | str) -> Stream:
        try:
            context = self._contexts.get(verify) or await self._new_context(verify)
        except BaseException:
            stream.close()
            raise
        return await stream.start_tls(context, host, CONNECT_TIMEOUT)

    async def _new_context(self, verify: bool | str) -> ssl.SSLContext:
        """Reading the system's certificates takes tens of milliseconds, so each setting has one context for good."""
        context = await asyncio.to_thread(_context, verify)
        if len(self._contexts) >= _MOST_CONTEXTS:
            self._contexts.pop(next(iter(self._contexts)))
        self._contexts[verify] = context
        return context


def proxy_target(proxy: Proxy) -> Target:
    """The proxy's own address.

    Raises:
        NodeError: `bad_url`.
    """
    target = parse_url(proxy.url)
    if target.target != "/":
        raise NodeError(
            f"proxy {str(target)!r} has a path; write only scheme, host and port.",
            kind="bad_url",
            retryable=False,
        )
    return target


def proxy_headers(proxy: Proxy) -> list[tuple[str, str]]:
    """What authenticates us to the proxy."""
    if proxy.username is None:
        return []
    pair = f"{proxy.username}:{proxy.password or ''}".encode()
    return [("Proxy-Authorization", "Basic " + b64encode(pair).decode())]


def forwarded_target(route: Route, connection: Connection, target: str) -> bytes:
    """The absolute form that a forwarding proxy takes."""
    port = route.authority.port
    place = f"{connection.address}:{port}" if port != DEFAULT_PORTS["http"] else str(connection.address)
    return f"http://{place}{target}".encode()


def _context(verify: bool | str) -> ssl.SSLContext:
    if isinstance(verify, str):
        try:
            context = ssl.create_default_context(cadata=verify)
        except (ssl.SSLError, ValueError) as error:
            raise NodeError(
                f"verify holds no CA certificate in PEM form: {error}.", kind="connection", retryable=False
            ) from None
    else:
        from httpcore2 import default_ssl_context  # noqa: PLC0415 - knows every system's CAs; slow to import

        context = default_ssl_context()
        if not verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
