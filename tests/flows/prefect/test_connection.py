"""The REST client, against real servers on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from interlace.flows.prefect import (
    PrefectApi,
    PrefectConnection,
    PrefectError,
    PrefectRefused,
    PrefectUnavailable,
)
from interlace.flows.prefect.settings import small_ca


class Scripted:
    """An HTTP server that answers one request after the other with the next status of a list."""

    def __init__(self, statuses: list[int]) -> None:
        self.statuses = statuses
        self.heads: list[str] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head.decode())
        status = self.statuses.pop(0)
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}".encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def scripted(tmp_path: Path) -> AsyncIterator[tuple[Scripted, PrefectConnection]]:
    script = Scripted([])
    server = await asyncio.start_server(script.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield (
        script,
        PrefectConnection(api_url=f"http://127.0.0.1:{port}/api", home=tmp_path, api_auth="ada:secret"),
    )
    server.close()
    await server.wait_closed()


async def test_overload_is_tried_again(scripted: tuple[Scripted, PrefectConnection]) -> None:
    script, connection = scripted
    script.statuses = [503, 429, 200]
    async with PrefectApi(connection) as api:
        assert await api.get("/x") == {}
    assert len(script.heads) == 3
    assert script.heads[0].startswith("GET /api/x ")


async def test_overload_that_lasts_is_unavailable(scripted: tuple[Scripted, PrefectConnection]) -> None:
    script, connection = scripted
    script.statuses = [503] * 4
    async with PrefectApi(connection) as api:
        with pytest.raises(PrefectUnavailable, match="HTTP 503"):
            await api.get("/x")


async def test_a_refusal_is_not_repeated(scripted: tuple[Scripted, PrefectConnection]) -> None:
    script, connection = scripted
    script.statuses = [422]
    async with PrefectApi(connection) as api:
        with pytest.raises(PrefectRefused, match="POST '/x' with HTTP 422") as refusal:
            await api.post("/x", {})
    assert refusal.value.status == 422


async def test_the_secret_is_sent_and_not_shown(scripted: tuple[Scripted, PrefectConnection]) -> None:
    script, connection = scripted
    script.statuses = [200]
    async with PrefectApi(connection) as api:
        await api.get("/x")
    assert "authorization: basic ywrhonnly3jlda==" in script.heads[0].lower()
    assert "ada" not in repr(connection)


async def test_what_is_no_json_is_refused_here(served: Any) -> None:
    async with PrefectApi(served.connection) as api:
        with pytest.raises(PrefectRefused, match="not JSON"):
            await api.post("/flows/", {"name": "\ud800"})


async def test_nobody_there(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/api"
    async with PrefectApi(PrefectConnection(api_url=url, home=tmp_path)) as api:
        with pytest.raises(PrefectUnavailable, match="does not answer"):
            await api.get("/health")


@pytest.mark.parametrize("url", ["", "127.0.0.1:4200", "ftp://host/api", "http://", "http:///api"])
def test_no_address(url: str, tmp_path: Path) -> None:
    with pytest.raises(PrefectError, match="not the address of a Prefect API"):
        PrefectConnection(api_url=url, home=tmp_path)


def test_client_environment_is_ours(tmp_path: Path) -> None:
    environment = PrefectConnection(api_url="http://127.0.0.1:1/api", home=tmp_path).environment()
    assert environment["PREFECT_HOME"] == str(tmp_path / "prefect")
    assert environment["DO_NOT_TRACK"] == "1"
    assert environment["PREFECT_API_SSL_CERT_FILE"].endswith("one-ca.pem")
    assert "PREFECT_API_AUTH_STRING" not in environment


def test_https_is_checked_against_real_certificates(tmp_path: Path) -> None:
    environment = PrefectConnection(api_url="https://prefect.example/api", home=tmp_path).environment()
    assert "PREFECT_API_SSL_CERT_FILE" not in environment


def test_the_small_ca_is_one_certificate(tmp_path: Path) -> None:
    text = small_ca(tmp_path).read_text(encoding="ascii")
    assert text.count("BEGIN CERTIFICATE") == text.count("END CERTIFICATE") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["one-ca.pem"]
