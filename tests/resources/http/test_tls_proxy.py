from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from interlace.engine.errors import NodeError
from interlace.resources.http import AllowList, HttpClient, HttpRequest, Proxy
from interlace.resources.http.auth import bearer
from interlace.resources.http.testing import Received, Reply, serve


@dataclass(frozen=True)
class Tls:
    """A server's side of TLS, and the CA certificate that vouches for it."""

    context: ssl.SSLContext
    ca: str


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName("secure.example"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder: Path = tmp_path_factory.mktemp("tls")
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "cert.pem").write_bytes(pem)
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return Tls(context, pem.decode())


async def resolve(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    client = HttpClient(allow=AllowList.parse("127.0.0.1"), resolver=resolve)
    yield client
    await client.close()


def hello(request: Received) -> Reply:
    return Reply(body=b"hello " + request.body)


async def test_an_unknown_certificate_is_refused_for_good(client: HttpClient, tls: Tls) -> None:
    async with serve(hello, tls=tls.context) as server:
        with pytest.raises(NodeError, match=r"certificate of '127\.0\.0\.1'") as caught:
            await client.send(HttpRequest(url=server.url))
    assert (caught.value.kind, caught.value.retryable) == ("connection", False)
    assert not server.requests


async def test_verification_can_be_given_a_ca_or_be_switched_off(client: HttpClient, tls: Tls) -> None:
    async with serve(hello, tls=tls.context) as server:
        for verify in (tls.ca, False):
            response = await client.send(
                HttpRequest(method="POST", url=server.url, body=b"x" * 200_000, verify=verify)
            )
            assert response.size == 200_006
            assert (await client.send(HttpRequest(url=server.url, verify=verify))).status == 200
        assert server.connections == 2  # one for each trust, each kept
        with pytest.raises(NodeError):  # what was opened without verification never serves a verified request
            await client.send(HttpRequest(url=server.url))


async def test_the_certificate_is_checked_against_the_name(client: HttpClient, tls: Tls) -> None:
    async with serve(hello, tls=tls.context) as server:
        url = f"https://secure.example:{server.port}/"
        assert (await client.send(HttpRequest(url=url, verify=tls.ca))).status == 200
        with pytest.raises(NodeError, match=r"certificate of 'other\.example'"):
            await client.send(HttpRequest(url=f"https://other.example:{server.port}/", verify=tls.ca))


async def test_a_wrong_ca_text_is_named(client: HttpClient, tls: Tls) -> None:
    async with serve(hello, tls=tls.context) as server:
        with pytest.raises(NodeError, match="no CA certificate in PEM form") as caught:
            await client.send(HttpRequest(url=server.url, verify="-----BEGIN NONSENSE"))
    assert not caught.value.retryable


async def test_a_server_without_tls_is_a_connection_error(client: HttpClient) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await reader.read()
        writer.transport.abort()

    listener = await asyncio.start_server(plain, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        with pytest.raises(NodeError, match="TLS handshake") as caught:
            await client.send(HttpRequest(url=f"https://127.0.0.1:{port}/"))
    assert caught.value.kind == "connection"


@pytest.mark.parametrize("carried", ["header", "auth", "body"])
async def test_credentials_never_go_from_https_to_http(client: HttpClient, tls: Tls, carried: str) -> None:
    async with serve(hello) as plain:
        target = plain.url
        async with serve(
            lambda request: Reply(307, headers=[("Location", target)]), tls=tls.context
        ) as server:
            request = HttpRequest(
                url=server.url, verify=False, method="POST" if carried == "body" else "GET",
                headers={"X-Api-Key": "k"} if carried == "header" else {},
                auth=bearer("t") if carried == "auth" else None,
                body=b"secret" if carried == "body" else None,
            )  # fmt: skip
            with pytest.raises(NodeError) as caught:
                await client.send(request)
            assert caught.value.kind == "insecure_redirect"
            assert not plain.requests
            assert (await client.send(HttpRequest(url=server.url, verify=False))).body == b"hello "


@dataclass
class ProxyServer:
    """A forwarding and tunnelling proxy."""

    port: int = 0
    lines: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)


@asynccontextmanager
async def proxy_server(*, password: str | None = None) -> AsyncIterator[ProxyServer]:
    proxy = ProxyServer()
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        upstream: asyncio.StreamWriter | None = None
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            line = head.partition("\r\n")[0]
            proxy.lines.append(line)
            proxy.heads.append(head)
            if password is not None and password not in head:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
                return
            method, target, _ = line.split(" ")
            place = target if method == "CONNECT" else target.removeprefix("http://").partition("/")[0]
            host, _, port = place.rpartition(":")
            back, upstream = await asyncio.open_connection(
                "127.0.0.1" if host.endswith(".example") else host, int(port)
            )
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream.write(head.replace(f"http://{place}", "", 1).encode())
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, upstream))
                group.create_task(_copy(back, writer))
        except (asyncio.CancelledError, asyncio.IncompleteReadError):
            pass
        finally:
            for end in (writer, upstream):
                if end is not None:
                    end.transport.abort()
            tasks.discard(task)

    listener = await asyncio.start_server(connected, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def test_http_goes_through_a_proxy_by_the_checked_address(client: HttpClient) -> None:
    async with serve(hello) as server, proxy_server() as proxy:
        through = Proxy(f"http://127.0.0.1:{proxy.port}", "me", "pass word")
        for _ in range(2):
            response = await client.send(
                HttpRequest(url=f"http://plain.example:{server.port}/p?q=1", proxy=through)
            )
            assert response.body == b"hello "
    assert proxy.lines == [f"GET http://127.0.0.1:{server.port}/p?q=1 HTTP/1.1"]
    assert "Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk" in proxy.heads[0]
    assert server.requests[0].headers["host"] == f"plain.example:{server.port}"


async def test_https_goes_through_a_tunnel_to_the_checked_address(client: HttpClient, tls: Tls) -> None:
    async with serve(hello, tls=tls.context) as server, proxy_server() as proxy:
        through = Proxy(f"http://127.0.0.1:{proxy.port}")
        url = f"https://secure.example:{server.port}/"
        for _ in range(2):
            assert (await client.send(HttpRequest(url=url, proxy=through, verify=tls.ca))).body == b"hello "
        with pytest.raises(NodeError, match=r"certificate of 'other\.example'"):
            await client.send(
                HttpRequest(url=f"https://other.example:{server.port}/", proxy=through, verify=tls.ca)
            )
    assert set(proxy.lines) == {f"CONNECT 127.0.0.1:{server.port} HTTP/1.1"}
    assert "proxy-authorization" not in server.requests[0].headers


async def test_a_host_that_the_operator_listed_by_name_is_resolved_by_the_proxy() -> None:
    async def nothing(host: str, port: int) -> Sequence[str]:
        raise OSError("no name server here")

    client = HttpClient(
        allow=AllowList.parse("127.0.0.1, listed.example, metadata.google.internal"), resolver=nothing
    )
    async with serve(hello) as server, proxy_server() as proxy:
        through = Proxy(f"http://127.0.0.1:{proxy.port}")
        await client.send(HttpRequest(url=f"http://listed.example:{server.port}/", proxy=through))
        with pytest.raises(NodeError) as caught:
            await client.send(HttpRequest(url="http://metadata.google.internal/", proxy=through))
        assert caught.value.kind == "blocked_address"
    assert proxy.lines == [f"GET http://listed.example:{server.port}/ HTTP/1.1"]
    await client.close()


async def test_the_target_behind_a_proxy_is_checked_too(client: HttpClient) -> None:
    async with proxy_server() as proxy:
        through = Proxy(f"http://127.0.0.1:{proxy.port}")
        for url in (
            "http://169.254.169.254/",
            "http://10.0.0.1/",
            "https://10.0.0.1/",
            "http://metadata.google.internal/",
        ):
            with pytest.raises(NodeError) as caught:
                await client.send(HttpRequest(url=url, proxy=through))
            assert caught.value.kind == "blocked_address"
    assert not proxy.lines


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://10.0.0.1:3128", "blocked_address"),
        ("http://169.254.169.254", "blocked_address"),
        ("http://user:pass@127.0.0.1:3128", "bad_url"),
        ("socks5://127.0.0.1:1080", "bad_url"),
        ("http://127.0.0.1:3128/path", "bad_url"),
        ("127.0.0.1:3128", "bad_url"),
    ],
)
async def test_the_proxy_itself_is_checked(client: HttpClient, url: str, kind: str) -> None:
    with pytest.raises(NodeError) as caught:
        await client.send(HttpRequest(url="http://127.0.0.1:9/", proxy=Proxy(url)))
    assert caught.value.kind == kind


async def test_a_proxy_that_refuses_says_why(client: HttpClient, tls: Tls) -> None:
    async with proxy_server(password="none") as proxy:
        through = Proxy(f"http://127.0.0.1:{proxy.port}", "me", "wrong")
        with pytest.raises(NodeError, match="status 407; check its user name") as caught:
            await client.send(HttpRequest(url="https://secure.example:9/", proxy=through))
    assert caught.value.kind == "connection"


async def test_proxies_of_the_environment_are_ignored(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with serve(hello) as server:
        assert (await client.send(HttpRequest(url=server.url))).status == 200
