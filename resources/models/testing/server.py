"""A real HTTP server on loopback that speaks the OpenAI wire format and answers by a script."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import orjson

from interlace.resources.http.testing import Received, serve
from interlace.resources.http.testing import Reply as Answer
from interlace.resources.models.testing import completions, embeddings, responses
from interlace.resources.models.testing.made import make
from interlace.resources.models.testing.script import Asked, Reply, Rule, Script

_START_SECONDS = 30.0
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}
_MESSAGES = {
    400: "The request is not valid.",
    401: "Incorrect API key provided.",
    404: "Not found.",
    408: "Request timeout.",
    429: "Rate limit reached for requests.",
    500: "The server had an error while processing your request.",
    503: "The engine is currently overloaded, please try again later.",
}
_PATHS = {
    "/v1/chat/completions": completions.refused,
    "/v1/responses": responses.refused,
    "/v1/embeddings": embeddings.refused,
}


class ScriptedModels:
    """Models that say what a script tells them to, as a context manager; it runs in a thread of its own.

    `url` is the base URL for clients, `requests` all that was asked, in order. A request that no rule matches is
    answered with status 500 and a message that shows it, so that no test passes by accident.

    Args:
        rules: a whole `Script`, or its rules, as objects or as they stand in a file; a text answers everything.
        port: where it listens; 0 takes a free port.
        settings: fields of `Script` (`models`, `api_key`, `dimensions`), where `rules` is not a whole one.
    """

    def __init__(
        self, rules: Script | Iterable[Rule | Mapping[str, Any]] | str = (), *, port: int = 0, **settings: Any
    ) -> None:
        if isinstance(rules, str):
            rules = [{"reply": rules}]
        self.script = (
            rules if isinstance(rules, Script) else Script.model_validate({"rules": list(rules)} | settings)
        )
        self.requests: list[Asked] = []
        self.url = ""
        self.port = port
        self._given: Counter[int] = Counter()
        self._arrived = threading.Condition()
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="scripted-models", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(_START_SECONDS)
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._end is not None:
            with suppress(RuntimeError):  # it ended by itself
                self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(_START_SECONDS)

    def wait_for(self, count: int, seconds: float = 30.0) -> None:
        """Wait until so many requests have arrived.

        Raises:
            TimeoutError: they did not.
        """
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, seconds):
                raise TimeoutError(f"{len(self.requests)} requests arrived, not {count}")

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - told to whoever starts it
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with serve(self._answer, port=self.port) as server:
            self.port, self.url = server.port, f"{server.url}/v1"
            self._ready.set()
            await self._end.wait()

    # -- one request ---------------------------------------------------------------------------------------------------

    async def _answer(self, received: Received) -> Answer:
        refusal = self._unauthorized(received)
        if refusal is not None:
            return refusal
        if received.method == "GET" and received.path.startswith("/v1/models"):
            return self._models(received.path)
        if received.method != "POST" or received.path not in _PATHS:
            return _error(404, f"Invalid URL ({received.method} {received.path})", code="unknown_url")
        try:
            body = orjson.loads(received.body)
        except orjson.JSONDecodeError:
            return _error(400, "We could not parse the JSON body of your request.")
        asked = Asked(received.path, body, received.headers)
        with self._arrived:
            self.requests.append(asked)
            self._arrived.notify_all()
        return self._refused(asked) or await self._scripted(asked)

    def _refused(self, asked: Asked) -> Answer | None:
        if asked.model not in self.script.models:
            return _error(
                404, f"The model `{asked.model}` does not exist.", code="model_not_found", param="model"
            )
        wrong = _PATHS[asked.path](asked)
        return None if wrong is None else _error(400, wrong[0], param=wrong[1])

    async def _scripted(self, asked: Asked) -> Answer:
        reply = self._choose(asked)
        if reply is None:
            if asked.path == "/v1/embeddings":
                return Answer.of(embeddings.whole(asked, self.script))
            return _error(
                500, f"no rule of the script matches: model {asked.model!r}, user {asked.user[:200]!r}"
            )
        if reply.delay:
            await asyncio.sleep(reply.delay)
        return self._reply(asked, reply)

    def _choose(self, asked: Asked) -> Reply | None:
        for index, rule in enumerate(self.script.rules):
            given = self._given[index]
            if (rule.times is None or given < rule.times) and rule.when.holds(asked):
                self._given[index] += 1
                return rule.answer(asked, given)
        return None

    def _reply(self, asked: Asked, reply: Reply) -> Answer:
        if reply.body is not None:
            headers = [("Content-Type", reply.media_type), *_waiting(reply)]
            return Answer(reply.status, reply.body.encode(), headers)
        if reply.status >= 400:  # noqa: PLR2004 - HTTP's boundary
            return _error(
                reply.status, reply.error, code=reply.code, param=reply.param, headers=_waiting(reply)
            )
        if asked.path == "/v1/embeddings":
            return Answer.of(embeddings.whole(asked, self.script))
        number = len(self.requests)
        made = make(asked, reply, number, int(time.time()))
        chat = asked.path == "/v1/chat/completions"
        if not asked.body.get("stream"):
            answer = (completions if chat else responses).whole(asked, reply, made)
            return _cut(Answer.of(answer)) if reply.cut is not None else Answer.of(answer)
        lines = (
            _chat_lines(completions.chunks(asked, reply, made), reply)
            if chat
            else _event_lines(responses.events(asked, reply, made))
        )
        return Answer(pieces=_streamed(lines, reply), close=True)

    def _models(self, path: str) -> Answer:
        known = [
            {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "scripted"}
            for name in self.script.models
        ]
        name = path.removeprefix("/v1/models").lstrip("/")
        if not name:
            return Answer.of({"object": "list", "data": known})
        found = next((entry for entry in known if entry["id"] == name), None)
        if found is None:
            return _error(404, f"The model `{name}` does not exist.", code="model_not_found", param="model")
        return Answer.of(found)

    def _unauthorized(self, received: Received) -> Answer | None:
        wanted = self.script.api_key
        if wanted is None or received.headers.get("authorization") == f"Bearer {wanted}":
            return None
        return _error(401, None, code="invalid_api_key")


def _waiting(reply: Reply) -> list[tuple[str, str]]:
    return [] if reply.retry_after is None else [("Retry-After", f"{reply.retry_after:g}")]


def _error(
    status: int,
    message: str | None,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: Iterable[tuple[str, str]] = (),
) -> Answer:
    text = message or _MESSAGES.get(status, "Something went wrong.")
    kind = _KINDS.get(status, "server_error")
    error = {"message": text, "type": kind, "param": param, "code": code}
    return Answer.of({"error": error}, status, list(headers))


def _chat_lines(chunks: Iterator[dict[str, Any]], reply: Reply) -> Iterator[bytes]:
    for chunk in chunks:
        yield b"data: " + orjson.dumps(chunk) + b"\n\n"
    if not reply.no_done:
        yield b"data: [DONE]\n\n"


def _event_lines(events: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    for event in events:
        yield b"event: " + event["type"].encode() + b"\ndata: " + orjson.dumps(event) + b"\n\n"


async def _streamed(lines: Iterator[bytes], reply: Reply) -> AsyncIterator[bytes]:
    """A chunked body; one that is cut has no last chunk, and the chunk before it is half."""
    yield (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    for index, line in enumerate(lines):
        if index and reply.chunk_delay:
            await asyncio.sleep(reply.chunk_delay)
        if reply.cut is not None and index >= reply.cut:
            yield b"%x\r\n%b" % (len(line), line[: len(line) // 2])
            return
        yield b"%x\r\n%b\r\n" % (len(line), line)
    yield b"0\r\n\r\n"


def _cut(answer: Answer) -> Answer:
    """Half of an answer whose length promised all of it."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(
        answer.body
    )
    return Answer(raw=head + answer.body[: len(answer.body) // 2], close=True)
