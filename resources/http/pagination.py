"""Fetches all pages of a list: by next links, cursors, page numbers or offsets; every page counts on its own."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol
from urllib.parse import unquote_plus

import jmespath
from jmespath.exceptions import JMESPathError

from interlace.engine.errors import NodeError
from interlace.resources.http.body import json_body
from interlace.resources.http.header import Pairs, checked_headers, has_credentials, kept_across_origins
from interlace.resources.http.message import HttpRequest, HttpResponse
from interlace.resources.http.url import join_url, parse_url

LONGEST_PAUSE = 60.0

Place = Literal["query", "header", "body"]

_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_REL_NEXT = re.compile(r";\s*rel\s*=\s*(?:\"[^\"]*\bnext\b[^\"]*\"|next\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page: the answer, its decoded body, and the items found in it."""

    index: int
    response: HttpResponse
    body: Any
    items: list[Any]


@dataclass(slots=True, kw_only=True)
class Collected:
    """All items, and how far it went; `has_more` says that a limit stopped it before the last page."""

    items: list[Any] = field(default_factory=list)
    pages: int = 0
    has_more: bool = False
    last: HttpResponse | None = None
    elapsed_ms: float = 0.0


class Rule(Protocol):
    """How to get from one page to the next."""

    def first(self, request: HttpRequest) -> HttpRequest:
        """The request for the first page."""
        ...

    def next(self, request: HttpRequest, page: Page, total: int) -> HttpRequest | None:
        """The request after `page`, None where it was the last; `total` counts the items so far."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLink:
    """Follows a URL: of the Link header with rel=next, or found in the body by a JMESPath expression."""

    path: str | None = None

    def first(self, request: HttpRequest) -> HttpRequest:
        """As it is."""
        return request

    def next(self, request: HttpRequest, page: Page, total: int) -> HttpRequest | None:
        """The linked page; on another origin without the request's own headers and credentials."""
        del total
        link: Any
        if self.path is None:
            link = _next_of(value for name, value in page.response.raw_headers if name.lower() == "link")
        else:
            link = search(self.path, page.body)
        if link is None or link == "" or link is False:
            return None
        if not isinstance(link, str):
            raise _stuck(f"the next link at {self.path!r} is a {type(link).__name__}, not a URL")
        return _moved(request, page, link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Sends back a mark that each page gives for the next one."""

    path: str
    parameter: str
    place: Place = "query"

    def first(self, request: HttpRequest) -> HttpRequest:
        """As it is."""
        return request

    def next(self, request: HttpRequest, page: Page, total: int) -> HttpRequest | None:
        """With the page's mark; None where there is none."""
        del total
        mark = search(self.path, page.body)
        if mark is None or mark == "" or mark is False:
            return None
        if not isinstance(mark, (str, int, float)):
            raise _stuck(f"the cursor at {self.path!r} is a {type(mark).__name__}, not a text or number")
        return with_parameter(request, self.parameter, mark, self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """Counts: pages by one, or offsets by the items received. An empty page is the last."""

    parameter: str
    start: int
    by_items: bool
    size_parameter: str | None = None
    size: int | None = None
    place: Place = "query"

    def first(self, request: HttpRequest) -> HttpRequest:
        """With the first number, and the page size where one is set."""
        if self.size_parameter is not None and self.size is not None:
            request = with_parameter(request, self.size_parameter, self.size, self.place)
        return with_parameter(request, self.parameter, self.start, self.place)

    def next(self, request: HttpRequest, page: Page, total: int) -> HttpRequest | None:
        """With the next number."""
        if not page.items:
            return None
        number = self.start + (total if self.by_items else page.index + 1)
        return with_parameter(request, self.parameter, number, self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to stop, how often one page is tried again after a passing failure, and the most bytes of all pages."""

    max_pages: int = 1000
    max_items: int | None = None
    retries: int = 3
    delay: float = 0.0
    max_bytes: int | None = None


Fetch = Callable[[HttpRequest, int], Awaitable[tuple[HttpResponse, Any]]]
"""Sends the request of a page (by index) and gives the answer and its decoded body; raises `NodeError` when not ok."""


async def collect(
    request: HttpRequest,
    rule: Rule,
    fetch: Fetch,
    *,
    items_path: str | None = None,
    limits: Limits | None = None,
    until: Callable[[Page], bool] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Collected:
    """Fetch page after page and join their items.

    Args:
        request: the first page's request, before the rule's own parameters.
        rule: how pages follow each other.
        fetch: sends one page's request.
        items_path: JMESPath to the list in a page's body; without it the body itself must be the list.
        limits: when to stop.
        until: asked after each page; True stops.
        sleep: waits between tries and pages.

    Raises:
        NodeError: a page failed for good, or `pagination`: there is no list, or the pages do not advance.
    """
    limits = limits or Limits()
    found = Collected()
    seen: set[object] = set()
    wanted: HttpRequest | None = rule.first(request)
    previous: bytes | None = None
    size = 0
    while wanted is not None:
        _check_new(wanted, seen)
        response, body = await _fetch_page(wanted, found.pages, fetch, limits, sleep)
        page = Page(index=found.pages, response=response, body=body, items=_items(body, items_path))
        if isinstance(rule, Numbered) and page.items and response.body == previous:
            raise _stuck(
                f"page {page.index} is the same as the one before: the server ignores {rule.parameter!r}"
            )
        previous = response.body
        size += response.size
        if limits.max_bytes is not None and size > limits.max_bytes:
            raise _too_large(found.pages, limits.max_bytes)
        found.items += page.items
        found.pages += 1
        found.last = response
        found.elapsed_ms += response.elapsed_ms
        if until is not None and until(page):
            return found
        wanted = rule.next(wanted, page, len(found.items))
        if _enough(found, limits):
            most = limits.max_items or len(found.items)
            found.has_more = wanted is not None or len(found.items) > most
            del found.items[most:]
            return found
        if wanted is not None and limits.delay:
            await sleep(limits.delay)
    return found


def search(path: str, value: Any) -> Any:
    """What a JMESPath expression finds.

    Raises:
        NodeError: `pagination`, the expression is wrong.
    """
    try:
        return jmespath.search(path, value)
    except JMESPathError as error:
        raise _stuck(f"JMESPath {path!r} failed: {error}") from None


def with_parameter(request: HttpRequest, name: str, value: str | float, place: Place) -> HttpRequest:
    """The request with one parameter set, replacing what stood there under that name."""
    if place == "header":
        kept = [pair for pair in _pairs(request) if pair[0].lower() != name.lower()]
        return replace(request, headers=[*kept, (name, str(value))])
    if place == "body":
        return replace(request, body=_body_with(request, name, value))
    before, mark, query = request.url.partition("?")
    kept_query = "&".join(p for p in query.split("&") if p and unquote_plus(p.partition("=")[0]) != name)
    given: Iterable[tuple[str, Any]] = (
        request.query.items() if isinstance(request.query, Mapping) else request.query or ()
    )
    others: list[tuple[str, Any]] = [(key, entry) for key, entry in given if key != name]
    return replace(request, url=before + mark + kept_query, query=[*others, (name, value)])


async def _fetch_page(
    request: HttpRequest,
    index: int,
    fetch: Fetch,
    limits: Limits,
    sleep: Callable[[float], Awaitable[None]],
) -> tuple[HttpResponse, Any]:
    tries = 0
    while True:
        try:
            return await fetch(request, index)
        except NodeError as error:
            pause = min(2.0**tries, LONGEST_PAUSE) if error.retry_after is None else error.retry_after
            if not error.retryable or tries >= limits.retries or pause > LONGEST_PAUSE:
                raise _on_page(error, index) from error
            tries += 1
            await sleep(pause)


def _on_page(error: NodeError, index: int) -> NodeError:
    return NodeError(
        f"page {index}: {error.message}",
        kind=error.kind,
        retryable=error.retryable,
        retry_after=error.retry_after,
    )


def _items(body: Any, path: str | None) -> list[Any]:
    items = body if path is None or body is None else search(path, body)
    if isinstance(items, list):
        return items
    if items is None and not isinstance(body, (str, int, float)):
        others = _lists(body) if path is not None else []
        if others:
            raise _stuck(
                f"'items' {path!r} finds nothing; the body has a list at {' and '.join(map(repr, others[:5]))}"
            )
        return []  # an empty list is often left out, or null
    if path is not None:
        raise _stuck(f"'items' {path!r} finds a {type(items).__name__}, not a list")
    known = f"; the body has {', '.join(map(repr, list(body)[:10]))}" if isinstance(body, dict) else ""
    raise _stuck(
        f"the body is a {type(body).__name__}, not a list: set 'items' to the path of the list{known}"
    )


def _lists(body: Any, path: str = "") -> list[str]:
    """Where an answer holds entries: the paths of its lists of objects, two levels deep."""
    if not isinstance(body, dict):
        return []
    found: list[str] = []
    for key, value in body.items():
        where = f"{path}.{key}".removeprefix(".")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            found.append(where)
        elif not path:
            found += _lists(value, where)
    return found


def _enough(found: Collected, limits: Limits) -> bool:
    return found.pages >= limits.max_pages or (
        limits.max_items is not None and len(found.items) >= limits.max_items
    )


def _check_new(request: HttpRequest, seen: set[object]) -> None:
    body = request.body if isinstance(request.body, bytes) else b""
    digest = hashlib.sha256(body).digest()
    mark = (str(parse_url(request.url, request.query)), tuple(_pairs(request)), digest)
    if mark in seen:
        raise _stuck(f"{request.url!r} would be fetched again: the pages do not advance")
    seen.add(mark)


def _moved(request: HttpRequest, page: Page, link: str) -> HttpRequest:
    """The request for a link that came with a page; credentials stay with the origin that they were given for."""
    here = parse_url(page.response.url)
    there = join_url(here, link)
    if there.origin == parse_url(request.url).origin:
        return replace(request, url=str(there), query=None)
    headers = checked_headers(request.headers)
    if (
        here.scheme == "https"
        and there.scheme == "http"
        and (request.auth is not None or has_credentials(headers))
    ):
        raise _stuck(f"the next link leads from https to http at {there.host!r}")
    return replace(request, url=str(there), query=None, auth=None, headers=kept_across_origins(headers))


def _pairs(request: HttpRequest) -> Pairs:
    return list(request.headers.items()) if isinstance(request.headers, Mapping) else list(request.headers)


def _body_with(request: HttpRequest, name: str, value: str | float) -> bytes:
    if not isinstance(request.body, bytes):
        raise _stuck(f"{name!r} is to be set in the body, but the request has none")
    try:
        data = json.loads(request.body)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise _stuck(f"{name!r} is to be set in the body, which is no JSON object")
    inner = data
    *parents, last = name.split(".")
    for parent in parents:
        inner = inner.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise _stuck(f"{name!r} cannot be set in the body: {parent!r} is no object")
    inner[last] = value
    return json_body(data).content or b""


def _next_of(values: Iterable[str]) -> str | None:
    """The URL with rel=next in Link headers (RFC 8288)."""
    for value in values:
        for url, parameters in _LINK.findall(value):
            if _REL_NEXT.search(parameters):
                return str(url)
    return None


def _too_large(pages: int, limit: int) -> NodeError:
    return NodeError(
        f"the first {pages + 1} pages together have more than {limit} bytes; stop earlier by max_items, max_pages or until.",
        kind="too_large",
        retryable=False,
    )


def _stuck(why: str) -> NodeError:
    return NodeError(f"paging failed: {why}.", kind="pagination", retryable=False)
