from __future__ import annotations

import asyncio
import time

import pytest

from interlace.engine.errors import StoreError
from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError, NotJsonError
from interlace.store.runs import NewRun

from .conftest import begin, commit

BIG = "x" * 20_000


async def test_a_run_is_what_it_was_created_with(store: Store) -> None:
    before = time.time()
    created = await store.runs.create(
        NewRun(
            name="invoice", document='{"nodes": []}', inputs={"text": BIG, "n": 2**70}, trigger={"type": "cron"},
            owner="ana", workflow_id="w1", version=3, environment="prod", parent_run_id="p", parent_path="each[1].call",
            depth=2, node_count=7, scheduled_for=123.5, tags=("a", "ü"),
        )
    )  # fmt: skip
    run = await store.runs.get(created.run_id, owner="ana")
    assert created.created
    assert created.epoch is None
    assert (run.status, run.name, run.owner, run.workflow_id, run.version) == (
        "queued",
        "invoice",
        "ana",
        "w1",
        3,
    )
    assert (run.environment, run.parent_run_id, run.parent_path, run.depth) == (
        "prod",
        "p",
        "each[1].call",
        2,
    )
    assert (run.node_count, run.scheduled_for, run.tags, run.trigger) == (
        7,
        123.5,
        ("a", "ü"),
        {"type": "cron"},
    )
    assert (run.lease_owner, run.lease_epoch, run.cancel_requested, run.mirror_state) == (None, 0, False, "")
    assert before <= run.created_at <= time.time()
    assert run.inputs["text"]["type"] == "string"
    assert (await store.runs.resolve(run)).inputs == {"text": BIG, "n": 2**70}
    assert await store.runs.document(run.document_hash) == '{"nodes": []}'
    assert [event.type for event in await store.events.read(run.id)] == ["run.queued"]


async def test_what_cannot_be_created_says_why(store: Store) -> None:
    with pytest.raises(ConflictError, match="needs its document"):
        await store.runs.create(NewRun(name="x"))
    with pytest.raises(NotJsonError, match=r"^a\[0\]: nan"):
        await store.runs.create(NewRun(name="x", document="{}", inputs={"a": [float("nan")]}))
    await store.runs.create(NewRun(name="x", document="{}", run_id="twice"))
    with pytest.raises(StoreError):
        await store.runs.create(NewRun(name="x", document="{}", run_id="twice"))
    with pytest.raises(NotFoundError):
        await store.runs.document("nothing")


async def test_many_runs_created_at_once_are_all_there(store: Store) -> None:
    created = await asyncio.gather(
        *(store.runs.create(NewRun(name=f"r{n}", document="{}")) for n in range(200))
    )
    assert len({each.run_id for each in created}) == 200
    found = await store.runs.unfinished()
    assert [run.name for run in found] == [f"r{n}" for n in range(200)], "oldest first"


async def test_of_one_idempotency_key_one_run_is_created(store: Store) -> None:
    new = NewRun(name="x", document="{}", idempotency_key="k", owner="ana")
    created = await asyncio.gather(*(store.runs.create(new) for _ in range(5)))
    assert len({each.run_id for each in created}) == 1
    assert [each.created for each in created].count(True) == 1
    other = await store.runs.create(NewRun(name="x", document="{}", idempotency_key="k", owner="bob"))
    assert other.created
    assert len((await store.runs.list()).items) == 2
    assert await store.events.last_seq(created[0].run_id) == 1


async def test_another_owners_run_is_not_found(store: Store) -> None:
    created = await store.runs.create(NewRun(name="x", document="{}", owner="ana"))
    for owner in ("bob", "", "ana' OR '1'='1"):
        with pytest.raises(NotFoundError, match="no run"):
            await store.runs.get(created.run_id, owner=owner)
        with pytest.raises(NotFoundError, match="no run"):
            await store.runs.delete(created.run_id, owner=owner)
    with pytest.raises(NotFoundError):
        await store.runs.get("nothing")


async def test_runs_are_listed_in_pages_newest_first(store: Store) -> None:
    for n in range(7):
        await store.runs.create(NewRun(name=f"r{n}", document="{}", workflow_id="w" if n % 2 else None))
    names, cursor = [], None
    for _ in range(3):
        page = await store.runs.list(limit=3, cursor=cursor)
        names += [run.name for run in page.items]
        cursor = page.cursor
    assert names == [f"r{n}" for n in reversed(range(7))]
    assert cursor is None
    page = await store.runs.list(workflow_id="w", limit=3)
    assert [run.name for run in page.items] == ["r5", "r3", "r1"]
    assert page.cursor is None


