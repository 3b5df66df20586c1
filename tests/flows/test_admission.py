"""Limits of concurrency, pools, and the time to start: decided by the store, for all processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from interlace.flows.admission import why_queued
from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.presence import present
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from tests.flows.documents import chain, http, template
from tests.flows.waiting import MovedClock
from tests.loopback import Loopback


@pytest.fixture
async def other(settings: Settings) -> AsyncIterator[Platform]:
    """A second process over the same home."""
    opened = await Platform.open(settings)
    yield opened
    await opened.close()


def limited(loopback: Loopback, limit: int = 1, when_full: str = "queue", **settings: Any) -> str:
    rule = {"limit": limit, "when_full": when_full}
    node = http("call", f"{loopback.url}/hold/{{{{ inputs.n }}}}")
    return chain(node, inputs={"type": "object", "properties": {"n": {"type": "integer"}}},
                 settings={"concurrency": rule, **settings}, name="limited")  # fmt: skip


async def start(platform: Platform, document: str, n: int = 0) -> str:
    pinned = await platform.documents.from_text(document)
    return await platform.runner.start(pinned, Request(inputs={"n": n} if "inputs.n" in document else {}))


async def status(platform: Platform, run_id: str) -> str:
    return (await platform.store.runs.get(run_id)).status


async def test_runs_over_the_limit_wait_and_go_on_in_their_order(
    platform: Platform, other: Platform, loopback: Loopback
) -> None:
    document = limited(loopback, 2)
    ids = [await start(opened, document, n) for n, opened in enumerate([platform, other] * 3)]
    await asyncio.to_thread(loopback.wait_for, "/hold/1")
    assert [await status(platform, run_id) for run_id in ids[2:]] == ["queued"] * 4
    [(_, name, limit, held)] = await platform.store.runs.slots()
    assert (name, limit, held) == ("limited", 2, 2)
    reason = await why_queued(platform.store, platform.served, await platform.store.runs.get(ids[3]))
    assert reason is not None
    assert "none serves it now" in reason, "no process of this test stands among the hosts"
    async with present(platform):
        reason = await why_queued(platform.store, platform.served, await platform.store.runs.get(ids[3]))
        assert (
            reason == "it is number 2 in the queue of its workflow, whose limit is 2 (settings.concurrency)"
        )
    loopback.release.set()
    for run_id in ids:
        result = await platform.runner.wait(run_id, 20)
        assert result is not None
        assert result.status == "succeeded"
    began = [(await platform.store.runs.get(run_id)).started_at for run_id in ids]
    assert loopback.peak <= 2
    assert began[2:] == sorted(began[2:], key=lambda at: at or 0)


async def test_a_new_run_does_not_pass_those_that_wait(platform: Platform, loopback: Loopback) -> None:
    document = limited(loopback)
    pinned = await platform.documents.from_text(document)
    waiting, _ = await platform.runner.create(pinned, Request(inputs={"n": 1}))
    late = await start(platform, document, 2)
    assert await status(platform, late) == "queued"
    loopback.release.set()
    await take_over(platform.store, platform.runner)
    for run_id in (waiting, late):
        await platform.runner.wait(run_id, 20)
    first, second = [(await platform.store.runs.get(run_id)).started_at for run_id in (waiting, late)]
    assert first is not None
    assert second is not None
    assert first < second


async def test_skip_ends_the_new_run(platform: Platform, loopback: Loopback) -> None:
    document = limited(loopback, when_full="skip")
    first = await start(platform, document, 1)
    second = await start(platform, document, 2)
    run = await platform.store.runs.get(second)
    assert run.status == "cancelled"
    assert run.error is not None
    assert "skipped: 1 earlier runs of 'limited' are active" in run.error["message"]
    loopback.release.set()
    result = await platform.runner.wait(first, 20)
    assert result is not None
    assert result.status == "succeeded"
    await platform.runner.idle()
    third = await platform.runner.wait(await start(platform, document, 3), 20)
    assert third is not None
    assert third.status == "succeeded"


async def test_cancel_oldest_lets_the_newest_run(platform: Platform, loopback: Loopback) -> None:
    document = limited(loopback, when_full="cancel_oldest")
    first = await start(platform, document, 1)
    await asyncio.to_thread(loopback.wait_for, "/hold/1")
    second = await start(platform, document, 2)
    old = await platform.runner.wait(first, 20)
    loopback.release.set()
    new = await platform.runner.wait(second, 20)
    assert old is not None
    assert new is not None
    assert (old.status, new.status) == ("cancelled", "succeeded")
    assert old.error is not None
    assert "newer run" in old.error["message"]


async def test_the_slot_of_a_process_that_died_is_free_after_its_lease(
    platform: Platform, loopback: Loopback
) -> None:
    document = limited(loopback)
    pinned = await platform.documents.from_text(document)
    dead, _ = await platform.runner.create(pinned, Request(inputs={"n": 1}))
    run = await platform.store.runs.get(dead)
    assert await platform.store.runs.claim(dead, "elsewhere:1:::", 0.5, key=run.slot_key) == 1
    waiting = await start(platform, document, 2)
    assert await status(platform, waiting) == "queued"
    loopback.release.set()
    async with asyncio.timeout(20):
        while await status(platform, waiting) == "queued":
            await take_over(platform.store, platform.runner)
            await asyncio.sleep(0.05)
    result = await platform.runner.wait(dead, 20)
    assert result is not None
    assert result.status == "succeeded"


async def test_a_suspended_run_holds_no_slot(platform: Platform) -> None:
    ask = {"id": "ask", "type": "HUMAN", "config": {"title": "?", "actions": ["ok"]}}
    document = {"name": "asks", "settings": {"concurrency": {"limit": 1}}}
    text = chain(ask, **document).replace('"from": "ask", "to"', '"from": "ask", "handle": "ok", "to"')
    text = text.replace('"edges": [', '"edges": [{"from": "ask", "handle": "timeout", "to": "done"}, ')
    for _ in range(2):
        result = await platform.runner.wait(await start(platform, text), 20)
        assert result is not None
        assert result.status == "suspended"


async def test_all_runs_together_have_a_limit(settings: Settings, loopback: Loopback) -> None:
    opened = [await Platform.open(settings.model_copy(update={"concurrency": 2})) for _ in range(2)]
    document = chain(http("call", f"{loopback.url}/hold/all"))
    ids = [await start(opened[n % 2], document) for n in range(6)]
    await asyncio.to_thread(loopback.wait_for, "/hold/all", 2)
    assert [await status(opened[0], run_id) for run_id in ids].count("queued") == 4
    loopback.release.set()
    async with asyncio.timeout(20):
        for run_id in ids:
            await opened[0].runner.wait(run_id, 20)
    assert loopback.peak <= 2
    for platform in opened:
        await platform.close()


async def test_a_run_waits_for_its_pool(settings: Settings, platform: Platform) -> None:
    document = chain(template("t", "x"), settings={"pool": "gpu"})
    run_id = await start(platform, document)
    await take_over(platform.store, platform.runner)
    run = await platform.store.runs.get(run_id)
    assert run.status == "queued"
    reason = await why_queued(platform.store, platform.served, run)
    assert reason is not None
    assert "interlace worker --pool gpu" in reason
    served = await Platform.open(settings.model_copy(update={"pools": ["gpu"]}))
    await take_over(served.store, served.runner)
    result = await platform.runner.wait(run_id, 20)
    assert result is not None
    assert result.status == "succeeded"
    await served.close()


async def test_a_run_that_does_not_start_in_time_fails(platform: Platform) -> None:
    run_id = await start(
        platform, chain(template("t", "x"), settings={"pool": "gpu", "start_timeout": "50ms"})
    )
    async with asyncio.timeout(20):
        while await status(platform, run_id) == "queued":
            await take_over(platform.store, platform.runner)
            await asyncio.sleep(0.02)
    run = await platform.store.runs.get(run_id)
    assert run.status == "failed"
    assert run.error is not None
    assert run.error["type"] == "timeout"
    assert "pool 'gpu'" in run.error["message"]


async def test_any_process_ends_a_suspended_run_whose_time_is_over(
    settings: Settings, loopback: Loopback
) -> None:
    """Its pool has no host any more, and what it waited for has come: nothing of it begins where it does not belong."""
    clock = MovedClock()
    pause = {**http("late", f"{loopback.url}/late"), "wait": {"for": "10m"}}
    document = chain(pause, settings={"pool": "gpu", "timeout": "1h"})
    gpu = await Platform.open(settings.model_copy(update={"pools": ["gpu"]}), clock=clock)
    run_id = await start(gpu, document)
    assert (await gpu.runner.turn(run_id)).status == "suspended"
    await gpu.close()
    nobodys = await Platform.open(settings.model_copy(update={"pools": ["none"]}), clock=clock)
    clock.ahead = 1800.0
    await nobodys.waits.look()
    await nobodys.runner.idle()
    assert await status(nobodys, run_id) == "suspended", "its node is for a host of its pool"
    clock.ahead = 3700.0
    await nobodys.waits.look()
    await nobodys.runner.idle()
    run = await nobodys.store.runs.get(run_id)
    assert run.error is not None
    assert (run.status, run.error["type"]) == ("failed", "timeout")
    assert loopback.seen["/late"] == 0
    await nobodys.close()


def placed(loopback: Loopback, effects: str = "idempotent") -> str:
    where = {**http("gpu", f"{loopback.url}/hold/gpu", effects=effects), "pool": "gpu"}
    return chain(
        http("before", f"{loopback.url}/before"), where, http("after", f"{loopback.url}/after"), name="placed"
    )


async def test_a_node_runs_on_a_host_of_its_pool(
    settings: Settings, platform: Platform, loopback: Loopback
) -> None:
    loopback.release.set()
    run_id = await start(platform, placed(loopback))
    result = await platform.runner.wait(run_id, 20)
    assert result is not None
    assert result.status == "suspended"
    [wait] = await platform.store.waits.of_run(run_id)
    assert (wait.kind, wait.path, wait.ref) == ("place", "gpu", "gpu")
    await platform.waits.look()
    assert loopback.seen["/hold/gpu"] == 0, "this process does not serve that pool"
    served = await Platform.open(settings.model_copy(update={"pools": ["gpu"]}))
    await served.waits.look()
    result = await platform.runner.turn(run_id)
    assert result.status == "succeeded"
    assert dict(loopback.seen) == {"/before": 1, "/hold/gpu": 1, "/after": 1}
    await served.close()


@pytest.mark.parametrize(("effects", "asked", "calls"), [("idempotent", "place", 2), ("once", "human", 1)])
async def test_an_attempt_that_died_on_its_pools_host_is_judged_as_anywhere(
    settings: Settings, platform: Platform, loopback: Loopback, effects: str, asked: str, calls: int
) -> None:
    run_id = await start(platform, placed(loopback, effects))
    await platform.runner.wait(run_id, 20)
    served = await Platform.open(settings.model_copy(update={"pools": ["gpu"]}))
    await served.waits.look()
    await asyncio.to_thread(loopback.wait_for, "/hold/gpu")
    await served.close()  # it lets go where a killed process would leave the run
    assert await status(platform, run_id) == "running"
    await take_over(platform.store, platform.runner)
    result = await platform.runner.turn(run_id)
    assert result.status == "suspended"
    [wait] = await platform.store.waits.of_run(run_id)
    assert wait.kind == asked
    loopback.release.set()
    again = await Platform.open(settings.model_copy(update={"pools": ["gpu"]}))
    await again.waits.look()
    if asked == "place":
        result = await platform.runner.turn(run_id)
        assert result.status == "succeeded"
    assert loopback.seen["/hold/gpu"] == calls
    await again.close()


async def test_work_stays_in_the_workflows_pool(
    settings: Settings, platform: Platform, loopback: Loopback
) -> None:
    """After the node of another pool the next one that does work goes back."""
    loopback.release.set()
    text = placed(loopback).replace('"name": "placed"', '"name": "placed", "settings": {"pool": "main"}')
    main = await Platform.open(settings.model_copy(update={"pools": ["main"]}))
    gpu = await Platform.open(settings.model_copy(update={"pools": ["gpu"]}))
    run_id = await start(main, text)
    for opened in (gpu, main):
        await main.runner.turn(run_id)
        await opened.waits.look()
    result = await main.runner.turn(run_id)
    assert result.status == "succeeded"
    assert loopback.seen["/after"] == 1
    for opened in (main, gpu):
        await opened.close()


async def test_a_container_has_no_pool(platform: Platform) -> None:
    text = chain({"id": "each", "type": "ITERATION", "pool": "gpu", "config": {"items": "{{ [1] }}"}, "body": {"nodes": [template("t", "x")]}})  # fmt: skip
    from interlace.engine.source import load

    found = await platform.documents.check(load(text, name="x.json"))
    assert "no_pool_here" in {problem.code for problem in found.problems}
