from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from interlace.engine.errors import StoreError
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from tests.flows.documents import chain, http
from tests.loopback import Loopback

POSTGRES = os.environ.get("INTERLACE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")


async def _error(platform: Platform, url: str) -> str | None:
    pinned = await platform.documents.from_text(chain(http("call", url, timeout="5s")))
    result = await platform.runner.wait(await platform.runner.start(pinned, Request()), 20)
    assert result is not None
    return None if result.error is None else str(result.error["type"])


async def test_addresses_of_its_own_are_refused_whatever_is_allowed(platform: Platform) -> None:
    await platform.guard("http://localhost:4321/api")
    assert ("127.0.0.1", 4321) in platform.own_addresses
    assert await _error(platform, "http://127.0.0.1:4321/x") == "blocked_address"
    assert await _error(platform, "http://127.0.0.1:4322/x") == "connection"
    await platform.guard("https://nowhere.invalid/api")
    await platform.guard("sqlite:///file.db")
    assert {port for _, port in platform.own_addresses} == {4321}


async def test_its_database_is_one_of_them(settings: Settings, tmp_path: Path) -> None:
    import psycopg

    name = f"interlace_platform_{os.getpid()}"
    try:
        server = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL at {POSTGRES}: {error}")
    with server:
        server.execute(f"CREATE DATABASE {name}")
    url = f"{POSTGRES.rpartition('/')[0]}/{name}"
    platform = await Platform.open(Settings(**settings.model_dump() | {"database_url": url}))
    try:
        port = urlsplit(url).port or 5432
        assert await _error(platform, f"http://127.0.0.1:{port}/") == "blocked_address"
    finally:
        await platform.close()
        with psycopg.connect(POSTGRES, autocommit=True) as server:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_a_home_that_cannot_be_opened(settings: Settings) -> None:
    unreachable = Settings(**settings.model_dump() | {"database_url": "postgresql://x@127.0.0.1:9/x"})
    with pytest.raises(StoreError, match="cannot be opened"):
        await Platform.open(unreachable)


CALLING = """
import socket
def main(port):
    with socket.create_connection(("127.0.0.1", port), 3):
        return {"reached": True}
"""


@pytest.mark.parametrize("allowed", [False, True])
async def test_code_has_the_network_only_when_the_operator_says_so(
    settings: Settings, loopback: Loopback, *, allowed: bool
) -> None:
    opened = await Platform.open(settings.model_copy(update={"code_network": allowed}))
    try:
        if not (status := await opened.sandbox.check()).available or status.engine != "bwrap":
            pytest.skip(f"only bubblewrap has a network: {status.reason}")
        config = {"code": CALLING, "inputs": {"port": urlsplit(loopback.url).port}, "network": True}
        pinned = await opened.documents.from_text(chain({"id": "call", "type": "CODE", "config": config}))
        result = await opened.runner.wait(await opened.runner.start(pinned, Request()), 30)
        assert result is not None
        assert (None if result.error is None else result.error["type"]) == (
            None if allowed else "network_not_allowed"
        )
    finally:
        await opened.close()
