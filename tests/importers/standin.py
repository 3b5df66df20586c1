"""A real HTTP server on loopback that stands in for the APIs of imported workflows."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


Answer = Callable[[Request], Any]


@dataclass
class StandIn:
    """`routes` maps `GET /path` to a value (JSON; a text as HTML) or a function of the request; a pair is a status and a value."""

    routes: Mapping[str, Any]
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def asked(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    def _answer(self, request: Request) -> tuple[int, Any]:
        found = self.routes.get(f"{request.method} {request.path}", (404, {"message": "no such path"}))
        found = found(request) if callable(found) else found
        return found if isinstance(found, tuple) else (200, found)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stand = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self) -> None:
                length = int(self.headers.get("content-length", 0))
                raw = self.rfile.read(length).decode()
                try:
                    body = json.loads(raw) if raw else None
                except ValueError:
                    body = raw
                split = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(split.query).items()}
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, split.path, query, headers, body)
                stand.requests.append(request)
                status, value = stand._answer(request)
                media = "text/html" if isinstance(value, str) else "application/json"
                content = value.encode() if isinstance(value, str) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", media)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815 - the base's names

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
                pass

        return Handler
