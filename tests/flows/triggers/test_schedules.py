"""Schedules fire at their nominal times, each once, by their policies."""

from __future__ import annotations

import asyncio

import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.triggers.schedules import delay
from interlace.store.firings import DecidedError
from interlace.store.trigger_row import Firing
from tests.flows.triggers.schedules import Scheduled, at, eventually, flow
from tests.flows.waiting import answer, pending

HOURLY = {"type": "cron", "cron": "0 * * * *"}


async def test_a_published_schedule_starts_runs_at_its_times(on_both: Scheduled) -> None:
    trigger = {
        "type": "cron", "cron": "30 9 * * *", "timezone": "Europe/Berlin", "id": "morning",
        "inputs": {"day": "{{ trigger.scheduled_for[:10] }}", "fixed": 3, "again": "{{ run.scheduled_for }}"},
    }  # fmt: skip
    workflow_id = await on_both.publish(flow(trigger))
    await on_both.to("2026-01-01T08:29:59Z")
    assert await on_both.runs() == []
    await on_both.to("2026-01-01T08:30:00Z")
    await on_both.to("2026-01-01T08:30:20Z")
    [run] = await on_both.runs()
    found = await on_both.trigger(workflow_id, "morning")
    assert run.outputs == {
        "all": {"day": "2026-01-01", "fixed": 3, "again": "2026-01-01T08:30:00Z"},
        "trigger": {
            "kind": "cron", "schedule": found.id, "name": "morning", "cron": "30 9 * * *", "timezone": "Europe/Berlin",
            "scheduled_for": "2026-01-01T08:30:00Z", "local_time": "2026-01-01T09:30:00+01:00",
        },
    }  # fmt: skip
    assert (run.scheduled_for, run.owner, run.version) == (at("2026-01-01T08:30:00Z"), "local", 1)
    [firing] = await on_both.decided(workflow_id, "morning")
    assert (firing.status, firing.run_id, firing.nominal) == ("started", run.id, run.scheduled_for)
    assert found.next_at == at("2026-01-02T08:30:00Z")


async def test_several_schedules_of_one_workflow(scheduled: Scheduled) -> None:
    await scheduled.publish(
        flow({**HOURLY, "inputs": {"n": 1}}, {"type": "cron", "cron": "0 0-23/2 * * *", "inputs": {"n": 2}})
    )
    await scheduled.to("2026-01-01T01:00:00Z")
    await scheduled.to("2026-01-01T02:00:00Z")
    assert sorted(run.inputs["n"] for run in await scheduled.runs()) == [1, 1, 2]


@pytest.mark.parametrize(
    ("policy", "times", "left_out"),
    [
        ({"missed": "skip"}, ["2026-01-01T05:00"], "2026-01-01T04:00"),
        ({"missed": "latest"}, ["2026-01-01T04:00", "2026-01-01T05:00"], "2026-01-01T03:00"),
        ({"missed": "all"}, [f"2026-01-01T0{hour}:00" for hour in (1, 2, 3, 4, 5)], None),
        ({"missed": "all", "missed_limit": 2}, [f"2026-01-01T0{hour}:00" for hour in (3, 4, 5)], "2026-01-01T02:00"),
        ({"missed": "skip", "grace": "70m"}, ["2026-01-01T04:00", "2026-01-01T05:00"], "2026-01-01T03:00"),
    ],
)  # fmt: skip
async def test_what_was_missed(
    scheduled: Scheduled, policy: dict[str, object], times: list[str], left_out: str | None
) -> None:
    workflow_id = await scheduled.publish(flow({**HOURLY, **policy}))
    await scheduled.to("2026-01-01T05:00:30Z")
    assert await scheduled.scheduled() == times
    missed = [firing for firing in await scheduled.decided(workflow_id) if firing.status == "missed"]
    assert [firing.nominal for firing in missed] == ([] if left_out is None else [at(f"{left_out}:00Z")])
    await scheduled.to("2026-01-01T06:00:00Z")
    assert await scheduled.scheduled() == [*times, "2026-01-01T06:00"]


async def test_years_away_take_no_longer_than_an_hour(scheduled: Scheduled) -> None:
    await scheduled.publish(flow({"type": "cron", "cron": "* * * * * *", "missed": "all", "missed_limit": 5}))
    await scheduled.to("2036-01-01T00:00:00Z")
    on_time = 60  # those of the last minute
    assert len(await scheduled.runs()) == 5 + on_time


