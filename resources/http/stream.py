"""TCP and TLS streams on asyncio to addresses that were checked before."""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import Sequence

from interlace.resources.http.address import Address
from interlace.resources.http.wire import BrokenError, ConnectError, SendError, SilenceError

CONNECT_TIMEOUT = 10.0
_NEXT_ADDRESS_AFTER = 0.25
_READ_AHEAD = 256 * 1024
_CA_SETTINGS = "the CA can be given in the verify setting"


class _Wire(asyncio.Protocol):
    """Buffers what arrives, pauses the peer when nobody reads, and remembers how the connection ended."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.buffer = bytearray()
        self.ended = False
        self.error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._reading = True
        self._writing = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self._reading and len(self.buffer) > _READ_AHEAD and self.transport is not None:
            self._reading = False
            self.transport.pause_reading()
        self._wake(self._reader)

    def eof_received(self) -> bool:
        self.ended = True
        self._wake(self._reader)
        self._wake(self._writer)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self.error = self.error or exc
        self._wake(self._reader)
        self._wake(self._writer)

    def pause_writing(self) -> None:
        self._writing = False

    def resume_writing(self) -> None:
        self._writing = True
        self._wake(self._writer)

    def take(self, size: int) -> bytes:
        """Up to `size` of the bytes that have arrived."""
        if len(self.buffer) <= size:
            data = bytes(self.buffer)
            self.buffer.clear()
        else:
            data = bytes(self.buffer[:size])
            del self.buffer[:size]
        if not self._reading and len(self.buffer) <= _READ_AHEAD // 2 and self.transport is not None:
            self._reading = True
            if not self.transport.is_closing():
                self.transport.resume_reading()
        return data

    async def readable(self) -> None:
        """Wait until bytes, the end or an error are there."""
        while not self.buffer and not self.ended:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None

    async def writable(self) -> None:
        """Wait until the send buffer has room again."""
        while not self._writing and not self.ended:
            self._writer = asyncio.get_running_loop().create_future()
            try:
                await self._writer
            finally:
                self._writer = None

    @property
    def may_write(self) -> bool:
        """Whether more can be written without waiting."""
        return self._writing

    @staticmethod
    def _wake(waiter: asyncio.Future[None] | None) -> None:
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class Stream:
    """One connection."""

    def __init__(self, wire: _Wire) -> None:
        assert wire.transport is not None
        self._wire = wire
        self._transport: asyncio.Transport = wire.transport

    async def read(self, max_bytes: int, limit: float | None = None) -> bytes:
        """Bytes as they arrive, `b""` at the end."""
        wire = self._wire
        if not wire.buffer and not wire.ended:
            try:
                async with asyncio.timeout(limit):
                    await wire.readable()
            except TimeoutError:
                raise SilenceError(f"nothing arrived for {limit:g} s") from None
        if wire.buffer:
            return wire.take(max_bytes)
        if wire.error is not None:
            raise BrokenError(str(wire.error) or type(wire.error).__name__) from wire.error
        return b""

    async def write(self, buffer: bytes, limit: float | None = None) -> None:
        """Send bytes; waits while the peer takes none."""
        if not buffer:
            return
        if self._transport.is_closing():
            raise SendError("the connection is closed")
        self._transport.write(buffer)
        if self._wire.may_write:
            return
        try:
            async with asyncio.timeout(limit):
                await self._wire.writable()
        except TimeoutError:
            raise SilenceError(f"nothing could be sent for {limit:g} s") from None
        if self._wire.ended and not self._wire.may_write:
            raise SendError("the connection was closed while sending")

    def close(self) -> None:
        """Close at once; a TLS goodbye would wait for the peer's."""
        self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        limit: float | None = None,
    ) -> Stream:
        """The same connection under TLS; closes it where the handshake fails."""
        loop = asyncio.get_running_loop()
        if self._wire.buffer:  # would be lost, or taken for protected
            self._transport.abort()
            raise ConnectError(f"TLS handshake with {server_hostname!r} failed: it speaks something else")
        try:
            async with asyncio.timeout(limit):
                transport = await loop.start_tls(
                    self._transport, self._wire, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError:
            self._transport.abort()
            raise SilenceError(f"no TLS handshake within {limit:g} s") from None
        except ssl.SSLCertVerificationError as error:
            self._transport.abort()
            why = error.verify_message
            raise ConnectError(f"certificate of {server_hostname!r}: {why}; {_CA_SETTINGS}") from error
        except OSError as error:  # ssl.SSLError is one
            self._transport.abort()
            raise ConnectError(f"TLS handshake with {server_hostname!r} failed: {error}") from error
        except BaseException:
            self._transport.abort()
            raise
        if transport is None:  # the peer left between the handshake and here
            raise ConnectError(f"{server_hostname!r} closed the connection in the TLS handshake")
        self._wire.transport = transport
        return Stream(self._wire)

    @property
    def has_news(self) -> bool:
        """Whether the peer closed the stream, or wrote to it unasked: an idle one is then of no more use."""
        return (
            bool(self._wire.ended or self._wire.buffer or self._transport.is_closing())
            or self._waits_in_kernel()
        )

    def _waits_in_kernel(self) -> bool:
        """Whether the kernel holds bytes or the peer's goodbye that the event loop has not seen yet."""
        number = self._transport.get_extra_info("socket").fileno()
        if not hasattr(select, "poll"):  # Windows
            return bool(select.select([number], [], [], 0)[0])
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return bool(poll.poll(0))


async def dial(addresses: Sequence[Address], port: int, limit: float) -> Stream:
    """Connect to the first address that answers; a slow one is overtaken by the next after 250 ms.

    Raises:
        ConnectError: none answers; the message is the first one's.
        SilenceError: none answered within `limit` seconds.
    """
    try:
        async with asyncio.timeout(limit):
            if len(addresses) == 1:
                return await _dial_one(addresses[0], port)
            return await _race(addresses, port)
    except TimeoutError:
        raise SilenceError(f"no connection within {limit:g} s") from None
    except OSError as error:
        raise ConnectError(error.strerror or str(error)) from error


async def _dial_one(address: Address, port: int) -> Stream:
    _, wire = await asyncio.get_running_loop().create_connection(_Wire, str(address), port)
    return Stream(wire)


async def _race(addresses: Sequence[Address], port: int) -> Stream:
    waiting = list(_alternating(addresses))
    running: set[asyncio.Task[Stream]] = set()
    failure: OSError | None = None
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.create_task(_dial_one(waiting.pop(0), port)))
            pause = _NEXT_ADDRESS_AFTER if waiting else None
            done, running = await asyncio.wait(running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            winner: Stream | None = None
            for task in done:
                error = task.exception()
                if isinstance(error, OSError):
                    failure = failure or error
                elif error is not None:
                    raise error
                elif winner is None:
                    winner = task.result()
                else:
                    task.result().close()
            if winner is not None:
                return winner
        assert failure is not None
        raise failure
    finally:
        for task in running:
            task.cancel()
            task.add_done_callback(_close_late)


def _close_late(task: asyncio.Task[Stream]) -> None:
    """A loser that connected in the very moment it was cancelled."""
    if not task.cancelled() and task.exception() is None:
        task.result()._transport.abort()  # noqa: SLF001 - same module


def _alternating(addresses: Sequence[Address]) -> list[Address]:
    """The families by turns, so that a broken IPv6 route costs one pause and not one for each address."""
    first = [a for a in addresses if a.version == addresses[0].version]
    second = [a for a in addresses if a.version != addresses[0].version]
    mixed: list[Address] = []
    for index in range(max(len(first), len(second))):
        mixed += first[index : index + 1] + second[index : index + 1]
    return mixed
