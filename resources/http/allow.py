"""The operator's list of private targets and extra ports that requests may reach."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from interlace.resources.http.address import Address, Network, unmapped

SETTING = "INTERLACE_HTTP_ALLOW"
OPEN_PORTS = frozenset({80, 443})

_HOST = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_LAST_PORT = 65535


@dataclass(frozen=True, slots=True)
class AllowList:
    """What an operator opened; the empty list opens nothing but public addresses on ports 80 and 443.

    Args:
        networks: address ranges with the one port that is open there, or None for every port.
        hosts: lower-case names, or `*.suffix`, with a port or None; a name may resolve to private addresses.
        ports: ports open at public addresses beside 80 and 443.
    """

    networks: tuple[tuple[Network, int | None], ...] = ()
    hosts: frozenset[tuple[str, int | None]] = field(default_factory=frozenset)
    ports: frozenset[int] = OPEN_PORTS

    @classmethod
    def parse(cls, text: str | Iterable[str]) -> AllowList:
        """Read entries separated by commas or white space.

        An entry is a network (`10.0.0.0/8`), an address with or without port (`10.0.0.5`, `10.0.0.5:8080`,
        `[::1]:8080`), a host with or without port (`api`, `api:8080`, `*.svc.cluster.local`), or a port that is
        opened at public addresses (`:8443`).

        Raises:
            ValueError: an entry is none of these; the message names it.
        """
        entries = re.split(r"[,\s]+", text) if isinstance(text, str) else list(text)
        networks: list[tuple[Network, int | None]] = []
        hosts: set[tuple[str, int | None]] = set()
        ports = set(OPEN_PORTS)
        for entry in filter(None, (e.strip() for e in entries)):
            host, port = _split(entry)
            if not host and port is not None:
                ports.add(port)
            elif (network := _network(host, entry)) is not None:
                networks.append((network, port))
            elif _HOST.fullmatch(host) and not _numeric(host):
                hosts.add((host, port))
            else:
                raise ValueError(_complaint(entry))
        return cls(tuple(networks), frozenset(hosts), frozenset(ports))

    def opens_host(self, host: str, port: int) -> bool:
        """Whether the name itself is listed, for this port."""
        if not self.hosts:
            return False
        names = [host]
        rest = host
        while "." in rest:
            rest = rest.partition(".")[2]
            names.append("*." + rest)
        return any((name, open_port) in self.hosts for name in names for open_port in (port, None))

    def opens_address(self, address: Address, port: int) -> bool:
        """Whether the address lies in a listed network, for this port."""
        plain = unmapped(address)
        return any(
            plain.version == network.version and plain in network and open_port in (None, port)
            for network, open_port in self.networks
        )


def _split(entry: str) -> tuple[str, int | None]:
    """`host`, port of one entry; the port is None where none is given."""
    if entry.startswith("["):
        host, bracket, rest = entry[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError(_complaint(entry))
        return host, _port(rest[1:], entry) if rest else None
    if entry.count(":") != 1:  # none, or a bare IPv6 address or network
        return entry.lower().rstrip("."), None
    host, _, port = entry.partition(":")
    return host.lower().rstrip("."), _port(port, entry)


def _port(text: str, entry: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _LAST_PORT:
        raise ValueError(_complaint(entry))
    return int(text)


def _network(host: str, entry: str) -> Network | None:
    try:
        return ipaddress.ip_network(host)
    except ValueError:
        if "/" not in host:
            return None
    try:
        corrected = ipaddress.ip_network(host, strict=False)
    except ValueError:
        raise ValueError(_complaint(entry)) from None
    raise ValueError(f"{SETTING}: {entry!r} has bits set beyond its prefix; write {str(corrected)!r}.")


def _numeric(host: str) -> bool:
    return bool(re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2]))


def _complaint(entry: str) -> str:
    return (
        f"{SETTING}: {entry!r} is no network, address, host or port; "
        "write e.g. '10.0.0.0/8', '127.0.0.1:8080', 'api.internal', '*.svc.cluster.local' or ':8443'."
    )
