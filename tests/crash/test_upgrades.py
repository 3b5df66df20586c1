"""Homes of earlier versions: their tables are brought up to date, and what was under way in them goes on.

The dumps of `schemas/` are what the product of that migration left behind: in 0001 a run in its middle, in 0002 one
that asks a person and one whose pause is over when it is opened.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.store.migration import HEAD
from tests.flows.waiting import MovedClock, answer, end_of, pending


def _home(folder: Path, version: str) -> Settings:
    folder.mkdir()
    file = sqlite3.connect(folder / "interlace.db")
    file.executescript((Path(__file__).parent / "schemas" / f"{version}.sql").read_text())
    file.close()
    return Settings(home=folder, prefect="off")


@pytest.mark.parametrize(
    ("version", "outputs"),
    [
        ("0001", {"interrupted": {"text": "first later"}}),
        ("0002", {"asks": {"first": "first", "action": "approve"}, "pauses": {"text": "first later"}}),
    ],
)
async def test_a_home_of_an_earlier_version_goes_on(
    version: str, outputs: dict[str, object], tmp_path: Path
) -> None:
    clock = MovedClock()
    clock.ahead = 2 * 3600.0  # the pause of 0002 is of an hour
    platform = await Platform.open(_home(tmp_path / "old", version), clock=clock)
    try:
        await take_over(platform.store, platform.runner)
        await platform.waits.look()
        for wait in await pending(platform):
            await answer(platform, wait)
        runs = (await platform.store.runs.list()).items
        results = {run.name: await end_of(platform, run.id) for run in runs}
        assert {name: result.outputs for name, result in results.items()} == outputs
        for run in runs:
            events = await platform.store.events.read(run.id)
            assert [event.path for event in events if event.type == "node.started"].count("first") == 1
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
    finally:
        await platform.close()
    with sqlite3.connect(tmp_path / "old" / "interlace.db") as file:
        assert file.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
    file.close()
