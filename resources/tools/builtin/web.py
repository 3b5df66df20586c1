"""Tools that reach the web, all through the one guarded client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field

from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.protocols import Files
from interlace.engine.schema import Schema
from interlace.resources.documents.extractor import Extractor
from interlace.resources.documents.rendering import to_markdown
from interlace.resources.documents.source import MAX_FETCHED
from interlace.resources.http import HttpClient, HttpRequest
from interlace.resources.http.outcome import check_status
from interlace.resources.http.reading import Save, read_body
from interlace.resources.tools.paging import PIECE, piece, with_note
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_REPEATABLE = frozenset({"PUT", "DELETE"})
_SHOWN = 20_000
_TITLE = 120
_PLAIN = frozenset(
    {"application/json", "application/xml", "application/yaml", "text/plain", "text/csv", "text/markdown"}
)

Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]


class RequestArguments(Arguments):
    """One request."""

    url: str = Field(max_length=8000, description="http or https address.")
    method: Method = "GET"
    query: dict[str, Any] | None = Field(None, description="Parameters added to the URL.")
    headers: dict[str, str] | None = None
    json_body: Any = Field(None, alias="json", description="Body, sent as JSON.")
    text: str | None = Field(None, description="Body, sent as it is; say its Content-Type in headers.")
    timeout: float = Field(60, gt=0, le=300, description="Seconds.")


class HttpRequestTool(TypedTool[RequestArguments]):
    """One HTTP request."""

    name = "http_request"
    description = (
        "Send an HTTP request to a public address and give status, headers and body (JSON, text, or a file)."
        " Methods other than GET, HEAD and OPTIONS need a person's agreement."
    )
    category: ClassVar[Category] = "web"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "status_code": {"type": "integer"}, "headers": {"type": "object"}, "body": {}, "url": {"type": "string"},
        },
        "required": ["status_code", "headers", "body", "url"],
    }  # fmt: skip

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Reading methods change nothing, PUT and DELETE may be repeated, others not."""
        method = str(arguments.get("method") or "GET").upper()
        if method in _READING:
            return "none"
        return "idempotent" if method in _REPEATABLE else "once"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """A person agrees to what changes something elsewhere."""
        del ctx
        asked = self.read(arguments)
        if asked.method in _READING:
            return None
        return Gate(
            title=f"{asked.method} {asked.url}"[:_TITLE],
            reason="the request may change something at the other side",
        )

    async def call(self, arguments: RequestArguments, ctx: ToolContext) -> ToolResult:
        """Send it.

        Raises:
            NodeError: `http_<status>`, `blocked_address`, `connection`, `timeout`, `too_large`, …
        """
        client = ctx.service(HttpClient)
        response = await client.send(_request(arguments, ctx.idempotency_key))
        check_status(response, arguments.method)

        def save() -> Save:
            return ctx.service(Files).save

        body = await read_body(response, "auto", save, method=arguments.method)
        value = {
            "status_code": response.status, "headers": response.headers(), "body": body, "url": response.url,
        }  # fmt: skip
        shown = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        if len(shown) > _SHOWN:
            shown = f"{shown[:_SHOWN]}\n[The body is cut: {_SHOWN:,} of {len(shown):,} characters; ask for less of it.]"
        return ToolResult(value=value, text=f"{response.status} {response.media_type}\n{shown}")


def _request(arguments: RequestArguments, key: str) -> HttpRequest:
    if arguments.json_body is not None and arguments.text is not None:
        raise NodeError("give one of json and text", kind="bad_arguments", retryable=False)
    headers = list((arguments.headers or {}).items())
    names = {name.lower() for name, _ in headers}
    body = None
    if arguments.json_body is not None:
        body = json.dumps(arguments.json_body, ensure_ascii=False).encode()
        if "content-type" not in names:
            headers.append(("Content-Type", "application/json"))
    elif arguments.text is not None:
        body = arguments.text.encode()
        if "content-type" not in names:
            headers.append(("Content-Type", "text/plain; charset=utf-8"))
    if arguments.method not in _READING and "idempotency-key" not in names:
        headers.append(("Idempotency-Key", key))
    return HttpRequest(
        method=arguments.method, url=arguments.url, query=arguments.query, headers=headers, body=body,
        timeout=arguments.timeout,
    )  # fmt: skip


class FetchArguments(Arguments):
    """A page, and which part of it."""

    url: str = Field(max_length=8000, description="http or https address of a page, PDF or other document.")
    offset: int = Field(0, ge=0, description="Character to begin at; `next_offset` of the piece before.")
    max_characters: int = Field(20_000, ge=200, le=500_000)
    timeout: float = Field(60, gt=0, le=300, description="Seconds.")


class WebFetch(TypedTool[FetchArguments]):
    """Reading a page."""

    name = "web_fetch"
    description = (
        "Read a web page or an online document (HTML, PDF, Office, JSON, text) as Markdown, in pieces."
    )
    category: ClassVar[Category] = "web"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "url": {"type": "string"}, "title": {"type": ["string", "null"]}, "media_type": {"type": "string"}, **PIECE,
        },
        "required": ["url", "title", "media_type", *PIECE],
    }  # fmt: skip

    async def call(self, arguments: FetchArguments, ctx: ToolContext) -> ToolResult:
        """Fetch and extract.

        Raises:
            NodeError: `http_<status>`, `blocked_address`, …; `document_…` where it cannot be read.
        """
        client = ctx.service(HttpClient)
        response = await client.send(
            HttpRequest(
                url=arguments.url, headers={"Accept": "text/html, text/markdown, application/pdf, */*;q=0.8"},
                timeout=arguments.timeout, max_body=min(client.max_body, MAX_FETCHED),
            )
        )  # fmt: skip
        check_status(response, "GET")
        title = None
        if response.media_type in _PLAIN or response.media_type.endswith("+json"):
            text = response.text()
        else:
            name = urlsplit(response.url).path.rpartition("/")[2]
            found = await ctx.service(Extractor).extract(
                response.body, name=name, media_type=response.media_type
            )
            text, title = to_markdown(found.blocks), found.metadata.get("title")
        part = piece(text, arguments.offset, arguments.max_characters)
        value = {"url": response.url, "title": title, "media_type": response.media_type, **part}
        head = f"{title}\n{response.url}\n\n" if title and not arguments.offset else ""
        return ToolResult(value=value, text=with_note(part, head))
