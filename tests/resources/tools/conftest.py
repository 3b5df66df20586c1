"""A platform in a folder of its own, and calls with the services that a run of it has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from interlace.engine.principal import LOCAL, Principal
from interlace.engine.protocols import Files
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.store.run_row import NewRun
from tests.resources.tools.calling import Call


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    opened = await Platform.open(Settings(home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="off"))
    yield opened
    await opened.close()


class Runs:
    """Runs that calls of tools belong to; each call has a key of its own unless it is given one."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._calls = 0

    async def new(self) -> str:
        """A run that has no nodes yet."""
        created = await self._platform.store.runs.create(NewRun(name="t", document="{}", lease_owner="me"))
        return created.run_id

    def call(self, run: str, *, path: str = "t", key: str | None = None, by: Principal = LOCAL) -> Call:
        self._calls += 1
        files = self._platform.store.files.of_run(run)
        services = self._platform.services.with_service(Files, files)
        return Call(services, run=run, path=path, key=key or f"{run}:{path}:{self._calls}", by=by)


@pytest.fixture
def runs(platform: Platform) -> Runs:
    return Runs(platform)
