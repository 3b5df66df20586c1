"""Pinned outputs: test runs take them instead of running the node, nothing else does."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from interlace.engine.errors import InvalidDocument
from interlace.engine.run import RunResult
from interlace.flows.platform import Platform
from interlace.flows.report import run_report, why
from interlace.flows.request import Request
from interlace.flows.run_options import Asked, store_pin, with_options
from interlace.store.errors import NotFoundError
from tests.flows.documents import chain, http, template
from tests.flows.test_replay import branches
from tests.loopback import Loopback

ANSWER = {"status_code": 200, "headers": {}, "body": {"number": 7}, "url": "http://x", "elapsed_ms": 1.0,
          "pages": 1, "has_more": False, "callback": None}  # fmt: skip


async def of_test(
    platform: Platform, text: str, pins: dict[str, Any], inputs: dict[str, Any] | None = None
) -> tuple[str, RunResult]:
    pinned = await platform.documents.from_text(text)
    request = Request(inputs=inputs or {})
    request = await with_options(
        platform.store, platform.documents, pinned, request, Asked(test=True, pins=pins)
    )
    run_id = await platform.runner.start(pinned, request)
    result = await platform.runner.wait(run_id, 30)
    assert result is not None
    return run_id, result


def calling(loopback: Loopback) -> str:
    return chain(http("get", f"{loopback.url}/get"), outputs={"n": "{{ get.body.number }}"})


async def test_a_pinned_node_does_not_run(platform: Platform, loopback: Loopback) -> None:
    run_id, result = await of_test(platform, calling(loopback), {"get": ANSWER})
    assert result.outputs == {"n": 7}
    assert not loopback.seen
    report = await run_report(platform.store, platform.documents, run_id)
    assert report["test"] is True
    assert report["nodes"]["get"]["pinned"] is True
    assert "pinned" not in report["nodes"]["done"]
    assert "pinned outputs" in (await why(platform.store, platform.documents, run_id, "get"))["why"]


async def test_pins_inside_bodies_and_of_bodies(platform: Platform, loopback: Loopback) -> None:
    each = {
        "id": "each", "type": "ITERATION", "config": {"items": [1, 2], "output": "{{ call.body.number }}"},
        "body": {"nodes": [http("call", f"{loopback.url}/item")], "edges": []},
    }  # fmt: skip
    text = chain(each, outputs={"all": "{{ each.results }}"})
    _, result = await of_test(platform, text, {"call": ANSWER})
    assert result.outputs == {"all": [7, 7]}
    _, result = await of_test(platform, text, {"each": {"results": [1], "errors": [], "count": 1}})
    assert result.outputs == {"all": [1]}
    assert not loopback.seen


async def test_the_choice_of_a_pinned_node(platform: Platform) -> None:
    _, result = await of_test(platform, branches(), {"size": {"matched": "large"}}, {"n": 1})
    assert result.outputs == {"size": "big"}
    _, result = await of_test(platform, branches(), {"size:else": {"matched": "large"}}, {"n": 100})
    assert result.outputs == {"size": "small"}


@pytest.mark.parametrize(
    ("pins", "text"),
    [
        ({"gett": {}}, "did you mean 'get'"),
        ({"get": {**ANSWER, "status_code": "ok"}}, "status_code"),
        ({"get": [1]}, "object of name and value"),
        ({"get:large": ANSWER}, "no handle 'large'"),
        ({"start": {}}, "never pinned"),
    ],
)
async def test_what_does_not_fit_is_refused(
    platform: Platform, loopback: Loopback, pins: dict[str, Any], text: str
) -> None:
    with pytest.raises(InvalidDocument, match=text):
        await of_test(platform, calling(loopback), pins)
    assert not (await platform.store.runs.list()).items


async def test_pins_are_for_test_runs_alone(platform: Platform, loopback: Loopback) -> None:
    pinned = await platform.documents.from_text(calling(loopback))
    with pytest.raises(InvalidDocument, match="test runs only"):
        await with_options(platform.store, platform.documents, pinned, Request(), Asked(pins={"get": ANSWER}))


async def test_pins_of_a_stored_workflow(
    platform: Platform, loopback: Loopback, push: Callable[[str], Awaitable[str]]
) -> None:
    workflow = await push(calling(loopback))
    store, documents = platform.store, platform.documents
    with pytest.raises(InvalidDocument, match="status_code"):
        await store_pin(store, documents, "test", "get", outputs={"body": 1})
    assert await store_pin(store, documents, "test", "get", outputs=ANSWER) == {"get": ANSWER}
    pinned = await documents.stored(workflow)
    usual = await with_options(store, documents, pinned, Request(), Asked())
    assert usual == Request()
    test = await with_options(store, documents, pinned, Request(), Asked(test=True))
    run_id = await platform.runner.start(pinned, test)
    result = await platform.runner.wait(run_id, 30)
    assert result is not None
    assert result.outputs == {"n": 7}
    real = await platform.runner.start(pinned, usual)
    result = await platform.runner.wait(real, 30)
    assert result is not None
    assert result.outputs == {"n": 1}
    # What it gave in a run becomes the pin.
    found = await store_pin(store, documents, "test", "get", run_id=real)
    assert found["get"]["body"]["number"] == 1
    await store.pins.remove(workflow, "get")
    assert await store.pins.of(workflow) == {}
    with pytest.raises(NotFoundError, match="not pinned"):
        await store.pins.remove(workflow, "get")


async def test_a_failed_test_run_starts_nothing(
    platform: Platform, loopback: Loopback, push: Callable[[str], Awaitable[str]]
) -> None:
    await push(chain(template("t", "x"), name="alarm"))
    document = json.loads(chain(http("get", f"{loopback.url}/status/500"), settings={"on_failure": "alarm"}))
    _, result = await of_test(platform, json.dumps(document), {})
    assert result.status == "failed"
    await platform.runner.idle()
    assert [run.name for run in (await platform.store.runs.list()).items] == ["test"]
