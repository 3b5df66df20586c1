"""Which IP addresses a request may reach: public ones; everything else only by the operator's list."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# `is_global` differs between Python releases and calls some of these global, so they are written out.
_SPECIAL: tuple[tuple[Network, str], ...] = tuple(
    (ipaddress.ip_network(network), name)
    for network, name in (
        ("0.0.0.0/8", "a 'this network' address"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "a carrier-grade NAT address"),
        ("127.0.0.0/8", "a loopback address"),
        ("168.63.129.16/32", "a cloud platform address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "a documentation address"),
        ("192.88.99.0/24", "a 6to4 relay address"),
        ("192.168.0.0/16", "a private address"),
        ("198.18.0.0/15", "a benchmarking address"),
        ("198.51.100.0/24", "a documentation address"),
        ("203.0.113.0/24", "a documentation address"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
        ("::1/128", "a loopback address"),
        ("::/96", "an IPv4-compatible address"),
        ("::ffff:0:0:0/96", "an IPv4-translated address"),
        ("64:ff9b::/96", "a NAT64 address"),
        ("64:ff9b:1::/48", "a NAT64 address"),
        ("100::/64", "a discard address"),
        ("2001::/32", "a Teredo address"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "a documentation address"),
        ("2002::/16", "a 6to4 address"),
        ("3fff::/20", "a documentation address"),
        ("5f00::/16", "a segment routing address"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("ff00::/8", "a multicast address"),
    )
)
_METADATA: tuple[Network, ...] = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.169.0/24",  # AWS, Azure, Google, DigitalOcean, Oracle …
        "169.254.170.0/24",  # container credentials on AWS
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure's wire server
        "192.0.0.192/32",  # Oracle
        "fd00:ec2::/32",  # AWS
        "fd20:ce::254/128",  # Google
    )
)
METADATA_HOSTS = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.azure.internal",
        "metadata.tencentyun.com",
        "metadata.platformequinix.com",
    }
)
_NAT64_LOCAL = 0x0064_FF9B_0001
_NAT64 = 0x0064_FF9B << 64
_MAPPED = 0xFFFF
_ISATAP = 0x5EFE
_LIMITED_BROADCAST = IPv4Address("255.255.255.255")


def parse_address(text: str) -> Address:
    """The address that `text` spells; a zone (`%eth0`) is dropped and an IPv4-mapped one becomes IPv4.

    Raises:
        ValueError: `text` is no IP address.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    return unmapped(address)


def unmapped(address: Address) -> Address:
    """The IPv4 address inside an IPv4-mapped IPv6 one, else the address itself."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def special(address: Address) -> str | None:
    """What kind of non-public address this is (`a loopback address`), or None for a public one."""
    for network, name in _SPECIAL:
        if address.version == network.version and address in network:
            return name
    if not address.is_global:
        return "a reserved address"
    return None


def never(address: Address) -> str | None:
    """Why no allow-list opens this address, or None where one may."""
    if address.is_unspecified:
        return "an unspecified address"
    if address.is_multicast or address == _LIMITED_BROADCAST:
        return "a multicast or broadcast address"
    for candidate in (address, *embedded(address)):
        if any(candidate.version == network.version and candidate in network for network in _METADATA):
            return "a cloud metadata address"
        if candidate.is_unspecified:
            return "an unspecified address"
    return None


def embedded(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that a transition mechanism would reach through this IPv6 address."""
    if not isinstance(address, IPv6Address):
        return
    bits = int(address)
    if bits >> 32 in (0, _MAPPED << 16, _MAPPED, _NAT64) and bits > 1:
        yield IPv4Address(bits & 0xFFFF_FFFF)
    if bits >> 80 == _NAT64_LOCAL:  # RFC 6052 puts the octets at different places for each prefix length
        yield IPv4Address(bits & 0xFFFF_FFFF)
        yield IPv4Address(((bits >> 64) & 0xFFFF) << 16 | (bits >> 40) & 0xFFFF)
        yield IPv4Address((bits >> 64 & 0xFF) << 24 | bits >> 32 & 0xFF_FFFF)
        yield IPv4Address(bits >> 24 & 0xFFFF_FFFF)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if bits >> 32 & 0xFDFF_FFFF == _ISATAP:  # ISATAP
        yield IPv4Address(bits & 0xFFFF_FFFF)


def is_local(address: Address) -> bool:
    """Whether this machine answers to the address; asks the kernel by a bind, sends nothing."""
    if address.is_loopback:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IP version
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError as error:
        return error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)
    return True
