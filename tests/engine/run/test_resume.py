"""Going on from a journal that ends in the middle: nothing is lost, and nothing finished runs again."""

from __future__ import annotations

from typing import Any

from interlace.engine.testing import MemoryJournal, edges, run_document

from .kinds import registry
from .resuming import recorded_from
from .test_edges import document, echo, end, run

KINDS = registry()


def assign(name: str, variable: str, value: str, op: str = "increment") -> dict[str, Any]:
    change = {"variable": variable, "op": op, "value": value}
    return {"id": name, "type": "VARIABLE_ASSIGN", "config": {"assignments": [change]}}


def fail(name: str, times: int = 1000, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "FAIL", "config": {"times": times}, **more}


def each(nodes: list[dict[str, Any]], *short: str, config: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "each", "type": "ITERATION", "config": config, "body": {"nodes": nodes, "edges": edges(*short)}, **more,
    }  # fmt: skip


async def resumed(doc: dict[str, Any], kind: str, path: str, *, count: int = 1) -> tuple[Any, MemoryJournal]:
    """Run, end the journal right behind the `count`-th event of that type and path, and go on from there."""
    _, first = await run(doc)
    places = [n for n, event in enumerate(first.events, 1) if (event.type, event.path) == (kind, path)]
    journal = MemoryJournal()
    known = recorded_from(first.events[: places[count - 1]])
    return await run_document(doc, registry=KINDS, journal=journal, recorded=known), journal


async def test_a_recorded_failure_is_taken_again_and_its_node_does_not_run() -> None:
    doc = document([fail("bad"), end()], "start -> bad", "bad -> end")
    result, journal = await resumed(doc, "node.failed", "bad")
    assert result.error is not None
    assert (result.status, result.error["path"]) == ("failed", "bad")
    assert journal.of("bad") == []


async def test_a_failed_item_does_not_run_again() -> None:
    body = each([fail("bad")], config={"items": [1, 2], "on_item_error": "null", "output": 1})
    doc = document([body, end(r="{{ each.results }}")], "start -> each", "each -> end")
    result, journal = await resumed(doc, "iteration.item", "each")
    assert result.outputs == {"r": [None, None]}
    assert (journal.of("each[0].bad"), "node.started" in journal.of("each[1].bad")) == ([], True)


async def test_run_variables_set_inside_a_finished_container_are_kept() -> None:
    body = each([assign("add", "total", "{{ item }}")], config={"items": [3, 4]})
    doc = document([body, end(t="{{ vars.total }}")], "start -> each", "each -> end",
                   variables={"total": {"type": "number", "default": 0}})  # fmt: skip
    result, journal = await resumed(doc, "node.succeeded", "each")
    assert result.outputs == {"t": 7}
    assert journal.of("each[0].add") == []


async def test_variables_of_a_loop_around_are_kept_too() -> None:
    inner = each([assign("add", "n", "{{ item }}")], config={"items": [3, 4]})
    loop = {"id": "l", "type": "LOOP", "config": {"variables": {"n": 0}, "max_rounds": 2, "on_max": "continue"},
            "body": {"nodes": [inner], "edges": []}}  # fmt: skip
    doc = document([loop, end(n="{{ l.n }}")], "start -> l", "l -> end")
    result, _ = await resumed(doc, "loop.round", "l")
    assert result.outputs == {"n": 14}


async def test_variables_set_by_a_failed_attempt_of_a_container_are_kept() -> None:
    once = {
        "id": "once",
        "type": "CONDITION",
        "config": {"cases": [{"id": "first", "when": "vars.total < 1"}]},
    }
    nodes = [once, assign("add", "total", "{{ 1 }}"), echo("missing", "{{ gone.value }}")]
    short = ("once.first -> add", "add -> missing", "once.else -> missing")
    retry = {"max": 1, "delay": 0, "on": ["missing"]}
    body = each(nodes, *short, config={"items": [1]}, on_error="continue", retry=retry)
    doc = document([body, end(t="{{ vars.total }}")], "start -> each", "each -> end",
                   variables={"total": {"type": "number", "default": 0}})  # fmt: skip
    whole, first = await run(doc)
    assert (whole.outputs, first.of("each").count("node.retrying")) == ({"t": 1}, 1)
    for kind, count in (("node.retrying", 1), ("node.started", 2), ("node.failed", 1)):
        result, _ = await resumed(doc, kind, "each", count=count)
        assert result.outputs == {"t": 1}


async def test_an_interrupted_attempt_uses_up_no_retry() -> None:
    retry = {"max": 1, "delay": 0, "on": ["boom"]}
    doc = document(
        [fail("flaky", 2, retry=retry), end(v="{{ flaky.value }}")], "start -> flaky", "flaky -> end"
    )
    result, journal = await resumed(doc, "node.started", "flaky")
    assert result.outputs == {"v": 3}, (
        "the first attempt was interrupted, the second failed, the third is its retry"
    )
    assert [event.attempt for event in journal.events if event.type == "node.started"][:2] == [2, 3]


async def test_a_retried_container_runs_its_body_anew() -> None:
    body = each([echo("a", 1), fail("bad", 1)], "a -> bad", config={"items": [1]}, on_error="continue",
                retry={"max": 2, "delay": 0, "on": ["boom"]})  # fmt: skip
    doc = document([body, end()], "start -> each", "each -> end")
    for kind, path in (("node.failed", "each[0].bad"), ("node.retrying", "each")):
        result, journal = await resumed(doc, kind, path)
        assert result.status == "succeeded"
        assert journal.of("each[0].a")[0] == "node.started"
        assert journal.of("each[0].bad")[0] == "node.started"
