"""Requests to people, from the question to the end of the run."""

from __future__ import annotations

import asyncio

import pytest

from interlace.engine.errors import InvalidDocument
from interlace.flows.answering import Answered
from interlace.flows.platform import Platform
from interlace.store.errors import ConflictError, NotFoundError
from tests.flows.waiting import ADA, ASK, BOB, Home, answer, begin, end_of, pending


async def test_a_request_is_answered_and_the_run_goes_on(platform: Platform) -> None:
    run_id = await begin(platform, ASK)
    run = await platform.store.runs.get(run_id)
    assert (run.status, run.lease_owner, platform.runner.active) == ("suspended", None, {})
    [wait] = await pending(platform)
    assert (wait.title, wait.path, wait.kind, wait.status) == ("Pay 5?", "ask", "human", "pending")
    await answer(platform, wait, form={"note": "ok"})
    result = await end_of(platform, run_id)
    assert result.outputs == {"action": "approve", "note": "ok", "by": "ada"}
    events = [event.type for event in await platform.store.events.read(run_id) if event.path in ("", "ask")]
    assert events == [
        "run.queued", "run.started", "node.started", "node.suspended", "run.suspended", "run.resumed", "node.resumed",
        "node.succeeded", "run.succeeded",
    ]  # fmt: skip


async def test_a_request_outlives_its_process(home: Home) -> None:
    run_id = await begin(home.platform, ASK)
    platform = await home.restart()
    [wait] = await pending(platform)
    await answer(platform, wait, "reject")
    result = await end_of(platform, run_id)
    assert result.outputs == {"action": "reject", "note": None, "by": "ada"}


async def test_the_first_valid_answer_wins(platform: Platform) -> None:
    run_id = await begin(platform, ASK)
    [wait] = await pending(platform)
    results = await asyncio.gather(
        answer(platform, wait, "approve", ADA), answer(platform, wait, "reject", BOB), return_exceptions=True
    )
    [lost] = [result for result in results if isinstance(result, Answered)]
    assert lost.by in ("ada", "bob")
    result = await end_of(platform, run_id)
    assert result.outputs is not None
    assert result.outputs["by"] == lost.by
    with pytest.raises(Answered, match=str(lost.by)):
        await answer(platform, wait, "approve")


async def test_bad_answers_change_nothing(platform: Platform) -> None:
    await begin(platform, ASK)
    [wait] = await pending(platform)
    with pytest.raises(InvalidDocument, match="did you mean 'approve'"):
        await answer(platform, wait, "aprove")
    with pytest.raises(InvalidDocument, match=r"form\.note"):
        await answer(platform, wait, form={"note": 5})
    with pytest.raises(ConflictError, match="shown"):
        await answer(platform, wait, shown_hash="0")
    with pytest.raises(NotFoundError):
        await answer(platform, "nothing")
    assert (await platform.store.waits.get(wait.id)) == wait
    await answer(platform, wait, shown_hash=wait.hash)
