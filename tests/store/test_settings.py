from __future__ import annotations

import pytest

from interlace.store import Store
from interlace.store.errors import NotJsonError


async def test_settings_are_kept(store: Store) -> None:
    assert await store.settings.get("home") is None
    assert await store.settings.get("home", "none") == "none"
    await store.settings.set("home", {"made": 1})
    await store.settings.set("home", {"made": None})
    assert await store.settings.get("home", "none") == {"made": None}
    with pytest.raises(NotJsonError):
        await store.settings.set("home", {1: 2})
