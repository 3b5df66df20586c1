"""Who may answer, how many must agree, and what happens while nobody does; time is moved, not slept."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.flows.answering import Answered
from interlace.flows.node_test import test_node as try_node
from interlace.flows.people import NotAllowed, Person
from interlace.flows.platform import Platform
from interlace.resources.http.testing import Reply, serve
from interlace.store.errors import ConflictError
from tests.flows.waiting import ADA, ASK, BOB, EVE, Home, answer, begin, end_of, pending

DAY = 86_400.0


def ask(**config: Any) -> str:
    """A document with one request of this config."""
    text = ASK.replace("      form: {type: object, properties: {note: {type: string}}}\n", "")
    more = "".join(f"      {name}: {value}\n" for name, value in config.items())
    return text.replace(
        '      title: "Pay {{ inputs.amount }}?"\n', '      title: "Pay {{ inputs.amount }}?"\n' + more
    ).replace("{{ ask.form.note | default(none) }}", "{{ ask.comment }}")


async def test_nobody_answers_and_the_time_out_takes_its_edge(home: Home) -> None:
    run_id = await begin(home.platform, ask())
    [wait] = await pending(home.platform)
    assert wait.until == pytest.approx(wait.created_at + 7 * DAY)
    await home.later(7 * DAY - 60)
    assert await pending(home.platform) == [wait]
    await home.restart()
    await home.later(120)
    result = await end_of(home.platform, run_id)
    assert result.outputs == {"action": "timeout", "note": None, "by": None}
    with pytest.raises(Answered, match="nobody answered in time"):
        await answer(home.platform, wait)


async def test_two_processes_time_out_once(home: Home) -> None:
    run_id = await begin(home.platform, ask(timeout="1h"))
    other = await Platform.open(home.settings, clock=home.clock)
    home.clock.ahead += 3601
    try:
        for platform in (home.platform, other, home.platform):
            await platform.waits.look()
        result = await end_of(other, run_id)
        assert result.outputs is not None
        assert result.outputs["action"] == "timeout"
        events = [event.type for event in await other.store.events.read(run_id)]
        assert (events.count("node.resumed"), events.count("run.succeeded")) == (1, 1)
    finally:
        await other.close()


async def test_a_quorum_needs_different_people(home: Home) -> None:
    run_id = await begin(home.platform, ask(quorum=2))
    [wait] = await pending(home.platform)
    assert (await answer(home.platform, wait, person=ADA)).status == "pending"
    with pytest.raises(ConflictError, match="ada has answered"):
        await answer(home.platform, wait, person=ADA)
    await home.restart()
    assert (await answer(home.platform, wait, person=BOB)).status == "answered"
    result = await end_of(home.platform, run_id)
    assert result.outputs is not None
    assert (result.outputs["action"], result.outputs["by"]) == ("approve", "bob")


async def test_the_first_contrary_answer_decides(home: Home) -> None:
    run_id = await begin(home.platform, ask(quorum=3))
    [wait] = await pending(home.platform)
    await answer(home.platform, wait, person=ADA)
    await answer(home.platform, wait, "reject", person=BOB, comment="too much")
    result = await end_of(home.platform, run_id)
    assert result.outputs == {"action": "reject", "note": "too much", "by": "bob"}


async def test_only_those_asked_may_answer(home: Home) -> None:
    await begin(home.platform, ask(assignees="[ada, 'group:board', 'role:owner']"))
    [wait] = await pending(home.platform)
    with pytest.raises(NotAllowed, match="eve is not asked"):
        await answer(home.platform, wait, person=EVE)
    board = Person(name="eve", groups=frozenset({"board"}))
    assert board.is_asked(wait)
    assert not Person(name="board").is_asked(wait)
    await answer(home.platform, wait, person=board)


async def test_whoever_started_the_run_may_be_refused(home: Home) -> None:
    run_id = await begin(home.platform, ask(allow_self="false"), trigger={"kind": "api", "by": "ada"})
    [wait] = await pending(home.platform)
    with pytest.raises(NotAllowed, match="started the run"):
        await answer(home.platform, wait, person=ADA)
    await answer(home.platform, wait, person=BOB)
    assert (await end_of(home.platform, run_id)).status == "succeeded"


async def test_another_owner_sees_nothing(home: Home) -> None:
    await begin(home.platform, ask())
    [wait] = await pending(home.platform)
    with pytest.raises(Exception, match="no request"):
        await answer(home.platform, wait, person=Person(name="ada", owner="other"))
    assert (await home.platform.store.waits.list(owner="other")).items == []


async def test_reminders_and_escalation(home: Home) -> None:
    async with serve(lambda _request: Reply.of({})) as server:
        channels = (
            f"[{{type: slack, url: '{server.url}/slack'}}, {{type: webhook, url: '{server.url}/hook'}}]"
        )
        await begin(
            home.platform,
            ask(
                assignees="[ada]",
                reminders="[1d]",
                escalation="[{after: 2d, assignees: [bob]}]",
                channels=channels,
            ),
        )
        [wait] = await pending(home.platform)
        assert [request.path for request in server.requests] == ["/slack", "/hook"]
        await home.restart()
        await home.later(DAY + 1)
        [wait] = await pending(home.platform)
        assert (wait.reminded, wait.assignees, len(server.requests)) == (1, ["ada"], 4)
        with pytest.raises(NotAllowed):
            await answer(home.platform, wait, person=BOB)
        await home.later(DAY)
        await answer(home.platform, wait, person=BOB)
        assert server.requests[0].json()["text"].startswith("*Pay 5?*")
        assert server.requests[3].json()["event"] == "request.reminder"


async def test_a_channel_that_fails_never_fails_the_wait(home: Home) -> None:
    run_id = await begin(home.platform, ask(channels="[{type: webhook, url: 'http://127.0.0.1:9/'}]"))
    [wait] = await pending(home.platform)
    lines = [e.data["message"] for e in await home.platform.store.events.read(run_id) if e.type == "node.log"]
    assert len(lines) == 1
    assert "could not be posted" in lines[0]
    await answer(home.platform, wait)
    assert (await end_of(home.platform, run_id)).status == "succeeded"


async def test_a_node_test_asks_and_approves_nothing(home: Home) -> None:
    pinned = await home.platform.documents.from_text(ask())
    report = await try_node(home.platform, pinned.document, "ask", {"amount": 7})
    assert (report["status"], report["request"]["title"], report["outputs"]) == ("suspended", "Pay 7?", None)
    assert await pending(home.platform) == []


async def test_a_cancelled_run_takes_no_answer(home: Home) -> None:
    run_id = await begin(home.platform, ask())
    [wait] = await pending(home.platform)
    await home.restart()
    assert await home.platform.runner.cancel(run_id)
    with pytest.raises(Answered, match="not needed"):
        await answer(home.platform, wait)
    await home.platform.store.runs.delete(run_id)
    assert (await home.platform.store.waits.list(status=None)).items == []


async def test_the_runs_own_time_ends_a_suspended_run(home: Home) -> None:
    text = ask(timeout="10d").replace("nodes:\n", "settings: {timeout: 1d}\nnodes:\n", 1)
    run_id = await begin(home.platform, text)
    await home.restart()
    await home.later(DAY + 5)
    result = await end_of(home.platform, run_id)
    assert result.error is not None
    assert (result.status, result.error["type"]) == ("failed", "timeout")
    assert await pending(home.platform) == []


async def test_a_pause_of_days_holds_nothing(home: Home) -> None:
    text = """
