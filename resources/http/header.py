"""Which headers a user may set, and which of them survive a redirect to another origin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from interlace.engine.errors import NodeError
from interlace.resources.http.message import Headers

KEPT_ACROSS_ORIGINS = frozenset(
    {"accept", "accept-charset", "accept-encoding", "accept-language", "content-encoding", "content-language",
     "content-type", "range", "user-agent"}
)  # fmt: skip

# Hop-by-hop headers belong to the connection, Host to the checked URL; the others unlock metadata services.
_REFUSED = frozenset(
    {"connection", "expect", "host", "keep-alive", "metadata", "metadata-flavor", "proxy-authenticate",
     "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
     "x-google-metadata-request"}
)  # fmt: skip
_REFUSED_PREFIX = "x-aws-ec2-"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

Pairs = list[tuple[str, str]]


def checked_headers(headers: Headers) -> Pairs:
    """The headers as pairs, values stripped.

    Raises:
        NodeError: `bad_header`; the name or value is malformed, or the client sets this header itself.
    """
    pairs: Iterable[tuple[str, str]] = headers.items() if isinstance(headers, Mapping) else headers
    return [_checked(name, value) for name, value in pairs]


def without(headers: Pairs, name: str) -> Pairs:
    """The headers but the one of that lower-case name."""
    return [pair for pair in headers if pair[0].lower() != name]


def kept_across_origins(headers: Pairs) -> Pairs:
    """What may be sent on to another origin: everything else may be a credential."""
    return [pair for pair in headers if pair[0].lower() in KEPT_ACROSS_ORIGINS]


def has_credentials(headers: Pairs) -> bool:
    """Whether any header could be a credential."""
    return len(kept_across_origins(headers)) != len(headers)


def _checked(name: str, value: str) -> tuple[str, str]:
    if not _TOKEN.fullmatch(name):
        raise _bad(f"header name {name[:80]!r} has characters that a header name may not have")
    lower = name.lower()
    if lower in _REFUSED or lower.startswith(_REFUSED_PREFIX):
        raise _bad(f"header {name!r} may not be set; the client decides on it")
    text = value.strip(" \t\r\n")
    if _VALUE_CONTROL.search(text):
        raise _bad(f"the value of header {name!r} contains a line break or another control character")
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        raise _bad(
            f"the value of header {name!r} has characters beyond Latin-1; encode them (urlencode, b64encode)"
        ) from None
    return name, text


def _bad(message: str) -> NodeError:
    return NodeError(message + ".", kind="bad_header", retryable=False)
