"""A small HTTP/1.1 server on loopback for tests: real sockets, every answer under the test's control."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came in; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def path(self) -> str:
        """The target without query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        """The query parameters."""
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. `raw` is written as it is instead, `pieces` one by one; `close` ends the connection after it."""

    status: int = 200
    body: bytes = b""
    headers: Sequence[tuple[str, str]] = ()
    raw: bytes | None = None
    pieces: AsyncIterator[bytes] | None = None
    close: bool = False

    @classmethod
    def of(cls, value: Any, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Reply:
        """A JSON answer."""
        return cls(status, json.dumps(value).encode(), [("Content-Type", "application/json"), *headers])


Handler = Callable[[Received], Reply | Awaitable[Reply]]


@dataclass(slots=True)
class Server:
    """A running server: where it listens, and all it received."""

    port: int
    scheme: str = "http"
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    writers: set[asyncio.StreamWriter] = field(default_factory=set)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a connection ended."""

    @property
    def url(self) -> str:
        """Scheme, address and port, without a path."""
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def drop_connections(self) -> None:
        """Close all open connections from this side."""
        for writer in list(self.writers):
            writer.close()


@asynccontextmanager
async def serve(
    handler: Handler, *, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[Server]:
    """Answer requests with `handler` while the block runs, on a free port unless one is given."""
    server = Server(0, "https" if tls else "http")
    tasks: set[asyncio.Task[Any]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server.connections += 1
        server.writers.add(writer)
        try:
            await _converse(server, handler, reader, writer, server.connections)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass  # the client left, or the block ended
        finally:
            server.writers.discard(writer)
            server.left.set()
            writer.transport.abort()
            tasks.discard(task)

    listener = await asyncio.start_server(connected, "127.0.0.1", port, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)


async def _converse(
    server: Server,
    handler: Handler,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    connection: int,
) -> None:
    while (received := await _receive(reader, connection)) is not None:
        server.requests.append(received)
        answer = handler(received)
        reply = answer if isinstance(answer, Reply) else await answer
        if reply.pieces is not None:
            async for piece in reply.pieces:
                writer.write(piece)
                await writer.drain()
        else:
            writer.write(_encoded(reply, received.method))
            await writer.drain()
        if reply.close:
            return


async def _receive(reader: asyncio.StreamReader, connection: int) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _version = first.split(" ")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    if headers.get("transfer-encoding") == "chunked":
        body = await _chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method=method, target=target, headers=headers, body=body, connection=connection)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body


def _encoded(reply: Reply, method: str) -> bytes:
    if reply.raw is not None:
        return reply.raw
    names = {name.lower() for name, _ in reply.headers}
    lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    if not names & {"content-length", "transfer-encoding"} and reply.status not in {204, 304}:
        lines.append(f"Content-Length: {len(reply.body)}")
    if reply.close:
        lines.append("Connection: close")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    return head if method == "HEAD" else head + reply.body
