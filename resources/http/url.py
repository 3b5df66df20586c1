"""Strict reading of URLs: one meaning or a refusal, so that what is checked is what is connected to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urljoin

import idna

from interlace.engine.errors import NodeError
from interlace.resources.http.address import Address, parse_address

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 16_384

QueryValue = str | int | float | bool | None
Query = Mapping[str, QueryValue | Iterable[QueryValue]] | Iterable[tuple[str, QueryValue]]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PATH_SAFE = "%/:=&?~#+!$,;'@()*[]|"
_MAX_HOST = 253
_LAST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Authority:
    """Where to connect: the name in lower-case ASCII (IDN as `xn--`), the port, and the address of an IP literal."""

    host: str
    port: int
    address: Address | None


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL, split for sending: `target` is path and query, percent-encoded; the fragment is gone."""

    scheme: str
    authority: Authority
    target: str

    @property
    def host(self) -> str:
        """The name or address, without brackets."""
        return self.authority.host

    @property
    def port(self) -> int:
        """The port, given or the scheme's."""
        return self.authority.port

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: what credentials belong to."""
        return self.scheme, self.authority.host, self.authority.port

    @property
    def host_header(self) -> str:
        """The value of `Host`: IPv6 in brackets, the port unless it is the scheme's."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_header}{self.target}"


def parse_url(text: str, query: Query | None = None) -> Target:
    """Read an http or https URL and add `query` to its query string.

    Raises:
        NodeError: `bad_url`; the message says what is wrong and how to write it.
    """
    if len(text) > MAX_LENGTH:
        raise bad_url(text[:80] + "…", f"it has {len(text)} characters, the limit is {MAX_LENGTH}")
    text = text.strip(" ")
    if (found := _CONTROL.search(text)) is not None:
        raise bad_url(text, f"it contains {found.group()!r}; write such characters percent-encoded")
    scheme, rest = _scheme(text)
    netloc, target = _split(rest)
    try:
        authority = _authority(netloc, DEFAULT_PORTS[scheme])
    except ValueError as error:
        raise bad_url(text, str(error)) from None
    target = target.partition("#")[0]
    if query is not None and (added := encode_query(query)):
        target += ("&" if target.rpartition("?")[2] else "") + added if "?" in target else "?" + added
    if not target.startswith("/"):
        target = "/" + target
    return Target(scheme, authority, _encode(target))


def join_url(base: Target, location: str) -> Target:
    """The target of a redirect or a next-page link that `base` answered with.

    Raises:
        NodeError: `bad_url`, as `parse_url`.
    """
    if (found := _CONTROL.search(location)) is not None:  # urljoin would silently drop some of them
        raise bad_url(location, f"it contains {found.group()!r}")
    try:
        return parse_url(urljoin(str(base), location.strip(" ")))
    except ValueError as error:
        raise bad_url(location, str(error)) from None


def encode_query(query: Query) -> str:
    """Percent-encode names and values; lists repeat the name, None is left out, booleans are `true` and `false`.

    Raises:
        NodeError: `bad_url`; a value is neither a scalar nor a list of scalars.
    """
    pairs: Iterable[tuple[str, object]] = query.items() if isinstance(query, Mapping) else query
    parts: list[str] = []
    for name, value in pairs:
        values = value if isinstance(value, (list, tuple)) else (value,)
        for item in values:
            if item is None:
                continue
            if not isinstance(item, (str, int, float)):
                raise NodeError(
                    f"query parameter {name!r} is a {type(item).__name__}; give text, a number or a list of them "
                    "(| tojson makes text of an object).",
                    kind="bad_url",
                )
            parts.append(f"{quote(str(name), safe='')}={quote(_scalar(item), safe='')}")
    return "&".join(parts)


def bad_url(text: str, why: str) -> NodeError:
    """The error for a URL that cannot be used; the query, which may hold keys, is not repeated."""
    shown = text.partition("?")[0]
    scheme, slashes, rest = shown.partition("//")
    shown = scheme + slashes + rest.rpartition("@")[2]
    return NodeError(f"URL {shown[:200]!r} cannot be used: {why}.", kind="bad_url", retryable=False)


def _scalar(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _scheme(text: str) -> tuple[str, str]:
    found = _SCHEME.match(text)
    if found is None:
        raise bad_url(text, "it has no scheme; begin with 'https://' or 'http://'")
    scheme = found.group(1).lower()
    if scheme not in DEFAULT_PORTS:
        raise bad_url(text, f"scheme {scheme!r} is not supported; use 'https' or 'http'")
    rest = text[found.end() :]
    if not rest.startswith("//"):
        raise bad_url(text, f"'{scheme}:' must be followed by '//'")
    return scheme, rest[2:]


def _split(rest: str) -> tuple[str, str]:
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    return rest[:end], rest[end:]


def _encode(target: str) -> str:
    if (
        target.isascii()
        and "%" not in target
        and target.isprintable()
        and " " not in target
        and '"' not in target
    ):
        return quote(target, safe=_PATH_SAFE)
    return quote(_LONE_PERCENT.sub("%25", target), safe=_PATH_SAFE)


@lru_cache(maxsize=1024)
def _authority(netloc: str, default_port: int) -> Authority:
    """Host and port of a network location.

    Raises:
        ValueError: what is wrong with it.
    """
    if "@" in netloc:
        raise ValueError("user information before '@' is refused; use the auth setting")
    if netloc.startswith("["):
        literal, bracket, rest = netloc[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError("its '[…]' is not closed properly")
        address = _ipv6(literal)
        return Authority(str(address), _port(rest[1:] if rest else None, default_port), address)
    host, colon, port = netloc.partition(":")
    name = _name(host)
    return Authority(name, _port(port if colon else None, default_port), _ipv4(name))


def _port(text: str | None, default: int) -> int:
    if not text:
        return default
    if (
        not text.isascii()
        or not text.isdigit()
        or len(text) > len(str(_LAST_PORT))
        or not 1 <= int(text) <= _LAST_PORT
    ):
        raise ValueError(f"port {text!r} is not a number from 1 to {_LAST_PORT}")
    return int(text)


def _ipv6(literal: str) -> Address:
    if "%" in literal:
        raise ValueError("an IPv6 zone ('%…') is refused")
    if ":" not in literal:
        raise ValueError(f"'[{literal}]' is no IPv6 address")
    try:
        return parse_address(literal)
    except ValueError:
        raise ValueError(f"'[{literal}]' is no IPv6 address") from None


def _ipv4(name: str) -> Address | None:
    """The address of a name that ends in a number; only the dotted quad is one, other spellings are refused."""
    if not _NUMBER.fullmatch(name.rpartition(".")[2]):
        return None
    try:
        return parse_address(name)
    except ValueError:
        raise ValueError(
            f"host {name!r} ends in a number but is no dotted IPv4 address such as '192.0.2.1'"
        ) from None


def _name(host: str) -> str:
    if not host:
        raise ValueError("it has no host")
    if "%" in host:
        raise ValueError(f"host {host!r} is percent-encoded; write it plainly")
    name = host.lower() if host.isascii() else _idn(host)
    name = name.removesuffix(".")
    if len(name) > _MAX_HOST or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise ValueError(f"{host!r} is no host name")
    return name


def _idn(host: str) -> str:
    try:
        return idna.encode(host, uts46=True, std3_rules=False).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise ValueError(f"{host!r} is no host name: {error}") from None
