"""The time-out of ITERATION and LOOP counts on while their bodies wait for somebody, whatever becomes of the process."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flows.documents import chain
from tests.flows.waiting import Home, answer, begin, end_of, pending

ASK = {"id": "ask", "type": "HUMAN", "config": {"title": "Well?"}}
BODY: dict[str, Any] = {"nodes": [ASK], "edges": []}
EACH = {"type": "ITERATION", "config": {"items": [1, 2], "output": "{{ ask.action }}"}, "body": BODY}
ROUNDS = {"type": "LOOP", "config": {"max_rounds": 2, "on_max": "continue"}, "body": BODY}


def _document(container: dict[str, Any], **more: Any) -> str:
    return chain(
        {"id": "outer", "timeout": "10m", **container, **more},
        outputs={"error": "{{ outer.error.type | default('none') }}"},
    )


@pytest.mark.parametrize("container", [EACH, ROUNDS], ids=["iteration", "loop"])
async def test_it_ends_a_body_that_is_suspended(home: Home, container: dict[str, Any]) -> None:
    run_id = await begin(home.platform, _document(container, on_error="continue"))
    (wait,) = await pending(home.platform, run_id)
    await home.later(300)
    await answer(home.platform, wait)
    await home.platform.runner.turn(run_id)
    assert len(await pending(home.platform, run_id)) == 1, "the second pass asks"
    await home.restart()
    await home.later(200)
    assert (await home.platform.store.runs.get(run_id)).status == "suspended"
    await home.later(120)
    result = await end_of(home.platform, run_id)
    assert result.outputs == {"error": "timeout"}
    assert await pending(home.platform, run_id) == [], "nobody is asked any more"


async def test_it_fails_the_run_without_an_answer(home: Home) -> None:
    run_id = await begin(home.platform, _document(EACH))
    await home.later(601)
    result = await end_of(home.platform, run_id)
    assert result.error is not None
    assert (result.status, result.error["type"], result.error["path"]) == ("failed", "timeout", "outer")


async def test_in_time_is_in_time(home: Home) -> None:
    run_id = await begin(home.platform, _document(EACH))
    for _ in range(2):
        await home.later(250)
        (wait,) = await pending(home.platform, run_id)
        await answer(home.platform, wait)
        await home.platform.runner.turn(run_id)
    assert (await end_of(home.platform, run_id)).outputs == {"error": "none"}


async def test_a_retry_has_the_whole_time(home: Home) -> None:
    document = _document(EACH, retry={"max": 1, "delay": 0.001, "on": ["timeout"]})
    run_id = await begin(home.platform, document)
    await home.later(601)
    await home.platform.runner.turn(run_id)
    assert (await home.platform.store.runs.get(run_id)).status == "suspended"
    await home.later(500)
    assert len(await pending(home.platform, run_id)) == 1
    await home.later(1200)
    result = await end_of(home.platform, run_id)
    assert result.error is not None
    assert (result.error["type"], result.error["attempt"]) == ("timeout", 2)
