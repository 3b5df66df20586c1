from __future__ import annotations

import re
import time

import pytest
from sqlalchemy import select

from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.tables import api_keys


async def test_a_key_is_shown_once_and_kept_as_a_hash(store: Store) -> None:
    key, plain = await store.keys.create("ci", owner="ana", scopes=("runs:read",))
    assert re.fullmatch(r"il_[a-z0-9]{10}_[A-Za-z0-9_-]{43}", plain)
    (row,) = await store.database.rows(select(api_keys))
    secret = plain.split("_", 2)[2]
    assert not [value for value in row if isinstance(value, str) and secret in value]
    found = await store.keys.verify(plain)
    assert found is not None
    assert (found.id, found.owner, found.name, found.scopes) == (key.id, "ana", "ci", ("runs:read",))


async def test_only_the_whole_key_is_accepted(store: Store) -> None:
    _, plain = await store.keys.create("ci")
    other, _ = await store.keys.create("other")
    wrong = [
        "", "il", "il_", "il__", plain[:-1], plain + "x", plain.upper(), plain.replace("il_", "xx_", 1), f" {plain}",
        f"il_{other.prefix}_{plain.split('_', 2)[2]}", "il_%_%", plain.rsplit("_", 1)[0] + "_",
    ]  # fmt: skip
    assert [await store.keys.verify(each) for each in wrong] == [None] * len(wrong)
    assert await store.keys.verify(plain) is not None


async def test_revoked_and_expired_keys_are_refused(store: Store) -> None:
    _, expired = await store.keys.create("old", expires_at=time.time() - 1)
    _, lasting = await store.keys.create("lasting", expires_at=time.time() + 3600)
    key, revoked = await store.keys.create("gone")
    assert await store.keys.verify(revoked) is not None
    with pytest.raises(NotFoundError):
        await store.keys.revoke(key.id, owner="ana")
    await store.keys.revoke(key.id)
    assert [await store.keys.verify(each) for each in (expired, revoked)] == [None, None]
    assert await store.keys.verify(lasting) is not None
    listed = {each.name: each for each in await store.keys.list()}
    assert set(listed) == {"old", "lasting", "gone"}
    assert listed["gone"].revoked_at is not None
    assert await store.keys.list(owner="ana") == []
    with pytest.raises(NotFoundError):
        await store.keys.revoke("nothing")


async def test_the_last_use_is_noted_now_and_then(store: Store) -> None:
    _, plain = await store.keys.create("ci")
    await store.keys.verify(plain)
    (first,) = await store.keys.list()
    assert first.last_used_at is not None
    await store.keys.verify(plain)
    (second,) = await store.keys.list()
    assert second.last_used_at == first.last_used_at
