"""Undoes Content-Encoding piece by piece, never holding more than one piece of a decompression bomb."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

from interlace.engine.errors import NodeError

ACCEPTED = "gzip, deflate"

_PIECE = 64 * 1024
_MOST_LAYERS = 3
_GZIP = 16 + zlib.MAX_WBITS
_ZLIB_HEADER = 2


class Decoder(Protocol):
    """Turns received bytes into content bytes."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Content of the next bytes, in pieces of bounded size."""
        ...

    def finish(self) -> None:
        """The end has come.

        Raises:
            NodeError: `bad_response`, the content is cut off.
        """
        ...


class _Inflate:
    """gzip (several members too) and deflate (with zlib's frame, or raw as some servers send it)."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._head = b""
        self._engine = zlib.decompressobj(_GZIP) if gzip else None
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._started = self._started or bool(data)
        if self._engine is None:
            self._head += data
            if len(self._head) < _ZLIB_HEADER:
                return
            self._engine = zlib.decompressobj(zlib.MAX_WBITS if _is_zlib(self._head) else -zlib.MAX_WBITS)
            data = self._head
        while data:
            piece = _inflate(self._engine, data)
            if piece:
                yield piece
            if self._engine.eof:
                data = self._engine.unused_data
                if not self._gzip or not data.startswith(b"\x1f\x8b"):  # padding after the last member
                    return
                self._engine = zlib.decompressobj(_GZIP)
            else:
                data = self._engine.unconsumed_tail
                while not data and len(piece) == _PIECE:  # all input is taken, more output may be held back
                    piece = _inflate(self._engine, b"")
                    yield piece

    def finish(self) -> None:
        if self._started and (self._engine is None or not self._engine.eof):
            raise _damaged("it ends too early")


class _Chain:
    def __init__(self, layers: list[_Inflate]) -> None:
        self._layers = layers

    def feed(self, data: bytes) -> Iterator[bytes]:
        pieces: Iterable[bytes] = (data,)
        for layer in self._layers:
            pieces = _through(layer, pieces)
        yield from pieces

    def finish(self) -> None:
        for layer in self._layers:
            layer.finish()


def decoder(content_encoding: str) -> Decoder | None:
    """What undoes this Content-Encoding; None where there is nothing to undo.

    Raises:
        NodeError: `bad_response`, the encoding is one that was not asked for.
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in {"", "identity"}]
    if not names:
        return None
    if len(names) > _MOST_LAYERS or any(name not in {"gzip", "x-gzip", "deflate"} for name in names):
        raise NodeError(
            f"the answer has content-encoding {content_encoding[:80]!r}, accepted are {ACCEPTED}; "
            "leave the Accept-Encoding header to the client.",
            kind="bad_response",
            retryable=False,
        )
    return _Chain([_Inflate(gzip=name != "deflate") for name in reversed(names)])


def _through(layer: _Inflate, pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield from layer.feed(piece)


def _is_zlib(head: bytes) -> bool:
    return head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:_ZLIB_HEADER]) % 31 == 0


def _inflate(engine: zlib._Decompress, data: bytes) -> bytes:
    try:
        return engine.decompress(data, _PIECE)
    except zlib.error as error:
        raise _damaged(str(error)) from None


def _damaged(why: str) -> NodeError:
    return NodeError(f"the answer's compressed body is damaged: {why}.", kind="bad_response", retryable=True)
