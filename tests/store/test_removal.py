"""Runs are removed in steps, whole; those that nobody ends too."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from interlace.store import Store
from interlace.store.errors import ConflictError, FencedError
from interlace.store.tables import events, files, payloads, run_payloads, runs, waits

from .conftest import begin, commit

EVENTS, VALUES = 4500, 450


async def counts(store: Store) -> dict[str, int]:
    found = {}
    for table in (events, files, payloads, run_payloads, runs, waits):
        row = await store.database.first(select(func.count().label("total")).select_from(table))
        assert row is not None
        found[table.name] = row.total
    return {name: total for name, total in found.items() if total}


async def test_a_large_run_goes_in_steps_and_leaves_nothing(store: Store) -> None:
    journal = await begin(store)
    for number in range(EVENTS):
        outputs = {"text": f"{number}" + "x" * 9000} if number < VALUES else {}
        journal.append("node.succeeded", f"n{number}", 1, {"outputs": outputs})
    await store.files.of_run(journal.run_id).save(b"file", name="f", media_type="text/plain")
    journal.append("run.succeeded", "", 0, {"outputs": {}})
    await commit(journal)
    assert len(list(store.payloads.refs(0))) == VALUES + 1
    await store.runs.delete(journal.run_id)
    assert await counts(store) == {}
    assert list(store.payloads.refs(0)) == []


async def test_what_another_run_has_stays_with_it(store: Store) -> None:
    journals = [await begin(store), await begin(store)]
    for journal in journals:
        for number in range(VALUES):
            journal.append("node.succeeded", f"n{number}", 1, {"outputs": {"text": f"{number}" + "x" * 9000}})
        journal.append("run.succeeded", "", 0, {"outputs": {}})
        await commit(journal)
    await store.runs.delete(journals[0].run_id)
    assert len(list(store.payloads.refs(0))) == VALUES
    for event in await store.events.read(journals[1].run_id, after_seq=1, limit=VALUES):
        assert (await store.events.resolve(event)).data["outputs"]["text"].startswith(event.path[1:])
    await store.runs.delete(journals[1].run_id)
    assert await counts(store) == {}


async def test_a_run_that_nobody_ends_is_deleted_by_force_and_its_owner_commits_nothing(store: Store) -> None:
    journal = await begin(store)
    journal.append("run.started", "", 0, {})
    await commit(journal)
    with pytest.raises(ConflictError, match="cancel it"):
        await store.runs.delete(journal.run_id)
    await store.runs.delete(journal.run_id, force=True)
    journal.append("node.succeeded", "n", 1, {"outputs": {"text": "x" * 9000}})
    with pytest.raises(FencedError, match="is gone"):
        await commit(journal)
    found = await counts(store)
    assert found == {}


async def test_prefects_picture_is_remembered_until_it_is_deleted_too(store: Store) -> None:
    ids = []
    for number in range(3):
        journal = await begin(store)
        journal.append("run.succeeded", "", 0, {"outputs": {}})
        await commit(journal)
        if number:
            await store.runs.linked([(journal.run_id, f"flow-{number}")])
        ids.append(journal.run_id)
    for run_id in ids:
        await store.runs.delete(run_id)
    removal = store.runs.removal
    assert await removal.gone_flow_runs() == ["flow-1", "flow-2"]
    assert await removal.gone_flow_runs(limit=1) == ["flow-1"]
    await removal.forget_gone(["flow-1"])
    assert await removal.gone_flow_runs() == ["flow-2"]
    await removal.forget_gone(["flow-2"])
    assert await removal.gone_flow_runs() == []


async def test_a_key_of_today_keeps_its_run(store: Store) -> None:
    """Without its run a key starts the same again."""
    kept = await begin(store, idempotency_key="k", workflow_id="w")
    other = await begin(store, workflow_id="w")
    for journal in (kept, other):
        journal.append("run.succeeded", "", 0, {"outputs": {}})
        await commit(journal)
    assert await store.runs.prunable("w", keep=0) == [other.run_id]
    old = store.database.compile(runs.update().where(runs.c.id == kept.run_id).values(created_at=0.0))
    await store.database.write(old())
    assert await store.runs.prunable("w", keep=0) == [kept.run_id, other.run_id]
