from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

import pytest

from interlace.resources.http.stream import Stream, dial
from interlace.resources.http.wire import BrokenError, ConnectError, SendError, SilenceError

HERE = ip_address("127.0.0.1")
NOBODY = ip_address("::1")
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(talk: Talk) -> AsyncIterator[int]:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()

    listener = await asyncio.start_server(connected, "127.0.0.1", 0, limit=4096)
    async with listener:
        yield listener.sockets[0].getsockname()[1]


async def until_closed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def test_a_peer_that_sends_faster_than_it_is_read_is_held_back() -> None:
    blocked = asyncio.Event()
    size = 30_000_000

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(bytes(size))
        blocked.set()
        await writer.drain()
        await reader.read()

    async with listening(flood) as port:
        stream = await dial([HERE], port, 5)
        await blocked.wait()
        first = await stream.read(1000)
        for _ in range(100):  # nothing is read meanwhile, and what piles up stays bounded
            await asyncio.sleep(0)
        assert len(stream._wire.buffer) < 2_000_000
        got = len(first)
        while got < size:
            got += len(await stream.read(65536))
        assert got == size
        stream.close()


async def test_a_peer_that_reads_slowly_makes_the_sender_wait() -> None:
    may_read = asyncio.Event()
    received = 0

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        await may_read.wait()
        while data := await reader.read(65536):
            received += len(data)
            if received == 20_000_000:
                writer.write(b"done")

    async with listening(slow) as port:
        stream = await dial([HERE], port, 5)
        sending = asyncio.create_task(stream.write(bytes(20_000_000)))
        await asyncio.sleep(0)
        assert not sending.done()
        may_read.set()
        await sending
        assert await stream.read(100) == b"done"
        stream.close()


async def test_a_peer_that_takes_nothing_is_given_up() -> None:
    forever = asyncio.Event()

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await forever.wait()

    async with listening(deaf) as port:
        stream = await dial([HERE], port, 5)
        with pytest.raises(SilenceError, match=r"nothing could be sent for 0\.05 s"):
            await stream.write(bytes(20_000_000), 0.05)
        stream.close()
        forever.set()


async def test_a_peer_that_leaves_while_we_send() -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)

    async with listening(leave) as port:
        stream = await dial([HERE], port, 5)
        with pytest.raises(SendError):
            await stream.write(bytes(20_000_000))
        with pytest.raises(SendError, match="closed"):
            await stream.write(b"more")
        assert stream.has_news


async def test_a_reset_is_an_error_and_a_goodbye_the_end() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.read(1) == b"r":
            raw = writer.transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    async with listening(reset) as port:
        stream = await dial([HERE], port, 5)
        await stream.write(b"r")
        with pytest.raises(BrokenError):
            await stream.read(10)
        stream = await dial([HERE], port, 5)
        await stream.write(b"e")
        assert await stream.read(10) == b""
        stream.close()


async def test_a_tls_handshake_that_never_comes_is_given_up() -> None:
    context = ssl.create_default_context()
    async with listening(until_closed) as port:
        stream = await dial([HERE], port, 5)
        with pytest.raises(SilenceError, match=r"no TLS handshake within 0\.05 s"):
            await stream.start_tls(context, "a.example", 0.05)


async def test_a_peer_that_leaves_in_the_tls_handshake() -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)

    async with listening(leave) as port:
        stream = await dial([HERE], port, 5)
        with pytest.raises(ConnectError, match="handshake"):
            await stream.start_tls(ssl.create_default_context(), "a.example", 5)


async def test_cancelling_a_tls_handshake_closes_the_connection() -> None:
    left = asyncio.Event()

    async def watch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            left.set()

    async with listening(watch) as port:
        stream = await dial([HERE], port, 5)
        task = asyncio.create_task(stream.start_tls(ssl.create_default_context(), "a.example", 5))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(left.wait(), 5)


async def test_the_first_address_that_answers_wins() -> None:
    async with listening(until_closed) as port:
        for addresses in ([NOBODY, HERE], [HERE, NOBODY], [NOBODY, NOBODY, HERE, HERE]):
            stream = await dial(addresses, port, 5)
            assert isinstance(stream, Stream)
            stream.close()


async def test_no_address_answers() -> None:
    async with listening(until_closed) as port:
        pass
    for addresses in ([HERE], [NOBODY, HERE]):
        with pytest.raises(ConnectError):
            await dial(addresses, port, 5)


@pytest.fixture
def full() -> Iterator[int]:
    """The port of a listener whose queue is full: connecting to it neither works nor fails."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    waiting = []
    for _ in range(4):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(listener.getsockname())
        waiting.append(client)
    yield listener.getsockname()[1]
    for client in waiting:
        client.close()
    listener.close()


async def test_an_address_that_says_nothing_is_given_up(full: int) -> None:
    with pytest.raises(SilenceError, match=r"no connection within 0\.1 s"):
        await dial([HERE], full, 0.1)


async def test_an_address_that_says_nothing_is_overtaken(full: int) -> None:
    other = socket.socket(socket.AF_INET6)
    try:
        other.bind(("::1", full))
    except OSError:
        pytest.skip("no IPv6 loopback here")
    other.listen()
    stream = await dial([HERE, NOBODY], full, 5)
    stream.close()
    other.close()
    await asyncio.sleep(0)
