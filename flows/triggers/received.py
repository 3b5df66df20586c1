"""A request to a webhook: what runs are told of it, and which inputs it gives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

from interlace.engine.triggers import WebhookTrigger
from interlace.flows.triggers.signatures import Signed, signature_headers

_MASK: Final = "***"
_HIDDEN: Final = ("authorization", "cookie", "token", "secret", "password", "signature", "api-key", "apikey")
_FORM: Final = "application/x-www-form-urlencoded"
_MOST_FIELDS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came. Header names are in lower case; of several of one name the values are joined."""

    method: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Sequence[tuple[str, str]] = ()
    url: str = ""

    @property
    def media_type(self) -> str:
        """The content type without its parameters; empty where none is given."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def signed(self) -> Signed:
        """What of it may be signed."""
        return Signed(headers=self.headers, body=self.body, url=self.url)

    def told(self, spec: WebhookTrigger) -> dict[str, Any]:
        """Method, query, headers and content type, as they are kept: what proves the sender is masked."""
        secret = signature_headers(spec.signature) if spec.signature is not None else frozenset[str]()
        return {
            "method": self.method, "query": _grouped(self.query), "content_type": self.headers.get("content-type", ""),
            "headers": {
                name: _MASK if name in secret or any(word in name for word in _HIDDEN) else value
                for name, value in self.headers.items()
            },
        }  # fmt: skip

    def parsed(self) -> Any:
        """The body as a value: JSON, the fields of a form, or text; None where it is none of these."""
        return parse_body(self.body, self.media_type)


def parse_body(body: bytes, media_type: str) -> Any:
    """A body as a value: JSON, the fields of a form, or text; None where it is none of these."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    try:
        if media_type == _FORM:
            return _grouped(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
        if media_type in ("", "text/plain", "application/json") or media_type.endswith("+json"):
            return json.loads(text, parse_constant=_refuse) if body else None
    except (ValueError, RecursionError):
        return text
    return text if media_type.startswith("text/") or media_type.endswith(("+xml", "/xml")) else None


def inputs_of(body: Any, media_type: str, schema: Mapping[str, Any], *, declared: bool) -> dict[str, Any]:
    """A JSON object as inputs: all of it; with `declared`, or where the workflow takes no others, what it declares."""
    if not isinstance(body, dict) or media_type == _FORM:
        return {}
    if declared or schema.get("additionalProperties") is False:
        names = schema.get("properties", {})
        return {name: value for name, value in body.items() if name in names}
    return body


def _grouped(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Pairs by name; of several of one name a list."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(constant)
