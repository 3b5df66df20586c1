"""Variables of `scope: workflow`: runs begin with the kept value and change the newest one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from interlace.engine.run import RunResult
from interlace.flows.node_test import test_node as run_node_test
from interlace.flows.platform import Platform
from interlace.flows.replay import Wish, plan_replay, start_replay, version_for
from interlace.flows.request import Request
from interlace.store.changing import file_key
from tests.flows.conftest import Run
from tests.flows.documents import chain, sub, template
from tests.flows.recorded import RECORD, equal, finish
from tests.flows.waiting import answer, begin, pending

Push = Callable[[str], Awaitable[str]]
RunStored = Callable[..., Awaitable[tuple[str, RunResult]]]
FILE = file_key("local", "test")


def assign(node: str, *assignments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": node, "type": "VARIABLE_ASSIGN", **more, "config": {"assignments": list(assignments)}}


def change(variable: str, op: str = "increment", value: Any = 1) -> dict[str, Any]:
    return {"variable": variable, "op": op, "value": value}


def counting(*nodes: dict[str, Any], **more: Any) -> str:
    """Counts, and tells what the run began with and what it came to."""
    return chain(
        template("before", "{{ vars.n }}"), *nodes, assign("count", change("n")),
        **{
            "variables": {"n": {"type": "integer", "default": 0, "scope": "workflow"}},
            "outputs": {"before": "{{ before.text }}", "n": "{{ count.n }}", "after": "{{ vars.n }}"},
        } | more,
    )  # fmt: skip


@pytest.fixture
def run_stored(platform: Platform) -> RunStored:
    async def run(workflow: str, version: str = "latest", **request: Any) -> tuple[str, RunResult]:
        pinned = await platform.documents.stored(workflow, version)
        run_id = await platform.runner.start(pinned, Request(**request))
        result = await platform.runner.wait(run_id, 30)
        assert result is not None
        return run_id, result

    return run


async def test_runs_go_on_where_earlier_ones_ended(
    platform: Platform, push: Push, run_stored: RunStored
) -> None:
    workflow = await push(counting())
    outputs, began = [], []
    for _ in range(3):
        run_id, result = await run_stored(workflow)
        outputs.append(result.outputs)
        began.append((await platform.store.events.read(run_id))[1].data["variables"])
    assert outputs == [{"before": str(n), "n": n + 1, "after": n + 1} for n in range(3)]
    assert began == [{"n": n} for n in range(3)]
    events = await platform.store.events.read(run_id)
    assert next(event.data["kept"] for event in events if event.path == "count" and "kept" in event.data) == {
        "n": 3
    }


def asking() -> str:
    """Asks somebody before it counts."""
    ask = {"id": "ask", "type": "HUMAN", "config": {"title": "Go on?", "actions": ["approve"]}}
    end = {"outputs": {"before": "{{ before.text }}", "n": "{{ count.n }}"}}
    nodes = [
        {"id": "start", "type": "START"},
        template("before", "{{ vars.n }}"),
        ask,
        assign("count", change("n")),
        {"id": "done", "type": "END", "config": end},
    ]
    edges = [
        "start -> before",
        "before -> ask",
        "ask.approve -> count",
        "ask.timeout -> count",
        "count -> done",
    ]
    variables = {"n": {"type": "integer", "default": 5, "scope": "workflow"}}
    return json.dumps({"name": "test", "variables": variables, "nodes": nodes, "edges": edges})


async def test_a_waiting_run_holds_nobody_up_and_changes_the_newest_value(
    platform: Platform, push: Push
) -> None:
    pinned = await platform.documents.stored(await push(asking()))
    waiting = [await platform.runner.start(pinned, Request()) for _ in range(2)]
    for run_id in waiting:
        assert (await platform.runner.turn(run_id)).status == "suspended"
    for run_id, n in zip(waiting, (6, 7), strict=True):
        await answer(platform, (await pending(platform, run_id))[0])
        result = await platform.runner.wait(run_id, 20)
        assert result is not None
        assert result.outputs == {"before": "5", "n": n}, "it began with 5, before the other one had counted"


async def test_every_operation_works_on_the_newest_value(
    platform: Platform, push: Push, run_stored: RunStored
) -> None:
    kinds = {
        "list": ("array", []),
        "map": ("object", {}),
        "text": ("string", ""),
        "n": ("number", 1),
        "m": ("number", 1),
    }
    variables = {
        name: {"type": kind, "default": value, "scope": "workflow"} for name, (kind, value) in kinds.items()
    } | {"mine": {"type": "any"}}
    changes = assign(
        "all", change("list", "append", "{{ inputs.who }}"), change("map", "merge", {"{{ inputs.who }}": 1}),
        change("map", "merge", {"last": "{{ inputs.who }}"}), change("text", "append", "{{ inputs.who }}"),
        change("n", "set", "{{ vars.n * 2 }}"), change("m", "set", "{{ vars.n + vars.m }}"),
        change("list", "remove", "a"), change("mine", "set", "{{ vars }}"),
    )  # fmt: skip
    hold = {"id": "hold", "type": "TEMPLATE", "wait": {"for": 0.05}, "config": {"template": "x"}}
    text = chain(hold, changes, variables=variables, inputs={"type": "object", "properties": {"who": {"type": "string"}}},
                 outputs={"mine": "{{ vars.mine }}"})  # fmt: skip
    workflow = await push(text)
    results = await asyncio.gather(*(run_stored(workflow, inputs={"who": who}) for who in "abc"))
    assert [result.error for _, result in results] == [None] * 3
    kept = await platform.store.variables.values(workflow)
    assert sorted(kept["list"]) == ["b", "c"]
    assert sorted(kept["text"]) == ["a", "b", "c"]
    assert kept["n"] == 8
    assert kept["m"] == 1 + 2 + 4 + 8
    assert kept["map"]["last"] == kept["text"][-1]
    seen = sorted((result.outputs or {})["mine"]["n"] for _, result in results)
    assert seen == [2, 4, 8], "whoever reads all variables sees the newest of all"


async def test_a_hundred_runs_at_once_count_to_a_hundred(platform: Platform, push: Push) -> None:
    pinned = await platform.documents.stored(await push(counting()))
    runs = [await platform.runner.start(pinned, Request()) for _ in range(100)]
    results = [await platform.runner.wait(run_id, 30) for run_id in runs]
    assert sorted(result.outputs["n"] for result in results if result and result.outputs) == list(
        range(1, 101)
    )
    assert await platform.store.variables.values(str(pinned.workflow_id)) == {"n": 100}


async def test_a_file_has_variables_of_its_own_by_owner_and_name(
    platform: Platform, push: Push, run: Run
) -> None:
    workflow = await push(counting())
    for n in (1, 2):
        assert (await run(counting())).outputs == {"before": str(n - 1), "n": n, "after": n}
    assert (await run(counting(name="other"))).outputs == {"before": "0", "n": 1, "after": 1}
    assert (await run(counting(), owner="eve")).outputs == {"before": "0", "n": 1, "after": 1}
    assert await platform.store.variables.of(workflow) == {}
    assert await platform.store.variables.values(FILE) == {"n": 2}


async def test_a_child_has_its_own(platform: Platform, push: Push, run: Run) -> None:
    child = await push(counting(name="child"))
    text = counting(sub("call", "child"), outputs={"child": "{{ call.n }}", "n": "{{ count.n }}"})
    assert (await run(text)).outputs == {"child": 1, "n": 1}
    assert (await run(text)).outputs == {"child": 2, "n": 2}
    assert await platform.store.variables.values(child) == {"n": 2}


async def test_what_tries_something_out_changes_nothing(
    platform: Platform, push: Push, run_stored: RunStored
) -> None:
    workflow = await push(counting())
    await run_stored(workflow)
    _, result = await run_stored(workflow, test=True)
    assert result.outputs == {"before": "1", "n": 2, "after": 2}, "it begins with the kept value"
    _, result = await run_stored(workflow, test=True, options={"pins": {"before": {"outputs": {"text": "p"}, "handles": ["out"]}}})  # fmt: skip
    assert result.outputs == {"before": "p", "n": 2, "after": 2}
    pinned = await platform.documents.stored(workflow)
    tested = await run_node_test(platform, pinned.document, "count", {"vars": {"n": 41}})
    assert tested["outputs"] == {"n": 42}
    assert await platform.store.variables.values(workflow) == {"n": 1}


async def test_offline_it_finds_what_the_recorded_run_found(platform: Platform) -> None:
    run_id = await begin(platform, asking(), options=RECORD)
    await platform.store.variables.write(FILE, {"n": 20})
    await answer(platform, (await pending(platform, run_id))[0])
    result = await finish(platform, run_id)
    assert result.outputs == {"before": "5", "n": 21}
    await platform.store.variables.write(FILE, {"n": 100})
    again = await equal(platform, run_id, result)
    await equal(platform, again, result)
    assert await platform.store.variables.values(FILE) == {"n": 100}


async def test_a_replay_begins_as_the_first_run_and_changes_the_newest_value(
    platform: Platform, push: Push, run_stored: RunStored
) -> None:
    workflow = await push(counting())
    first, _ = await run_stored(workflow)
    await run_stored(workflow)
    for from_node, n in (("count", 3), (None, 4), ("done", None)):
        pinned = await version_for(platform.documents, await platform.store.runs.get(first), "pinned")
        replay = await plan_replay(platform.runner, first, pinned, Wish(from_node=from_node))
        result = await platform.runner.wait(await start_replay(platform.runner, replay), 20)
        assert result is not None
        expected = {"before": "0", "n": n, "after": n} if n else {"before": "0", "n": 1, "after": 1}
        assert result.outputs == expected
    assert await platform.store.variables.values(workflow) == {"n": 4}, "a reused result is not kept again"


async def test_a_failing_change_leaves_all_variables_as_they_were(
    platform: Platform, push: Push, run_stored: RunStored
) -> None:
    both = assign("both", change("n"), change("m", "append", 1))
    variables = {
        "n": {"type": "integer", "default": 0, "scope": "workflow"},
        "m": {"type": "any", "scope": "workflow"},
    }
    workflow = await push(chain(both, variables=variables, outputs={"n": "{{ vars.n }}"}))
    await platform.store.variables.write(workflow, {"m": 7})
    run_id, result = await run_stored(workflow)
    assert result.error is not None
    assert (result.error["type"], result.error["node"]) == ("type", "both")
    assert "append takes a list or a text" in result.error["message"]
    assert await platform.store.variables.values(workflow) == {"m": 7}
    logs = [
        event.data["message"]
        for event in await platform.store.events.read(run_id)
        if event.type == "node.log"
    ]
    assert len(logs) == 1
    assert logs[0].startswith("no variable was changed: cannot append")


async def test_a_kept_value_of_another_type_is_neither_taken_nor_forgotten(
    platform: Platform, push: Push, run_stored: RunStored
) -> None:
    workflow = await push(counting())
    await run_stored(workflow)
    text = {"n": {"type": "string", "default": "", "scope": "workflow"}}
    appending = chain(
        assign("count", change("n", "append", "!")), variables=text, outputs={"n": "{{ vars.n }}"}
    )
    await push(appending)
    _, result = await run_stored(workflow)
    assert result.error is not None
    assert result.error["type"] == "variable_type"
    assert "is number 1" in result.error["message"]
    assert "interlace workflows variables" in result.error["message"]
    await push(chain(template("read", "{{ vars.n }}"), variables=text, outputs={"n": "{{ read.text }}"}))
    _, result = await run_stored(workflow)
    assert result.error is not None
    assert "interlace workflows variables" in result.error["message"]
    assert await platform.store.variables.values(workflow) == {"n": 1}
    await platform.store.variables.write(workflow, {"n": "one"})
    _, result = await run_stored(workflow)
    assert result.outputs == {"n": "one"}


async def test_in_rounds_and_beside_loop_variables(platform: Platform, run: Run) -> None:
    body = {
        "nodes": [assign("both", change("n"), change("mine", "increment", "{{ vars.n }}"), change("k"))],
        "edges": [],
    }
    loop = {
        "id": "l", "type": "LOOP", "config": {"variables": {"k": 0, "mine": 0}, "while": "k < 3", "max_rounds": 9},
        "body": body,
    }  # fmt: skip
    text = chain(
        loop, variables={"n": {"type": "integer", "default": 10, "scope": "workflow"}},
        outputs={"n": "{{ vars.n }}", "mine": "{{ l.mine }}", "k": "{{ l.k }}"},
    )  # fmt: skip
    assert (await run(text)).outputs == {"n": 13, "mine": 11 + 12 + 13, "k": 3}
    assert await platform.store.variables.values(FILE) == {"n": 13}
