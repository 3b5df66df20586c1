"""A home whose platform has scripted models and the node that hosts the loop; a platform with an API, a database and people."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from interlace.agents.outfit import Outfitter
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.models.testing import ScriptedModels
from tests.agents.hosting import Hosted, World
from tests.agents.surroundings import Caller
from tests.flows.waiting import Home
from tests.store.people import People, make_people


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("INTERLACE_") and "TEST" not in name]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server() -> Iterator[ScriptedModels]:
    """Its rules are a test's to set."""
    with ScriptedModels() as models:
        yield models


def provider(server: ScriptedModels, **model: object) -> dict[str, object]:
    """The scripted models as settings name them."""
    return {
        "name": "p", "base_url": server.url, "retries": 0, "models": [{"name": "scripted", **model}],
        "roles": {"general": "scripted", "fast": "scripted"},
    }  # fmt: skip


class AgentHome(Home):
    """A home with an agent's world."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.world = World()

    async def open(self) -> Platform:
        platform = await super().open()
        if "HOSTED" not in platform.registry:
            platform.registry.add(Hosted)
        platform.services.register(Outfitter, self.world)
        return platform


@pytest.fixture
def settings(tmp_path: Path, server: ScriptedModels) -> Settings:
    return Settings(
        home=tmp_path / "home",
        http_allow=["127.0.0.1/32"],
        prefect="off",
        database_allow=[str(tmp_path / "databases")],
        models={"providers": [provider(server)]},
    )


@pytest.fixture
async def home(settings: Settings) -> AsyncIterator[AgentHome]:
    """A home with an open platform, which the test may end and open again."""
    made = AgentHome(settings)
    await made.open()
    yield made
    await made.platform.close()


@pytest.fixture
async def plain_home(settings: Settings) -> AsyncIterator[Home]:
    """The same with the agents that are stored."""
    made = Home(settings)
    await made.open()
    yield made
    await made.platform.close()


@pytest.fixture
async def platform(tmp_path: Path, server: ScriptedModels) -> AsyncIterator[Platform]:
    """A platform by itself."""
    opened = await Platform.open(
        Settings(
            home=tmp_path / "home", prefect="off", http_allow=["127.0.0.1/32"],
            database_allow=[str(tmp_path / "databases")], models={"providers": [provider(server)]},
        )
    )  # fmt: skip
    opened.visible._patience = 60.0  # no verdict here hangs on how busy the machine is
    yield opened
    await opened.close()


@pytest.fixture
async def people(platform: Platform) -> People:
    return await make_people(platform.store)


@pytest.fixture
def caller(platform: Platform) -> Caller:
    return Caller(platform)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database of a shop."""
    path = tmp_path / "databases" / "shop.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT);
            CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, total REAL, placed_at TEXT);
            CREATE TABLE parcels (id INTEGER PRIMARY KEY, order_id INTEGER, tracking_code TEXT);
            INSERT INTO customers VALUES (1, 'Ann', 'ann@shop.test'), (2, 'Ben', NULL);
            INSERT INTO orders VALUES (10, 1, 12.5, '2026-01-02'), (11, 2, 99.0, '2026-01-03');
            """
        )
    return path
