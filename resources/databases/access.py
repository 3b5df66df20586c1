"""Which databases may be reached at all: closed by default, and some are never reached."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from interlace.engine.errors import NodeError
from interlace.resources.databases.url import FILES, DatabaseUrl, host_name

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SETTING = "INTERLACE_DATABASE_ALLOW"

# Link-local holds the metadata services of most clouds; the single ones are the others'.
_NEVER: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "169.254.0.0/16", "fe80::/10", "fec0::/10", "fd00:ec2::/32", "100.100.100.200/32", "168.63.129.16/32",
        "192.0.0.192/32", "0.0.0.0/8", "::/128", "224.0.0.0/4", "ff00::/8", "240.0.0.0/4",
    )
)  # fmt: skip
_NEVER_NAMES = ("metadata", "metadata.google.internal", "metadata.goog", "instance-data")
_SIDE_FILES = ("-wal", "-shm", "-journal", ".wal", ".tmp")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a checked connection goes: the address that was checked, or the resolved file."""

    address: str = ""
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class _Host:
    name: str
    port: int | None


@dataclass(frozen=True, slots=True)
class _Range:
    network: Network
    port: int | None


class Access:
    """Decides about a `DatabaseUrl` before anything is opened.

    Args:
        allow: `host`, `host:port`, an address or CIDR (with or without port for an address), or a path of a file or
            directory (relative ones from `base_dir`). An entry that cannot be read raises ValueError.
        refused_paths: files and directories no database file may be in, whatever is allowed.
        refused_urls: databases that are never reached (the platform's own), as URLs; any driver options are ignored.
        base_dir: where relative paths of database files start.
    """

    def __init__(
        self,
        *,
        allow: Sequence[str],
        refused_paths: Iterable[Path] = (),
        refused_urls: Iterable[str] = (),
        base_dir: Path,
    ) -> None:
        self._base = base_dir.resolve()
        self._hosts: list[_Host] = []
        self._ranges: list[_Range] = []
        self._paths: list[Path] = []
        for entry in allow:
            self._add(entry.strip())
        self._refused_paths = [(self._base / path).resolve() for path in refused_paths]
        self._refused_servers: list[DatabaseUrl] = []
        for text in refused_urls:
            self._refuse(text)

    async def check(self, url: DatabaseUrl) -> Place:
        """Where to connect.

        Raises:
            NodeError: kind `blocked_address` where the operator does not allow it; `connection` where the host
                has no address.
        """
        if url.dialect in FILES:
            return Place(path=self._file(url))
        addresses = await _resolve(url.host, url.port)
        self._server(url, addresses)
        for refused in self._refused_servers:
            if refused.port == url.port and refused.dialect == url.dialect and _same_database(refused, url):
                await self._not_the_same(refused, url, addresses)
        return Place(address=str(addresses[0]))

    def _add(self, entry: str) -> None:
        if not entry:
            return
        with_port = re.fullmatch(
            r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^:/\[\]]+)):(?P<port>[0-9]+)", entry
        )
        name, port = entry, None
        if with_port:
            name, port = with_port["six"] or with_port["host"], int(with_port["port"])
        try:
            self._ranges.append(_Range(ipaddress.ip_network(name, strict=False), port))
        except ValueError:
            if "/" in name or name.startswith("."):
                self._paths.append((self._base / Path(name).expanduser()).resolve())
                return
            try:
                self._hosts.append(_Host(host_name(name), port))
            except NodeError:
                raise ValueError(
                    f"{SETTING}: {entry!r} is no host, host:port, CIDR or path ('./name' for a relative one)"
                ) from None

    def _refuse(self, text: str) -> None:
        plain = text.partition("?")[0]
        if plain.startswith("sqlite"):
            path = plain.partition(":///")[2]
            if path and path != ":memory:":
                self._refused_paths.append((self._base / path).resolve())
            return
        scheme, _, rest = plain.partition("://")
        credentials, _, address = rest.rpartition("@")
        # A platform on a socket, without user or with a socket path in its options is one on this machine.
        if not address or address.startswith("/"):
            address = "localhost" + address
        user = (credentials or "unknown").partition(":")[0] or "unknown"
        self._refused_servers.append(DatabaseUrl.parse(f"{scheme}://{user}@{address}"))

    def _server(self, url: DatabaseUrl, addresses: Sequence[Address]) -> None:
        if url.host in _NEVER_NAMES:
            raise _blocked(f"{url.host!r} is a metadata service")
        for address in addresses:
            if any(plain in network for plain in _plain(address) for network in _NEVER):
                raise _blocked(f"{url.host!r} leads to {address}, which is never reached")
        if any(entry.name == url.host and entry.port in {None, url.port} for entry in self._hosts):
            return
        outside = [address for address in addresses if not self._in_range(address, url.port)]
        if outside:
            raise _blocked(
                f"{url.host}:{url.port} is not allowed; an operator can add it to {SETTING} (set it where the server is started, and restart it)"
            )

    def _in_range(self, address: Address, port: int) -> bool:
        return any(address in entry.network for entry in self._ranges if entry.port in {None, port})

    async def _not_the_same(
        self, refused: DatabaseUrl, url: DatabaseUrl, addresses: Sequence[Address]
    ) -> None:
        try:
            own = await _resolve(refused.host, refused.port)
        except NodeError:
            own = []
        both_here = any(map(_is_local, own)) and any(map(_is_local, addresses))
        if refused.host == url.host or both_here or set(own) & set(addresses):
            raise _blocked("this is the platform's own database")

    def _file(self, url: DatabaseUrl) -> Path:
        try:
            path = (self._base / url.database).resolve()
        except (OSError, RuntimeError, ValueError):
            raise _blocked(f"the path {url.database!r} cannot be resolved") from None
        for refused in self._refused_paths:
            family = [refused, *(refused.with_name(refused.name + side) for side in _SIDE_FILES)]
            if path.is_relative_to(refused) or path in family or _same_file(path, refused):
                raise _blocked(f"{url.database!r} belongs to the platform itself")
        if not any(path == allowed or path.is_relative_to(allowed) for allowed in self._paths):
            raise _blocked(
                f"{url.database!r} is in no allowed directory; an operator can add one to {SETTING}"
            )
        if path.exists() and not path.is_file():
            raise _blocked(f"{url.database!r} is no regular file")
        return path


def _blocked(why: str) -> NodeError:
    return NodeError(f"The database may not be reached: {why}.", kind="blocked_address", retryable=False)


def _same_database(refused: DatabaseUrl, url: DatabaseUrl) -> bool:
    """On MySQL one connection reads every database of the server, so there the server counts."""
    return url.dialect == "mysql" or refused.database == url.database


def _same_file(path: Path, refused: Path) -> bool:
    try:
        return refused.is_file() and path.samefile(refused)
    except OSError:
        return False


def _plain(address: Address) -> list[Address]:
    """The address and the IPv4 addresses hidden in it (mapped, 6to4, NAT64)."""
    found: list[Address] = [address]
    if isinstance(address, ipaddress.IPv6Address):
        hidden = address.ipv4_mapped or address.sixtofour
        if hidden is None and (address in _NAT64 or int(address) >> 32 == 0):
            hidden = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if hidden is not None and address != ipaddress.IPv6Address("::1"):
            found.append(hidden)
    return found


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _is_local(address: Address) -> bool:
    """Whether this machine answers at the address: loopback, or one it can bind to."""
    if address.is_loopback:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IP versions
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


async def _resolve(host: str, port: int) -> list[Address]:
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NodeError(f"The database host {host!r} has no address.", kind="connection") from None
    texts = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
    return [ipaddress.ip_address(text) for text in texts]
