"""Faults that users of other products reported of approvals, one test each, with a restart between question and answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from interlace.engine.testing import edges
from interlace.flows.settings import Settings
from interlace.server.app import create_app
from interlace.store.errors import ConflictError
from tests.flows.waiting import ADA, BOB, Home, answer, begin, end_of, pending


def human(node: str, **config: Any) -> dict[str, Any]:
    return {"id": node, "type": "HUMAN", "config": {"title": f"{node}?", **config}}


def text(node: str, template: str) -> dict[str, Any]:
    return {"id": node, "type": "TEMPLATE", "config": {"template": template}}


def flow(nodes: list[dict[str, Any]], links: list[Any], outputs: dict[str, str], **more: Any) -> str:
    start, end = (
        {"id": "start", "type": "START"},
        {"id": "done", "type": "END", "config": {"outputs": outputs}},
    )
    return json.dumps({"name": "case", "nodes": [start, *nodes, end], "edges": edges(*links), **more})


PARALLEL = flow(
    [human("left"), human("right"), text("both", "{{ left.action }} {{ right.action }}") | {"join": "all"}],
    ["start -> left", "start -> right", "left.approve -> both", "right.approve -> both", "both -> done"],
    {"said": "{{ both.text }}"},
)


@pytest.mark.parametrize("first", [0, 1])
async def test_two_requests_in_parallel_are_both_answered_and_the_run_goes_on(home: Home, first: int) -> None:
    """Both were submitted, and the run stayed paused."""
    run_id = await begin(home.platform, PARALLEL)
    asked = await pending(home.platform, run_id)
    assert len(asked) == 2
    await home.restart()
    await answer(home.platform, asked[first])
    await home.restart()
    await answer(home.platform, asked[1 - first])
    result = await end_of(home.platform, run_id)
    assert (result.status, result.outputs) == ("succeeded", {"said": "approve approve"})


async def test_both_answered_at_the_same_moment(home: Home) -> None:
    """The same, when neither answer waits for the other."""
    run_id = await begin(home.platform, PARALLEL)
    asked = await pending(home.platform, run_id)
    await home.restart()
    await asyncio.gather(*(answer(home.platform, wait) for wait in asked))
    assert (await end_of(home.platform, run_id)).outputs == {"said": "approve approve"}


@pytest.mark.parametrize("action", ["approve", "reject"])
async def test_an_answer_never_marks_the_run_stopped(home: Home, action: str) -> None:
    """Approve marked the run as stopped."""
    document = flow(
        [human("ask")],
        ["start -> ask", "ask.approve -> done", "ask.reject -> done"],
        {"did": "{{ ask.action }}"},
    )
    run_id = await begin(home.platform, document)
    await home.restart()
    await answer(home.platform, (await pending(home.platform, run_id))[0], action)
    result = await end_of(home.platform, run_id)
    assert (result.status, result.outputs) == ("succeeded", {"did": action})
    events = [event.type for event in await home.platform.store.events.read(run_id)]
    assert events.count("run.suspended") == events.count("run.resumed") == 1
    assert "run.cancelled" not in events


async def test_the_time_out_edge_is_taken(home: Home) -> None:
    """The edge had one name in the editor and another in the engine: it was never taken."""
    document = flow(
        [human("ask", timeout="2d"), text("late", "nobody")],
        ["start -> ask", "ask.approve -> done", "ask.timeout -> late", "late -> done"],
        {"said": "{{ late.text | default('somebody') }}", "did": "{{ ask.action }}"},
    )
    run_id = await begin(home.platform, document)
    await home.restart()
    await home.later(2 * 86_400 - 60)
    assert await pending(home.platform, run_id)
    await home.later(61)
    result = await end_of(home.platform, run_id)
    assert (result.status, result.outputs) == ("succeeded", {"said": "nobody", "did": "timeout"})


async def test_a_time_out_gives_a_value_and_cancels_nothing(home: Home) -> None:
    """People wanted a value or a branch on time-out, and the run was cancelled."""
    document = flow(
        [human("ask", timeout="1h", actions=["yes", "no"]), text("value", "{{ 'no' if ask.action == 'timeout' else ask.action }}")],
        ["start -> ask", "ask.yes -> value", "ask.no -> value", "ask.timeout -> value", "value -> done"],
        {"said": "{{ value.text }}"},
    )  # fmt: skip
    run_id = await begin(home.platform, document)
    await home.restart()
    await home.later(3601)
    result = await end_of(home.platform, run_id)
    assert (result.status, result.outputs) == ("succeeded", {"said": "no"})


async def test_a_form_is_fetched_and_answered_over_the_api(home: Home, settings: Settings) -> None:
    """There was no interface to fetch or answer a form."""
    document = flow(
        [
            human(
                "ask", form={"type": "object", "required": ["sum"], "properties": {"sum": {"type": "number"}}}
            )
        ],
        ["start -> ask", "ask.approve -> done"],
        {"sum": "{{ ask.form.sum }}"},
    )
    run_id = await begin(home.platform, document)
    await home.restart()
    _, secret = await home.platform.store.keys.create("ada")
    transport = httpx2.ASGITransport(app=create_app(home.platform))
    headers = {"authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8700", headers=headers
    ) as api:
        (asked,) = (await api.get("/api/v1/approvals", params={"run_id": run_id})).json()["items"]
        assert asked["form"]["required"] == ["sum"]
        place = f"/api/v1/approvals/{asked['id']}/answer"
        assert (await api.post(place, json={"action": "approve", "form": {}})).status_code == 422
        assert (await api.post(place, json={"action": "approve", "form": {"sum": 12.5}})).status_code == 200
    assert (await end_of(home.platform, run_id)).outputs == {"sum": 12.5}


async def test_no_branch_runs_past_its_own_request(home: Home) -> None:
    """Approvals inside parallel branches were bypassed; another product forbids them there."""
    nodes = [part for n in range(3) for part in (human(f"ask{n}"), text(f"act{n}", f"{{{{ ask{n}.by }}}}"))]
    links = [
        link
        for n in range(3)
        for link in (f"start -> ask{n}", f"ask{n}.approve -> act{n}", f"act{n} -> done")
    ]
    document = flow(nodes, links, {f"act{n}": f"{{{{ act{n}.text | default('-') }}}}" for n in range(3)})
    document = json.dumps(
        (loaded := json.loads(document)) | {"nodes": [{**node, "join": "all"} if node["id"] == "done" else node for node in loaded["nodes"]]}
    )  # fmt: skip
    run_id = await begin(home.platform, document)
    asked = {wait.path: wait for wait in await pending(home.platform, run_id)}
    for n, person in ((1, BOB), (0, ADA)):
        await home.restart()
        await answer(home.platform, asked[f"ask{n}"], person=person)
        await home.platform.runner.idle()
        done = {e.path for e in await home.platform.store.events.read(run_id) if e.type == "node.succeeded"}
        assert "act2" not in done
        assert f"act{n}" in done
    await home.restart()
    await answer(home.platform, asked["ask2"], person=BOB)
    result = await end_of(home.platform, run_id)
    assert result.outputs == {"act0": "ada", "act1": "bob", "act2": "bob"}


async def test_a_skipped_request_parks_nothing(home: Home) -> None:
    """A skipped approval kept the run waiting for a day."""
    cases = {"cases": [{"id": "large", "when": "inputs.sum > 100"}]}
    document = flow(
        [{"id": "check", "type": "CONDITION", "config": cases}, human("ask"), human("other")],
        ["start -> check", "check.large -> ask", "check.else -> done", "ask.approve -> done", "start -> other", "other.approve -> done"],
        {"did": "{{ ask.action | default('skipped') }}"},
        inputs={"type": "object", "properties": {"sum": {"type": "number"}}},
    )  # fmt: skip
    run_id = await begin(home.platform, document, inputs={"sum": 5})
    (only,) = await pending(home.platform, run_id)
    assert only.path == "other"
    await home.restart()
    await answer(home.platform, only)
    result = await end_of(home.platform, run_id)
    assert (result.status, result.outputs) == ("succeeded", {"did": "skipped"})


async def test_one_yes_is_for_one_round_and_one_item(home: Home) -> None:
    """One yes approved every later iteration."""
    document = flow(
        [{
            "id": "each", "type": "ITERATION", "config": {"items": "{{ [1, 2, 3] }}", "output": "{{ ask.form.n }}"},
            "body": {"nodes": [human("ask", title="Item {{ item }}?", form={"type": "object", "properties": {"n": {"type": "integer"}}})]},
        }],
        ["start -> each", "each -> done"],
        {"all": "{{ each.results }}"},
    )  # fmt: skip
    run_id = await begin(home.platform, document)
    for n in range(3):
        await home.restart()
        (asked,) = await pending(home.platform, run_id)
        assert asked.title == f"Item {n + 1}?"
        await answer(home.platform, asked, form={"n": 10 * n})
        with pytest.raises(ConflictError):
            await answer(home.platform, asked, form={"n": 99})
        await home.platform.runner.idle()
    assert (await end_of(home.platform, run_id)).outputs == {"all": [0, 10, 20]}


async def test_a_limit_of_seconds_is_one_of_seconds(home: Home) -> None:
    """A limit of five seconds became one of a minute."""
    document = flow(
        [human("ask", timeout="5s")], ["start -> ask", "ask.approve -> done", "ask.timeout -> done"],
        {"did": "{{ ask.action }}"},
    )  # fmt: skip
    run_id = await begin(home.platform, document)
    asked = (await pending(home.platform, run_id))[0]
    assert asked.until is not None
    assert 4.0 < asked.until - home.clock.now() <= 5.0
    await home.restart()
    await home.later(5.1)
    assert (await end_of(home.platform, run_id)).outputs == {"did": "timeout"}


async def test_a_node_test_and_a_run_are_answered_in_the_same_place(home: Home) -> None:
    """The address for answers differed between test and production: 404."""
    document = flow([human("ask")], ["start -> ask", "ask.approve -> done"], {"did": "{{ ask.action }}"})
    runs = [await begin(home.platform, document, test=test) for test in (True, False)]
    await home.restart()
    _, secret = await home.platform.store.keys.create("ada")
    transport = httpx2.ASGITransport(app=create_app(home.platform))
    headers = {"authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8700", headers=headers
    ) as api:
        for run_id in runs:
            (asked,) = await pending(home.platform, run_id)
            told = await api.post(f"/api/v1/approvals/{asked.id}/answer", json={"action": "approve"})
            assert told.status_code == 200
            assert (await end_of(home.platform, run_id)).outputs == {"did": "approve"}
