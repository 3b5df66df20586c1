"""Which runs are kept, and what goes with those that are not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from interlace.engine.testing import edges
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.retention import Rule, delete_run, end_run
from interlace.flows.settings import Settings
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.run_row import NewRun
from tests.flows.waiting import ASK, MovedClock

DAY = 86_400.0


def flow(name: str, **settings: Any) -> str:
    return json.dumps(
        {
            "name": name, "inputs": {"type": "object", "properties": {"n": {}}}, "settings": settings,
            "nodes": [{"id": "start", "type": "START"}, {"id": "done", "type": "END", "config": {"outputs": {"n": "{{ inputs.n }}"}}}],
            "edges": edges("start -> done"),
        }
    )  # fmt: skip


async def stored(platform: Platform, text: str) -> str:
    pinned = await platform.documents.from_text(text)
    pushed = await platform.store.workflows.push(pinned.document.name, pinned.text)
    await platform.store.workflows.publish(pushed.workflow_id)
    return pushed.workflow_id


async def ran(platform: Platform, workflow: str, count: int, n: Any = 1) -> list[str]:
    pinned = await platform.documents.stored(workflow)
    ids = [await platform.runner.start(pinned, Request(inputs={"n": n})) for _ in range(count)]
    for run_id in ids:
        await platform.runner.turn(run_id)
    return ids


async def age(platform: Platform, run_id: str, days: float) -> None:
    from sqlalchemy import text

    run = await platform.store.runs.get(run_id)
    assert run.finished_at is not None
    compiled = platform.store.database.compile(text("UPDATE runs SET finished_at = :at WHERE id = :id"))
    await platform.store.database.write(compiled(at=run.finished_at - days * DAY, id=run_id))


async def left(platform: Platform, ids: list[str]) -> list[int]:
    found = []
    for index, run_id in enumerate(ids):
        try:
            await platform.store.runs.get(run_id)
        except NotFoundError:
            continue
        found.append(index)
    return found


async def test_a_workflow_keeps_what_it_says_and_others_what_the_settings_say(platform: Platform) -> None:
    own = await stored(platform, flow("own", retention={"keep_for": "7d", "keep_last": 3}))
    other = await stored(platform, flow("other"))
    mine, theirs = await ran(platform, own, 5), await ran(platform, other, 2)
    await age(platform, mine[4], 8)
    await age(platform, theirs[0], 89)
    await age(platform, theirs[1], 91)
    looked = await platform.retention.prune(dry_run=True)
    assert looked.runs == {"own": 3, "other": 1}
    assert await left(platform, mine) == [0, 1, 2, 3, 4]
    done = await platform.retention.prune()
    assert done.runs == {"own": 3, "other": 1}
    assert await left(platform, mine) == [2, 3]
    assert await left(platform, theirs) == [0]
    assert (await platform.retention.prune()).total == 0


async def test_none_keeps_everything(settings: Settings) -> None:
    assert Settings(home=settings.home, retention_keep_for="none").retention_keep_for is None
    assert settings.retention_keep_for == 90 * DAY


async def test_what_has_not_ended_stays(platform: Platform) -> None:
    workflow = await stored(platform, ASK)
    pinned = await platform.documents.stored(workflow)
    run_id = await platform.runner.start(pinned, Request())
    await platform.runner.turn(run_id)
    assert (await platform.retention.prune(Rule(keep_for=0.0, keep_last=0))).total == 0
    with pytest.raises(ConflictError, match="cancel it"):
        await delete_run(platform.store, run_id)
    await end_run(platform.runner, run_id)
    await delete_run(platform.store, run_id)
    assert await left(platform, [run_id]) == []
    assert (await platform.store.waits.list(status=None)).items == []


async def test_a_child_goes_with_its_parent_and_not_before(platform: Platform) -> None:
    await stored(platform, flow("child"))
    parent = json.loads(flow("parent"))
    parent["nodes"].insert(
        1, {"id": "sub", "type": "SUB_WORKFLOW", "config": {"workflow": "child", "inputs": {"n": 1}}}
    )
    parent["edges"] = edges("start -> sub", "sub -> done")
    workflow = await stored(platform, json.dumps(parent))
    (run_id,) = await ran(platform, workflow, 1)
    (child,) = await platform.store.runs.children(run_id)
    kept = await platform.retention.prune(Rule(keep_for=None, keep_last=0), workflow_id=child.workflow_id)
    assert kept.total == 0
    assert (await platform.retention.prune(Rule(keep_last=0))).total == 2
    assert await left(platform, [run_id, child.id]) == []


async def test_a_child_is_needed_as_long_as_its_parent_may_go_on(platform: Platform) -> None:
    """Without it a parent that goes on after a crash would start it a second time."""
    await stored(platform, flow("child"))
    parent = json.loads(flow("parent"))
    parent["nodes"][1:1] = [
        {"id": "sub", "type": "SUB_WORKFLOW", "config": {"workflow": "child", "inputs": {"n": 1}}},
        {"id": "ask", "type": "HUMAN", "config": {"title": "?"}},
    ]
    parent["edges"] = edges("start -> sub", "sub -> ask", "ask.approve -> done", "ask.reject -> done")
    pinned = await platform.documents.stored(await stored(platform, json.dumps(parent)))
    run_id = await platform.runner.start(pinned, Request())
    await platform.runner.turn(run_id)
    (child,) = await platform.store.runs.children(run_id)
    assert child.status == "succeeded"
    with pytest.raises(ConflictError, match=f"started by run '{run_id}', which is suspended"):
        await delete_run(platform.store, child.id)
    await end_run(platform.runner, run_id)
    assert await delete_run(platform.store, child.id) == 1


async def test_values_go_with_the_last_run_that_has_them(platform: Platform) -> None:
    workflow = await stored(platform, flow("big"))
    first, second = await ran(platform, workflow, 2, n="x" * 50_000)
    payloads = platform.store.payloads
    before = set(payloads.refs(0))
    assert before
    await delete_run(platform.store, first)
    assert set(payloads.refs(0)) == before
    assert (await platform.runner.wait(second, 1.0)).outputs == {"n": "x" * 50_000}  # type: ignore[union-attr]
    await delete_run(platform.store, second)
    assert not set(payloads.refs(0))


async def test_runs_that_begin_while_others_go_lose_nothing(platform: Platform) -> None:
    """The same large value is written by new runs while the last run that holds it is deleted."""
    workflow = await stored(platform, flow("race"))
    value = "y" * 30_000
    ids = await ran(platform, workflow, 1, n=value)
    for _ in range(15):
        gone = ids.pop()
        started = asyncio.create_task(ran(platform, workflow, 1, n=value))
        await delete_run(platform.store, gone)
        ids += await started
        result = await platform.runner.wait(ids[-1], 1.0)
        assert result is not None
        assert result.outputs == {"n": value}
        run = await platform.store.runs.get(ids[-1])
        assert (await platform.store.runs.resolve(run)).inputs == {"n": value}


async def test_deleting_twice_says_what_is_gone(platform: Platform) -> None:
    workflow = await stored(platform, flow("twice"))
    (run_id,) = await ran(platform, workflow, 1)
    assert await delete_run(platform.store, run_id) == 1
    assert await delete_run(platform.store, run_id) == 0
    with pytest.raises(NotFoundError):
        await platform.store.runs.get(run_id)


async def test_a_run_whose_worker_is_cut_off_is_deleted_by_force(platform: Platform) -> None:
    """Its worker lives on elsewhere and holds the lease; runs that it waited for go with it."""
    pinned = await platform.documents.from_text(flow("stuck"))
    fields: dict[str, Any] = {
        "name": "stuck", "document": pinned.text, "document_hash": pinned.hash, "lease_owner": "elsewhere:1:x:y",
        "lease_seconds": 600,
    }  # fmt: skip
    runs = platform.store.runs
    run_id = (await runs.create(NewRun(**fields))).run_id
    waited, own = [
        (await runs.create(NewRun(**fields, parent_run_id=run_id, trigger={"wait": wait}))).run_id
        for wait in (True, False)
    ]
    with pytest.raises(ConflictError, match="cancel it"):
        await delete_run(platform.store, run_id)
    assert await delete_run(platform.store, run_id, force=True) == 2
    assert await left(platform, [run_id, waited, own]) == [2]


async def test_an_upload_that_nothing_used_goes_and_one_that_a_run_had_stays(settings: Settings) -> None:
    clock = MovedClock()
    platform = await Platform.open(settings.model_copy(update={"retention_uploads": 10 * DAY}), clock=clock)
    uploads = [
        await platform.store.files.save(content, name="a", media_type="text/plain")
        for content in (b"used", b"unused")
    ]
    workflow = await stored(platform, flow("files"))
    await ran(platform, workflow, 1, {"ref": uploads[0].ref})
    assert (await platform.retention.prune()).uploads == 0
    clock.ahead = 11 * DAY
    assert (await platform.retention.prune(Rule(keep_for=0.0))).uploads == 0, "a rule for runs"
    assert (await platform.retention.prune(dry_run=True)).uploads == 1
    assert (await platform.retention.prune()).uploads == 1
    assert await platform.store.files.load(uploads[0].ref) == b"used"
    with pytest.raises(NotFoundError):
        await platform.store.files.load(uploads[1].ref)
    await platform.close()
