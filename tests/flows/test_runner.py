from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from interlace.engine.errors import InvalidDocument
from interlace.flows.platform import Platform
from interlace.flows.report import run_report, why
from interlace.flows.request import Request
from interlace.flows.runner import ClosingError
from interlace.flows.settings import Settings
from interlace.store.errors import NotFoundError
from tests.flows.conftest import Run
from tests.flows.documents import GREETING, chain, http, template
from tests.loopback import Loopback


async def _start(platform: Platform, text: str, **request: Any) -> str:
    return await platform.runner.start(await platform.documents.from_text(text), Request(**request))


async def test_a_run_ends_with_outputs_and_a_report(platform: Platform, run: Run) -> None:
    result = await run(GREETING, {"name": "Ada"})
    assert result.status == "succeeded"
    assert result.outputs == {"text": "Hello Ada"}
    report = await run_report(platform.store, platform.documents, result.run_id)
    assert list(report["nodes"]) == ["start", "greet", "done"]
    assert report["nodes"]["greet"] | {"elapsed_ms": 0} == {
        "status": "succeeded", "reason": None, "attempts": 1, "elapsed_ms": 0,
    }  # fmt: skip


async def test_bad_inputs_create_nothing(platform: Platform) -> None:
    with pytest.raises(InvalidDocument, match="name"):
        await _start(platform, GREETING)
    assert not (await platform.store.runs.list()).items


async def test_an_idempotency_key_gives_the_earlier_run(platform: Platform) -> None:
    request = {"inputs": {"name": "Ada"}, "idempotency_key": "one"}
    first = await _start(platform, GREETING, **request)
    assert await _start(platform, GREETING, **request) == first
    assert len((await platform.store.runs.list()).items) == 1


async def test_a_failure_names_node_path_type_and_attempt(
    platform: Platform, run: Run, loopback: Loopback
) -> None:
    retry = {"max": 1, "delay": 0.01}
    result = await run(chain(http("call", f"{loopback.url}/status/503", retry=retry), template("after", "x")))
    assert result.error is not None
    assert {key: result.error[key] for key in ("node", "path", "type", "attempt")} == {
        "node": "call", "path": "call", "type": "http_503", "attempt": 2,
    }  # fmt: skip
    report = await run_report(platform.store, platform.documents, result.run_id)
    assert report["nodes"]["after"]["status"] == "not_reached"
    found = await why(platform.store, platform.documents, result.run_id, "after")
    assert "failed at call" in found["why"]
    with pytest.raises(NotFoundError, match="did you mean 'after'"):
        await why(platform.store, platform.documents, result.run_id, "aftr")


async def test_cancel_interrupts_at_once(platform: Platform, loopback: Loopback) -> None:
    run_id = await _start(platform, chain(http("call", f"{loopback.url}/hold")))
    await asyncio.to_thread(loopback.wait_for, "/hold")
    started = time.monotonic()
    assert await platform.runner.cancel(run_id)
    result = await platform.runner.wait(run_id, 5)
    assert time.monotonic() - started < 1
    assert result is not None
    assert result.status == "cancelled"
    assert not await platform.runner.cancel(run_id)


async def test_cancel_from_another_process(
    platform: Platform, settings: Settings, loopback: Loopback
) -> None:
    other = await Platform.open(settings)
    run_id = await _start(platform, chain(http("call", f"{loopback.url}/hold")))
    await asyncio.to_thread(loopback.wait_for, "/hold")
    started = time.monotonic()
    assert await other.runner.cancel(run_id)
    result = await other.runner.wait(run_id, 5)
    assert result is not None
    assert result.status == "cancelled"
    assert time.monotonic() - started < 1.5
    await other.close()


async def test_a_run_times_out(run: Run, loopback: Loopback) -> None:
    result = await run(chain(http("call", f"{loopback.url}/hold"), settings={"timeout": "200ms"}))
    assert result.error is not None
    assert (result.status, result.error["type"]) == ("failed", "timeout")


async def test_a_closing_process_leaves_its_run_to_the_next(settings: Settings, loopback: Loopback) -> None:
    first = await Platform.open(settings)
    nodes = http("done_once", f"{loopback.url}/first"), http("held", f"{loopback.url}/hold")
    run_id = await _start(first, chain(*nodes, outputs={"number": "{{ held.body.number }}"}))
    await asyncio.to_thread(loopback.wait_for, "/hold")
    await first.close()
    loopback.release.set()
    second = await Platform.open(settings)
    assert await second.runner.resume(await second.store.runs.get(run_id))
    result = await second.runner.wait(run_id, 10)
    assert result is not None
    assert result.outputs == {"number": 2}
    assert loopback.seen["/first"] == 1
    await second.close()


