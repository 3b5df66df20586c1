from __future__ import annotations

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient, HttpRequest
from interlace.resources.http.auth import InQuery, bearer
from interlace.resources.http.testing import Received, Reply, serve


def to(location: str, status: int = 302) -> Reply:
    return Reply(status, headers=[("Location", location)])


async def test_credentials_stay_with_their_origin(client: HttpClient) -> None:
    headers = {
        "Authorization": "Bearer t", "X-Api-Key": "k", "Cookie": "c=1", "X-Anything": "x",
        "Accept": "text/plain", "Accept-Language": "en", "Content-Type": "application/json",
    }  # fmt: skip
    async with (
        serve(lambda request: Reply(body=b"there")) as other,
        serve(lambda request: to(f"{other.url}/x")) as first,
    ):
        response = await client.send(HttpRequest(url=first.url, headers=headers, auth=bearer("secret")))
    assert (response.body, response.url) == (b"there", f"{other.url}/x")
    assert first.requests[0].headers["authorization"] == "Bearer secret"
    assert set(other.requests[0].headers) == {
        "host", "accept", "accept-language", "content-type", "accept-encoding", "user-agent"
    }  # fmt: skip


async def test_credentials_are_kept_on_the_same_origin(client: HttpClient) -> None:
    def answer(request: Received) -> Reply:
        return to("b") if request.path == "/a" else Reply()

    async with serve(answer) as server:
        await client.send(HttpRequest(url=f"{server.url}/a", headers={"X-Api-Key": "k"}, auth=bearer("t")))
    assert [r.path for r in server.requests] == ["/a", "/b"]
    assert all(
        (r.headers["x-api-key"], r.headers["authorization"]) == ("k", "Bearer t") for r in server.requests
    )


async def test_once_lost_credentials_do_not_come_back(client: HttpClient) -> None:
    def answer(request: Received) -> Reply:
        return to(f"{other.url}/back") if request.path == "/" else Reply()

    async with serve(answer) as first, serve(lambda request: to(f"{first.url}/home")) as other:
        await client.send(HttpRequest(url=first.url, headers={"X-Api-Key": "k"}, auth=bearer("t")))
    assert first.requests[1].path == "/home"
    assert not {"x-api-key", "authorization"} & set(first.requests[1].headers)


@pytest.mark.parametrize(
    ("method", "status", "then", "body"),
    [
        ("POST", 301, "GET", b""),
        ("POST", 302, "GET", b""),
        ("POST", 303, "GET", b""),
        ("PUT", 303, "GET", b""),
        ("PUT", 302, "PUT", b"data"),
        ("POST", 307, "POST", b"data"),
        ("POST", 308, "POST", b"data"),
        ("HEAD", 303, "HEAD", b""),
    ],
)
async def test_methods_change_as_the_status_says(
    client: HttpClient, method: str, status: int, then: str, body: bytes
) -> None:
    def answer(request: Received) -> Reply:
        return to("/next", status) if request.path == "/" else Reply()

    sent = None if method == "HEAD" else b"data"
    async with serve(answer) as server:
        await client.send(
            HttpRequest(method=method, url=server.url, body=sent, headers={"Content-Type": "text/plain"})
        )
    last = server.requests[1]
    assert (last.method, last.body) == (then, body)
    if sent is not None:
        assert ("content-type" in last.headers) == bool(body)


async def test_five_redirects_are_followed_a_sixth_is_not(client: HttpClient) -> None:
    def answer(request: Received) -> Reply:
        left = int(request.path[1:])
        return to(f"/{left - 1}") if left else Reply(body=b"home")

    async with serve(answer) as server:
        assert (await client.send(HttpRequest(url=f"{server.url}/5"))).body == b"home"
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(url=f"{server.url}/6"))
        assert (caught.value.kind, caught.value.retryable) == ("too_many_redirects", False)
        assert server.connections == 1


async def test_redirects_can_be_left_to_the_caller(client: HttpClient) -> None:
    async with serve(lambda request: to("http://10.0.0.1/")) as server:
        response = await client.send(HttpRequest(url=server.url, follow_redirects=False))
    assert (response.status, response.header("location")) == (302, "http://10.0.0.1/")


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("http://10.0.0.1/", "blocked_address"),
        ("http://169.254.169.254/latest/meta-data/", "blocked_address"),
        ("//169.254.169.254/", "blocked_address"),
        ("http://[::ffff:a9fe:a9fe]/", "blocked_address"),
        ("http://metadata.google.internal/", "blocked_address"),
        ("http://2852039166/", "bad_url"),
        ("http://user@127.0.0.1/", "bad_url"),
        ("file:///etc/passwd", "bad_url"),
        ("gopher://127.0.0.1/", "bad_url"),
    ],
)
async def test_every_hop_is_checked(client: HttpClient, location: str, kind: str) -> None:
    async with serve(lambda request: to(location)) as server:
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(url=server.url))
    assert caught.value.kind == kind


@pytest.mark.parametrize("status", [300, 304])
async def test_other_3xx_and_missing_locations_are_answers(client: HttpClient, status: int) -> None:
    async with serve(lambda request: Reply(status, headers=[("Location", "/x")])) as server:
        assert (await client.send(HttpRequest(url=server.url))).status == status
    async with serve(lambda request: Reply(302)) as server:
        assert (await client.send(HttpRequest(url=server.url))).status == 302


async def test_a_streamed_body_cannot_be_sent_twice(client: HttpClient) -> None:
    async def body():
        yield b"once"

    async with serve(lambda request: to("/next", 307)) as server:
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(method="POST", url=server.url, body=body()))
    assert caught.value.kind == "bad_redirect"


async def test_a_key_in_the_query_is_not_passed_on(client: HttpClient) -> None:
    async with serve(lambda request: Reply()) as other, serve(lambda request: to(other.url)) as first:
        await client.send(HttpRequest(url=first.url, auth=InQuery("key", "secret")))
    assert first.requests[0].query == {"key": ["secret"]}
    assert "secret" not in other.requests[0].target
