"""Request bodies as bytes: JSON, form, multipart."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

import orjson

from interlace.engine.errors import NodeError

Fields = Mapping[str, Any] | Iterable[tuple[str, Any]]

_TOKEN = re.compile(r"[\w.+-]+/[\w.+-]+(?:\s*;[\x20-\x7e]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A body and what it is; the media type is None where there is no body."""

    content: bytes | None
    media_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a multipart body; a `filename` makes it a file."""

    name: str
    content: bytes
    filename: str | None = None
    media_type: str | None = None


def json_body(value: Any) -> Encoded:
    """Compact UTF-8 JSON.

    Raises:
        NodeError: `bad_body`, the value is not JSON.
    """
    try:
        content = orjson.dumps(value)
        exact = b"null" not in content  # it writes NaN and infinities as null, without a word
    except TypeError:  # integers beyond 64 bits are JSON too
        exact = False
    if not exact:
        try:
            content = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise NodeError(
                f"the body cannot be written as JSON: {error}.", kind="bad_body", retryable=False
            ) from None
    return Encoded(content=content, media_type="application/json")


def form_body(fields: Fields) -> Encoded:
    """A form as browsers send it: lists repeat the name, None is left out, objects become JSON text."""
    pairs = [f"{quote_plus(name)}={quote_plus(value)}" for name, value in flat_fields(fields)]
    return Encoded(content="&".join(pairs).encode(), media_type="application/x-www-form-urlencoded")


def multipart_body(parts: Iterable[Part]) -> Encoded:
    """A multipart/form-data body (RFC 7578, names and file names in UTF-8)."""
    boundary = secrets.token_hex(16)
    pieces: list[bytes] = []
    for part in parts:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(part.name)}"'
        if part.filename is not None:
            head += f'; filename="{_quoted(part.filename)}"'
        if part.media_type is not None:
            head += f"\r\nContent-Type: {media_type(part.media_type)}"
        pieces += [head.encode(), b"\r\n\r\n", part.content, b"\r\n"]
    pieces.append(f"--{boundary}--\r\n".encode())
    return Encoded(content=b"".join(pieces), media_type=f"multipart/form-data; boundary={boundary}")


def flat_fields(fields: Fields) -> list[tuple[str, str]]:
    """Form fields as pairs of texts."""
    items: Iterable[tuple[str, Any]] = fields.items() if isinstance(fields, Mapping) else fields
    return [
        (str(name), field_text(item))
        for name, value in items
        for item in (value if isinstance(value, (list, tuple)) else (value,))
        if item is not None
    ]


def field_text(value: Any) -> str:
    """A form field's text: booleans are `true` and `false`, objects and lists JSON."""
    if isinstance(value, str):
        return value
    return (json_body(value).content or b"").decode()


def media_type(text: str) -> str:
    """The media type, checked.

    Raises:
        NodeError: `bad_body`.
    """
    if not _TOKEN.fullmatch(text):
        raise NodeError(
            f"{text[:80]!r} is no media type; write one such as 'application/pdf'.",
            kind="bad_body",
            retryable=False,
        )
    return text


def _quoted(text: str) -> str:
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
