"""Clusters that end with their test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loopback import Loopback
from tests.machines.cluster import Cluster, database


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the shell or the checkout say must not reach a test."""
    for name in [name for name in os.environ if name.startswith("INTERLACE_") and "TEST" not in name]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Processes over a PostgreSQL database of their own."""
    with database("machines") as url:
        if url is None:
            pytest.skip("no PostgreSQL answers; set INTERLACE_TEST_POSTGRES")
        made = Cluster(tmp_path, url)
        yield made
        made.end()
