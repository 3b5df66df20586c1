"""A chat completions endpoint that costs little: `python -m bench.agents.server` prints its port.

While a conversation holds fewer than ten results of tools it asks for one call of `add` with fresh arguments; then it
answers `done`, at once where there is no `add`. `GET /stats` gives `{calls, busy_s}`: the time between the last byte of a request and the last of its
answer.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

CALLS = 10
"""Calls of tools in one conversation; it takes one model call more."""
_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def _message(done: int) -> dict[str, Any]:
    if done >= CALLS:
        return {"role": "assistant", "content": "done"}
    function = {"name": "add", "arguments": json.dumps({"a": done, "b": 1})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{done}", "type": "function", "function": function}],
    }


def answer(body: bytes) -> tuple[bytes, str]:
    """The answer to a request, and its media type."""
    asked = json.loads(body)
    done = sum(message["role"] == "tool" for message in asked["messages"])
    if all(tool["function"]["name"] != "add" for tool in asked.get("tools", ())):
        done = CALLS  # there is nothing to be added
    message = _message(done)
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    base = {"id": f"c{done}", "created": 1, "model": asked.get("model", "m")}
    if not asked.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = {**base, "object": "chat.completion", "usage": _USAGE, "choices": [choice]}
        return json.dumps(whole).encode(), "application/json"
    delta = dict(message)
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": 0, **delta["tool_calls"][0]}]
    chunk = {**base, "object": "chat.completion.chunk"}
    chunks: list[dict[str, Any]] = [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**chunk, "choices": [], "usage": _USAGE},
    ]
    text = b"".join(b"data: " + json.dumps(entry).encode() + b"\n\n" for entry in chunks)
    return text + b"data: [DONE]\n\n", "text/event-stream"


class Completions(asyncio.Protocol):
    """One connection, kept open."""

    stats = {"calls": 0, "busy_s": 0.0}  # noqa: RUF012 - of all connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._seen = b""

    def data_received(self, data: bytes) -> None:
        self._seen += data
        while b"\r\n\r\n" in self._seen:
            head, _, rest = self._seen.partition(b"\r\n\r\n")
            lines = head.lower().split(b"\r\n")
            length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
            if len(rest) < length:
                return
            self._seen = rest[length:]
            self._respond(head, rest[:length])

    def _respond(self, head: bytes, body: bytes) -> None:
        started = time.perf_counter()
        if head.startswith(b"GET"):
            text, kind = json.dumps(self.stats).encode(), "application/json"
        else:
            text, kind = answer(body)
        line = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n"
        self._transport.write(line.encode() + text)
        if not head.startswith(b"GET"):
            self.stats["calls"] += 1
            self.stats["busy_s"] += time.perf_counter() - started


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Completions, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
