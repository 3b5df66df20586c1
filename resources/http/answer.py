"""An answer whose body is still on the wire: read in pieces, decoded, never beyond its limit."""

from __future__ import annotations

from collections.abc import AsyncIterator

from interlace.engine.errors import NodeError
from interlace.resources.http.connection import Connection, Raw
from interlace.resources.http.decoding import decoder
from interlace.resources.http.dialer import Route
from interlace.resources.http.header import Pairs
from interlace.resources.http.pool import Pool
from interlace.resources.http.url import Target
from interlace.resources.http.wire import WireError

_NO_BODY = frozenset({204, 304})
_DRAINED = 64 * 1024


class Answer:
    """Status and headers of an answer, and its body as a stream. Close it, or its connection stays taken."""

    def __init__(
        self,
        status: int,
        headers: Raw,
        *,
        target: Target,
        pool: Pool,
        route: Route,
        connection: Connection,
        limit: int,
        has_body: bool,
        redirects: list[str] | None = None,
    ) -> None:
        self.status = status
        self.raw_headers: Pairs = [(_text(name), _text(value)) for name, value in headers]
        self.target = target
        self._pool = pool
        self._route = route
        self._connection = connection
        self._limit = limit
        self._has_body = has_body and status not in _NO_BODY
        self._closed = False
        self.redirects = redirects or []

    def header(self, name: str) -> str | None:
        """The first value of a header, by its lower-case name."""
        return next((value for key, value in self.raw_headers if key.lower() == name), None)

    async def pieces(self, *, decode: bool = True) -> AsyncIterator[bytes]:
        """The body as it arrives.

        Raises:
            NodeError: `too_large` beyond the limit, counted after decoding; `bad_response` for a damaged encoding.
            WireError: it broke off.
        """
        self._check_announced()
        undo = decoder(self.header("content-encoding") or "") if decode else None
        size = 0
        while data := await self._connection.piece():
            for piece in undo.feed(data) if undo is not None else (data,):
                size += len(piece)
                if size > self._limit:
                    raise self._too_large("more")
                yield piece
        if undo is not None:
            undo.finish()

    async def read(self) -> bytes:
        """The whole body; errors as `pieces`."""
        found = [piece async for piece in self.pieces()]
        return found[0] if len(found) == 1 else b"".join(found)

    async def drain(self) -> None:
        """Read a short rest so that the connection can serve again, and close."""
        seen = 0
        try:
            while data := await self._connection.piece():
                seen += len(data)
                if seen > _DRAINED:
                    break
        except WireError:
            pass  # the connection is then not kept; nobody wanted this body
        finally:
            self.close()

    def close(self) -> None:
        """Give the connection back, or close it where the body was not read to its end."""
        if self._closed:
            return
        self._closed = True
        self._pool.release(self._route, self._connection)

    def _check_announced(self) -> None:
        if not self._has_body:
            return
        announced = self.header("content-length") or ""
        if announced.isascii() and announced.isdigit() and int(announced[:20]) > self._limit:
            raise self._too_large(f"{announced} bytes")

    def _too_large(self, size: str) -> NodeError:
        return NodeError(
            f"{self.target.scheme}://{self.target.host_header} answered with {size}, the limit for a body is {self._limit} "
            "bytes; ask for less, or raise the limit.",
            kind="too_large",
            retryable=False,
        )


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
