"""The world outside, a language model included: a server that counts what it is asked for, by case and node, in no process that is ever killed."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_NOT_FOUND = frozenset({"missing", "ignored", "wide_small/0"})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # with the default of 5 a burst waits a second for the retry of its connection


def _said(asked: dict[str, Any]) -> str:
    """What a model answers, as a stream: it fetches the address it is asked about where it has tools, and says what came."""
    messages = asked["messages"]
    results = [message for message in messages if message["role"] == "tool"]
    said: dict[str, Any] = {"role": "assistant", "content": f"done after {len(results)} calls"}
    if asked.get("tools") and not results:
        function = {"name": "http_request", "arguments": json.dumps({"url": messages[-1]["content"]})}
        said = {
            "role": "assistant", "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        }  # fmt: skip
    reason = "tool_calls" if said.get("tool_calls") else "stop"
    for index, made in enumerate(said.get("tool_calls", ())):
        made["index"] = index
    whole = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]}
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    chunks: list[dict[str, Any]] = [
        {**whole, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**whole, "choices": [], "usage": usage},
    ]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


class Counter:
    """`/<case>/<name>` answers `{"name": <name>}`; `flaky` fails the first time, `hold…` waits until `release` is set."""

    def __init__(self) -> None:
        self.keys: dict[str, dict[str, list[str | None]]] = defaultdict(lambda: defaultdict(list))
        """By case and name: the idempotency keys of the calls, in order."""
        self.callbacks: dict[str, list[str]] = defaultdict(list)
        """By case: the callback URLs that were given to us."""
        self.reached = threading.Condition()
        self.release = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def base(self, case: str) -> str:
        """Where the nodes of a case call."""
        return f"http://127.0.0.1:{self.port}/{case}"

    @property
    def models(self) -> str:
        """Where language models are asked."""
        return self.base("models/v1")

    def counts(self, case: str) -> dict[str, int]:
        """How often each node of a case has called."""
        with self.reached:
            return {name: len(keys) for name, keys in self.keys[case].items()}

    def wait_for(self, case: str, name: str, count: int = 1, seconds: float = 30.0) -> None:
        """Wait until a node has called so often."""
        with self.reached:
            there = self.reached.wait_for(lambda: len(self.keys[case][name]) >= count, seconds)
            assert there, (case, name, {name: len(keys) for name, keys in self.keys[case].items()})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, path: str, key: str | None, body: bytes) -> tuple[int, Any]:
        case, _, name = path.strip("/").partition("/")
        if case == "models":
            return 200, _said(json.loads(body))
        if name == "callback_url":
            with self.reached:
                return 200, {"url": self.callbacks[case][-1]}
        with self.reached:
            number = len(self.keys[case][name])
            self.keys[case][name].append(key)
            if name == "order":
                self.callbacks[case].append(json.loads(body)["callback_url"])
            self.reached.notify_all()
        if name.startswith("hold"):
            self.release.wait(60)
        if name == "flaky" and number == 0:
            return 503, {"name": name}
        return 404 if name in _NOT_FOUND else 200, {"name": name}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        counter = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                status, answer = counter._answer(self.path, self.headers.get("idempotency-key"), body)
                streamed = isinstance(answer, str)
                content = (answer if streamed else json.dumps(answer)).encode()
                try:
                    self.send_response(status)
                    self.send_header("content-type", "text/event-stream" if streamed else "application/json")
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    self.close_connection = True  # whoever asked was killed meanwhile

            do_POST = do_PUT = do_GET

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
                pass

        return Handler