async def test_a_closing_process_begins_nothing(settings: Settings) -> None:
    platform = await Platform.open(settings)
    runner, store = platform.runner, platform.store
    pinned = await platform.documents.from_text(GREETING)
    request = Request(inputs={"name": "Ada"})
    waiting, _ = await runner.create(pinned, request)
    epoch = await store.runs.claim(waiting, runner.owner, 60)
    row = await store.runs.get(waiting)
    creating = asyncio.create_task(runner.start(pinned, request))
    resuming = asyncio.create_task(runner.resume(row, epoch=epoch))
    await asyncio.sleep(0)  # both have asked the store by now
    await runner.close()
    assert not await resuming
    late = await creating
    with pytest.raises(ClosingError, match="closing"):
        await runner.start(pinned, request)
    epoch = await store.runs.claim(waiting, runner.owner, 60)
    assert not await runner.resume(await store.runs.get(waiting), epoch=epoch)
    assert not runner.active
    assert {run.id for run in await store.runs.unfinished()} == {waiting, late}
    await platform.close()


async def test_what_an_ended_run_starts_is_started_before_leaving(
    settings: Settings, loopback: Loopback
) -> None:
    platform = await Platform.open(settings)
    gate = asyncio.Event()
    started: list[str] = []
    pinned = await platform.documents.from_text(GREETING)

    async def follow(run_id: str, _result: object) -> None:
        await gate.wait()
        if not started:
            started.append(run_id)
            started.append(await platform.runner.start(pinned, Request(inputs={"name": "Bo"})))

    platform.runner.ended.append(follow)
    await platform.runner.wait(await platform.runner.start(pinned, Request(inputs={"name": "Ada"})), 10)
    closing = asyncio.create_task(platform.close())
    await asyncio.sleep(0)
    gate.set()
    await closing
    assert len(started) == 2


async def test_work_that_must_not_be_done_twice_is_finished_before_leaving(
    settings: Settings, loopback: Loopback
) -> None:
    first = await Platform.open(settings)
    post = http("post", f"{loopback.url}/hold", method="POST")
    run_id = await _start(first, chain(post, http("next", f"{loopback.url}/next")))
    await asyncio.to_thread(loopback.wait_for, "/hold")
    closing = asyncio.create_task(first.close(drain=20))
    await asyncio.sleep(0)
    loopback.release.set()
    await closing
    assert not loopback.seen["/next"]
    second = await Platform.open(settings)
    assert await second.runner.resume(await second.store.runs.get(run_id))
    result = await second.runner.wait(run_id, 10)
    assert result is not None
    assert result.status == "succeeded"
    assert (loopback.seen["/hold"], loopback.seen["/next"]) == (1, 1)
    await second.close()


async def test_a_fault_of_the_engine_ends_the_run(platform: Platform) -> None:
    pinned = await platform.documents.from_text(GREETING)
    broken = replace(pinned, plan=replace(pinned.plan, root=None))  # type: ignore[arg-type]
    run_id = await platform.runner.start(broken, Request(inputs={"name": "Ada"}))
    result = await platform.runner.wait(run_id, 10)
    assert result is not None
    assert result.error is not None
    assert result.error["type"] == "internal"


async def test_only_so_many_runs_work_at_once(settings: Settings, loopback: Loopback) -> None:
    platform = await Platform.open(settings.model_copy(update={"max_runs": 1}))
    first = await _start(platform, chain(http("call", f"{loopback.url}/hold")))
    second = await _start(platform, chain(http("call", f"{loopback.url}/second")))
    await asyncio.to_thread(loopback.wait_for, "/hold")
    assert (await platform.store.runs.get(second)).status == "queued"
    loopback.release.set()
    for run_id in (first, second):
        result = await platform.runner.wait(run_id, 10)
        assert result is not None
        assert result.status == "succeeded"
    await platform.close()


async def test_nodes_of_a_run_share_its_limit(run: Run, loopback: Loopback) -> None:
    body = {"nodes": [http("call", f"{loopback.url}/hold/item")], "edges": []}
    each = {
        "id": "each", "type": "ITERATION", "body": body,
        "config": {"items": "{{ range(6) | list }}", "parallel": 6, "output": "{{ call.status_code }}"},
    }  # fmt: skip
    text = chain(each, outputs={"all": "{{ each.results }}"}, settings={"max_concurrency": 2})
    running = asyncio.ensure_future(run(text))
    await asyncio.to_thread(loopback.wait_for, "/hold/item", 2)
    loopback.release.set()
    assert (await running).outputs == {"all": [200] * 6}
    assert loopback.peak == 2
