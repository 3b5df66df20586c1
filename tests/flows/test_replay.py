"""Replays: what is reused, what runs again, edits, versions, and that a replay stands on its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlace.engine.errors import InvalidDocument
from interlace.engine.run import RunResult
from interlace.flows.documents import Pinned
from interlace.flows.platform import Platform
from interlace.flows.replay import Wish, plan_replay, start_replay, version_for
from interlace.flows.report import run_report, why
from interlace.flows.request import Request
from interlace.flows.run_diff import diff_runs
from interlace.store.errors import ConflictError
from tests.flows.documents import chain, http, template
from tests.flows.waiting import Home
from tests.loopback import Loopback

LONG = "x" * 20_000


async def finish(platform: Platform, run_id: str) -> RunResult:
    result = await platform.runner.wait(run_id, 30)
    assert result is not None
    return result


async def started(platform: Platform, text: str, inputs: dict[str, Any] | None = None, **more: Any) -> str:
    pinned = await platform.documents.from_text(text)
    run_id = await platform.runner.start(pinned, Request(inputs=inputs or {}, **more))
    await finish(platform, run_id)
    return run_id


async def replayed(
    platform: Platform, run_id: str, *, version: str | Pinned = "pinned", **wish: Any
) -> tuple[str, RunResult]:
    pinned = version
    if isinstance(pinned, str):
        pinned = await version_for(platform.documents, await platform.store.runs.get(run_id), pinned)
    plan = await plan_replay(platform.runner, run_id, pinned, Wish(**wish))
    new = await start_replay(platform.runner, plan)
    return new, await finish(platform, new)


def calls(loopback: Loopback) -> str:
    return chain(
        http("first", f"{loopback.url}/first"),
        template("text", "{{ first.body.number }} {{ inputs.name }} " + LONG),
        http("second", f"{loopback.url}/second", method="POST"),
        outputs={"text": "{{ text.text[:6] }}", "n": "{{ second.body.number }}"},
        inputs={"type": "object", "properties": {"name": {"type": "string", "default": "ada"}}},
    )


async def test_what_stands_before_the_node_is_reused(platform: Platform, loopback: Loopback) -> None:
    run_id = await started(platform, calls(loopback))
    new, result = await replayed(platform, run_id, from_node="second")
    assert loopback.seen == {"/first": 1, "/second": 2}
    assert result.outputs == {"text": "1 ada ", "n": 2}
    report = await run_report(platform.store, platform.documents, new)
    assert {path: node.get("reused") for path, node in report["nodes"].items()} == {
        "start": run_id, "first": run_id, "text": run_id, "second": None, "done": None,
    }  # fmt: skip
    assert report["replayed_from"] == run_id
    assert "reused" in (await why(platform.store, platform.documents, new, "first"))["why"]


async def test_once_nodes_that_run_again_are_named(platform: Platform, loopback: Loopback) -> None:
    run_id = await started(platform, calls(loopback))
    run = await platform.store.runs.get(run_id)
    pinned = await version_for(platform.documents, run, "pinned")
    plan = await plan_replay(platform.runner, run_id, pinned, Wish(from_node="second"))
    assert plan.once == ("second",)
    assert plan.reused == ("start", "first", "text")
    assert loopback.seen["/second"] == 1
    new = await start_replay(platform.runner, plan)
    await finish(platform, new)
    assert loopback.seen["/second"] == 2


async def test_without_a_node_everything_runs_again(platform: Platform, loopback: Loopback) -> None:
    run_id = await started(platform, calls(loopback), {"name": "bob"})
    _, result = await replayed(platform, run_id)
    assert loopback.seen == {"/first": 2, "/second": 2}
    assert result.outputs == {"text": "2 bob ", "n": 2}


async def test_edits_of_outputs_and_inputs(platform: Platform, loopback: Loopback) -> None:
    run_id = await started(platform, calls(loopback))
    _, result = await replayed(
        platform, run_id, from_node="text", edits={"first.body.number": 7}, inputs={"name": "eve"}
    )
    assert result.outputs == {"text": "7 eve ", "n": 2}
    _, result = await replayed(platform, run_id, edits={"first.body.number": 8})
    assert result.outputs == {"text": "8 ada ", "n": 3}
    assert loopback.seen["/first"] == 1
    for edits, text in [
        ({"second.body": 1}, "runs again"),
        ({"first.nothing.at": 1}, "nothing at 'nothing'"),
        ({"first.status_code": "many"}, "status_code"),
        ({"nobody.x": 1}, "names no output"),
    ]:
        with pytest.raises(InvalidDocument, match=text):
            await replayed(platform, run_id, from_node="second", edits=edits)


async def test_a_large_edit_and_large_reused_values_outlive_the_first_run(
    platform: Platform, loopback: Loopback
) -> None:
    run_id = await started(platform, calls(loopback))
    new, _ = await replayed(platform, run_id, from_node="second", edits={"first.body.more": LONG})
    await platform.store.runs.delete(run_id)
    state = await platform.store.events.fold(new)
    journal = platform.store.journal(new, None)
    assert state.nodes["text"].outputs is not None
    assert (await journal.load_map(state.nodes["text"].outputs))["text"].endswith(LONG)
    assert (await journal.load_map(state.nodes["first"].outputs or {}))["body"]["more"] == LONG
    again, result = await replayed(platform, new, from_node="second")
    assert result.status == "succeeded"
    del again


async def test_files_of_the_first_run_are_kept(platform: Platform, loopback: Loopback) -> None:
    text = chain(http("get", f"{loopback.url}/f", response_as="file"), outputs={"file": "{{ get.body }}"})
    run_id = await started(platform, text)
    _, result = await replayed(platform, run_id, from_node="done")
    await platform.store.runs.delete(run_id)
    assert result.outputs is not None
    assert await platform.store.files.load(result.outputs["file"]["ref"]) == b'{"path": "/f", "number": 1}'


def branches() -> str:
    nodes: list[dict[str, Any]] = [
        {"id": "start", "type": "START"},
        {"id": "size", "type": "CONDITION", "config": {"cases": [{"id": "large", "when": "inputs.n > 10"}]}},
        template("big", "big"),
        template("small", "small"),
        {"id": "pick", "type": "VARIABLE_AGGREGATOR", "config": {"values": ["{{ big.text }}", "{{ small.text }}"]}},
        {"id": "done", "type": "END", "config": {"outputs": {"size": "{{ pick.value }}"}}},
    ]  # fmt: skip
    edges = ["start -> size", "size.large -> big", "size.else -> small", "big -> pick", "small -> pick",
             "pick -> done"]  # fmt: skip
    return json.dumps(
        {"name": "branches", "inputs": {"type": "object", "properties": {"n": {"type": "number"}}}, "nodes": nodes,
         "edges": edges}
    )  # fmt: skip


async def test_an_edited_choice_takes_the_other_branch(platform: Platform) -> None:
    run_id = await started(platform, branches(), {"n": 1})
    _, result = await replayed(platform, run_id, from_node="done", edits={"size.matched": "large"})
    assert result.outputs == {"size": "big"}


async def test_variables_are_as_they_were_at_that_point(platform: Platform) -> None:
    def assign(node: str, value: str) -> dict[str, Any]:
        config = {"assignments": [{"variable": "log", "op": "append", "value": value}]}
        return {"id": node, "type": "VARIABLE_ASSIGN", "config": config}

    text = chain(
        assign("one", "1"), assign("two", "2"), outputs={"log": "{{ vars.log }}"},
        variables={"log": {"type": "array", "default": []}},
    )  # fmt: skip
    run_id = await started(platform, text)
    _, result = await replayed(platform, run_id, from_node="two")
    assert result.outputs == {"log": ["1", "2"]}


def looping(loopback: Loopback) -> str:
    each = {
        "id": "each", "type": "ITERATION", "config": {"items": [1, 2], "output": "{{ call.body.number }}"},
        "body": {"nodes": [http("call", f"{loopback.url}/item")], "edges": []},
    }  # fmt: skip
    return chain(each, template("after", "{{ each.results }}"), outputs={"text": "{{ after.text }}"})


async def test_bodies_are_reused_whole(platform: Platform, loopback: Loopback) -> None:
    run_id = await started(platform, looping(loopback))
    new, result = await replayed(platform, run_id, from_node="after")
    assert loopback.seen == {"/item": 2}
    assert result.outputs == {"text": "[1,2]"}
    report = await run_report(platform.store, platform.documents, new)
    assert report["nodes"]["each[1].call"]["reused"] == run_id
    for path in ("call", "each[1].call"):
        with pytest.raises(InvalidDocument, match="body of each"):
            await replayed(platform, run_id, from_node=path)


async def test_a_failed_node_runs_again(platform: Platform, loopback: Loopback) -> None:
    node = http("call", loopback.url + "/status/{{ inputs.status }}")
    text = chain(template("before", "1"), node, outputs={"n": "{{ call.body.number }}"})
    run_id = await started(platform, text, {"status": 500})
    _, result = await replayed(platform, run_id, from_node="done", inputs={"status": 200})
    assert (result.status, result.outputs) == ("succeeded", {"n": 1})


async def test_against_another_version_changed_nodes_run_again(
    platform: Platform, loopback: Loopback
) -> None:
    text = calls(loopback)
    run_id = await started(platform, text)
    changed = text.replace("{{ inputs.name }}", "{{ inputs.name | upper }}")
    pinned = await platform.documents.from_text(changed)
    plan = await plan_replay(platform.runner, run_id, pinned, Wish(from_node="second"))
    assert plan.changed == ("text",)
    assert plan.reused == ("start", "first")
    result = await finish(platform, await start_replay(platform.runner, plan))
    assert result.outputs == {"text": "1 ADA ", "n": 2}
    assert loopback.seen["/first"] == 1
    with pytest.raises(ConflictError, match="stored workflow"):
        await version_for(platform.documents, await platform.store.runs.get(run_id), "latest")


async def test_a_replay_survives_the_end_of_its_process(home: Home, loopback: Loopback) -> None:
    ask = {"id": "ask", "type": "HUMAN", "config": {"title": "Go on?"}}
    text = chain(http("first", f"{loopback.url}/first"), ask, outputs={"n": "{{ first.body.number }}"})
    text = text.replace('{"from": "ask", "to": "done"}', '{"from": "ask", "handle": "approve", "to": "done"}')
    pinned = await home.platform.documents.from_text(text)
    run_id = await home.platform.runner.start(pinned, Request())
    await home.platform.runner.turn(run_id)
    plan = await plan_replay(home.platform.runner, run_id, pinned, Wish(from_node="ask"))
    # Created, and never started: as after kill -9 between the commit and the first turn.
    new, _ = await home.platform.runner.create(pinned, plan.request)
    await home.platform.runner.cancel(run_id)
    await home.platform.store.runs.delete(run_id)
    await home.restart()
    assert await home.platform.runner.resume(await home.platform.store.runs.get(new))
    result = await home.platform.runner.turn(new)
    assert result.status == "suspended"
    assert loopback.seen == {"/first": 1}
    state = await home.platform.store.events.fold(new)
    assert state.nodes["first"].reused == run_id


async def test_runs_that_still_run_are_not_replayed(platform: Platform, loopback: Loopback) -> None:
    pinned = await platform.documents.from_text(branches())
    run_id, _ = await platform.runner.create(pinned, Request(inputs={"n": 1}))
    with pytest.raises(ConflictError, match="queued"):
        await plan_replay(platform.runner, run_id, pinned, Wish(from_node="done"))
    del loopback


async def test_differences_of_two_runs(platform: Platform, loopback: Loopback) -> None:
    one = await started(platform, branches(), {"n": 1})
    same = await started(platform, branches(), {"n": 1})
    other = await started(platform, branches(), {"n": 100})
    found = await diff_runs(platform.store, platform.documents, one, same)
    assert found["equal"] is True
    found = await diff_runs(platform.store, platform.documents, one, other)
    assert found["equal"] is False
    assert found["inputs"] == [{"path": "n", "before": 1, "after": 100}]
    assert found["outputs"] == [{"path": "size", "before": "small", "after": "big"}]
    assert found["nodes"]["size"]["handles"] == {"before": ["else"], "after": ["large"]}
    assert found["nodes"]["big"]["status"] == {"before": "skipped", "after": "succeeded"}
    first = await started(platform, calls(loopback))
    second, _ = await replayed(platform, first, from_node="second")
    found = await diff_runs(platform.store, platform.documents, first, second)
    second = found["nodes"]["second"]
    assert second.keys() == {"outputs"}
    told = [
        entry for entry in second["outputs"] if entry["path"] != "headers.date"
    ]  # the server's clock ticks
    assert told == [{"path": "body.number", "before": 1, "after": 2}]
    assert set(found["nodes"]) == {"second", "done"}
