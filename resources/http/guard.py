"""Decides where a connection may go: resolves a name once, checks every answer, gives the addresses to dial."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet

from interlace.engine.errors import NodeError
from interlace.resources.http.address import (
    METADATA_HOSTS,
    Address,
    embedded,
    is_local,
    never,
    parse_address,
    special,
)
from interlace.resources.http.allow import SETTING, AllowList
from interlace.resources.http.url import Authority

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a name as texts; raises `OSError` where there are none."""

_LOOPBACK = ("127.0.0.1", "::1")


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """The addresses of a name as the operating system knows them, in its order of preference."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Guard:
    """Holds the rules about targets.

    Args:
        allow: what the operator opened.
        own_addresses: (ip, port) pairs that this platform listens on, refused whatever is allowed; an unspecified
            ip (`0.0.0.0`, `::`) stands for every address of this machine. The set is read at each check, so pairs
            may be added later.
        resolver: how names become addresses.
    """

    def __init__(
        self,
        allow: AllowList,
        *,
        own_addresses: AbstractSet[tuple[str, int]] = frozenset(),
        resolver: Resolver = system_resolver,
    ) -> None:
        self._allow = allow
        self._own = own_addresses
        self._resolver = resolver
        self._resolving: dict[tuple[str, int], asyncio.Task[Sequence[str]]] = {}

    async def addresses(self, authority: Authority) -> tuple[Address, ...]:
        """The addresses to dial for a host and port, all of them checked.

        Raises:
            NodeError: `blocked_address`, or `connection` where the name does not resolve.
        """
        host, port = authority.host, authority.port
        listed = self._check_name(authority)
        answers = (authority.address,) if authority.address is not None else await self._resolve(host, port)
        for address in answers:
            self._check_address(host, port, address, listed=listed)
        return answers

    def trusts_name(self, authority: Authority) -> bool:
        """Whether the operator listed this host by name, so that a proxy may resolve it.

        Raises:
            NodeError: `blocked_address`, the name alone is refused.
        """
        return authority.address is None and self._check_name(authority)

    def _check_name(self, authority: Authority) -> bool:
        """Refuse what can be refused by name; whether the operator listed the name."""
        host, port = authority.host, authority.port
        if host in METADATA_HOSTS:
            raise _blocked(host, port, "it is a cloud metadata service; no setting opens it")
        listed = self._allow.opens_host(host, port)
        if authority.address is None and not listed and "." not in host and not _is_loopback(host):
            raise _blocked(host, port, "a name without a dot is an internal one", opened_by=f"{host}:{port}")
        return listed

    def _check_address(self, host: str, port: int, address: Address, *, listed: bool) -> None:
        shown = f"{host}:{port}" if ":" not in host else f"[{host}]:{port}"
        if (reason := never(address)) is not None:
            raise _blocked(host, port, f"it is {reason}; no setting opens it")
        inner = tuple(embedded(address))
        if any(self._is_own(each, port) for each in (address, *inner)):
            raise _blocked(host, port, "this platform itself listens there; no setting opens it")
        if listed or (
            self._allow.opens_address(address, port)
            and all(special(each) is None or self._allow.opens_address(each, port) for each in inner)
        ):
            return
        if (reason := special(address)) is not None:
            raise _blocked(host, port, f"it is {reason}", opened_by=shown)
        if port not in self._allow.ports:
            raise _blocked(host, port, f"port {port} is not open", opened_by=f":{port}")

    def _is_own(self, address: Address, port: int) -> bool:
        for own_host, own_port in self._own:
            if own_port != port:
                continue
            own = _own_address(own_host)
            if own == address or ((own is None or own.is_unspecified) and is_local(address)):
                return True
        return False

    async def _resolve(self, host: str, port: int) -> tuple[Address, ...]:
        if _is_loopback(host):  # never asks a name server, which could answer anything
            return self._loopback(port)
        key = (host, port)
        task = self._resolving.get(key)
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = asyncio.ensure_future(self._lookup(host, port))
            self._resolving[key] = task
            task.add_done_callback(lambda done: self._forget(key, done))
        try:
            answers = await asyncio.shield(task)
            found = tuple(parse_address(answer) for answer in answers)
        except (OSError, UnicodeError, ValueError) as error:
            raise NodeError(f"host {host!r} could not be resolved: {error}.", kind="connection") from error
        if not found:
            raise NodeError(f"host {host!r} has no address.", kind="connection")
        return found

    def _loopback(self, port: int) -> tuple[Address, ...]:
        both = tuple(parse_address(text) for text in _LOOPBACK)
        return tuple(a for a in both if self._allow.opens_address(a, port)) or both

    async def _lookup(self, host: str, port: int) -> Sequence[str]:
        return await self._resolver(host, port)

    def _forget(self, key: tuple[str, int], done: asyncio.Task[Sequence[str]]) -> None:
        if self._resolving.get(key) is done:
            del self._resolving[key]
        if not done.cancelled():
            done.exception()  # every waiter may have been cancelled; a failure is then nobody's


def _own_address(host: str) -> Address | None:
    """None for a name: it stands for any address of this machine then."""
    try:
        return parse_address(host)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _blocked(host: str, port: int, why: str, *, opened_by: str | None = None) -> NodeError:
    hint = (
        f"; an operator may open it with {SETTING}={opened_by} (set it where the server is started, and restart it)"
        if opened_by
        else ""
    )
    return NodeError(
        f"connection to {host!r} port {port} is refused: {why}{hint}.",
        kind="blocked_address",
        retryable=False,
    )
