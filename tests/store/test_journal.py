from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from interlace.engine.errors import StoreError
from interlace.engine.events import Event
from interlace.store import Store
from interlace.store.errors import CommitError, FencedError, NotJsonError

from .conftest import begin, commit

BIG = "x" * 20_000


async def test_events_come_back_in_order_as_they_were(store: Store) -> None:
    journal = await begin(store, inputs={"n": 1})
    changing = {"text": "a", "huge": 2**80, "none": None}
    journal.append("run.started", data={"inputs": {"n": 1}})
    journal.append("node.succeeded", "each[2].work", 3, {"outputs": changing, "handles": ("out", "b")})
    changing["text"] = "changed later"
    await commit(journal)
    queued, started, succeeded = await store.events.read(journal.run_id)
    assert (queued.type, queued.seq) == ("run.queued", 1)
    assert (started.type, started.seq, started.data) == ("run.started", 2, {"inputs": {"n": 1}})
    data = {"outputs": {"text": "a", "huge": 2**80, "none": None}, "handles": ["out", "b"]}
    assert succeeded == Event("node.succeeded", "each[2].work", 3, data, 3, succeeded.at)
    assert 0 <= succeeded.at - queued.at < 60
    assert journal.next_seq == 4
    assert await store.events.last_seq(journal.run_id) == 3


async def test_there_is_nothing_to_commit_until_something_is_appended(store: Store) -> None:
    journal = await begin(store)
    assert journal.commit() is None
    journal.append("node.log", "n", 1, {"message": "x"})
    assert journal.commit() is not None
    waiting = journal.commit()
    assert waiting is not None, "it is not durable yet"
    await waiting
    assert journal.commit() is None


async def test_one_waiter_that_is_cancelled_does_not_disturb_the_others(store: Store) -> None:
    journal = await begin(store)
    journal.append("node.log", "n", 1)

    async def wait() -> None:
        await commit(journal)

    impatient, patient = asyncio.ensure_future(wait()), asyncio.ensure_future(wait())
    await asyncio.sleep(0)
    impatient.cancel()
    await patient
    assert await store.events.last_seq(journal.run_id) == 2


async def test_what_is_not_json_is_refused_and_leaves_no_gap(store: Store) -> None:
    journal = await begin(store)
    journal.append("node.started", "n", 1)
    with pytest.raises(NotJsonError, match=r"^outputs\.when\[0\]: a object has no JSON form"):
        journal.append("node.succeeded", "n", 1, {"outputs": {"big": BIG, "when": [object()]}})
    with pytest.raises(StoreError, match=r"no event type 'node\.exploded'"):
        journal.append("node.exploded", "n", 1)
    journal.append("node.failed", "n", 1, {"error": {"type": "internal"}})
    await commit(journal)
    assert [(event.seq, event.type) for event in await store.events.read(journal.run_id, 1)] == [
        (2, "node.started"),
        (3, "node.failed"),
    ]


async def test_run_events_change_the_row_in_the_same_commit(store: Store) -> None:
    journal = await begin(store)
    journal.append("run.started", data={"inputs": {}})
    await commit(journal)
    run = await store.runs.get(journal.run_id)
    assert (run.status, run.lease_owner, run.finished_at) == ("running", "me", None)
    started = run.started_at
    assert started is not None
    journal.append("run.suspended")
    await commit(journal)
    run = await store.runs.get(journal.run_id)
    assert (run.status, run.lease_owner, run.lease_until) == ("suspended", None, None)
    epoch = await store.runs.claim(journal.run_id, "other", 60)
    assert epoch == 2
    journal = store.journal(journal.run_id, epoch, await store.events.last_seq(journal.run_id) + 1)
    journal.append("run.resumed")
    journal.append("run.succeeded", data={"outputs": {"answer": 42, "big": BIG}})
    await commit(journal)
    run = await store.runs.get(journal.run_id)
    assert (run.status, run.started_at, run.lease_owner, run.error) == ("succeeded", started, None, None)
    assert run.finished_at is not None
    assert run.outputs is not None
    assert run.outputs["big"]["type"] == "string"
    assert (await store.runs.resolve(run)).outputs == {"answer": 42, "big": BIG}


async def test_failed_and_cancelled_runs_say_why(store: Store) -> None:
    failed, cancelled = await begin(store), await begin(store)
    error = {
        "type": "http_404",
        "message": "m" * 10_000,
        "node": "n",
        "path": "n",
        "attempt": 1,
        "retryable": False,
    }
    failed.append("run.failed", data={"error": error})
    cancelled.append("run.cancelled", data={"reason": "stopped by ana"})
    await asyncio.gather(commit(failed), commit(cancelled))
    run = await store.runs.resolve(await store.runs.get(failed.run_id))
    assert (run.status, run.error) == ("failed", error)
    run = await store.runs.get(cancelled.run_id)
    assert run.error is not None
    assert (run.status, run.error["type"], run.error["message"]) == (
        "cancelled",
        "cancelled",
        "the run was stopped by ana",
    )


