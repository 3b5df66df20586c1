"""The application over a platform of its own, asked through ASGI, and the console command in a process."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server import webui
from interlace.server.app import create_app
from tests.loopback import Loopback
from tests.server.command import Command


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the shell or the checkout say, or whether the web UI is built, must not reach a test."""
    for name in [name for name in os.environ if name.startswith("INTERLACE_") and "TEST" not in name]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webui, "BUNDLE", tmp_path / "no-bundle")


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="off", max_request=100_000)


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Platform]:
    opened = await Platform.open(settings)
    yield opened
    await opened.close()


@pytest.fixture
async def anonymous(platform: Platform) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(platform)
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
        yield client
    await app.state.mcp.close()


@pytest.fixture
async def api(anonymous: httpx2.AsyncClient, platform: Platform) -> httpx2.AsyncClient:
    """A client with the owner's key."""
    _, key = await platform.store.keys.create("test")
    anonymous.headers["authorization"] = f"Bearer {key}"
    return anonymous


@pytest.fixture
async def stranger(anonymous: httpx2.AsyncClient, platform: Platform) -> Callable[[str], dict[str, str]]:
    """Headers of a key of another owner."""
    _, key = await platform.store.keys.create("other", owner="another")
    return lambda _path="": {"authorization": f"Bearer {key}"}


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    made = Command(tmp_path)
    yield made
    made.end()


@pytest.fixture
def problem() -> Callable[[httpx2.Response, int, str], dict[str, Any]]:
    """Check that an answer is a problem of this status and code; gives it."""

    def check(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        found: dict[str, Any] = answer.json()
        assert (found["status"], found["code"], found["type"]) == (
            status,
            code,
            f"urn:interlace:error:{code}",
        )
        assert found["detail"]
        return found

    return check
