"""The ends of runs start other workflows: each once, with the rights of whoever wants it, and not for ever."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from interlace.engine.principal import LOCAL
from interlace.flows.request import Request
from tests.flows.triggers.schedules import Scheduled, flow

FIRST = json.loads(
    flow(name="first", inputs={"type": "object", "properties": {"fail": {}, "big": {}, "missing": {}}})
)


def first(**changes: Any) -> str:
    """A workflow that fails when it is told to."""
    nodes = [
        {"id": "start", "type": "START"},
        {
            "id": "check",
            "type": "TEMPLATE",
            "config": {"template": "{{ inputs.missing if inputs.fail else 'fine' }}"},
        },
        {
            "id": "done",
            "type": "END",
            "config": {"outputs": {"said": "{{ check.text }}", "big": "{{ inputs.big | default('') }}"}},
        },
    ]
    return json.dumps({**FIRST, "nodes": nodes, "edges": ["start -> check", "check -> done"], **changes})


def after(workflow: str, *on: str, name: str = "job", **more: Any) -> str:
    return flow(
        {"type": "event", "workflow": workflow, "on": list(on) or ["succeeded", "failed"], **more}, name=name
    )


async def end(scheduled: Scheduled, workflow: str = "first", owner: str = "local", **inputs: Any) -> str:
    """Run a workflow to its end and tell of it."""
    platform = scheduled.platform
    pinned = await platform.documents.stored(workflow, owner=await platform.store.users.principal(owner))
    run_id = await platform.runner.start(pinned, Request(inputs=inputs, owner=owner))
    await platform.runner.wait(run_id, 20)
    await settle(scheduled)
    return run_id


async def settle(scheduled: Scheduled) -> None:
    """Tell of everything until nothing follows any more. Journals go by the true time."""
    scheduled.clock.at = max(scheduled.clock.at, scheduled.platform.store.database.now() + 1)
    for _ in range(30):
        await scheduled.platform.runner.idle()
        await scheduled.platform.triggers.events.look()
        if not scheduled.platform.runner.active:
            break


async def test_the_end_of_a_run_starts_a_workflow(on_both: Scheduled) -> None:
    await on_both.publish(first())
    await on_both.publish(after("first", "failed", inputs={"why": "{{ trigger.run.error.type }}"}))
    await end(on_both)
    assert await on_both.runs() == []
    failed = await end(on_both, fail=True)
    [run] = await on_both.runs()
    trigger = run.outputs["trigger"] if run.outputs else {}
    assert run.inputs == {"why": "missing"}
    assert (trigger["kind"], trigger["event"], trigger["workflow"], trigger["depth"]) == (
        "event",
        "run.failed",
        "first",
        1,
    )
    assert (trigger["run"]["id"], trigger["run"]["status"], trigger["run"]["outputs"]) == (
        failed,
        "failed",
        None,
    )
    assert trigger["run"]["error"]["node"] == "check"


async def test_by_id_and_with_large_outputs(scheduled: Scheduled) -> None:
    workflow_id = await scheduled.publish(first())
    await scheduled.publish(
        after(workflow_id, "succeeded", inputs={"size": "{{ trigger.run.outputs.big | length }}"})
    )
    await end(scheduled, big="x" * 50_000)
    [run] = await scheduled.runs()
    assert run.inputs == {"size": 50_000}
    assert run.trigger["run"]["outputs"]["big"] == "x" * 50_000
    row = await scheduled.platform.store.runs.get(run.id)
    assert len(json.dumps(row.trigger)) < 2000


async def test_each_end_starts_one_however_often_it_is_told(on_both: Scheduled) -> None:
    await on_both.publish(first())
    await on_both.publish(after("first"))
    other = Scheduled(on_both.settings, on_both.clock)
    await other.open()
    pinned = await on_both.platform.documents.stored("first")
    ids = [await on_both.platform.runner.start(pinned, Request()) for _ in range(5)]
    await asyncio.gather(*(on_both.platform.runner.wait(run_id, 20) for run_id in ids))
    await on_both.platform.runner.idle()
    on_both.clock.at = on_both.platform.store.database.now() + 1
    await asyncio.gather(*(each.platform.triggers.events.look() for each in (on_both, other)))
    # A process that died before it noted that all were told.
    claimed = await on_both.platform.store.announcements.claim_due(on_both.clock.now())
    assert claimed == []
    await settle(on_both)
    await settle(other)
    await other.platform.close()
    assert sorted(run.trigger["run"]["id"] for run in await on_both.runs()) == sorted(ids)


async def test_one_that_was_not_told_in_time_is_told_again(scheduled: Scheduled) -> None:
    await scheduled.publish(first())
    await scheduled.publish(after("first"))
    pinned = await scheduled.platform.documents.stored("first")
    await scheduled.platform.runner.wait(await scheduled.platform.runner.start(pinned, Request()), 20)
    [lost] = await scheduled.platform.store.announcements.claim_due(
        scheduled.platform.store.database.now() + 1
    )
    assert lost.event == "run.succeeded"
    await settle(scheduled)
    assert await scheduled.runs() == []
    scheduled.clock.at = scheduled.platform.store.database.now() + 60
    await settle(scheduled)
    assert len(await scheduled.runs()) == 1


async def test_nobody_listens_nothing_is_noted(scheduled: Scheduled) -> None:
    await scheduled.publish(first())
    workflow_id = await scheduled.publish(after("first"))
    await scheduled.publish(flow(name="job"))
    await end(scheduled)
    assert (await scheduled.runs(), workflow_id != "") == ([], True)
    assert await scheduled.platform.store.announcements.next_due() is None


async def test_test_runs_and_runs_of_files_start_nothing(scheduled: Scheduled) -> None:
    await scheduled.publish(first())
    await scheduled.publish(after("first"))
    platform = scheduled.platform
    stored, loose = await platform.documents.stored("first"), await platform.documents.from_text(first())
    for pinned, request in ((stored, Request(test=True)), (loose, Request())):
        await platform.runner.wait(await platform.runner.start(pinned, request), 20)
    await settle(scheduled)
    assert await scheduled.runs() == []


async def test_a_circle_is_cut(scheduled: Scheduled) -> None:
    await scheduled.publish(after("b", name="a"))
    workflow_id = await scheduled.publish(after("a", name="b"))
    await end(scheduled, "a")
    runs = [*await scheduled.runs("a"), *await scheduled.runs("b")]
    assert sorted(int(run.trigger.get("depth", 0)) for run in runs) == list(range(11))
    stopped = [(await scheduled.trigger(workflow_id, "event-1")).error]
    stopped += [
        one.error for one in await scheduled.platform.store.triggers.of_workflow(runs[0].workflow_id or "")
    ]
    assert any("cut after 10 runs" in str(error) for error in stopped)


async def test_on_failure_and_events_are_no_way_around_it(scheduled: Scheduled) -> None:
    broken = json.loads(first(name="a", settings={"on_failure": "b"}))
    broken["nodes"][1]["config"]["template"] = "{{ inputs.missing }}"
    await scheduled.publish(json.dumps({**broken, "triggers": [{"type": "event", "workflow": "b"}]}))
    await scheduled.publish(flow(name="b"))
    await end(scheduled, "a")
    depths = [int(run.trigger.get("depth", 0)) for name in "ab" for run in await scheduled.runs(name)]
    assert max(depths) <= 11
    assert len(depths) <= 12


async def test_the_runs_of_others_are_not_told(scheduled: Scheduled) -> None:
    store = scheduled.platform.store
    ann, eve = [await store.users.create(name, by=LOCAL) for name in ("ann", "eve")]
    await scheduled.publish(first(), owner=ann.id)
    await scheduled.publish(after("first"), owner=eve.id)
    await scheduled.publish(after("first", name="hers"), owner=ann.id)
    await end(scheduled, owner=ann.id)
    assert await scheduled.runs() == []
    assert [run.owner for run in await scheduled.runs("hers")] == [ann.id]