async def test_a_stale_owner_commits_nothing_and_disturbs_nobody(store: Store) -> None:
    stale = await begin(store, lease_seconds=-1.0)
    fine = await begin(store)
    stale.append("node.started", "n", 1)
    await commit(stale)
    epoch = await store.runs.claim(stale.run_id, "other", 60)
    assert epoch == 2
    stale.append("node.succeeded", "n", 1, {"outputs": {"text": BIG}})
    stale.append("run.succeeded", data={"outputs": {}})
    fine.append("node.started", "n", 1)
    results = await asyncio.gather(commit(stale), commit(fine), return_exceptions=True)
    assert isinstance(results[0], FencedError)
    assert results[0].code == "fenced"
    assert "lease number 1 is over and the lease in force is number 2" in str(results[0])
    assert results[1] is None
    with pytest.raises(FencedError):
        stale.append("node.log", "n", 1)
    with pytest.raises(FencedError):
        await commit(stale)
    assert await store.events.last_seq(stale.run_id) == 2
    assert (await store.runs.get(stale.run_id)).status == "queued"
    owner = store.journal(stale.run_id, epoch, 3)
    owner.append("node.succeeded", "n", 1, {"outputs": {}})
    await commit(owner)
    assert await store.events.last_seq(stale.run_id) == 3


async def test_a_stale_owner_in_the_same_process_is_fenced_too(store: Store) -> None:
    stale = await begin(store, lease_seconds=-1.0)
    owner = store.journal(stale.run_id, await store.runs.claim(stale.run_id, "me", 60), 2)
    stale.append("node.log", "stale", 1)
    owner.append("node.log", "owner", 1)
    results = await asyncio.gather(commit(stale), commit(owner), return_exceptions=True)
    assert [type(result) for result in results] == [FencedError, type(None)]
    assert [event.path for event in await store.events.read(stale.run_id, 1)] == ["owner"]


async def test_a_deleted_run_takes_no_more_events(store: Store) -> None:
    journal = await begin(store)
    journal.append("run.cancelled")
    await commit(journal)
    await store.runs.delete(journal.run_id)
    journal.append("node.log", "n", 1)
    with pytest.raises(FencedError, match="the run is gone"):
        await commit(journal)


async def test_a_run_with_a_fault_fails_alone_and_for_good(store: Store) -> None:
    fine = await begin(store)
    faulty = store.journal((await begin(store)).run_id, 1, first_seq=1)  # number 1 is taken
    faulty.append("node.log", "n", 1)
    fine.append("node.log", "n", 1)
    results = await asyncio.gather(commit(faulty), commit(fine), return_exceptions=True)
    assert isinstance(results[0], CommitError)
    assert results[1] is None
    with pytest.raises(CommitError):
        faulty.append("node.log", "n", 1)


async def test_large_values_are_loaded_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = await begin(store)
    journal.append("node.succeeded", "n", 1, {"outputs": {"text": BIG, "n": 1}})
    await commit(journal)
    (event,) = await store.events.read(journal.run_id, 1)
    resumed = store.journal(journal.run_id, 1, 3)
    loads: list[str] = []
    load = store.payloads.load
    monkeypatch.setattr(store.payloads, "load", lambda ref: loads.append(ref) or load(ref))
    first, second = await resumed.load_map(event.data["outputs"]), await resumed.load_event(event)
    assert first == second.data["outputs"] == {"text": BIG, "n": 1}
    assert len(loads) == 1
    monkeypatch.setattr(store.payloads, "put_json", None)
    resumed.append("node.succeeded", "m", 1, {"outputs": {"text": first["text"]}})
    await commit(resumed)
    (event,) = await store.events.read(journal.run_id, 2)
    assert (await store.events.resolve(event)).data["outputs"]["text"] == BIG


async def test_full_durability_commits_in_groups_too(tmp_path: Path) -> None:
    store = await Store.open(None, tmp_path, durability="full")
    journals = await asyncio.gather(*(begin(store) for _ in range(20)))

    async def chain(index: int) -> None:
        for n in range(5):
            journals[index].append("node.succeeded", f"n{n}", 1, {"outputs": {"text": BIG}})
            await commit(journals[index])

    await asyncio.gather(*map(chain, range(20)))
    assert [await store.events.last_seq(journal.run_id) for journal in journals] == [6] * 20
    await store.close()
