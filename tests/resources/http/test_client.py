from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import AllowList, HttpClient, HttpRequest, Unanswered
from interlace.resources.http.testing import Received, Reply, serve


def hello(request: Received) -> Reply:
    return Reply(
        body=b"hello", headers=[("X-One", "1"), ("x-one", "2"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    )


async def test_a_get_gives_status_headers_body_and_url(client: HttpClient) -> None:
    async with serve(hello) as server:
        response = await client.send(HttpRequest(url=f"{server.url}/a b", query={"q": "ü"}))
    assert (response.status, response.body, response.text(), response.size, response.ok) == (
        200,
        b"hello",
        "hello",
        5,
        True,
    )
    assert response.url == f"{server.url}/a%20b?q=%C3%BC"
    assert response.headers() == {"x-one": "1, 2", "set-cookie": ["a=1", "b=2"], "content-length": "5"}
    assert response.header("X-ONE") == "1, 2"
    assert response.header("absent") is None
    assert 0 < response.elapsed_ms < 5000
    sent = server.requests[0].headers
    assert sent["host"] == f"127.0.0.1:{server.port}"
    assert sent["user-agent"].startswith("Interlace/")
    assert sent["accept-encoding"] == "gzip, deflate"
    assert "content-length" not in sent


@pytest.mark.parametrize("method", ["POST", "put", "PATCH", "DELETE"])
async def test_bodies_are_sent_with_their_length(client: HttpClient, method: str) -> None:
    async with serve(hello) as server:
        await client.send(
            HttpRequest(method=method, url=server.url, body=b"abc", headers={"Content-Length": "99"})
        )
        await client.send(HttpRequest(method=method, url=server.url))
    assert server.requests[0].method == method.upper()
    assert server.requests[0].body == b"abc"
    assert server.requests[0].headers["content-length"] == "3"
    assert server.requests[1].headers.get("content-length") == (None if method == "DELETE" else "0")


async def test_a_streamed_body_goes_out_in_chunks(client: HttpClient) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"

    async with serve(hello) as server:
        await client.send(HttpRequest(method="POST", url=server.url, body=pieces()))
        await client.send(
            HttpRequest(method="POST", url=server.url, body=pieces(), headers={"Content-Length": "7"})
        )
    assert [r.body for r in server.requests] == [b"one two", b"one two"]
    assert server.requests[0].headers["transfer-encoding"] == "chunked"
    assert "transfer-encoding" not in server.requests[1].headers


async def test_head_204_and_empty_answers_have_no_body(client: HttpClient) -> None:
    def answer(request: Received) -> Reply:
        if request.method == "HEAD":
            return Reply(headers=[("Content-Length", "12345"), ("Content-Encoding", "gzip")])
        return Reply(204) if request.path == "/204" else Reply()

    async with serve(answer) as server:
        assert (await client.send(HttpRequest(method="HEAD", url=server.url))).body == b""
        assert (await client.send(HttpRequest(url=f"{server.url}/204"))).status == 204
        assert (await client.send(HttpRequest(url=f"{server.url}/empty"))).body == b""
    assert server.connections == 1


async def test_chunked_answers_and_answers_until_close(client: HttpClient) -> None:
    def answer(request: Received) -> Reply:
        if request.path == "/chunked":
            return Reply(
                raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
            )
        return Reply(raw=b"HTTP/1.0 200 OK\r\n\r\nuntil the end", close=True)

    async with serve(answer) as server:
        assert (await client.send(HttpRequest(url=f"{server.url}/chunked"))).body == b"abcde"
        assert (await client.send(HttpRequest(url=f"{server.url}/close"))).body == b"until the end"


async def test_a_large_body_arrives_whole(client: HttpClient) -> None:
    large = bytes(range(256)) * 3900
    async with serve(lambda request: Reply(body=large)) as server:
        response = await client.send(HttpRequest(method="POST", url=server.url, body=large))
    assert response.body == large
    assert server.requests[0].body == large


async def test_connections_are_kept_and_shared(client: HttpClient) -> None:
    async with serve(hello) as server:
        for _ in range(3):
            await client.send(HttpRequest(url=server.url))
        assert server.connections == 1
        await asyncio.gather(*(client.send(HttpRequest(url=server.url)) for _ in range(20)))
        assert len(server.requests) == 23
        assert server.connections <= 20


async def test_a_connection_closed_by_the_server_is_not_used_again(client: HttpClient) -> None:
    async with serve(hello) as server:
        await client.send(HttpRequest(method="POST", url=server.url))
        server.drop_connections()
        while server.writers:  # noqa: ASYNC110 - the kernel has the goodbye then, whether our loop saw it or not
            await asyncio.sleep(0)
        assert (await client.send(HttpRequest(method="POST", url=server.url))).status == 200
        assert server.connections == 2


async def test_a_kept_connection_that_dies_under_the_request_is_replaced_if_that_is_safe(
    client: HttpClient,
) -> None:
    def answer(request: Received) -> Reply:
        seen = [r for r in server.requests if r.connection == request.connection]
        return Reply(raw=b"", close=True) if len(seen) > 1 else hello(request)

    async with serve(answer) as server:
        await client.send(HttpRequest(url=server.url))
        assert (await client.send(HttpRequest(url=server.url))).status == 200
        assert server.connections == 2
        with pytest.raises(Unanswered) as caught:
            await client.send(HttpRequest(method="POST", url=server.url))
        assert caught.value.kind == "connection"
        assert server.connections == 2
        await client.send(HttpRequest(url=server.url))
        assert (await client.send(HttpRequest(method="POST", url=server.url, repeatable=True))).status == 200


async def test_a_fresh_connection_that_dies_is_an_error_at_once(client: HttpClient) -> None:
    async with serve(lambda request: Reply(raw=b"", close=True)) as server:
        with pytest.raises(Unanswered, match="without an answer") as caught:
            await client.send(HttpRequest(url=server.url))
        assert (caught.value.kind, caught.value.retryable, len(server.requests)) == ("connection", True, 1)


async def test_a_refused_connection_is_known_not_to_have_been_sent(client: HttpClient) -> None:
    async with serve(hello) as server:
        url = server.url
    with pytest.raises(NodeError) as caught:
        await client.send(HttpRequest(method="POST", url=url))
    assert (caught.value.kind, caught.value.retryable) == ("connection", True)
    assert not isinstance(caught.value, Unanswered)


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * 200_000,
    ],
)
async def test_a_malformed_answer_is_a_connection_error(client: HttpClient, raw: bytes) -> None:
    async with serve(lambda request: Reply(raw=raw, close=True)) as server:
        with pytest.raises(Unanswered) as caught:
            await client.send(HttpRequest(url=server.url))
        assert caught.value.kind == "connection"


