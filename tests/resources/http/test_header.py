from __future__ import annotations

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient, HttpRequest
from interlace.resources.http.testing import Reply, serve


@pytest.mark.parametrize(
    "name",
    ["Host", "host", "Connection", "Transfer-Encoding", "TE", "Upgrade", "Proxy-Authorization", "Keep-Alive", "Trailer",
     "Expect", "Metadata-Flavor", "metadata", "X-aws-ec2-metadata-token", "X-AWS-EC2-Metadata-Token-TTL-Seconds",
     "X-Google-Metadata-Request", "bad name", "", "a:b", "ü"],
)  # fmt: skip
async def test_headers_that_belong_to_the_client_are_refused(client: HttpClient, name: str) -> None:
    with pytest.raises(NodeError) as caught:
        await client.send(HttpRequest(url="http://127.0.0.1:1/", headers={name: "x"}))
    assert (caught.value.kind, caught.value.retryable) == ("bad_header", False)


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", "日本"])
async def test_header_values_cannot_break_out(client: HttpClient, value: str) -> None:
    with pytest.raises(NodeError) as caught:
        await client.send(HttpRequest(url="http://127.0.0.1:1/", headers={"X-Test": value}))
    assert caught.value.kind == "bad_header"


async def test_a_method_cannot_break_out(client: HttpClient) -> None:
    async with serve(lambda request: Reply()) as server:
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(method="GET / HTTP/1.1\r\nX: ", url=server.url))
        assert caught.value.kind == "bad_header"
        assert not server.requests
