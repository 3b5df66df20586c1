"""Requests handed to somebody else."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from interlace.engine.errors import InvalidDocument
from interlace.engine.testing import edges
from interlace.flows.answering import Answered
from interlace.flows.people import NotAllowed, Person
from interlace.store.errors import ConflictError, NotFoundError
from tests.flows.waiting import ADA, BOB, EVE, Home, answer, begin, end_of, pending
from tests.loopback import Loopback


def ask(**config: Any) -> str:
    return json.dumps(
        {
            "name": "Ask",
            "nodes": [
                {"id": "start", "type": "START"},
                {"id": "ask", "type": "HUMAN", "config": {"title": "Pay?", **config}},
                {"id": "done", "type": "END", "config": {"outputs": {"by": "{{ ask.by }}"}}},
            ],
            "edges": edges(
                "start -> ask", "ask.approve -> done", "ask.reject -> done", "ask.timeout -> done"
            ),
        }
    )


FINANCE = Person(name="fay", groups=frozenset({"finance"}))


@pytest.mark.parametrize(
    ("assignees", "by", "left"),
    [
        (["ada", "eve"], ADA, ["eve", "bob"]),
        (["ada"], ADA, ["bob"]),
        (["group:finance", "eve"], FINANCE, ["eve", "bob"]),
        ([], ADA, ["bob"]),
        (["ada", "bob"], ADA, ["bob"]),
    ],
)
async def test_the_other_is_asked_instead(
    home: Home, assignees: list[str], by: Person, left: list[str]
) -> None:
    run_id = await begin(home.platform, ask(assignees=assignees))
    (wait,) = await pending(home.platform, run_id)
    await home.restart()
    handed = await home.platform.waits.assign(wait.id, "bob", by, comment="yours")
    assert handed.assignees == left
    (entry,) = handed.history
    assert entry | {"at": 0} == {
        "at": 0, "event": "assigned", "by": by.name, "from": assignees, "to": left, "comment": "yours",
    }  # fmt: skip
    await home.restart()
    with pytest.raises(NotAllowed):
        await answer(home.platform, wait, person=by)
    assert (await answer(home.platform, wait, person=BOB)).hash == wait.hash, (
        "what was asked stays what was asked"
    )
    assert (await end_of(home.platform, run_id)).outputs == {"by": "bob"}


async def test_only_somebody_who_is_asked_hands_over(home: Home) -> None:
    run_id = await begin(home.platform, ask(assignees=["ada"]))
    (wait,) = await pending(home.platform, run_id)
    waits = home.platform.waits
    with pytest.raises(NotAllowed, match="eve is not asked"):
        await waits.assign(wait.id, "eve", EVE)
    with pytest.raises(NotFoundError):
        await waits.assign(wait.id, "eve", Person(name="ada", owner="another"))
    for name in ("", " ", "role:owner", "group:x", "x" * 201):
        with pytest.raises(InvalidDocument, match="no name of a person"):
            await waits.assign(wait.id, name, ADA)
    with pytest.raises(ConflictError, match="asked already"):
        await waits.assign(wait.id, "ada", ADA)
    unchanged = await home.platform.store.waits.get(wait.id)
    assert (unchanged.assignees, unchanged.history) == (["ada"], [])


async def test_a_request_is_never_handed_to_who_started_the_run(home: Home) -> None:
    run_id = await begin(home.platform, ask(allow_self=False), trigger={"kind": "cli", "by": "bob"})
    (wait,) = await pending(home.platform, run_id)
    assert wait.starter == "bob"
    with pytest.raises(NotAllowed, match="bob started the run"):
        await home.platform.waits.assign(wait.id, "bob", ADA)
    with pytest.raises(NotAllowed, match="bob started the run"):
        await home.platform.waits.assign(wait.id, "eve", BOB)


async def test_with_a_quorum_nobody_is_lost(home: Home) -> None:
    """A group that two must agree of stays asked; two names cannot become one."""
    run_id = await begin(home.platform, ask(assignees=["group:finance"], quorum=2))
    (wait,) = await pending(home.platform, run_id)
    handed = await home.platform.waits.assign(wait.id, "bob", FINANCE)
    assert handed.assignees == ["group:finance", "bob"]
    named = await begin(home.platform, ask(assignees=["ada", "bob"], quorum=2))
    (wait,) = await pending(home.platform, named)
    with pytest.raises(ConflictError, match="2 people must agree"):
        await home.platform.waits.assign(wait.id, "bob", ADA)
    await answer(home.platform, wait, person=ADA)
    with pytest.raises(ConflictError, match="ada has answered"):
        await home.platform.waits.assign(wait.id, "ada", BOB)
    await home.platform.waits.assign(wait.id, "eve", BOB)
    await answer(home.platform, wait, person=EVE)
    assert (await end_of(home.platform, named)).outputs == {"by": "eve"}


async def test_an_answer_and_a_handing_over_race(home: Home) -> None:
    """Whatever comes first counts: the answer of who was asked, or the other person's."""
    for _ in range(10):
        run_id = await begin(home.platform, ask(assignees=["ada"]))
        (wait,) = await pending(home.platform, run_id)
        outcomes = await asyncio.gather(
            answer(home.platform, wait, person=ADA), home.platform.waits.assign(wait.id, "bob", ADA),
            return_exceptions=True,
        )  # fmt: skip
        now = await home.platform.store.waits.get(wait.id)
        if isinstance(outcomes[0], NotAllowed):
            assert (now.status, now.assignees) == ("pending", ["bob"])
            await answer(home.platform, wait, person=BOB)
        else:
            assert now.answered_by == "ada"
            assert isinstance(outcomes[1], Answered) or now.history
        assert (await end_of(home.platform, run_id)).status == "succeeded"


