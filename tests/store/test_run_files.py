"""The folders of runs on both databases: versions, calls, what a replay takes, what goes with a run."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.run_files import FolderEntry
from interlace.store.run_row import NewRun, Seed


def entry(path: str, version: int, key: str, **fields: Any) -> FolderEntry:
    values = {"node": "a", "ref": "sha256-x", "size": 1, "media_type": "text/plain", **fields}
    return FolderEntry(path=path, version=version, key=key, **values)


async def run(store: Store, **fields: Any) -> str:
    new = NewRun(**{"name": "t", "document": "{}", "lease_owner": "me", **fields})
    return (await store.runs.create(new)).run_id


async def test_a_version_and_a_call_are_kept_once(store: Store) -> None:
    mine, other = await run(store), await run(store)
    assert await store.run_files.add(mine, entry("p", 1, "k1", detail={"replaced": 2}))
    assert not await store.run_files.add(mine, entry("p", 1, "k2"))
    assert not await store.run_files.add(mine, entry("q", 1, "k1"))
    assert await store.run_files.add(other, entry("p", 1, "k1"))
    found = await store.run_files.of_call(mine, "k1")
    assert found is not None
    assert (found.path, found.detail) == ("p", {"replaced": 2})
    assert await store.run_files.of_call(mine, "k2") is None
    assert (await store.run_files.versions(mine), await store.run_files.versions(other)) == (1, 1)


async def test_the_newest_versions_are_the_folder(store: Store) -> None:
    mine = await run(store)
    for version, ref in ((1, "sha256-1"), (2, "sha256-2")):
        await store.run_files.add(mine, entry("b", version, f"b{version}", ref=ref))
    await store.run_files.add(mine, entry("a", 1, "a1"))
    await store.run_files.add(mine, entry("gone", 1, "g1"))
    await store.run_files.add(mine, entry("gone", 2, "g2", ref=None, size=0))
    assert [(e.path, e.version, e.ref) for e in await store.run_files.list(mine)] == [
        ("a", 1, "sha256-x"), ("b", 2, "sha256-2"),
    ]  # fmt: skip
    latest = await store.run_files.latest(mine, "gone")
    assert latest is not None
    assert (latest.version, latest.ref) == (2, None)
    assert await store.run_files.latest(mine, "never") is None


async def test_a_replay_takes_what_its_reused_nodes_wrote(store: Store) -> None:
    earlier = await run(store)
    await store.run_files.add(earlier, entry("p", 1, "k1", node="a"))
    await store.run_files.add(earlier, entry("p", 2, "k2", node="b", ref="sha256-later"))
    await store.run_files.add(earlier, entry("q", 1, "k3", node="each"))
    seeds = tuple(
        Seed(type="node.succeeded", path=path, attempt=1, data={"outputs": {}})
        for path in ("a", "each", "each[0].w")
    )
    later = await run(store, replayed_from=earlier, seeds=seeds)
    assert [(e.path, e.version, e.ref) for e in await store.run_files.list(later)] == [
        ("p", 1, "sha256-x"), ("q", 1, "sha256-x"),
    ]  # fmt: skip
    assert await store.run_files.add(later, entry("p", 2, f"{later}:b", node="b"))


async def test_a_deleted_run_gets_no_more_files(store: Store) -> None:
    mine, other = await run(store), await run(store)
    for each in (mine, other):
        await store.run_files.add(each, entry("p", 1, "k"))
    await store.runs.delete(mine, force=True)
    assert await store.run_files.list(mine) == []
    assert len(await store.run_files.list(other)) == 1
    with pytest.raises(NotFoundError):
        await store.run_files.add(mine, entry("p", 2, "k2"))
