"""An OTLP receiver on loopback: it takes protobuf over HTTP, as a collector does, and keeps the spans."""

from __future__ import annotations

import gzip
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class Span:
    """A span as it came over the wire."""

    name: str
    trace_id: str
    span_id: str
    parent: str
    kind: int
    status: int
    began: int
    ended: int
    attributes: dict[str, Any]
    events: tuple[str, ...]
    resource: dict[str, Any]


class Collector:
    """`spans` is all that came; `wait_for` waits until a condition holds of them."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.headers: list[dict[str, str]] = []
        self.changed = threading.Condition()
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

    def named(self, name: str) -> Span:
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def wait_for(self, *names: str, seconds: float = 30.0) -> None:
        """Wait until spans of these names have come."""
        end = time.monotonic() + seconds
        with self.changed:
            while not set(names) <= {span.name for span in self.spans}:
                assert self.changed.wait(end - time.monotonic()), [span.name for span in self.spans]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_arguments: Any) -> None:
                return

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/traces"
                assert self.headers["content-type"] == "application/x-protobuf"
                found = _spans(body)
                with collector.changed:
                    collector.spans += found
                    collector.headers.append({name.lower(): value for name, value in self.headers.items()})
                    collector.changed.notify_all()
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        return Handler


def _spans(body: bytes) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        Span(
            name=span.name, trace_id=span.trace_id.hex(), span_id=span.span_id.hex(), parent=span.parent_span_id.hex(),
            kind=span.kind, status=span.status.code, began=span.start_time_unix_nano, ended=span.end_time_unix_nano,
            attributes=_values(span.attributes), events=tuple(event.name for event in span.events),
            resource=_values(of_resource.resource.attributes),
        )
        for of_resource in request.resource_spans
        for scope in of_resource.scope_spans
        for span in scope.spans
    ]  # fmt: skip


def _values(attributes: Any) -> dict[str, Any]:
    return {entry.key: getattr(entry.value, entry.value.WhichOneof("value")) for entry in attributes}
