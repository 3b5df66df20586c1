"""Ways to authenticate a request: basic, bearer, a header, a query parameter, an HMAC signature."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Protocol

from interlace.engine.errors import NodeError
from interlace.resources.http.header import Pairs, without
from interlace.resources.http.url import Target, parse_url

if TYPE_CHECKING:
    from interlace.resources.http.client import HttpClient


@dataclass(slots=True)
class Outgoing:
    """A request just before it is sent; credentials are added to it in place."""

    method: str
    target: Target
    headers: Pairs
    body: bytes | None

    def set_header(self, name: str, value: str) -> None:
        """Replace a header."""
        self.headers = [*without(self.headers, name.lower()), (name, value)]


class Auth(Protocol):
    """Adds credentials to requests."""

    async def apply(self, outgoing: Outgoing, client: HttpClient) -> None:
        """Add them.

        Raises:
            NodeError: they could not be made or fetched.
        """
        ...

    def renew(self, client: HttpClient) -> bool:
        """After a 401: forget what is cached; whether a second try makes sense."""
        ...


class _Fixed:
    """Credentials that do not change."""

    __slots__ = ()

    def renew(self, client: HttpClient) -> bool:
        """A second try would send the same."""
        del client
        return False


@dataclass(frozen=True, slots=True)
class Basic(_Fixed):
    """User name and password (RFC 7617, UTF-8)."""

    username: str
    password: str = field(repr=False)

    async def apply(self, outgoing: Outgoing, client: HttpClient) -> None:
        """Set Authorization."""
        del client
        if ":" in self.username:
            raise NodeError(
                "a user name for basic authentication may not contain ':'.", kind="bad_auth", retryable=False
            )
        pair = f"{self.username}:{self.password}".encode()
        outgoing.set_header("Authorization", "Basic " + base64.b64encode(pair).decode())


@dataclass(frozen=True, slots=True)
class InHeader(_Fixed):
    """A key in a header of any name; a bearer token is one in Authorization."""

    name: str
    value: str = field(repr=False)

    async def apply(self, outgoing: Outgoing, client: HttpClient) -> None:
        """Set the header."""
        del client
        outgoing.set_header(self.name, self.value)


@dataclass(frozen=True, slots=True)
class InQuery(_Fixed):
    """A key as a query parameter."""

    name: str
    value: str = field(repr=False)

    async def apply(self, outgoing: Outgoing, client: HttpClient) -> None:
        """Append the parameter."""
        del client
        outgoing.target = parse_url(str(outgoing.target), {self.name: self.value})


def bearer(token: str) -> InHeader:
    """A token in the Authorization header."""
    return InHeader("Authorization", f"Bearer {token.strip()}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hmac(_Fixed):
    """A signature over parts of the request.

    Args:
        secret: the shared key, read by `key_encoding`.
        header: where the signature goes, after `prefix` (`sha256=`).
        signed: what is signed; `{method}`, `{url}`, `{host}`, `{path}`, `{query}`, `{timestamp}`, `{body}` and
            `{body_sha256}` (hex) stand for parts of the request, everything else for itself.
        timestamp_header: where the time goes, if anywhere.
        timestamp_format: seconds or milliseconds since 1970, or ISO 8601 in UTC.
    """

    secret: str = field(repr=False)
    header: str = "X-Signature"
    algorithm: Literal["sha1", "sha256", "sha384", "sha512"] = "sha256"
    signed: str = "{body}"
    encoding: Literal["hex", "base64", "base64url"] = "hex"
    key_encoding: Literal["utf-8", "hex", "base64"] = "utf-8"
    prefix: str = ""
    timestamp_header: str | None = None
    timestamp_format: Literal["seconds", "milliseconds", "iso"] = "seconds"

    async def apply(self, outgoing: Outgoing, client: HttpClient) -> None:
        """Sign the request as it stands."""
        del client
        stamp = _timestamp(self.timestamp_format)
        digest = hmac.digest(self._key(), _signed(self.signed, outgoing, stamp), self.algorithm)
        outgoing.set_header(self.header, self.prefix + _encoded(digest, self.encoding))
        if self.timestamp_header:
            outgoing.set_header(self.timestamp_header, stamp)

    def _key(self) -> bytes:
        if not self.secret:
            raise NodeError("the HMAC secret is empty.", kind="bad_auth", retryable=False)
        try:
            if self.key_encoding == "hex":
                return bytes.fromhex(self.secret)
            if self.key_encoding == "base64":
                return base64.b64decode(self.secret, validate=True)
        except (ValueError, binascii.Error):
            raise NodeError(
                f"the HMAC secret is no {self.key_encoding} text.", kind="bad_auth", retryable=False
            ) from None
        return self.secret.encode()


_PART = re.compile(r"\{(method|url|host|path|query|timestamp|body|body_sha256)\}")


def _signed(template: str, outgoing: Outgoing, stamp: str) -> bytes:
    if outgoing.body is None and "{body" in template:
        raise NodeError(
            "a streamed body cannot be signed; leave {body} out of 'signed'.",
            kind="bad_auth",
            retryable=False,
        )
    path, _, query = outgoing.target.target.partition("?")
    body = outgoing.body or b""
    parts = {
        "method": outgoing.method.encode(),
        "url": str(outgoing.target).encode(),
        "host": outgoing.target.host_header.encode(),
        "path": path.encode(),
        "query": query.encode(),
        "timestamp": stamp.encode(),
        "body": body,
        "body_sha256": hashlib.sha256(body).hexdigest().encode(),
    }
    pieces = _PART.split(template)  # literal texts at even places, names at odd ones
    return b"".join(parts[piece] if index % 2 else piece.encode() for index, piece in enumerate(pieces))


def _timestamp(style: str) -> str:
    now = time.time()
    if style == "iso":
        return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return str(int(now * 1000) if style == "milliseconds" else int(now))


def _encoded(digest: bytes, encoding: str) -> str:
    if encoding == "hex":
        return digest.hex()
    encode = base64.urlsafe_b64encode if encoding == "base64url" else base64.b64encode
    return encode(digest).decode()
