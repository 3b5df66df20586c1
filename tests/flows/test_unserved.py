"""A pool that no host serves any more: what is due by time comes about all the same, and no work is done elsewhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.presence import present
from interlace.flows.settings import Settings
from tests.flows.documents import chain, http
from tests.flows.test_admission import start, status
from tests.flows.waiting import MovedClock, answer, begin, pending
from tests.loopback import Loopback

GPU = {"pool": "gpu"}
_ASK = {"id": "ask", "type": "HUMAN", "config": {"title": "Well?", "timeout": "10m"}}


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
async def gpu(settings: Settings, clock: MovedClock) -> Platform:
    """The one process of the pool, which the test ends."""
    return await Platform.open(settings.model_copy(update={"pools": ["gpu"]}), clock=clock)


@pytest.fixture
async def other(settings: Settings, clock: MovedClock) -> AsyncIterator[Platform]:
    """A process of the default pool."""
    opened = await Platform.open(settings, clock=clock)
    yield opened
    await opened.close()


async def later(platform: Platform, clock: MovedClock, seconds: float) -> None:
    clock.ahead += seconds
    for _ in range(3):
        await platform.waits.look()
        await platform.runner.idle()


def _each(loopback: Loopback, **more: Any) -> str:
    body = {"nodes": [{**_ASK, "config": {"title": "Well?"}}], "edges": []}
    config = {"items": [1], "output": "{{ ask.action }}"}
    each = {"id": "each", "type": "ITERATION", "timeout": "10m", "config": config, "body": body, **more}
    return chain(each, http("after", f"{loopback.url}/after"), settings=GPU)


async def test_the_time_of_a_container_is_over(
    gpu: Platform, other: Platform, clock: MovedClock, loopback: Loopback
) -> None:
    run_id = await begin(gpu, _each(loopback))
    await gpu.close()
    await later(other, clock, 300)
    assert await status(other, run_id) == "suspended"
    await later(other, clock, 301)
    run = await other.store.runs.get(run_id)
    assert run.error is not None
    assert (run.status, run.error["type"], run.error["path"]) == ("failed", "timeout", "each")
    assert await pending(other, run_id) == []


async def test_what_follows_a_time_out_waits_for_its_pool(
    gpu: Platform, other: Platform, clock: MovedClock, loopback: Loopback, settings: Settings
) -> None:
    run_id = await begin(gpu, _each(loopback, on_error="continue"))
    await gpu.close()
    await later(other, clock, 601)
    assert await status(other, run_id) == "suspended"
    [wait] = await other.store.waits.of_run(run_id)
    assert (wait.kind, wait.path, wait.ref) == ("place", "after", "gpu")
    last = await other.store.events.last_seq(run_id)
    await later(other, clock, 601)
    assert await other.store.events.last_seq(run_id) == last, "nothing is done over and over"
    assert loopback.seen["/after"] == 0
    back = await Platform.open(settings.model_copy(update={"pools": ["gpu"]}), clock=clock)
    await back.waits.look()
    assert (await back.runner.turn(run_id)).status == "succeeded"
    await back.close()


async def test_nobody_answered_in_time(gpu: Platform, other: Platform, clock: MovedClock) -> None:
    document = json.loads(chain(_ASK, settings=GPU, outputs={"action": "{{ ask.action }}"}))
    document["edges"][1:] = [
        {"from": "ask", "handle": handle, "to": "done"} for handle in ("approve", "reject", "timeout")
    ]
    run_id = await begin(gpu, json.dumps(document))
    async with present(gpu):
        await later(other, clock, 601)
        assert await status(other, run_id) == "suspended", "a host of its pool lives and finds it"
    await gpu.close()
    await later(other, clock, 1)
    assert (await other.runner.result(run_id)).outputs == {"action": "timeout"}


async def test_an_answer_waits_for_a_host(
    gpu: Platform, other: Platform, clock: MovedClock, loopback: Loopback
) -> None:
    run_id = await begin(gpu, _each(loopback))
    [wait] = await pending(other, run_id)
    await gpu.close()
    await answer(other, wait)
    await later(other, clock, 10)
    assert await status(other, run_id) == "suspended"


async def test_a_run_whose_host_died_ends_when_its_time_is_over(
    gpu: Platform, other: Platform, clock: MovedClock, loopback: Loopback
) -> None:
    """It was at work, not suspended, and nobody is there to take it over."""
    document = chain(http("call", f"{loopback.url}/hold/a"), settings={**GPU, "timeout": "1h"})
    run_id = await start(gpu, document)
    await asyncio.to_thread(loopback.wait_for, "/hold/a")
    await gpu.close()
    await take_over(other.store, other.runner)
    assert await status(other, run_id) == "running"
    clock.ahead = 3700.0
    await take_over(other.store, other.runner)
    await other.runner.idle()
    run = await other.store.runs.get(run_id)
    assert run.error is not None
    assert (run.status, run.error["type"]) == ("failed", "timeout")
    assert loopback.seen["/hold/a"] == 1
