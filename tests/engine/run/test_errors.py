"""Error policies, retries, time-outs, cancellation: one test a rule."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from interlace.engine.clock import SystemClock
from interlace.engine.document import Document
from interlace.engine.node import RunInfo
from interlace.engine.protocols import Services
from interlace.engine.run import Execution, compile_plan, prepare
from interlace.engine.testing import MemoryJournal, run_document

from .kinds import Gate
from .test_edges import KINDS, document, echo, end, run


class FastClock(SystemClock):
    """Sleeps take no time; what was asked is kept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def fail(name: str = "f", **more: Any) -> dict[str, Any]:
    config = {key: more.pop(key) for key in ("type", "times", "retry_after") if key in more}
    return {"id": name, "type": "FAIL", "config": config, **more}


def execution(doc: dict[str, Any], journal: MemoryJournal | None = None) -> Execution:
    plan = compile_plan(Document.model_validate(doc), KINDS)
    info = RunInfo(id="r", started_at=0.0)
    return prepare(
        plan, info, {}, journal=journal or MemoryJournal(), services=Services(), clock=SystemClock()
    )


async def test_stop_is_the_default_the_run_fails_and_names_node_path_attempt_and_cause() -> None:
    result, journal = await run(
        document([fail(type="http_404"), echo("after"), end()], "start -> f", "f -> after", "after -> end")
    )
    assert result.status == "failed"
    assert result.error == {
        "type": "http_404", "message": "failed on purpose (1)", "node": "f", "path": "f", "attempt": 1, "retryable": False,
    }  # fmt: skip
    assert journal.of("after") == []


async def test_stop_cancels_what_runs() -> None:
    Gate.reset()
    nodes = [{"id": "slow", "type": "GATE"}, fail(), {"id": "end", "type": "END"}]
    result, journal = await run(document(nodes, "start -> slow", "start -> f", "slow -> end", "f -> end"))
    assert result.status == "failed"
    assert journal.of("slow")[-1] == "node.cancelled"
    assert not Gate.waiting


async def test_continue_takes_out_with_null_outputs_and_the_run_succeeds() -> None:
    nodes = [
        fail(on_error="continue"),
        end(v="{{ f.value }}", why="{{ f.error.type }}", n="{{ f.error.node }}"),
    ]
    result, _ = await run(document(nodes, "start -> f", "f -> end"))
    assert (result.status, result.outputs) == ("succeeded", {"v": None, "why": "boom", "n": "f"})


async def test_continue_gives_the_declared_default_output() -> None:
    nodes = [fail(on_error="continue", default_output={"value": 9}), end(v="{{ f.value }}")]
    result, _ = await run(document(nodes, "start -> f", "f -> end"))
    assert result.outputs == {"v": 9}


async def test_branch_takes_the_error_handle_and_skips_the_others() -> None:
    nodes = [
        fail(on_error="branch"),
        echo("ok"),
        echo("bad", "{{ f.error.message }}"),
        end(v="{{ bad.value }}"),
    ]
    result, journal = await run(
        document(nodes, "start -> f", "f -> ok", "f.error -> bad", "ok -> end", "bad -> end")
    )
    assert (result.status, result.outputs) == ("succeeded", {"v": "failed on purpose (1)"})
    assert journal.of("ok") == ["node.skipped"]


async def test_branch_takes_out_when_nothing_fails_and_error_reads_null() -> None:
    nodes = [fail(times=0, on_error="branch"), echo("bad"), end(v="{{ f.error }}")]
    result, journal = await run(document(nodes, "start -> f", "f -> end", "f.error -> bad", "bad -> end"))
    assert (result.status, result.outputs) == ("succeeded", {"v": None})
    assert journal.of("bad") == ["node.skipped"]


@pytest.mark.parametrize(
    ("kind", "on", "attempts"),
    [
        ("http_503", None, 3),
        ("timeout", None, 3),
        ("rate_limit", None, 3),
        ("boom", None, 1),
        ("http_404", None, 1),
        ("boom", ["boom"], 3),
        ("http_503", ["timeout"], 1),
        ("http_502", ["http_5xx"], 3),
    ],
)
async def test_only_retryable_kinds_are_retried_unless_on_says_so(
    kind: str, on: list[str] | None, attempts: int
) -> None:
    retry: dict[str, Any] = {"max": 2, "delay": 0}
    if on is not None:
        retry["on"] = on
    journal = MemoryJournal()
    doc = document([fail(type=kind, retry=retry), end()], "start -> f", "f -> end")
    result = await run_document(doc, registry=KINDS, journal=journal)
    assert result.error is not None
    assert result.error["attempt"] == attempts
    assert journal.of("f").count("node.started") == attempts
    assert journal.of("f").count("node.retrying") == attempts - 1


