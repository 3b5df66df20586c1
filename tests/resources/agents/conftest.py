from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from interlace.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(None, tmp_path / "home")
    yield opened
    await opened.close()
