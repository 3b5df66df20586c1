"""Whether a request to a webhook was sent by who it should be sent by: over the raw bytes, before anything reads them.

Nothing here says why a signature does not hold: the sender is not told.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias
from urllib.parse import parse_qs, parse_qsl, urlsplit

from interlace.engine.triggers import Signature

_FORM: Final = "application/x-www-form-urlencoded"
_PREFIX: Final = "whsec_"
_MOST_SIGNATURES: Final = 20


@dataclass(frozen=True, slots=True)
class Signed:
    """What of a request is signed. Header names are in lower case; `url` is the address that the sender called."""

    headers: Mapping[str, str]
    body: bytes
    url: str = ""

    def header(self, name: str) -> bytes:
        """A header's bytes as they came; empty where there is none."""
        return self.headers.get(name.lower(), "").encode("latin-1", "replace")


_Check: TypeAlias = Callable[[Signature, Signed, bytes, float], bool]


def verify(rule: Signature, request: Signed, secrets: Sequence[str], now: float) -> bool:
    """Whether a request is signed with one of the secrets; an empty one never counts."""
    return any(_CHECKS[rule.type](rule, request, secret.encode(), now) for secret in secrets if secret)


def signature_headers(rule: Signature) -> frozenset[str]:
    """The headers that are not shown to runs."""
    own = {rule.header.lower()} if rule.header else set()
    return frozenset(_HEADERS[rule.type] | own)


def _github(rule: Signature, request: Signed, secret: bytes, now: float) -> bool:
    del rule, now
    return _same(request.header("x-hub-signature-256"), b"sha256=" + _hex(secret, request.body))


def _stripe(rule: Signature, request: Signed, secret: bytes, now: float) -> bool:
    parts = [part.strip().partition(b"=") for part in request.header("stripe-signature").split(b",")]
    times = [value for name, _, value in parts if name == b"t"]
    if len(times) != 1 or not _is_recent(times[0], now, rule.tolerance):
        return False
    wanted = _hex(secret, times[0] + b"." + request.body)
    return _any(wanted, [value for name, _, value in parts if name == b"v1"])


def _slack(rule: Signature, request: Signed, secret: bytes, now: float) -> bool:
    at = request.header("x-slack-request-timestamp")
    if not _is_recent(at, now, rule.tolerance):
        return False
    wanted = b"v0=" + _hex(secret, b"v0:" + at + b":" + request.body)
    return _same(request.header("x-slack-signature"), wanted)


def _shopify(rule: Signature, request: Signed, secret: bytes, now: float) -> bool:
    del rule, now
    return _same(request.header("x-shopify-hmac-sha256"), _base64(secret, request.body))


def _standard(rule: Signature, request: Signed, secret: bytes, now: float) -> bool:
    message, at = request.header("webhook-id"), request.header("webhook-timestamp")
    if not message or b"." in message or not _is_recent(at, now, rule.tolerance):
        return False
    key = standard_key(secret.decode())
    if not key:
        return False
    wanted = _base64(key, message + b"." + at + b"." + request.body)
    given = [part.partition(b",") for part in request.header("webhook-signature").split(b" ")]
    return _any(wanted, [value for version, _, value in given if version == b"v1"])


def _gitlab(rule: Signature, request: Signed, secret: bytes, now: float) -> bool:
    del rule, now
    return _same(request.header("x-gitlab-token"), secret)


def _twilio(rule: Signature, request: Signed, secret: bytes, now: float) -> bool:
    del now
    url = rule.url or request.url
    text = url.encode()
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM:
        try:
            fields = parse_qsl(request.body.decode(), keep_blank_values=True, max_num_fields=1000)
        except ValueError:
            return False
        # A field that comes twice with one value counts once.
        text += "".join(name + value for name, value in sorted(set(fields))).encode()
    elif request.body:
        wanted = parse_qs(urlsplit(request.url).query).get("bodySHA256", [""])[0]
        if not _same(
            wanted.lower().encode("latin-1", "replace"), hashlib.sha256(request.body).hexdigest().encode()
        ):
            return False
        text = (url if "bodySHA256" in url else request.url).encode()
    return _same(request.header("x-twilio-signature"), _base64(secret, text, "sha1"))


def _hmac(rule: Signature, request: Signed, secret: bytes, now: float) -> bool:
    signed = request.body
    if rule.timestamp_header is not None:
        at = request.header(rule.timestamp_header)
        if not _is_recent(at, now, rule.tolerance):
            return False
        signed = at + b"." + signed
    made = (
        _hex(secret, signed, rule.algorithm)
        if rule.encoding == "hex"
        else _base64(secret, signed, rule.algorithm)
    )
    return _same(request.header(rule.header or ""), rule.prefix.encode("latin-1", "replace") + made)


_CHECKS: Final[Mapping[str, _Check]] = MappingProxyType(
    {
        "github": _github, "stripe": _stripe, "slack": _slack, "shopify": _shopify, "standard": _standard,
        "gitlab": _gitlab, "twilio": _twilio, "hmac": _hmac,
    }
)  # fmt: skip
_HEADERS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "github": frozenset({"x-hub-signature-256", "x-hub-signature"}), "stripe": frozenset({"stripe-signature"}),
        "slack": frozenset({"x-slack-signature"}), "shopify": frozenset({"x-shopify-hmac-sha256"}),
        "standard": frozenset({"webhook-signature"}), "gitlab": frozenset({"x-gitlab-token"}),
        "twilio": frozenset({"x-twilio-signature"}), "hmac": frozenset(),
    }
)  # fmt: skip


def standard_key(secret: str) -> bytes:
    """The key in a secret of Standard Webhooks; empty where it cannot be read."""
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return b""


def sign_standard(secret: str, message_id: str, at: int, body: bytes) -> str:
    """The `webhook-signature` of a message by Standard Webhooks."""
    return "v1," + _base64(standard_key(secret), f"{message_id}.{at}.".encode() + body).decode()


def _is_recent(at: bytes, now: float, tolerance: float) -> bool:
    return at.isdigit() and len(at) <= 12 and abs(now - int(at)) <= tolerance  # noqa: PLR2004 - Unix seconds


def _hex(key: bytes, text: bytes, algorithm: str = "sha256") -> bytes:
    return hmac.new(key, text, algorithm).hexdigest().encode()


def _base64(key: bytes, text: bytes, algorithm: str = "sha256") -> bytes:
    return base64.b64encode(hmac.new(key, text, algorithm).digest())


def _any(wanted: bytes, given: Sequence[bytes]) -> bool:
    return any(_same(one, wanted) for one in given[:_MOST_SIGNATURES])


def _same(given: bytes, wanted: bytes) -> bool:
    return hmac.compare_digest(given, wanted)