async def test_runs_are_filtered(store: Store) -> None:
    first = await begin(store, name="first")
    first.append("run.failed", data={"error": {"type": "x"}})
    await commit(first)
    middle = time.time()
    await store.runs.create(
        NewRun(name="child", document="{}", owner="ana", parent_run_id=first.run_id, parent_path="c")
    )
    await store.runs.create(NewRun(name="child2", document="{}", parent_run_id=first.run_id, parent_path="d"))

    async def names(**filters: object) -> list[str]:
        return [run.name for run in (await store.runs.list(**filters)).items]  # type: ignore[arg-type]

    assert await names(status=["failed"]) == ["first"]
    assert await names(status=["queued", "failed"]) == ["child2", "child", "first"]
    assert await names(status=[]) == []
    assert await names(since=middle) == ["child2", "child"]
    assert await names(owner="ana") == ["child"]
    assert await names(parent_run_id=first.run_id, owner="local") == ["child2"]
    assert [run.name for run in await store.runs.children(first.run_id)] == ["child", "child2"]
    assert [run.name for run in await store.runs.children(first.run_id, "d")] == ["child2"]


async def test_one_of_several_claims_wins(store: Store) -> None:
    run_id = (await store.runs.create(NewRun(name="x", document="{}"))).run_id
    claims = await asyncio.gather(*(store.runs.claim(run_id, f"host{n}", 60) for n in range(5)))
    assert sorted(claims, key=str) == [1, None, None, None, None]
    winner = f"host{claims.index(1)}"
    assert await store.runs.claim(run_id, winner, 60) is None, "also its owner cannot start it twice"
    assert await store.runs.unfinished() == []
    assert await store.runs.renew(winner, 60) == {run_id: False}
    assert await store.runs.renew("other", 60) == {}


async def test_an_expired_or_released_lease_can_be_claimed(store: Store) -> None:
    run_id = (await store.runs.create(NewRun(name="x", document="{}"))).run_id
    assert await store.runs.claim(run_id, "a", -1.0) == 1
    assert [run.id for run in await store.runs.unfinished()] == [run_id]
    assert await store.runs.claim(run_id, "b", 60) == 2
    await store.runs.release(run_id, 1)
    assert await store.runs.claim(run_id, "c", 60) is None, "a stale owner cannot release another's lease"
    await store.runs.release(run_id, 2)
    assert await store.runs.claim(run_id, "c", 60) == 3
    assert await store.runs.claim("nothing", "c", 60) is None


async def test_ended_runs_are_not_claimed(store: Store) -> None:
    journal = await begin(store)
    journal.append("run.succeeded", data={"outputs": {}})
    await commit(journal)
    assert await store.runs.claim(journal.run_id, "a", 60) is None
    assert await store.runs.renew("me", 60) == {}
    assert await store.runs.request_cancel(journal.run_id) is False


async def test_whoever_runs_it_hears_of_a_cancellation(store: Store) -> None:
    journal = await begin(store)
    assert await store.runs.cancel_requests("me") == []
    assert await store.runs.request_cancel(journal.run_id) is True
    assert await store.runs.cancel_requests("me") == [journal.run_id]
    assert await store.runs.renew("me", 60) == {journal.run_id: True}
    with pytest.raises(NotFoundError):
        await store.runs.request_cancel("nothing")


async def test_the_mirror_queue_holds_what_differs(store: Store) -> None:
    first, second = await begin(store), await begin(store)
    assert await store.runs.to_mirror() == []
    for journal in (first, second):
        journal.append("run.started")
        await commit(journal)
    assert [run.id for run in await store.runs.to_mirror()] == [first.run_id, second.run_id]
    assert len(await store.runs.to_mirror(limit=1)) == 1
    assert [run.id for run in await store.runs.to_mirror(after=first.run_id)] == [second.run_id]
    await store.runs.mirrored([(first.run_id, "running", "flow-1"), (second.run_id, "running", "flow-2")])
    await store.runs.mirrored([])
    assert await store.runs.to_mirror() == []
    first.append("run.succeeded", data={"outputs": {}})
    await commit(first)
    (run,) = await store.runs.to_mirror()
    assert (run.id, run.mirror_state, run.flow_run_id) == (first.run_id, "running", "flow-1")
    await store.runs.mirrored([(first.run_id, "succeeded", None)])
    assert await store.runs.to_mirror() == []
    found = await store.runs.by_flow_run("flow-1")
    assert found is not None
    assert (found.id, found.mirror_state) == (first.run_id, "succeeded")
    assert await store.runs.by_flow_run("nothing") is None


async def test_retention_by_age_and_count(store: Store) -> None:
    ended = []
    for _ in range(4):
        journal = await begin(store, workflow_id="w")
        journal.append("run.succeeded", data={"outputs": {}})
        await commit(journal)
        ended.append(journal.run_id)
    await begin(store, workflow_id="w")
    await begin(store)
    assert await store.runs.prunable("w") == []
    assert await store.runs.prunable("w", keep=3) == ended[:1]
    assert await store.runs.prunable("w", keep=0) == ended
    assert await store.runs.prunable("w", before=time.time() - 3600) == []
    assert await store.runs.prunable("w", before=time.time() + 3600, limit=2) == ended[:2]
    assert await store.runs.prunable(None, keep=0) == []
