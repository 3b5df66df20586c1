"""A platform in a home of its own, and a loopback server that its HTTP nodes may reach."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.run import RunResult
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from tests.flows.waiting import Home
from tests.loopback import Loopback

Run = Callable[..., Awaitable[RunResult]]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the shell or the checkout say must not reach a test."""
    import os

    for name in [name for name in os.environ if name.startswith("INTERLACE_") and "TEST" not in name]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="off")


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Platform]:
    opened = await Platform.open(settings)
    yield opened
    await opened.close()


@pytest.fixture
async def home(settings: Settings) -> AsyncIterator[Home]:
    """A home with an open platform, which the test may end and open again."""
    made = Home(settings)
    await made.open()
    yield made
    await made.platform.close()


@pytest.fixture
def run(platform: Platform) -> Run:
    """Run a document to its end."""

    async def run(text: str, inputs: Mapping[str, Any] | None = None, **request: Any) -> RunResult:
        pinned = await platform.documents.from_text(text)
        run_id = await platform.runner.start(pinned, Request(inputs=inputs or {}, **request))
        result = await platform.runner.wait(run_id, 30)
        assert result is not None
        await platform.runner.idle()
        return result

    return run


@pytest.fixture
def push(platform: Platform) -> Callable[[str], Awaitable[str]]:
    """Store and publish a document; gives the workflow's id."""

    async def push(text: str) -> str:
        pinned = await platform.documents.from_text(text)
        pushed = await platform.store.workflows.push(pinned.document.name, pinned.text)
        await platform.store.workflows.publish(pushed.workflow_id)
        return pushed.workflow_id

    return push