async def test_a_server_that_trickles_hits_the_deadline(client: HttpClient) -> None:
    async def trickle() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        while True:
            yield b"x"
            await asyncio.sleep(0.02)

    async with serve(lambda request: Reply(pieces=trickle())) as server:
        with pytest.raises(Unanswered, match=r"within 0\.15 s") as caught:
            await client.send(HttpRequest(url=server.url, timeout=0.15))
        assert (caught.value.kind, caught.value.retryable) == ("timeout", True)


async def test_a_server_that_says_nothing_hits_the_idle_time_out(client: HttpClient) -> None:
    async def silent(request: Received) -> Reply:
        await asyncio.Event().wait()
        return Reply()

    async with serve(silent) as server:
        with pytest.raises(Unanswered, match="nothing arrived") as caught:
            await client.send(HttpRequest(url=server.url, idle_timeout=0.05))
        assert caught.value.kind == "timeout"


async def test_cancelling_frees_the_connection(client: HttpClient) -> None:
    arrived = asyncio.Event()

    async def silent(request: Received) -> Reply:
        if not arrived.is_set():
            arrived.set()
            await asyncio.Event().wait()
        return Reply()

    async with serve(silent) as server:
        task = asyncio.create_task(client.send(HttpRequest(url=server.url)))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.send(HttpRequest(url=server.url))
        assert server.connections == 2


async def test_the_body_can_be_streamed_away(client: HttpClient) -> None:
    taken: list[bytes] = []

    async def take(piece: bytes) -> None:
        taken.append(piece)

    async with serve(
        lambda request: Reply(404 if request.path == "/no" else 200, body=b"x" * 300_000)
    ) as server:
        response = await client.send(HttpRequest(url=server.url, stream_to=take))
        missing = await client.send(HttpRequest(url=f"{server.url}/no", stream_to=take))
    assert (b"".join(taken), response.body, response.size) == (b"x" * 300_000, b"", 300_000)
    assert missing.size == len(missing.body) == 300_000