async def test_a_retry_that_works_makes_the_node_succeed() -> None:
    doc = document(
        [fail(type="timeout", times=2, retry={"max": 3, "delay": 0}), end(v="{{ f.value }}")],
        "start -> f",
        "f -> end",
    )
    result, _ = await run(doc)
    assert result.outputs == {"v": 3}


async def test_pauses_between_retries_grow_to_the_longest() -> None:
    clock = FastClock()
    retry = {"max": 4, "delay": "1s", "backoff": 3, "max_delay": "5s", "jitter": False}
    await run_document(
        document([fail(type="timeout", retry=retry), end()], "start -> f", "f -> end"),
        registry=KINDS,
        clock=clock,
    )
    assert clock.slept == [1, 3, 5, 5]


async def test_retry_after_is_honoured() -> None:
    clock = FastClock()
    doc = document(
        [fail(type="http_429", times=1, retry_after=17.0, retry={"max": 1}), end()], "start -> f", "f -> end"
    )
    result = await run_document(doc, registry=KINDS, clock=clock)
    assert result.status == "succeeded"
    assert clock.slept == [17.0]


async def test_effects_once_is_not_retried_after_an_unknown_outcome() -> None:
    doc = document(
        [fail(type="timeout", effects="once", retry={"max": 3, "delay": 0}), end()], "start -> f", "f -> end"
    )
    result, journal = await run(doc)
    assert result.status == "failed"
    assert journal.of("f").count("node.started") == 1


async def test_a_node_that_takes_longer_than_its_time_out_fails_with_timeout() -> None:
    Gate.reset()
    result, _ = await run(
        document([{"id": "slow", "type": "GATE", "timeout": "20ms"}, end()], "start -> slow", "slow -> end")
    )
    assert result.error is not None
    assert result.error["type"] == "timeout"
    assert "slow took longer than its time-out of 0.02 s" in result.error["message"]


async def test_a_run_that_takes_longer_than_its_time_out_fails_and_cancels_what_runs() -> None:
    Gate.reset()
    doc = document(
        [{"id": "slow", "type": "GATE"}, end()], "start -> slow", "slow -> end", settings={"timeout": "30ms"}
    )
    result, journal = await run(doc)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error["type"] == "timeout"
    assert journal.of("slow")[-1] == "node.cancelled"


async def test_cancel_interrupts_what_runs_at_once_and_is_recorded_as_cancelled() -> None:
    Gate.reset()
    journal = MemoryJournal()
    running = execution(
        document([{"id": "slow", "type": "GATE"}, end()], "start -> slow", "slow -> end"), journal
    )
    task = asyncio.create_task(running.run())
    await Gate.arrived.wait()
    started = time.perf_counter()
    running.cancel()
    result = await task
    assert time.perf_counter() - started < 1
    assert result.status == "cancelled"
    assert journal.of("slow") == ["node.started", "node.cancelled"]
    assert journal.events[-1].type == "run.cancelled"


async def test_cancelling_the_awaiting_task_cancels_and_records_the_run() -> None:
    Gate.reset()
    journal = MemoryJournal()
    running = execution(
        document([{"id": "slow", "type": "GATE"}, end()], "start -> slow", "slow -> end"), journal
    )
    task = asyncio.create_task(running.run())
    await Gate.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert journal.events[-1].type == "run.cancelled"


async def test_max_concurrency_caps_running_nodes() -> None:
    Gate.reset()
    names = [f"g{i}" for i in range(9)]
    nodes = [{"id": name, "type": "GATE"} for name in names]
    for name in names:
        Gate.open(name)
    doc = document([*nodes, {"id": "end", "type": "END"}], *(f"start -> {n}" for n in names), *(f"{n} -> end" for n in names),
                   settings={"max_concurrency": 3})  # fmt: skip
    result, _ = await run(doc)
    assert result.status == "succeeded"
    assert Gate.peak <= 3


async def test_a_fault_of_a_node_type_is_told_apart_from_a_failure() -> None:
    nodes = [{"id": "p", "type": "PICK", "config": {"take": "{{ 5 }}"}}, end()]
    result, _ = await run(document(nodes, "start -> p", "p.a -> end"))
    assert result.error is not None
    assert result.error["type"] == "wrong_type"
    assert "config.take" in result.error["message"]