@pytest.mark.parametrize("overlap", ["allow", "skip", "queue", "cancel_previous"])
async def test_a_run_that_has_not_ended(scheduled: Scheduled, overlap: str) -> None:
    workflow_id = await scheduled.publish(flow({**HOURLY, "overlap": overlap}, ask=True))
    for hour in (1, 2, 3):
        await scheduled.to(f"2026-01-01T0{hour}:00:00Z")
    statuses = [run.status for run in await scheduled.runs()]
    decided = [firing.status for firing in await scheduled.decided(workflow_id)]
    assert (statuses, decided) == {
        "allow": (["suspended"] * 3, ["started"] * 3),
        "skip": (["suspended"], ["started", "skipped", "skipped"]),
        "queue": (["suspended"], ["started", "queued", "queued"]),
        "cancel_previous": (["cancelled", "cancelled", "suspended"], ["started"] * 3),
    }[overlap]
    if overlap == "skip":
        [first] = await scheduled.runs()
        assert (await scheduled.decided(workflow_id))[
            1
        ].note == f"run {first.id} has not ended (`overlap: skip`)"
    if overlap != "queue":
        return
    for started in (2, 3):
        await scheduled.platform.runner.cancel((await scheduled.runs())[-1].id)
        await scheduled.platform.runner.idle()
        await scheduled.to(f"2026-01-01T03:00:0{started * 2}Z")
        assert len(await scheduled.runs()) == started
    assert await scheduled.scheduled() == ["2026-01-01T01:00", "2026-01-01T02:00", "2026-01-01T03:00"]
    assert {firing.status for firing in await scheduled.decided(workflow_id)} == {"started"}


async def test_a_queued_time_starts_as_soon_as_its_turn_comes(scheduled: Scheduled) -> None:
    await scheduled.publish(flow({**HOURLY, "overlap": "queue"}, ask=True))
    async with scheduled.platform.triggers.watching():
        await scheduled.to("2026-01-01T01:00:00Z")
        await scheduled.to("2026-01-01T02:00:00Z")
        [first] = await scheduled.runs()
        [asked] = await pending(scheduled.platform)
        await answer(scheduled.platform, asked, "go")
        [_, second] = await eventually(scheduled.runs, lambda runs: len(runs) == 2)
        assert (second.trigger["scheduled_for"], first.id < second.id) == ("2026-01-01T02:00:00Z", True)


async def test_jitter_is_fixed_for_a_time_and_keeps_the_order(scheduled: Scheduled) -> None:
    workflow_id = await scheduled.publish(flow({"type": "cron", "cron": "* * * * *", "jitter": "10m"}))
    trigger = await scheduled.trigger(workflow_id)
    begin = int(at("2026-01-01T00:01:00Z"))
    wanted = [begin + 60 * n + delay(trigger.id, begin + 60 * n, 600.0) for n in range(40)]
    starts = [max(wanted[: n + 1]) for n in range(40)]
    for moment in sorted({start + before for start in starts[:10] for before in (-0.01, 0)}):
        scheduled.clock.at = moment
        await scheduled.platform.triggers.look()
        assert len(await scheduled.runs()) == sum(start <= moment for start in starts)
    assert all(0 <= delay("a", n, 600.0) < 600 for n in range(100))
    assert len({round(delay("a", n, 600.0)) for n in range(100)}) > 60
    assert delay("a", 7, 600.0) == delay("a", 7, 600.0) != delay("b", 7, 600.0)


async def test_what_passes_during_a_pause_is_not_missed(scheduled: Scheduled) -> None:
    workflow_id = await scheduled.publish(flow({**HOURLY, "missed": "all"}))
    store = scheduled.platform.store
    await store.triggers.pause(
        await scheduled.trigger(workflow_id), paused=True, due=None, now=scheduled.clock.now()
    )
    await scheduled.to("2026-01-01T03:00:00Z")
    assert await scheduled.runs() == []
    due = at("2026-01-01T04:00:00Z")
    await store.triggers.pause(
        await scheduled.trigger(workflow_id), paused=False, due=due, now=scheduled.clock.now()
    )
    await scheduled.to("2026-01-01T04:00:00Z")
    assert await scheduled.scheduled() == ["2026-01-01T04:00"]


