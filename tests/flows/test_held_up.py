"""A run that cannot go on, for whatever reason, keeps no other from it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sqlalchemy import text as sql

from interlace.flows import waits
from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.store.run_row import NewRun
from tests.flows.documents import GREETING, chain, http, template
from tests.flows.test_admission import limited, start, status
from tests.flows.waiting import Home, MovedClock, begin
from tests.loopback import Loopback

_PAUSE: dict[str, Any] = {**template("late", "x"), "wait": {"for": "10m"}}


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """One look reads two waits."""
    monkeypatch.setattr(waits, "_PAGE", 2)
    monkeypatch.setattr(waits, "_PAGES", 1)


def _limited_pause(loopback: Loopback) -> str:
    """Waits, then needs the one slot of its workflow again."""
    document = json.loads(limited(loopback))
    document["nodes"][1]["wait"] = {"for": "10m"}
    return json.dumps(document)


@pytest.mark.usefixtures("short")
async def test_runs_without_a_slot_hold_up_no_other(home: Home, loopback: Loopback) -> None:
    platform, document = home.platform, _limited_pause(loopback)
    blocked = []
    for n in range(4):
        blocked.append(await start(platform, document, n))
        await platform.runner.turn(blocked[-1])
    free = await begin(platform, chain(_PAUSE))
    home.clock.ahead += 700.0
    for _ in range(4):
        await platform.waits.look()
    result = await platform.runner.wait(free, 10)
    assert result is not None
    assert result.status == "succeeded"
    assert [await status(platform, run_id) for run_id in blocked].count("suspended") == 3
    loopback.release.set()
    async with asyncio.timeout(20):
        while any([await status(platform, run_id) != "succeeded" for run_id in blocked]):
            await platform.waits.look()
            await platform.runner.idle()


@pytest.mark.usefixtures("short")
async def test_answers_for_a_pool_that_nobody_serves_hold_up_no_other(
    settings: Settings, loopback: Loopback
) -> None:
    clock = MovedClock()
    gpu = await Platform.open(settings.model_copy(update={"pools": ["gpu"]}), clock=clock)
    asks = [await begin(gpu, chain(_PAUSE, settings={"pool": "gpu"})) for _ in range(5)]
    await gpu.close()
    platform = await Platform.open(settings, clock=clock)
    free = await begin(platform, chain(_PAUSE))
    clock.ahead += 700.0
    await platform.waits.look()
    result = await platform.runner.wait(free, 10)
    assert result is not None
    assert result.status == "succeeded"
    assert {await status(platform, run_id) for run_id in asks} == {"suspended"}
    await platform.close()


async def _broken(platform: Platform, run_id: str) -> None:
    """Leave a journal that cannot be read, as a fault of ours or of a disk would."""
    damage = platform.store.database.compile(sql("UPDATE events SET data = '{' WHERE run_id = :run"))
    await platform.store.database.write(damage(run=run_id))


async def test_a_journal_that_cannot_be_read_holds_up_no_other(home: Home) -> None:
    platform = home.platform
    text = chain(_PAUSE)
    broken, good = await begin(platform, text), await begin(platform, text)
    await _broken(platform, broken)
    await home.later(700)
    result = await platform.runner.wait(good, 10)
    assert result is not None
    assert result.status == "succeeded"
    assert await status(platform, broken) == "suspended"


async def test_a_process_starts_with_a_run_that_cannot_be_read(platform: Platform) -> None:
    pinned = await platform.documents.from_text(GREETING)
    ids = []
    for _ in range(2):
        new = NewRun(name="greeting", document=pinned.text, document_hash=pinned.hash, inputs={"name": "Ada"})
        ids.append((await platform.store.runs.create(new)).run_id)
    await _broken(platform, ids[0])
    assert await take_over(platform.store, platform.runner) == [ids[1]]
    await platform.runner.idle()
    assert await status(platform, ids[1]) == "succeeded"


async def test_the_slot_of_a_wide_limit_goes_on_at_once(platform: Platform, loopback: Loopback) -> None:
    document = limited(loopback, 25)
    held = [await start(platform, document, 1) for _ in range(24)]
    first = await start(platform, document, 2)
    waiting = await start(platform, document, 3)
    await asyncio.to_thread(loopback.wait_for, "/hold/1", 10)
    assert await status(platform, waiting) == "queued"
    await platform.runner.cancel(first)
    await platform.runner.turn(first)
    async with asyncio.timeout(3):
        await asyncio.to_thread(loopback.wait_for, "/hold/3")
    loopback.release.set()
    for run_id in [*held, waiting]:
        await platform.runner.turn(run_id)


async def test_a_run_that_waits_for_a_place_of_the_process_is_cancelled_at_once(
    settings: Settings, loopback: Loopback
) -> None:
    platform = await Platform.open(settings.model_copy(update={"max_runs": 1}))
    held = await start(platform, chain(http("call", f"{loopback.url}/hold/a")))
    waiting = await start(platform, chain(http("call", f"{loopback.url}/b")))
    after = await start(platform, chain(http("call", f"{loopback.url}/c")))
    await asyncio.to_thread(loopback.wait_for, "/hold/a")
    await platform.runner.cancel(waiting, "not wanted")
    async with asyncio.timeout(1):
        result = await platform.runner.turn(waiting)
    assert result.status == "cancelled"
    assert await status(platform, waiting) == "cancelled"
    assert await status(platform, after) == "queued"
    loopback.release.set()
    for run_id in (held, after):
        assert (await platform.runner.turn(run_id)).status == "succeeded"
    assert loopback.seen["/b"] == 0
    await platform.close()


async def test_a_place_of_the_process_that_comes_too_late_fails_the_run(
    settings: Settings, loopback: Loopback
) -> None:
    platform = await Platform.open(settings.model_copy(update={"max_runs": 1}))
    held = await start(platform, chain(http("call", f"{loopback.url}/hold/a")))
    late = await start(platform, chain(http("call", f"{loopback.url}/b"), settings={"start_timeout": "50ms"}))
    async with asyncio.timeout(10):
        while await status(platform, late) == "queued":
            await take_over(platform.store, platform.runner)
            await asyncio.sleep(0.02)
    run = await platform.store.runs.get(late)
    assert run.error is not None
    assert (run.status, run.error["type"]) == ("failed", "timeout")
    assert "all 1 places of this process are taken" in run.error["message"]
    loopback.release.set()
    assert (await platform.runner.turn(held)).status == "succeeded"
    assert loopback.seen["/b"] == 0
    await platform.close()
