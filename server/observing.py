"""What every request leaves behind: a number, a span, a line of the log, and an id that its caller can name."""

from __future__ import annotations

import re
import secrets
import time
from typing import TYPE_CHECKING, Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interlace.engine import origin
from interlace.engine.origin import Trace

if TYPE_CHECKING:
    from interlace.flows.telemetry.metrics import Metrics
    from interlace.flows.telemetry.traces import Traces

NO_ROUTE: Final = "none"
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")
_QUIET: Final = frozenset({"/metrics", "/health/live", "/health/ready"})

log = structlog.get_logger("interlace.requests")


class Observing:
    """ASGI middleware, around all others.

    Paths hold ids and tokens, so that numbers, spans and lines name the pattern of the route instead.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics | None, traces: Traces | None, *, logged: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._traces = traces
        self._logged = logged

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note how it went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _given(headers) or secrets.token_hex(8)
        here, parent = self._place(headers)
        token = origin.asked.set(here)
        began, wall, status = time.perf_counter(), time.time_ns(), 500

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = request_id
            await send(message)

        try:
            with structlog.contextvars.bound_contextvars(request=request_id):
                await self._app(scope, receive, note)
                self._note(scope, status, time.perf_counter() - began)
        finally:
            origin.asked.reset(token)
            if self._traces is not None and here is not None and scope["path"] not in _QUIET:
                self._send(scope, here, parent, began=wall, status=status)

    def _place(self, headers: Headers) -> tuple[Trace | None, str]:
        """This request's place in a trace, and the span that it was sent from."""
        if self._traces is None:
            return None, ""
        outside = Trace.parse(headers.get("traceparent"))
        if outside is None:
            return Trace(secrets.token_hex(16), secrets.token_hex(8)), ""
        return Trace(outside.trace_id, secrets.token_hex(8), sampled=outside.sampled), outside.span_id

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = route_of(scope)
        if self._metrics is not None:
            self._metrics.request_ended(scope["method"], route, status, seconds)
        if self._logged and scope["path"] not in _QUIET:
            log.info(
                "request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1)
            )

    def _send(self, scope: Scope, here: Trace, parent: str, *, began: int, status: int) -> None:
        assert self._traces is not None
        route = route_of(scope)
        attributes = {
            "http.request.method": scope["method"], "http.route": route, "url.scheme": scope["scheme"],
            "server.address": Headers(scope=scope).get("host", ""),
        }  # fmt: skip
        name = f"{scope['method']} {route}"
        self._traces.request(
            name, here, parent, began=began, ended=time.time_ns(), status=status, attributes=attributes
        )


def route_of(scope: Scope) -> str:
    """The pattern of the route that a request came to."""
    found = getattr(scope.get("route"), "path_format", None)
    return NO_ROUTE if found is None else str(found)


def _given(headers: Headers) -> str | None:
    found = headers.get("x-request-id", "")
    return found if _ID.fullmatch(found) else None
