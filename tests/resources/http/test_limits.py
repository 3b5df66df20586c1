from __future__ import annotations

import gzip
import zlib

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
