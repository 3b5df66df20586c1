"""Reads a body as JSON, text or a file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, Literal, Protocol

from interlace.engine.errors import NodeError
from interlace.engine.protocols import FileValue
from interlace.resources.http.disposition import file_name
from interlace.resources.http.message import HttpResponse

ResponseAs = Literal["auto", "json", "text", "file"]

DEFAULT_MEDIA_TYPE = "application/octet-stream"

_NO_CONTENT = frozenset({204, 205, 304})
_TEXTUAL = frozenset(
    {"application/xml", "application/javascript", "application/x-javascript", "application/x-www-form-urlencoded",
     "application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/graphql",
     "application/x-ndjson", "image/svg+xml"}
)  # fmt: skip


class Save(Protocol):
    """Stores a file; `Files.save` is one."""

    def __call__(self, content: bytes, *, name: str, media_type: str) -> Awaitable[FileValue]:
        """Store the bytes and give the value that refers to them."""
        ...


async def read_body(
    response: HttpResponse, how: ResponseAs, save: Callable[[], Save], *, method: str = "GET"
) -> Any:
    """The body as asked for; null where the status or the method has none.

    `auto` goes by the media type: JSON, text, else a file; without a media type it is JSON where it reads as such,
    else text; without a body null.
    `save` is asked for only where a file is made.

    Raises:
        NodeError: `bad_response`, JSON was asked for, or announced, and something else came.
    """
    if not response.body and (how in {"auto", "json"}) and _is_bare(response, how, method):
        return None
    if how == "json":
        return response.json()
    if how == "text":
        return response.text()
    if how == "auto" and (found := _by_type(response)) is not _UNKNOWN:
        return found
    kind = response.media_type or DEFAULT_MEDIA_TYPE
    return asdict(await save()(response.body, name=file_name(response), media_type=kind))


_UNKNOWN = object()


def _is_bare(response: HttpResponse, how: ResponseAs, method: str) -> bool:
    return how == "auto" or response.status in _NO_CONTENT or method == "HEAD"


def _by_type(response: HttpResponse) -> Any:
    kind = response.media_type
    if kind == "application/json" or kind.endswith("+json"):
        return response.json()  # what calls itself JSON and is none must not pass for an answer
    if kind.startswith("text/") or kind in _TEXTUAL or kind.endswith("+xml"):
        return response.text()
    return _UNKNOWN if kind else _untyped(response)


def _untyped(response: HttpResponse) -> Any:
    """A body without a media type: JSON where it reads as such, else text, else unknown."""
    if response.body.lstrip()[:1] in b"{[":
        try:
            return response.json()
        except NodeError:
            return response.text()
    try:
        return response.body.decode()
    except UnicodeDecodeError:
        return _UNKNOWN