name: Pause
nodes:
  - {id: start, type: START}
  - {id: a, type: TEMPLATE, wait: {for: 3d}, config: {template: late}}
  - {id: done, type: END, config: {outputs: {t: "{{ a.text }}"}}}
edges: [start -> a, a -> done]
"""
    run_id = await begin(home.platform, text)
    assert (await home.platform.store.runs.get(run_id)).status == "suspended"
    await home.restart()
    await home.later(2 * DAY)
    assert (await home.platform.store.runs.get(run_id)).status == "suspended"
    await home.later(DAY)
    assert (await end_of(home.platform, run_id)).outputs == {"t": "late"}


async def test_confirm_shows_the_config_without_secrets(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLACE_SECRETS_TOKEN", "s3cr3t-value")
    async with serve(lambda _request: Reply.of({"ok": True})) as server:
        text = f"""
name: Confirmed
nodes:
  - {{id: start, type: START}}
  - id: call
    type: HTTP
    confirm: true
    config: {{method: POST, url: "{server.url}/pay", headers: {{x-token: "{{{{ secrets.token }}}}"}}}}
  - {{id: done, type: END, config: {{outputs: {{ok: "{{{{ call.body.ok }}}}"}}}}}}
edges: [start -> call, call -> done]
"""
        run_id = await begin(home.platform, text)
        await home.restart()
        [wait] = await pending(home.platform)
        assert wait.request["config"]["url"] == f"{server.url}/pay"
        assert "s3cr3t" not in str(wait.request)
        assert server.requests == []
        await answer(home.platform, wait)
        assert (await end_of(home.platform, run_id)).outputs == {"ok": True}
        assert len(server.requests) == 1
        refused = await begin(home.platform, text)
        [wait] = await pending(home.platform)
        await answer(home.platform, wait, "reject", comment="no money")
        result = await end_of(home.platform, refused)
        assert result.error is not None
        assert (result.error["type"], "no money" in result.error["message"], len(server.requests)) == (
            "not_confirmed",
            True,
            1,
        )
