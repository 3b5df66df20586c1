from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import time

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient, HttpRequest, Proxy
from interlace.resources.http.auth import Auth, Basic, Hmac, InHeader, InQuery, bearer
from interlace.resources.http.oauth import ClientCredentials
from interlace.resources.http.testing import Received, Reply, Server, serve


async def received(client: HttpClient, auth: Auth, **request: object) -> Received:
    async with serve(lambda request: Reply()) as server:
        await client.send(HttpRequest(url=f"{server.url}/p?a=1", auth=auth, **request))  # type: ignore[arg-type]
    return server.requests[0]


async def test_basic_bearer_header_and_query(client: HttpClient) -> None:
    basic = await received(client, Basic("müller", "pä:ss"))
    assert base64.b64decode(basic.headers["authorization"].removeprefix("Basic ")).decode() == "müller:pä:ss"
    assert (await received(client, bearer(" token\n"))).headers["authorization"] == "Bearer token"
    assert (await received(client, InHeader("X-Api-Key", "k"))).headers["x-api-key"] == "k"
    assert (await received(client, InQuery("key", "a&b"))).target == "/p?a=1&key=a%26b"


async def test_credentials_replace_a_header_of_the_same_name(client: HttpClient) -> None:
    sent = await received(client, bearer("right"), headers={"authorization": "wrong"})
    assert sent.headers["authorization"] == "Bearer right"


@pytest.mark.parametrize(
    ("auth", "kind"),
    [
        (Basic("a:b", "c"), "bad_auth"),
        (InHeader("Host", "evil"), "bad_header"),
        (InHeader("Metadata-Flavor", "Google"), "bad_header"),
        (bearer("a\r\nX-Evil: 1"), "bad_header"),
        (Hmac(secret=""), "bad_auth"),
        (Hmac(secret="zz", key_encoding="hex"), "bad_auth"),
        (Hmac(secret="a", key_encoding="base64"), "bad_auth"),
    ],
)
async def test_credentials_that_cannot_be_sent_are_refused(client: HttpClient, auth: Auth, kind: str) -> None:
    async with serve(lambda request: Reply()) as server:
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(url=server.url, auth=auth))
    assert (caught.value.kind, server.requests) == (kind, [])


async def test_hmac_signs_the_body_as_it_is_sent(client: HttpClient) -> None:
    auth = Hmac(secret="it's a secret", header="X-Hub-Signature-256", prefix="sha256=")
    sent = await received(client, auth, method="POST", body="bödy".encode())
    assert (
        sent.headers["x-hub-signature-256"]
        == "sha256=" + hmac.new(b"it's a secret", sent.body, "sha256").hexdigest()
    )


async def test_hmac_is_configurable(client: HttpClient) -> None:
    auth = Hmac(
        secret=base64.b64encode(b"\x00\xffkey").decode(), key_encoding="base64", algorithm="sha512", encoding="base64",
        header="X-Sign", signed="v0:{timestamp}\n{method} {path}?{query} {host}\n{url}\n{body_sha256}{unknown}",
        timestamp_header="X-Time", timestamp_format="milliseconds",
    )  # fmt: skip
    sent = await received(client, auth, method="PUT", body=b"data")
    assert abs(int(sent.headers["x-time"]) / 1000 - time.time()) < 60
    host = sent.headers["host"]
    digest = hashlib.sha256(b"data").hexdigest()
    text = f"v0:{sent.headers['x-time']}\nPUT /p?a=1 {host}\nhttp://{host}/p?a=1\n{digest}{{unknown}}"
    expected = hmac.new(b"\x00\xffkey", text.encode(), "sha512").digest()
    assert base64.b64decode(sent.headers["x-sign"]) == expected


async def test_hmac_cannot_sign_a_stream(client: HttpClient) -> None:
    async def body():
        yield b"x"

    with pytest.raises(NodeError, match="streamed body"):
        await client.send(
            HttpRequest(method="POST", url="http://127.0.0.1:9/", auth=Hmac(secret="s"), body=body())
        )


class Tokens:
    """A token server and an API that takes its tokens; a token can be revoked."""

    def __init__(self, lifetime: object = 3600) -> None:
        self.lifetime = lifetime
        self.issued = 0
        self.revoked: set[str] = set()
        self.asked = asyncio.Event()
        self.release: asyncio.Event | None = None

    async def __call__(self, request: Received) -> Reply:
        if request.path != "/token":
            token = request.headers.get("authorization", "").removeprefix("Bearer ")
            good = token.startswith("t") and token not in self.revoked
            return Reply.of({"token": token}, 200 if good else 401)
        self.asked.set()
        if self.release is not None:
            await self.release.wait()
        self.issued += 1
        return Reply.of(
            {"access_token": f"t{self.issued}", "token_type": "bearer", "expires_in": self.lifetime}
        )


