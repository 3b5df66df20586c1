"""A real HTTP server on loopback that counts what it is asked for, and can be made to wait."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class Loopback:
    """`/anything` answers at once; `/hold/…` when `release` is set; `/echo` gives the request's headers back."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.busy = self.peak = 0
        """Requests in hand, now and at most."""
        self.reached = threading.Condition()
        self.release = threading.Event()
        self.hanging: set[str] = set()
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
        self.release.set()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def wait_for(self, path: str, count: int = 1, seconds: float = 30.0) -> None:
        """Wait until a path was asked for so often."""
        with self.reached:
            assert self.reached.wait_for(lambda: self.seen[path] >= count, seconds), (path, dict(self.seen))

    def hang(self, path: str) -> None:
        """From now on a path answers when `release` is set, like those under `/hold`."""
        self.hanging.add(path)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                self._answer()

            def _answer(self) -> None:
                with loopback.reached:
                    loopback.seen[self.path] += 1
                    number = loopback.seen[self.path]
                    loopback.busy += 1
                    loopback.peak = max(loopback.peak, loopback.busy)
                    loopback.reached.notify_all()
                if self.path.startswith("/hold") or self.path in loopback.hanging:
                    loopback.release.wait(60)
                with loopback.reached:
                    loopback.busy -= 1
                body: Any = {"path": self.path, "number": number}
                if self.path == "/echo":
                    body = {"headers": dict(self.headers.items())}
                status = int(self.path[8:]) if self.path.startswith("/status/") else 200
                content = json.dumps(body).encode()
                try:
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    self.close_connection = True  # whoever asked was killed meanwhile

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
                pass

        return Handler
