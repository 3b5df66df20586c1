"""A file as a workflow names it: an upload, a reference, a URL, base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient, HttpRequest
from interlace.resources.http.outcome import check_status

Load = Callable[[str], Awaitable[bytes]]
MAX_FETCHED: Final = 200_000_000
_REF = re.compile(r"sha256-[0-9a-f]{64}")
_DISPOSITION = re.compile(r"filename\*?=(?:utf-8'[^']*')?\"?([^\";]+)", re.IGNORECASE)
_SHORTEST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The bytes of a file, its name and the media type it was given."""

    content: bytes
    name: str = ""
    media_type: str = ""


async def read_source(value: Any, load: Load, client: HttpClient) -> Source:
    """The file that a value names.

    Args:
        value: a file value, `{base64, name}`, a reference (`sha256-…`), an http or https URL, a data URL, or base64.
        load: gives the bytes of a reference.
        client: fetches URLs behind its guard.

    Raises:
        NodeError: `bad_file`; those of the HTTP client.
    """
    if isinstance(value, Mapping):
        if "ref" in value:
            name, kind = str(value.get("name") or ""), str(value.get("media_type") or "")
            return Source(content=await load(str(value["ref"])), name=name, media_type=kind)
        if "base64" in value:
            name, kind = str(value.get("name") or ""), str(value.get("media_type") or "")
            return Source(content=_decoded(str(value["base64"])), name=name, media_type=kind)
    if not isinstance(value, str) or not value.strip():
        raise _bad(f"it is {_shown(value)}")
    text = value.strip()
    if text.lower().startswith(("http://", "https://")):
        return await fetch(text, client)
    if text.startswith("data:"):
        return _data_url(text)
    if _REF.fullmatch(text):
        return Source(content=await load(text))
    if len(text) < _SHORTEST:
        raise _bad(f"it is {text!r}")
    return Source(content=_decoded(text))


async def fetch(url: str, client: HttpClient) -> Source:
    """The file at a URL.

    Raises:
        NodeError: `http_<status>`, `blocked_address`, `too_large` and others of the HTTP client.
    """
    response = await client.send(HttpRequest(url=url, max_body=min(client.max_body, MAX_FETCHED)))
    check_status(response, "GET")
    named = _DISPOSITION.search(response.header("content-disposition") or "")
    name = unquote(named[1]) if named else unquote(PurePosixPath(urlsplit(response.url).path).name)
    return Source(content=response.body, name=PurePosixPath(name).name, media_type=response.media_type)


def _data_url(text: str) -> Source:
    head, comma, data = text[5:].partition(",")
    if not comma:
        raise _bad("it is a data URL without data")
    kind, _, last = head.partition(";")
    content = _decoded(data) if last.rpartition(";")[2].strip() == "base64" else unquote_to_bytes(data)
    return Source(content=content, media_type=kind)


def _decoded(text: str) -> bytes:
    plain = "".join(text.split()).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise _bad(f"{_shown(text)} is not base64") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"  # noqa: PLR2004 - enough to know it again


def _bad(what: str) -> NodeError:
    return NodeError(
        f"'file' names no file: {what}; give an uploaded file, its reference, an http or https URL, a data URL or base64",
        kind="bad_file",
        retryable=False,
    )