def credentials(server: Server, **changes: object) -> ClientCredentials:
    values = {"token_url": f"{server.url}/token", "client_id": "me", "client_secret": "s", **changes}
    return ClientCredentials(**values)  # type: ignore[arg-type]


async def test_a_token_is_fetched_once_for_all(client: HttpClient) -> None:
    tokens = Tokens()
    tokens.release = asyncio.Event()
    async with serve(tokens) as server:
        calls = [
            client.send(HttpRequest(url=server.url, auth=credentials(server, scope="a b"))) for _ in range(8)
        ]
        running = [asyncio.create_task(call) for call in calls]
        await tokens.asked.wait()
        tokens.release.set()
        assert {r.json()["token"] for r in await asyncio.gather(*running)} == {"t1"}
        assert tokens.issued == 1
        request = server.requests[0]
        assert request.body == b"grant_type=client_credentials&scope=a+b"
        assert request.headers["authorization"] == "Basic " + base64.b64encode(b"me:s").decode()
        await client.send(HttpRequest(url=server.url, auth=credentials(server, scope="other")))
        assert tokens.issued == 2
        await client.send(
            HttpRequest(url=server.url, auth=credentials(server, scope="a b", client_secret="x"))
        )
        assert tokens.issued == 3  # a wrong secret must not profit from another's token


async def test_a_refused_token_is_fetched_again_once(client: HttpClient) -> None:
    tokens = Tokens()
    async with serve(tokens) as server:
        auth = credentials(server, client_auth="body", audience="api")
        assert (await client.send(HttpRequest(url=server.url, auth=auth))).json() == {"token": "t1"}
        assert b"client_id=me&client_secret=s" in server.requests[0].body
        assert b"audience=api" in server.requests[0].body
        assert "authorization" not in server.requests[0].headers
        tokens.revoked = {"t1"}
        assert (await client.send(HttpRequest(url=server.url, auth=auth))).json() == {"token": "t2"}
        tokens.revoked = {"t2", "t3"}
        assert (await client.send(HttpRequest(url=server.url, auth=auth))).status == 401
        assert tokens.issued == 3


@pytest.mark.parametrize(
    ("lifetime", "fetches"), [(0, 2), (-5, 2), (3600, 1), ("3600", 1), (None, 1), ("soon", 1)]
)
async def test_a_token_is_kept_until_shortly_before_it_expires(
    client: HttpClient, lifetime: object, fetches: int
) -> None:
    tokens = Tokens(lifetime)
    async with serve(tokens) as server:
        for _ in range(2):
            await client.send(HttpRequest(url=server.url, auth=credentials(server)))
    assert tokens.issued == fetches


@pytest.mark.parametrize(
    ("reply", "kind", "retryable"),
    [
        (Reply.of({"error": "invalid_client"}, 401), "oauth", False),
        (Reply(503), "oauth", True),
        (Reply.of({"token": "x"}), "oauth", False),
        (Reply.of([]), "oauth", False),
        (Reply(body=b"<html>"), "bad_response", False),
        (Reply(302, headers=[("Location", "/elsewhere")]), "oauth", False),
    ],
)
async def test_a_token_server_that_refuses_is_named(
    client: HttpClient, reply: Reply, kind: str, retryable: bool
) -> None:
    async with serve(lambda request: reply) as server:
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(url=server.url, auth=credentials(server, client_secret="hush")))
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)
    assert "hush" not in caught.value.message


async def test_the_token_server_is_guarded_like_any_target(client: HttpClient) -> None:
    auth = ClientCredentials(token_url="http://169.254.169.254/token", client_id="a", client_secret="b")
    with pytest.raises(NodeError) as caught:
        await client.send(HttpRequest(url="http://127.0.0.1:9/", auth=auth))
    assert caught.value.kind == "blocked_address"


def test_secrets_do_not_show_in_what_is_printed() -> None:
    for auth in (
        Basic("me", "hush"), bearer("hush"), InQuery("key", "hush"), Hmac(secret="hush"),
        ClientCredentials(token_url="http://a.example", client_id="me", client_secret="hush"),
        Proxy("http://a.example", "me", "hush"),
    ):  # fmt: skip
        assert "hush" not in repr(auth)
