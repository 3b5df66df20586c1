"""What every request passes first: the name it asks for, the page that sends it, and the size of its body."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interlace.flows.settings import Settings
from interlace.server.api.files import MAX_BYTES, PATH
from interlace.server.problems import ApiError, problem

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_FORM_BYTES = 10_000
"""What a multipart form adds to the file in it."""


class Guard:
    """ASGI middleware.

    A page of another site can make a browser send requests here. Its name for this server is not ours when the site
    rebinds its own name to this address, and its origin is not ours in any other case.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._limit = settings.max_request
        self._names = names(settings)
        public = urlsplit(settings.public_url or "")
        self._public = f"{public.scheme}://{public.netloc}".lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request, pass the others on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._check_name(headers)
            self._check_origin(scope, headers)
            limit = MAX_BYTES + _FORM_BYTES if scope["path"] == PATH else self._limit
            _check_length(headers, limit)
        except ApiError as error:
            await problem(error.status, error.code, error.detail)(scope, receive, send)
            return
        await self._app(scope, _limited(receive, limit), send)

    def _check_name(self, headers: Mapping[str, str]) -> None:
        name = _host(headers.get("host", ""))
        if self._names is not None and name not in self._names:
            raise ApiError(
                421, "wrong_host",
                f"this server is not called {name!r}; an operator may add the name with INTERLACE_HOSTS",
            )  # fmt: skip

    def _check_origin(self, scope: Scope, headers: Mapping[str, str]) -> None:
        if scope["method"] in _READING:
            return
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        own = f"{scope['scheme']}://{headers.get('host', '')}".lower()
        if origin is not None and origin.lower() not in (own, self._public):
            raise ApiError(403, "cross_origin", f"requests from pages of {origin} are not accepted")
        if origin is None and site not in ("same-origin", "none"):
            raise ApiError(403, "cross_origin", "requests from pages of other sites are not accepted")


def is_local(host: str) -> bool:
    """Whether what listens on this address is reached from its own machine only."""
    try:
        return host in _LOCAL or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names(settings: Settings) -> frozenset[str] | None:
    """The names this server answers to; None for any."""
    if "*" in settings.hosts:
        return None
    if not is_local(settings.host) and not settings.hosts and settings.public_url is None:
        return None
    public = urlsplit(settings.public_url or "").hostname
    return _LOCAL | {settings.host, *([public] if public else ())} | {name.lower() for name in settings.hosts}


def _host(header: str) -> str:
    """The name in a Host header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def _check_length(headers: Mapping[str, str], limit: int) -> None:
    length = headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length) > limit:
        raise _too_large(limit)


def _limited(receive: Receive, limit: int) -> Receive:
    """The same messages; a body that is longer than it said, or did not say, ends at the limit."""
    size = 0

    async def next_message() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            # FastAPI takes any other error at this point for a body that cannot be parsed.
            raise HTTPException(413, _too_large(limit).detail)
        return message

    return next_message


def _too_large(limit: int) -> ApiError:
    return ApiError(413, "too_large", f"a request body may have {limit:,} bytes here")
