"""A platform in a folder of its own, with the real embedding model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    opened = await Platform.open(Settings(home=tmp_path / "home"))
    yield opened
    await opened.close()