async def test_the_channels_hear_of_it_and_a_dead_one_hinders_nothing(home: Home, loopback: Loopback) -> None:
    """How each announcement went stands with the request, without the address that lets anybody post there."""
    paths = ("/status/400", "/hook")
    channels = [{"type": "webhook", "url": f"{loopback.url}{path}"} for path in paths]
    run_id = await begin(home.platform, ask(assignees=["ada"], channels=channels))
    (wait,) = await pending(home.platform, run_id)
    assert (await home.platform.waits.assign(wait.id, "bob", ADA)).assignees == ["bob"]
    await home.platform.runner.idle()
    assert (loopback.seen["/status/400"], loopback.seen["/hook"]) == (2, 2)
    history = (await home.platform.store.waits.get(wait.id)).history
    told = [(e["event"], e.get("reminder"), e.get("error")) for e in history]
    first = [("announced", False, "the channel answered 400"), ("announced", False, None)]
    again = [("announced", True, "the channel answered 400"), ("announced", True, None)]
    assert told == [*first, ("assigned", None, None), *again]
    await home.restart()
    await answer(home.platform, wait, person=BOB)
    assert (await end_of(home.platform, run_id)).outputs == {"by": "bob"}


async def test_the_address_of_a_channel_is_not_told(home: Home) -> None:
    """Whoever knows a webhook's address may post there."""
    url = "http://127.0.0.1:9/services/T0PSECRET?token=s3cret-token"
    run_id = await begin(home.platform, ask(channels=[{"type": "slack", "url": url}]))
    await home.platform.runner.idle()
    (wait,) = await pending(home.platform, run_id)
    (entry,) = wait.history
    assert entry["error"]
    assert not [word for word in ("T0PSECRET", "s3cret") if word in json.dumps(wait.history)]


async def test_a_channel_that_hangs_holds_up_no_other_run(home: Home, loopback: Loopback) -> None:
    """A reminder is on its way to a channel that does not answer; a time-out of another run is taken meanwhile."""
    channels = [{"type": "webhook", "url": f"{loopback.url}/hook"}]
    slow = await begin(home.platform, ask(channels=channels, reminders=["1h"], timeout="9d"))
    (wait,) = await pending(home.platform, slow)
    loopback.hang("/hook")
    other = await begin(home.platform, ask(timeout="2h"))
    home.clock.ahead += 3600.0
    await home.platform.waits.look()
    await asyncio.to_thread(loopback.wait_for, "/hook", 2)
    home.clock.ahead += 3600.0
    await home.platform.waits.look()
    assert (await end_of(home.platform, other)).outputs == {"by": None}
    assert loopback.busy == 1, "the channel has not answered yet"
    loopback.release.set()
    await home.platform.runner.idle()
    history = (await home.platform.store.waits.get(wait.id)).history
    assert [(e["reminder"], e["error"]) for e in history] == [(False, None), (True, None)]
