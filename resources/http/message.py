"""What is sent and what comes back, as plain values."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from interlace.engine.errors import NodeError
from interlace.engine.json_text import STRICT
from interlace.resources.http.url import Query

if TYPE_CHECKING:
    from interlace.resources.http.auth import Auth

DEFAULT_TIMEOUT = 300.0
REPEATABLE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"})

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
Sink = Callable[[bytes], Awaitable[None]]

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_HTML_CHARSET = re.compile(
    rb"<(?:meta[^>]{0,200}charset|\?xml[^>]{0,100}encoding)\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE
)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NO_CHARSETS = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}
)
_LONG_NUMBER = re.compile(rb"\d{19}")  # orjson makes floats of integers beyond 64 bits
_SNIFFED = 1024


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy: `http://` or `https://` URL without user information, and its credentials."""

    url: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request.

    Args:
        method: any method token; upper-cased.
        url: http or https, in any script; see `parse_url`.
        query: added to the URL's query string.
        headers: names to values; the client sets Host, lengths and connection headers itself.
        body: bytes, or a stream of them (sent chunked unless Content-Length is among the headers; never repeated).
        auth: adds credentials; not applied where a redirect leaves the origin.
        timeout: seconds for everything: name, connection, redirects, body. None waits for ever.
        idle_timeout: seconds without a byte in either direction; None leaves it to `timeout`.
        follow_redirects: whether 301, 302, 303, 307 and 308 are followed, at most five times.
        verify: whether the server's certificate is checked: by the system's CAs, not at all, or by the CA
            certificates of a PEM text.
        proxy: goes through this proxy, whose address is checked like any other.
        max_body: most bytes of the decoded body; the client's limit when None.
        stream_to: takes the decoded body of an answer below status 400 piece by piece instead of `HttpResponse.body`.
        repeatable: whether sending it twice does no harm; decided by the method when None.
    """

    method: str = "GET"
    url: str
    query: Query | None = None
    headers: Headers = ()
    body: bytes | AsyncIterable[bytes] | None = None
    auth: Auth | None = None
    timeout: float | None = DEFAULT_TIMEOUT
    idle_timeout: float | None = None
    follow_redirects: bool = True
    verify: bool | str = True
    proxy: Proxy | None = None
    max_body: int | None = None
    stream_to: Sink | None = None
    repeatable: bool | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether a second attempt does no harm when the outcome of the first is unknown."""
        return self.method.upper() in REPEATABLE_METHODS if self.repeatable is None else self.repeatable


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """One answer.

    `url` is where it came from after redirects, `body` is decoded (empty when it was streamed away), `size` counts
    the decoded bytes, `elapsed_ms` everything from the call of `send` to the last byte.
    """

    status: int
    raw_headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    size: int = 0
    url: str = ""
    elapsed_ms: float = 0.0
    redirects: list[str] = field(default_factory=list)
    """The addresses that redirected, in order."""

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.status < 400  # noqa: PLR2004 - HTTP's boundary

    def header(self, name: str) -> str | None:
        """The values of a header joined by commas, None where it is absent."""
        wanted = name.lower()
        values = [value for key, value in self.raw_headers if key.lower() == wanted]
        return ", ".join(values) if values else None

    def headers(self) -> dict[str, str | list[str]]:
        """All headers: lower-case names, repeated ones joined by commas, `set-cookie` always a list."""
        merged: dict[str, str | list[str]] = {}
        for name, value in self.raw_headers:
            key = name.lower()
            known = merged.get(key)
            if key == "set-cookie":
                merged[key] = [*known, value] if isinstance(known, list) else [value]
            else:
                merged[key] = f"{known}, {value}" if known is not None else value
        return merged

    @property
    def media_type(self) -> str:
        """The media type in lower case, without parameters; empty where none is given."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    def text(self) -> str:
        """The body as text: by its byte order mark, the declared charset, HTML's own declaration, else UTF-8."""
        return decode_text(self.body, self.header("content-type") or "")

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            NodeError: `bad_response`, with the place and the beginning of what came instead.
        """
        content_type = self.header("content-type") or ""
        if _is_utf8(content_type) and not _LONG_NUMBER.search(self.body):
            with suppress(
                orjson.JSONDecodeError
            ):  # the slower reader knows more encodings, and says what is wrong
                return orjson.loads(self.body)
        try:
            return json.loads(_json_text(self.body, content_type), **STRICT)
        except (ValueError, RecursionError) as error:
            raise NodeError(
                f"{self.url} answered with something that is no JSON ({error}): {self.excerpt()!r}; "
                "set response_as to text if that is right.",
                kind="bad_response",
                retryable=False,
            ) from None

    def excerpt(self, limit: int = 500) -> str:
        """The beginning of the body for an error message, at most `limit` characters."""
        head = self.body[: limit * 4]
        if b"\0" in head[:_SNIFFED] and not head.startswith(tuple(bom for bom, _ in _BOMS)):
            return f"<{self.size or len(self.body)} bytes of {self.media_type or 'binary data'}>"
        text = " ".join(decode_text(head, self.header("content-type") or "").split())
        return text if len(text) <= limit else text[: limit - 1] + "…"


def decode_text(body: bytes, content_type: str) -> str:
    """Text of bytes whose media type, perhaps with a charset, is known; what cannot be read becomes U+FFFD."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body.decode(encoding, "replace")
    found = _CHARSET.search(content_type)
    declared = found.group(1) if found else None
    if declared is None and ("html" in content_type.lower() or "xml" in content_type.lower()):
        inside = _HTML_CHARSET.search(body[:_SNIFFED])
        declared = inside.group(1).decode("ascii", "replace") if inside else None
    return body.decode(_codec(declared), "replace")


def _codec(name: str | None) -> str:
    try:
        info = codecs.lookup(name or "utf-8")
    except (LookupError, ValueError):
        return "utf-8"
    is_text: bool = getattr(info, "_is_text_encoding", True)  # hex, base64, zlib and the like are codecs too
    return info.name if is_text and info.name not in _NO_CHARSETS else "utf-8"


def _is_utf8(content_type: str) -> bool:
    found = _CHARSET.search(content_type)
    return found is None or _codec(found.group(1)) in {"utf-8", "ascii"}


def _json_text(body: bytes, content_type: str) -> str:
    return (
        body.decode(json.detect_encoding(body)) if _is_utf8(content_type) else decode_text(body, content_type)
    )