async def test_run_now_is_no_nominal_time(scheduled: Scheduled) -> None:
    workflow_id = await scheduled.publish(
        flow({**HOURLY, "inputs": {"at": "{{ run.scheduled_for | default('by hand') }}"}})
    )
    await scheduled.platform.triggers.schedules.run_now(await scheduled.trigger(workflow_id), "ada")
    await scheduled.to("2026-01-01T01:00:00Z")
    by_hand, by_clock = await scheduled.runs()
    assert (by_hand.trigger["by"], by_hand.inputs, by_hand.scheduled_for) == ("ada", {"at": "by hand"}, None)
    assert by_clock.inputs == {"at": "2026-01-01T01:00:00Z"}


async def test_an_owner_who_lost_access_starts_nothing(scheduled: Scheduled) -> None:
    store = scheduled.platform.store
    ann, ben = [await store.users.create(name, by=LOCAL) for name in ("ann", "ben")]
    workflow_id = await scheduled.publish(flow(HOURLY), owner=ann.id)
    trigger = await scheduled.trigger(workflow_id)
    await scheduled.to("2026-01-01T01:00:00Z")
    assert [run.owner for run in await scheduled.runs()] == [ann.id]
    await store.users.disable(ann.id, by=LOCAL)
    await scheduled.to("2026-01-01T02:00:00Z")
    assert len(await scheduled.runs()) == 1
    refused = (await scheduled.decided(workflow_id))[-1]
    assert (refused.status, refused.run_id) == ("refused", None)
    assert "owner is disabled" in str(refused.note)
    assert (await store.triggers.get(trigger.id)).error == refused.note
    del ben


async def test_inputs_that_do_not_fit_are_said_and_forgotten_when_they_do(scheduled: Scheduled) -> None:
    inputs = {"type": "object", "properties": {"n": {"type": "integer"}}}
    text = {
        **HOURLY,
        "inputs": {"n": "{{ trigger.scheduled_for if trigger.scheduled_for[11:13] == '01' else 5 }}"},
    }
    workflow_id = await scheduled.publish(flow(text, inputs=inputs))
    await scheduled.to("2026-01-01T01:00:00Z")
    assert await scheduled.runs() == []
    [failed] = await scheduled.decided(workflow_id)
    assert failed.status == "failed"
    assert "must be a whole number" in str((await scheduled.trigger(workflow_id)).error)
    await scheduled.to("2026-01-01T02:00:00Z")
    assert [run.inputs for run in await scheduled.runs()] == [{"n": 5}]
    assert (await scheduled.trigger(workflow_id)).error is None


async def test_many_processes_decide_a_time_once(on_both: Scheduled) -> None:
    workflow_id = await on_both.publish(flow({"type": "cron", "cron": "* * * * *", "missed": "all"}))
    others = [Scheduled(on_both.settings, on_both.clock) for _ in range(2)]
    for other in others:
        await other.open()
    try:
        on_both.clock.at = at("2026-01-01T00:50:00Z")
        await asyncio.gather(*(each.platform.triggers.look() for each in (on_both, *others)))
    finally:
        for other in others:
            await other.platform.runner.idle()
            await other.platform.close()
    assert await on_both.scheduled() == [f"2026-01-01T00:{minute:02}" for minute in range(1, 51)]
    assert len(await on_both.decided(workflow_id)) == 50


async def test_who_lost_the_claim_makes_no_run(on_both: Scheduled) -> None:
    workflow_id = await on_both.publish(flow(HOURLY))
    store, trigger = on_both.platform.store, await on_both.trigger(workflow_id)
    nominal = int(at("2026-01-01T01:00:00Z"))
    on_both.clock.at = nominal
    [mine] = await store.firings.claim_due("me", nominal)
    assert (await store.firings.claim_due("other", nominal), mine.id) == ([], trigger.id)
    firing = Firing(
        trigger_id=trigger.id, nominal=nominal, status="skipped", run_id=None, note=None, at=nominal
    )
    with pytest.raises(DecidedError):
        await store.firings.note("other", firing)
    await store.firings.note("me", firing)
    with pytest.raises(DecidedError):
        await store.firings.note("me", firing)
    assert [one.status for one in await on_both.decided(workflow_id)] == ["skipped"]


async def test_old_times_are_forgotten(scheduled: Scheduled) -> None:
    workflow_id = await scheduled.publish(flow({"type": "cron", "cron": "* * * * *", "missed": "all"}))
    await scheduled.to("2026-01-01T00:20:00Z")
    await scheduled.platform.store.firings.prune(keep=5)
    assert len(await scheduled.decided(workflow_id)) == 5
