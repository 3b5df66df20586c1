"""Prefect is away, comes back empty or as it was yesterday: our runs end all the same, and stand there in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlace.flows.answering import Given
from interlace.flows.link import PrefectLink
from interlace.flows.people import Person
from interlace.flows.platform import Platform
from interlace.flows.pool import start_in_pool
from interlace.flows.prefect import EmbeddedPrefect, PrefectApi, PrefectError
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.server.app import living
from tests.flows.documents import GREETING, chain, http
from tests.flows.prefect.conftest import copy_database, give_migrated, keep_migrated
from tests.loopback import Loopback
from tests.machines.cluster import eventually, free_port

pytestmark = pytest.mark.timeout(240)
HUMAN = {"id": "ask", "type": "HUMAN", "config": {"title": "?", "actions": ["ok"]}}
ASK = chain(HUMAN, name="ask").replace('"from": "ask", "to"', '"from": "ask", "handle": "ok", "to"')
ASK = ASK.replace('"edges": [', '"edges": [{"from": "ask", "handle": "timeout", "to": "done"}, ')


@dataclass
class Both:
    """Our process, and a Prefect server that can be taken away."""

    platform: Platform
    link: PrefectLink
    server: EmbeddedPrefect
    api: PrefectApi
    empty: Path

    async def direct(self, document: str, **inputs: Any) -> str:
        pinned = await self.platform.documents.from_text(document)
        return await self.platform.runner.start(pinned, Request(inputs=inputs))

    async def pooled(self, document: str, **inputs: Any) -> str:
        pinned = await self.platform.documents.from_text(document)
        return (await start_in_pool(self.platform, self.link, pinned, Request(inputs=inputs))).run_id

    async def ended(self, run_id: str, seconds: float = 40.0) -> str:
        async def look() -> str | None:
            status = (await self.platform.store.runs.get(run_id)).status
            return status if status in ("succeeded", "failed", "cancelled") else None

        return await eventually(look, seconds)

    async def shown(self, run_id: str, *states: str, seconds: float = 100.0) -> None:
        """Wait until Prefect shows a run in a state."""
        seen = ""

        async def look() -> bool:
            nonlocal seen
            run = await self.platform.store.runs.get(run_id)
            seen = f"{run.name} {run.id}: {run.status}, flow run {run.flow_run_id}, shown as {run.mirror_state!r}"
            try:
                found = await self.api.find(f"/flow_runs/{run.flow_run_id}") if run.flow_run_id else None
            except PrefectError as error:
                seen += f", Prefect: {error}"
                return False
            seen += f", Prefect: {found and found['state']}"
            return found is not None and found["state_name"] in states

        try:
            await eventually(look, seconds)
        except AssertionError:
            pytest.fail(f"not shown as {states}: {seen}")

    async def unfinished(self) -> list[str]:
        wanted = {
            "flow_runs": {
                "state": {"type": {"any_": ["SCHEDULED", "PENDING", "RUNNING", "PAUSED", "CANCELLING"]}}
            }
        }
        found = await self.api.post("/flow_runs/filter", wanted)
        return [f"{flow_run['name']}: {flow_run['state_name']}" for flow_run in found]

    @property
    def file(self) -> Path:
        return self.server.home / "prefect" / "prefect.db"

    def replace_by(self, home: Path) -> None:
        for old in self.file.parent.glob("prefect.db*"):
            old.unlink()
        (home / "prefect" / "prefect.db").replace(self.file)


@pytest.fixture
async def both(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Both]:
    monkeypatch.setattr("interlace.flows.reconciler._SECONDS", 0.3)
    monkeypatch.setattr("interlace.flows.orphans._POOL_SECONDS", 2.0)
    monkeypatch.setattr("interlace.flows.shown._HAND_OVER_SECONDS", 2.0)
    monkeypatch.setattr("interlace.flows.link._RESUME_SECONDS", 2.0)
    monkeypatch.setattr("interlace.flows.prefect.mirror._LONGEST_PAUSE_SECONDS", 1.0)
    assert request.config.cache is not None
    server = EmbeddedPrefect(tmp_path / "prefect-home", free_port(), auth="interlace:of-this-test")
    empty = tmp_path / "empty"
    give_migrated(request.config.cache, server.home)
    await server.start()
    keep_migrated(request.config.cache, server.home)
    copy_database(server.home / "prefect" / "prefect.db", empty)
    settings = Settings(
        home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="external", prefect_api_url=server.api_url,
        prefect_auth="interlace:of-this-test", prefect_lag=0.2,
    )  # fmt: skip
    async with living(settings) as app, PrefectApi(server.connection) as api:
        assert await app.state.prefect.ready(60)
        yield Both(app.state.platform, app.state.prefect, server, api, empty)
    await server.stop()


@pytest.mark.parametrize("loss", ["away", "gone", "behind"])
async def test_whatever_prefect_loses_no_run_is_lost_or_stuck(both: Both, loss: str, tmp_path: Path) -> None:
    with Loopback() as loopback, Loopback() as later:
        await _lose(both, loss, tmp_path, loopback, later)


async def _lose(both: Both, loss: str, tmp_path: Path, loopback: Loopback, later: Loopback) -> None:
    hold = chain(http("call", f"{loopback.url}/hold/{{{{ run.id }}}}"), name="hold")
    longer = chain(http("call", f"{later.url}/hold/{{{{ run.id }}}}"), name="longer")
    old = [await both.direct(GREETING, name="Ada"), await both.pooled(GREETING, name="Bo")]
    waiting = [await both.direct(ASK), await both.pooled(ASK)]
    running = [await both.direct(hold), await both.pooled(hold)]
    through = [await both.direct(longer), await both.pooled(longer)]
    for run_id in old:
        await both.shown(run_id, "Completed")
    for run_id in waiting:
        await both.shown(run_id, "Suspended")
    await asyncio.to_thread(loopback.wait_for, f"/hold/{running[1]}")
    await asyncio.to_thread(later.wait_for, f"/hold/{through[1]}")

    async def marked() -> bool:
        return await both.platform.store.settings.get("prefect_mark") is not None

    await eventually(marked)
    yesterday = tmp_path / "yesterday"
    copy_database(both.file, yesterday)
    late = [await both.direct(GREETING, name="Cy"), await both.pooled(GREETING, name="Di")]
    for run_id in late:
        await both.shown(run_id, "Completed")
    await both.server.stop()
    if loss != "away":
        both.replace_by(both.empty if loss == "gone" else yesterday)
    meanwhile = [await both.direct(GREETING, name="Ed"), await both.pooled(GREETING, name="Flo")]
    loopback.release.set()
    for run_id in [*running, *meanwhile]:
        assert await both.ended(run_id) == "succeeded"
    for run_id in waiting[:1]:
        await _answer(both, run_id)
        assert await both.ended(run_id) == "succeeded"
    await both.server.start()
    await both.shown(waiting[1], "Suspended")
    later.release.set()
    for run_id in through:
        assert await both.ended(run_id) == "succeeded"
    await _answer(both, waiting[1])
    assert await both.ended(waiting[1]) == "succeeded"
    for run_id in [*old, *late, *running, *meanwhile, *through, *waiting]:
        await both.shown(run_id, "Completed")

    async def none_left() -> bool:
        return not await both.unfinished()

    try:
        await eventually(none_left)
    except AssertionError:
        pytest.fail(f"left in Prefect: {await both.unfinished()}")
    calls = [
        *(loopback.seen[f"/hold/{run_id}"] for run_id in running),
        *(later.seen[f"/hold/{run_id}"] for run_id in through),
    ]
    assert calls == [1] * 4, "nothing ran twice"


async def _answer(both: Both, run_id: str) -> None:
    [wait] = await both.platform.store.waits.of_run(run_id)
    await both.platform.waits.answer(wait.id, Given(action="ok"), Person(name="owner"))
