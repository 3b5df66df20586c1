from __future__ import annotations

import asyncio

import pytest

from interlace.engine.events import Event
from interlace.store import Store
from interlace.store.errors import NotFoundError

from .conftest import begin, commit


async def collect(store: Store, run_id: str, after_seq: int = 0) -> list[int]:
    return [event.seq async for event in store.events.follow(run_id, after_seq)]


async def test_reading_goes_on_where_it_stopped(store: Store) -> None:
    journal = await begin(store)
    for n in range(10):
        journal.append("node.log", f"n{n}", 1)
    await commit(journal)
    assert [event.seq for event in await store.events.read(journal.run_id, 3, 4)] == [4, 5, 6, 7]
    assert await store.events.read(journal.run_id, 11) == []
    assert await store.events.read("nothing") == []
    assert await store.events.last_seq("nothing") == 0


async def test_following_ends_with_the_run(store: Store) -> None:
    journal = await begin(store)
    followers = [asyncio.ensure_future(collect(store, journal.run_id, after)) for after in (0, 2)]
    for kind in ("run.started", "run.suspended", "run.resumed", "run.cancelled"):
        await asyncio.sleep(0)
        journal.append(kind)
        await commit(journal)
    assert await asyncio.gather(*followers) == [[1, 2, 3, 4, 5], [3, 4, 5]]
    assert await collect(store, journal.run_id) == [1, 2, 3, 4, 5], "also afterwards"
    assert await collect(store, journal.run_id, 5) == []


async def test_following_sees_what_another_process_writes(store: Store, url: str | None) -> None:
    journal = await begin(store)
    reader = await Store.open(url, store.payloads.root.parent)
    seen: list[int] = []
    first = asyncio.Event()

    async def follow() -> None:
        async for event in reader.events.follow(journal.run_id):
            seen.append(event.seq)
            first.set()

    following = asyncio.ensure_future(follow())
    await first.wait()
    journal.append("run.started")
    await commit(journal)
    journal.append("run.succeeded", data={"outputs": {}})
    await commit(journal)
    async with asyncio.timeout(5):
        await following
    assert seen == [1, 2, 3]
    await reader.close()


async def test_following_what_is_not_there_fails(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no run 'nothing'"):
        await collect(store, "nothing")


async def test_following_a_run_that_is_deleted_ends_with_an_error(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlace.store.events._GONE_SECONDS", 0.05)
    journal = await begin(store)
    journal.append("run.succeeded", data={"outputs": {}})
    follower = store.events.follow(journal.run_id)
    assert (await anext(follower)).seq == 1
    await commit(journal)
    await store.runs.delete(journal.run_id)
    with pytest.raises(NotFoundError):
        await anext(follower)


async def test_leaving_early_leaves_nothing_behind(store: Store) -> None:
    journal = await begin(store)
    follower = store.events.follow(journal.run_id)
    await anext(follower)
    await follower.aclose()  # type: ignore[attr-defined]
    assert store._watch._readers == {}


async def test_a_long_journal_is_folded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlace.store.events._CHUNK", 7)
    journal = await begin(store)
    journal.append("run.started", data={"inputs": {"n": 1}})
    for n in range(20):
        journal.append("node.started", f"n{n}", 1, {"effects": "none"})
        if n != 19:
            journal.append(
                "node.succeeded", f"n{n}", 1, {"outputs": {"n": n}, "handles": ("out",), "elapsed_ms": 1.5}
            )
    await commit(journal)
    state = await store.events.fold(journal.run_id)
    assert (state.status, state.inputs, state.last_seq) == ("running", {"n": 1}, 41)
    assert [node.outputs for node in state.nodes.values()] == [{"n": n} for n in range(19)] + [None]
    assert [node.path for node in state.unfinished] == ["n19"]
    with pytest.raises(NotFoundError):
        await store.events.fold("nothing")


async def test_events_resolve_their_references(store: Store) -> None:
    journal = await begin(store)
    big = {"rows": [{"n": n} for n in range(3000)]}
    journal.append("node.succeeded", "n", 1, {"outputs": big, "handles": ("out",)})
    await commit(journal)
    (event,) = await store.events.read(journal.run_id, 1)
    resolved = await store.events.resolve(event)
    assert resolved == Event("node.succeeded", "n", 1, {"outputs": big, "handles": ["out"]}, 2, event.at)
