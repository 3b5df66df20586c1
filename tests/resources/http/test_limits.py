from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import AllowList, HttpClient, HttpRequest
from interlace.resources.http.testing import Received, Reply, serve


@pytest.mark.parametrize("announce", [True, False])
async def test_a_body_over_the_limit_is_refused(announce: bool) -> None:
    def answer(request: Received) -> Reply:
        if announce:
            return Reply(body=b"x" * 2000)
        return Reply(raw=b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000, close=True)

    client = HttpClient(allow=AllowList.parse("127.0.0.1"), max_body=1000)
    async with serve(answer) as server:
        with pytest.raises(NodeError, match="limit for a body is 1000 bytes") as caught:
            await client.send(HttpRequest(url=server.url))
        assert (caught.value.kind, caught.value.retryable) == ("too_large", False)
        assert (await client.send(HttpRequest(url=server.url, max_body=2000))).size == 2000
    await client.close()


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP", "deflate", "raw", "gzip, gzip"])
async def test_compressed_bodies_are_decoded(client: HttpClient, encoding: str) -> None:
    content = b"compress me " * 20_000
    packed = gzip.compress(content)
    if encoding == "deflate":
        packed = zlib.compress(content)
    elif encoding == "raw":
        packed = zlib.compress(content, wbits=-15)
    elif encoding == "gzip, gzip":
        packed = gzip.compress(packed)
    header = "deflate" if encoding == "raw" else encoding
    async with serve(lambda request: Reply(body=packed, headers=[("Content-Encoding", header)])) as server:
        response = await client.send(HttpRequest(url=server.url))
    assert response.body == content


@pytest.mark.parametrize("layers", [1, 2, 3])
async def test_a_decompression_bomb_stops_at_the_limit(client: HttpClient, layers: int) -> None:
    bomb = bytes(30_000_000)
    for _ in range(layers):
        bomb = gzip.compress(bomb, 9)
    encoding = ", ".join(["gzip"] * layers)
    async with serve(lambda request: Reply(body=bomb, headers=[("Content-Encoding", encoding)])) as server:
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(url=server.url))
    assert caught.value.kind == "too_large"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"not gzip at all"),
        ("gzip", gzip.compress(b"cut off" * 100, mtime=0)[:-12]),
        ("deflate", zlib.compress(b"cut off" * 100)[:-12]),
        ("deflate", b"\xff\xff\xff\xff"),
        ("br", b"x"),
        ("gzip, gzip, gzip, gzip", b"x"),
    ],
    ids=["no gzip", "cut gzip", "cut deflate", "no deflate", "unknown", "too many"],
)
async def test_a_damaged_or_unknown_compression_is_a_bad_response(
    client: HttpClient, encoding: str, body: bytes
) -> None:
    async with serve(lambda request: Reply(body=body, headers=[("Content-Encoding", encoding)])) as server:
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(url=server.url))
    assert caught.value.kind == "bad_response"


async def test_what_head_announces_is_not_counted(client: HttpClient) -> None:
    async with serve(lambda request: Reply(headers=[("Content-Length", "99000000")])) as server:
        response = await client.send(HttpRequest(method="HEAD", url=server.url))
    assert response.header("content-length") == "99000000"


@pytest.mark.parametrize(
    ("encoding", "body", "content"),
    [
        ("gzip", gzip.compress(b"one ") + gzip.compress(b"two"), b"one two"),
        ("gzip", gzip.compress(b"padded") + bytes(100), b"padded"),
        ("gzip", gzip.compress(b""), b""),
        ("deflate", zlib.compress(b"bytewise", wbits=-15), b"bytewise"),
        ("deflate", zlib.compress(b"bytewise"), b"bytewise"),
        ("deflate, gzip", gzip.compress(zlib.compress(b"both")), b"both"),
        ("identity", b"plain", b"plain"),
    ],
    ids=["members", "padding", "empty", "raw deflate", "deflate", "both", "identity"],
)
async def test_compressed_bodies_may_come_byte_by_byte(
    client: HttpClient, encoding: str, body: bytes, content: bytes
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        for byte in body:
            yield b"1\r\n" + bytes([byte]) + b"\r\n"
        yield b"0\r\n\r\n"

    async with serve(lambda request: Reply(pieces=pieces())) as server:
        assert (await client.send(HttpRequest(url=server.url))).body == content
