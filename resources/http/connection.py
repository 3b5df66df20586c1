"""One HTTP/1.1 connection: an exchange at a time, over a stream that the guard allowed."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable

import h11

from interlace.resources.http.stream import Stream
from interlace.resources.http.wire import BrokenError, MalformedError, SendError

_READ = 64 * 1024
_MAX_HEAD = 100 * 1024
_JOINED = 64 * 1024
_SWITCHING = 101

Raw = list[tuple[bytes, bytes]]
Body = bytes | AsyncIterable[bytes] | None


class Connection:
    """An open connection. After an answer was read to its end it is `idle` and may carry the next exchange.

    Args:
        stream: what it runs on.
        address: the checked address of the target that a forwarding proxy is told, in brackets where it is IPv6.
    """

    __slots__ = ("_wire", "address", "idle", "idle_since", "idle_timeout", "stream", "used")

    def __init__(self, stream: Stream, address: str | None = None) -> None:
        self.stream = stream
        self.address = address
        self.idle = True
        self.used = False
        """Whether it has carried an exchange before, so that the other side may be closing it just now."""
        self.idle_since = 0.0
        self.idle_timeout: float | None = None
        """Seconds without a byte after which the exchange under way is given up."""
        self._wire = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD)

    @property
    def is_stale(self) -> bool:
        """Whether the other side closed it, or sent what nobody asked for."""
        return self.stream.has_news

    async def exchange(
        self, method: str, target: bytes, headers: Iterable[tuple[str, str]], body: Body
    ) -> tuple[int, Raw]:
        """Send a request, give the answer's status and headers; the body follows by `piece`.

        Raises:
            MalformedError: the request is malformed.
            BrokenError, SilenceError: no proper answer came.
        """
        self.idle = False
        try:
            # HTTP's own reading of bytes beyond ASCII; what has no such form was refused before
            encoded = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
            head = self._wire.send(h11.Request(method=method, target=target, headers=encoded)) or b""
            await self._send(head, body)
        except h11.LocalProtocolError as error:
            raise MalformedError(str(error)) from error
        except SendError:
            pass  # the other side may have answered before it took everything; what it said is read now
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                return event.status_code, event.headers.raw_items()
            if not isinstance(event, h11.InformationalResponse) or event.status_code == _SWITCHING:
                raise BrokenError("it changed the protocol unasked")

    async def piece(self) -> bytes:
        """The next bytes of the body, `b""` at its end; errors as `exchange`."""
        while True:
            event = await self._event()
            if isinstance(event, h11.Data):
                if event.data:
                    return bytes(event.data)
                continue
            if self._wire.our_state is h11.DONE and self._wire.their_state is h11.DONE:
                self._wire.start_next_cycle()
                self.idle = self.used = True
            return b""

    @property
    def leftover(self) -> bytes:
        """Bytes that came after the answer to a CONNECT and belong to the tunnel."""
        return self._wire.trailing_data[0]

    def close(self) -> None:
        """Close it, whatever is under way."""
        self.idle = False
        self.stream.close()

    async def _send(self, head: bytes, body: Body) -> None:
        write, limit = self.stream.write, self.idle_timeout
        if body is None or isinstance(body, bytes):
            framed = self._wire.send(h11.Data(data=body)) or b"" if body else b""
            end = self._wire.send(h11.EndOfMessage()) or b""
            if len(framed) > _JOINED:
                await write(head, limit)
                await write(framed, limit)
                await write(end, limit)
            else:
                await write(head + framed + end, limit)
            return
        await write(head, limit)
        async for part in body:
            await write(self._wire.send(h11.Data(data=part)) or b"", limit)
        await write(self._wire.send(h11.EndOfMessage()) or b"", limit)

    async def _event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        while True:
            try:
                event = self._wire.next_event()
            except h11.RemoteProtocolError as error:
                raise BrokenError(str(error)) from error
            if event is not h11.NEED_DATA:
                return event
            data = await self.stream.read(_READ, self.idle_timeout)
            if not data and self._wire.their_state is h11.SEND_RESPONSE:
                raise BrokenError("it closed the connection without an answer")
            self._wire.receive_data(data)