async def test_a_stream_that_is_left_early_closes_its_connection(client: HttpClient) -> None:
    async with serve(lambda request: Reply(body=b"x" * 900_000)) as server:
        async with client.stream(HttpRequest(url=server.url)) as answer:
            async for piece in answer.pieces():
                assert piece
                break
        await client.send(HttpRequest(url=server.url))
        assert server.connections == 2


async def test_a_blocked_target_gets_no_packet() -> None:
    async with serve(hello) as server:
        client = HttpClient()
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(url=server.url))
        assert caught.value.kind == "blocked_address"
        assert server.connections == 0


async def test_a_name_is_connected_at_its_checked_address_and_kept_as_host() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    client = HttpClient(allow=AllowList.parse("127.0.0.1"), resolver=resolve)
    async with serve(hello) as server:
        await client.send(HttpRequest(url=f"http://Some.Name.example:{server.port}/"))
        assert server.requests[0].headers["host"] == f"some.name.example:{server.port}"
    await client.close()


async def test_a_dead_first_address_is_passed_over() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["::1", "127.0.0.1"]  # nothing listens on the first

    client = HttpClient(allow=AllowList.parse("127.0.0.1, ::1"), resolver=resolve)
    async with serve(hello) as server:
        assert (await client.send(HttpRequest(url=f"http://two.example:{server.port}/"))).status == 200
    await client.close()


def test_the_client_outlives_an_event_loop() -> None:
    client = HttpClient(allow=AllowList.parse("127.0.0.1"))

    async def once() -> int:
        async with serve(hello) as server:
            status = (await client.send(HttpRequest(url=server.url))).status
            await client.close()
            return status

    assert [asyncio.run(once()) for _ in range(2)] == [200, 200]


async def test_a_hop_that_cannot_be_reached_does_not_hide_that_the_first_was_sent(client: HttpClient) -> None:
    async with serve(hello) as gone:
        closed = gone.url
    async with serve(lambda request: Reply(303, headers=[("Location", closed)])) as server:
        with pytest.raises(Unanswered, match="no connection") as caught:
            await client.send(HttpRequest(method="POST", url=server.url, body=b"x"))
    assert caught.value.kind == "connection"


async def test_closing_the_client_spares_what_is_in_use(client: HttpClient) -> None:
    async with serve(hello) as server:
        await client.send(HttpRequest(url=server.url))
        async with client.stream(HttpRequest(url=server.url)) as answer:
            await client.close()
            assert await answer.read() == b"hello"
        await client.send(HttpRequest(url=server.url))
        assert server.connections == 2
    assert not any(place.users for place in client._pool._places.values())


async def test_answers_before_the_answer_are_passed_over(client: HttpClient) -> None:
    raw = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    async with serve(lambda request: Reply(raw=raw)) as server:
        for _ in range(2):
            assert (await client.send(HttpRequest(url=server.url))).body == b"ok"
        assert server.connections == 1


async def test_a_protocol_that_nobody_asked_for_is_refused(client: HttpClient) -> None:
    raw = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    async with serve(lambda request: Reply(raw=raw)) as server:
        with pytest.raises(Unanswered) as caught:
            await client.send(HttpRequest(url=server.url))
    assert caught.value.kind == "connection"


async def test_an_answer_before_the_whole_body_was_sent_is_read(client: HttpClient) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
        writer.write_eof()
        await client_is_done.wait()
        writer.transport.abort()

    client_is_done = asyncio.Event()
    listener = await asyncio.start_server(refuse, "127.0.0.1", 0, limit=4096)
    async with listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        response = await client.send(HttpRequest(method="POST", url=url, body=bytes(20_000_000)))
        client_is_done.set()
    assert (response.status, response.body) == (413, b"big")


async def test_a_streamed_body_that_fails_ends_the_request(client: HttpClient) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield b"one"
        raise LookupError("the source dried up")

    async def short() -> AsyncIterator[bytes]:
        yield b"12345"

    async with serve(hello) as server:
        with pytest.raises(LookupError):
            await client.send(HttpRequest(method="POST", url=server.url, body=failing()))
        with pytest.raises(NodeError) as caught:
            await client.send(
                HttpRequest(method="POST", url=server.url, body=short(), headers={"Content-Length": "9"})
            )
        assert caught.value.kind == "bad_header"
        assert not server.requests
