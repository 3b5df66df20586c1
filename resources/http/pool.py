"""Open connections, kept by route: a connection only ever serves the origin, trust and proxy it was checked for."""

from __future__ import annotations

import asyncio
import ssl
import time
from base64 import b64encode
from dataclasses import dataclass, field

import httpcore2

from interlace.engine.errors import NodeError
from interlace.resources.http.message import Proxy
from interlace.resources.http.stream import CONNECT_TIMEOUT, GuardedBackend
from interlace.resources.http.url import DEFAULT_PORTS, Authority, Target, parse_url

PER_ROUTE = 200
IDLE_SECONDS = 30.0

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


@dataclass(slots=True)
class Connection:
    """One open connection. `address` is the checked target address that a forwarding proxy is told."""

    http: httpcore2.AsyncHTTP11Connection
    origin: httpcore2.Origin
    address: str | None = None
    place: _Place | None = None
    used: bool = False
    idle_since: float = 0.0


@dataclass(slots=True)
class _Place:
    """The connections of one route: `slots` bounds those open, `idle` holds those free, newest last."""

    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PER_ROUTE))
    idle: list[Connection] = field(default_factory=list)
    users: int = 0


class Pool:
    """Gives out connections and takes them back; belongs to one event loop at a time."""

    def __init__(self, backend: GuardedBackend) -> None:
        self._backend = backend
        self._places: dict[Route, _Place] = {}
        self._contexts: dict[bool | str, ssl.SSLContext] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sweeper: asyncio.TimerHandle | None = None

    async def acquire(self, route: Route, *, fresh: bool = False) -> Connection:
        """A free connection of the route, or a new one; waits while too many are open. Give it back by `release`.

        Raises:
            NodeError: `blocked_address`, `bad_url`, or `connection`.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: nobody answers.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # connections of a loop that has ended are dead
            self._loop, self._places, self._sweeper = loop, {}, None
        place = self._places.get(route)
        if place is None:
            place = self._places[route] = _Place()
        place.users += 1
        try:
            await place.slots.acquire()
        except BaseException:
            self._leave(route, place)
            raise
        try:
            connection = None if fresh else await self._free(place)
            connection = connection or await self._connect(route)
        except BaseException:
            place.slots.release()
            self._leave(route, place)
            raise
        connection.place = place
        return connection

    async def release(self, route: Route, connection: Connection) -> None:
        """Give a connection back; it is kept when its last answer was read to the end, else closed."""
        place = connection.place
        assert place is not None
        if connection.http.is_idle() and self._places.get(route) is place:
            connection.used = True
            connection.idle_since = time.monotonic()
            place.idle.append(connection)
            self._sweep_later()
        else:
            await connection.http.aclose()
        place.slots.release()
        self._leave(route, place)

    async def close(self) -> None:
        """Close what is idle; what is in use is closed when it is given back."""
        places, self._places = self._places, {}
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        if self._loop is asyncio.get_running_loop():
            for place in places.values():
                for connection in place.idle:
                    await connection.http.aclose()
            await asyncio.sleep(0)  # the transports close their sockets in the next turn of the loop

    def _leave(self, route: Route, place: _Place) -> None:
        place.users -= 1
        if not place.users and not place.idle and self._places.get(route) is place:
            del self._places[route]

    async def _free(self, place: _Place) -> Connection | None:
        while place.idle:
            connection = place.idle.pop()
            fresh_enough = time.monotonic() - connection.idle_since < IDLE_SECONDS
            if fresh_enough and not connection.http.has_expired():
                return connection
            await connection.http.aclose()
        return None

    def _sweep_later(self) -> None:
        if self._sweeper is None and self._loop is not None:
            self._sweeper = self._loop.call_later(IDLE_SECONDS, self._start_sweep)

    def _start_sweep(self) -> None:
        self._sweeper = None
        if self._loop is not None:
            self._sweep = self._loop.create_task(self._close_idle())

    async def _close_idle(self) -> None:
        oldest = time.monotonic() - IDLE_SECONDS
        for route, place in list(self._places.items()):
            kept = [c for c in place.idle if c.idle_since > oldest and not c.http.has_expired()]
            gone = [c for c in place.idle if c not in kept]
            place.idle = kept
            if not kept and not place.users:
                self._places.pop(route, None)
            for connection in gone:
                await connection.http.aclose()
        if any(place.idle for place in self._places.values()):
            self._sweep_later()

    async def _connect(self, route: Route) -> Connection:
        host, port = route.authority.host, route.authority.port
        origin = httpcore2.Origin(route.scheme.encode(), host.encode(), port)
        if route.proxy is not None:
            return await self._connect_through(route, route.proxy, origin)
        stream: httpcore2.AsyncNetworkStream = await self._open(route.authority)
        if route.scheme == "https":
            stream = await self._tls(stream, host, route.verify)
        return Connection(httpcore2.AsyncHTTP11Connection(origin, stream), origin)

    async def _connect_through(self, route: Route, proxy: Proxy, origin: httpcore2.Origin) -> Connection:
        """Through a proxy; it is told the checked address, so that it cannot resolve the name to another one."""
        target = proxy_target(proxy)
        address = route.authority.host
        if not self._backend.guard.trusts_name(route.authority):
            address = str((await self._backend.guard.addresses(route.authority))[0])
        stream: httpcore2.AsyncNetworkStream = await self._open(target.authority)
        if target.scheme == "https":
            stream = await self._tls(stream, target.host, verify=True)
        proxy_origin = httpcore2.Origin(target.scheme.encode(), target.host.encode(), target.port)
        connection = httpcore2.AsyncHTTP11Connection(proxy_origin, stream)
        bracketed = f"[{address}]" if ":" in address else address
        if route.forwards:
            return Connection(connection, proxy_origin, bracketed)
        try:
            tunnel = await self._tunnel(connection, proxy, target, f"{bracketed}:{route.authority.port}")
            secured = await self._tls(tunnel, route.authority.host, route.verify)
        except BaseException:
            await connection.aclose()
            raise
        return Connection(httpcore2.AsyncHTTP11Connection(origin, secured), origin)

    async def _tunnel(
        self, connection: httpcore2.AsyncHTTP11Connection, proxy: Proxy, target: Target, goal: str
    ) -> httpcore2.AsyncNetworkStream:
        url = httpcore2.URL(
            scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=goal.encode()
        )
        headers = [("Host", goal), *proxy_headers(proxy)]
        response = await connection.handle_async_request(httpcore2.Request(b"CONNECT", url, headers=headers))
        if not 200 <= response.status < 300:  # noqa: PLR2004 - HTTP's class of success
            hint = "; check its user name and password" if response.status == _PROXY_REFUSED else ""
            raise NodeError(
                f"proxy {str(target)!r} refused to connect to {goal}: status {response.status}{hint}.",
                kind="connection",
            )
        stream: httpcore2.AsyncNetworkStream = response.extensions["network_stream"]
        return stream

    async def _open(self, authority: Authority) -> httpcore2.AsyncNetworkStream:
        return await self._backend.connect_tcp(authority.host, authority.port, CONNECT_TIMEOUT)

    async def _tls(
        self, stream: httpcore2.AsyncNetworkStream, host: str, verify: bool | str
    ) -> httpcore2.AsyncNetworkStream:
        try:
            context = self._contexts.get(verify) or await self._new_context(verify)
        except BaseException:
            await stream.aclose()
            raise
        return await stream.start_tls(context, server_hostname=host, timeout=CONNECT_TIMEOUT)

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
        context = httpcore2.default_ssl_context()
        if not verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
