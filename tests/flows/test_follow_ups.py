from __future__ import annotations

import json
from typing import Any

from interlace.flows.platform import Platform
from interlace.flows.request import Request
from tests.flows.conftest import Run
from tests.flows.documents import chain, http, template
from tests.loopback import Loopback

HANDLER = chain(
    template("note", "{{ trigger.workflow }} {{ trigger.run.status }}: {{ trigger.run.error.type }}"),
    outputs={"note": "{{ note.text }}"},
    name="handler",
)


async def _handled(platform: Platform) -> list[Any]:
    page = await platform.store.runs.list()
    return [run for run in page.items if run.name == "handler"]


async def test_a_failed_run_starts_the_named_workflow_once(
    platform: Platform, push: Any, run: Run, loopback: Loopback
) -> None:
    await push(HANDLER)
    failing = chain(
        http("call", f"{loopback.url}/status/404"), settings={"on_failure": "handler"}, name="failing"
    )
    result = await run(failing)
    (handled,) = await _handled(platform)
    assert handled.trigger["run"]["id"] == result.run_id
    assert handled.outputs == {"note": "failing failed: http_404"}
    await platform.follow_ups.catch_up()
    assert len(await _handled(platform)) == 1


async def test_success_and_cancellation_start_none(platform: Platform, push: Any, run: Run) -> None:
    await push(HANDLER)
    text = chain(template("t", "x"), settings={"on_failure": "handler"})
    assert (await run(text)).status == "succeeded"
    run_id, _ = await platform.runner.create(await platform.documents.from_text(text), Request())
    await platform.runner.cancel(run_id)
    await platform.runner.idle()
    assert await _handled(platform) == []


async def test_one_that_a_crash_kept_from_starting_starts_later(
    platform: Platform, push: Any, run: Run, loopback: Loopback
) -> None:
    failing = chain(http("call", f"{loopback.url}/status/404"), settings={"on_failure": "handler"})
    await run(failing)  # there is no such workflow yet, which nobody can start
    await push(HANDLER)
    await platform.follow_ups.catch_up()
    await platform.runner.idle()
    assert len(await _handled(platform)) == 1


async def test_a_broken_handler_does_not_start_itself(
    platform: Platform, push: Any, run: Run, loopback: Loopback
) -> None:
    broken = json.loads(chain(http("call", f"{loopback.url}/status/500"), name="handler"))
    await push(json.dumps(broken))
    other = json.dumps(broken | {"name": "other", "settings": {"on_failure": "handler"}})
    await push(json.dumps(broken | {"settings": {"on_failure": "other"}}))
    await push(other)
    await run(other)
    assert len((await platform.store.runs.list()).items) == 2
