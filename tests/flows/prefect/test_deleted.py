"""Prefect's picture of a deleted run goes too, once Prefect is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from interlace.flows.platform import Platform
from interlace.flows.prefect import PrefectApi
from interlace.flows.reconciler import Reconciler
from interlace.flows.retention import delete_run
from interlace.flows.settings import Settings
from interlace.store.run_row import NewRun


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    opened = await Platform.open(Settings(home=tmp_path / "home", prefect="off"))
    yield opened
    await opened.close()


async def shown(platform: Platform, flow_run_id: str) -> str:
    """A run that Prefect shows as that flow run; gives its id."""
    runs = platform.store.runs
    created = await runs.create(NewRun(name="shown", document="{}"))
    await runs.linked([(created.run_id, flow_run_id)])
    return created.run_id


async def test_flow_runs_of_deleted_runs_are_deleted(platform: Platform, api: PrefectApi) -> None:
    flow = await api.post("/flows/", {"name": "deleted"})
    made = [(await api.post("/flow_runs/", {"flow_id": flow["id"]}))["id"] for _ in range(2)]
    never = "00000000-0000-4000-8000-000000000000"
    doomed, _, unknown = [await shown(platform, each) for each in (*made, never)]
    for run_id in (doomed, unknown):
        await delete_run(platform.store, run_id, force=True)
    assert await api.find(f"/flow_runs/{made[0]}"), "nobody has told Prefect yet"
    await Reconciler(platform, api, list).compare()
    assert [await api.find(f"/flow_runs/{each}") is not None for each in made] == [False, True]
    assert await platform.store.runs.removal.gone_flow_runs() == []
