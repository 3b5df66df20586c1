"""Triggers follow what is published."""

from __future__ import annotations

import asyncio

import pytest

from interlace.engine.errors import InvalidDocument
from interlace.engine.principal import LOCAL
from interlace.flows.triggers.own import Own, read
from interlace.store.errors import ConflictError, NotFoundError
from tests.flows.triggers.schedules import Scheduled, at, flow

HOURLY = {"type": "cron", "cron": "0 * * * *", "id": "hourly"}


async def _keys(scheduled: Scheduled, workflow_id: str) -> list[str]:
    return [trigger.key for trigger in await scheduled.platform.store.triggers.of_workflow(workflow_id)]


async def test_a_new_version_changes_keeps_and_ends(on_both: Scheduled) -> None:
    daily = {"type": "cron", "cron": "0 0 * * *", "id": "daily"}
    workflow_id = await on_both.publish(flow(HOURLY, daily))
    first = await on_both.trigger(workflow_id, "hourly")
    await on_both.to("2026-01-01T01:30:00Z")
    await on_both.publish(flow({**HOURLY, "inputs": {"n": 1}}, {"type": "event", "workflow": "x"}))
    assert await _keys(on_both, workflow_id) == ["hourly", "event-1"]
    same = await on_both.trigger(workflow_id, "hourly")
    assert (same.id, same.cursor, same.next_at) == (
        first.id,
        at("2026-01-01T01:00:00Z"),
        at("2026-01-01T02:00:00Z"),
    )
    await on_both.publish(flow({**HOURLY, "cron": "15 * * * *"}))
    other = await on_both.trigger(workflow_id, "hourly")
    assert (other.id, other.next_at) == (first.id, at("2026-01-01T02:15:00Z"))
    await on_both.to("2026-01-01T02:20:00Z")
    assert await on_both.scheduled() == ["2026-01-01T01:00", "2026-01-01T02:15"]


async def test_one_that_comes_back_is_the_same_and_begins_anew(scheduled: Scheduled) -> None:
    workflow_id = await scheduled.publish(flow({**HOURLY, "missed": "all"}))
    first = await scheduled.trigger(workflow_id, "hourly")
    await scheduled.publish(flow())
    await scheduled.to("2026-01-01T03:30:00Z")
    assert await _keys(scheduled, workflow_id) == []
    await scheduled.publish(flow({**HOURLY, "missed": "all"}))
    await scheduled.to("2026-01-01T04:00:00Z")
    assert (await scheduled.trigger(workflow_id, "hourly")).id == first.id
    assert await scheduled.scheduled() == ["2026-01-01T04:00"]


async def test_unpublishing_and_deleting_end_them(scheduled: Scheduled) -> None:
    store, triggers = scheduled.platform.store, scheduled.platform.triggers
    workflow_id = await scheduled.publish(flow(HOURLY))
    await Own(scheduled.platform).add("job", read("cron", {"cron": "30 * * * *"}), by=LOCAL, name="mine")
    await store.workflows.unpublish(workflow_id)
    await triggers.published(workflow_id)
    assert await _keys(scheduled, workflow_id) == ["own:mine"]
    await scheduled.to("2026-01-01T01:00:00Z")
    assert await scheduled.runs() == []
    [refused] = await scheduled.decided(workflow_id, "own:mine")
    assert "no published version" in str(refused.note)
    await store.workflows.publish(workflow_id)
    await store.workflows.delete(workflow_id)
    await triggers.published(workflow_id)
    assert await _keys(scheduled, workflow_id) == []
    await scheduled.to("2026-01-01T02:00:00Z")
    assert await scheduled.runs() == []


async def test_what_another_process_published_is_noticed(scheduled: Scheduled) -> None:
    pinned = await scheduled.platform.documents.from_text(flow(HOURLY))
    pushed = await scheduled.platform.store.workflows.push("job", pinned.text)
    await scheduled.platform.store.workflows.publish(pushed.workflow_id)
    await scheduled.to("2026-01-01T00:30:00Z")
    assert await _keys(scheduled, pushed.workflow_id) == ["hourly"]
    assert await scheduled.platform.triggers.publishing.look() == 0


async def test_two_processes_that_sync_at_once_make_one(on_both: Scheduled) -> None:
    pinned = await on_both.platform.documents.from_text(flow(HOURLY, {"type": "webhook"}))
    pushed = await on_both.platform.store.workflows.push("job", pinned.text)
    await on_both.platform.store.workflows.publish(pushed.workflow_id)
    other = Scheduled(on_both.settings, on_both.clock)
    await other.open()
    try:
        await asyncio.gather(*(each.platform.triggers.look() for each in (on_both, other)))
    finally:
        await other.platform.close()
    assert await _keys(on_both, pushed.workflow_id) == ["hourly", "webhook-1"]


async def test_a_paused_one_stays_paused(scheduled: Scheduled) -> None:
    workflow_id = await scheduled.publish(flow(HOURLY))
    own = Own(scheduled.platform)
    await own.pause(await scheduled.trigger(workflow_id, "hourly"), paused=True, by=LOCAL)
    await scheduled.publish(flow({**HOURLY, "cron": "30 * * * *"}))
    await scheduled.to("2026-01-01T05:00:00Z")
    assert await scheduled.runs() == []
    resumed = await own.pause(await scheduled.trigger(workflow_id, "hourly"), paused=False, by=LOCAL)
    assert (resumed.paused, resumed.next_at) == (False, at("2026-01-01T05:30:00Z"))
    assert [line.action for line in (await scheduled.platform.store.audit.list(by=LOCAL)).items[:2]] == [
        "schedule.resume", "schedule.pause",
    ]  # fmt: skip


async def test_own_schedules_are_made_changed_and_removed(scheduled: Scheduled) -> None:
    inputs = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    workflow_id = await scheduled.publish(flow({**HOURLY, "inputs": {"n": 0}}, inputs=inputs))
    own, store = Own(scheduled.platform), scheduled.platform.store
    with pytest.raises(InvalidDocument, match="required"):
        await own.add("job", read("cron", {"cron": "30 * * * *"}), by=LOCAL)
    with pytest.raises(InvalidDocument, match="cannot be read"):
        read("cron", {"cron": "nonsense every day at six"})
    with pytest.raises(NotFoundError):
        await own.add("nothing", read("cron", {"cron": "@daily"}), by=LOCAL)
    made = await own.add(
        "job", read("cron", {"cron": "30 * * * *", "inputs": {"n": 1}}), by=LOCAL, name="half"
    )
    with pytest.raises(ConflictError, match="has a trigger"):
        await own.add("job", read("cron", {"cron": "@daily", "inputs": {"n": 1}}), by=LOCAL, name="half")
    changed = await own.change(made, {"cron": "45 * * * *"}, by=LOCAL)
    await scheduled.to("2026-01-01T00:45:00Z")
    assert [(run.scheduled_for, run.inputs) for run in await scheduled.runs()] == [
        (at("2026-01-01T00:45:00Z"), {"n": 1})
    ]
    for refused in (own.change(await scheduled.trigger(workflow_id, "hourly"), {}, by=LOCAL),
                    own.remove(await scheduled.trigger(workflow_id, "hourly"), by=LOCAL)):  # fmt: skip
        with pytest.raises(ConflictError, match="stands in the workflow's document"):
            await refused
    await own.remove(changed, by=LOCAL)
    with pytest.raises(NotFoundError):
        await store.triggers.get(made.id)
    await scheduled.publish(flow({**HOURLY, "inputs": {"n": 0}}, name="job", inputs=inputs))
    assert await _keys(scheduled, workflow_id) == ["hourly"]
