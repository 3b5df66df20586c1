"""Every example validates without a word and does what it says, with real data and a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.source import load_file
from interlace.flows.callees import check_with_callees
from interlace.flows.node_types import node_types
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from tests.server.command import Command

FOLDER = Path(__file__).parents[2] / "examples"
FILES = sorted(FOLDER.glob("*.yaml"))
DATA = FOLDER / "data"


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    opened = await Platform.open(Settings(home=tmp_path / "home", prefect="off", database_allow=[str(DATA)]))
    yield opened
    await opened.close()


async def _run(platform: Platform, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    pinned = await platform.documents.from_file(FOLDER / name)
    result = await platform.runner.wait(await platform.runner.start(pinned, Request(inputs=inputs)), 100)
    assert result is not None
    assert result.error is None, result.error
    assert result.outputs is not None
    return result.outputs


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_it_validates(file: Path) -> None:
    found = await check_with_callees(load_file(file), node_types(), store=None, folder=str(FOLDER))
    assert found.problems == ()


def test_none_is_without_a_test() -> None:
    assert {file.stem for file in FILES} == {"storm_report", "weather_delays", "operations_digest"}


async def test_storm_report(platform: Platform) -> None:
    outputs = await _run(platform, "storm_report.yaml", {"database": f"sqlite:///{DATA / 'flights.sqlite'}"})
    assert outputs["anomalies"] == 5
    report = outputs["report"]
    assert report.startswith("# 5 of 15 airlines need a look\n")
    assert "| Frontier Airlines Inc. | 6 | 16.7 % | 171.8 | 834 | 1 | delay |" in report
    assert "| Mesa Airlines Inc. | 5 | 40.0 % | 0.7 | 10 | 0 | cancellations |" in report
    assert "| 2013-02-08 | 930 | 472 |" in report


async def test_weather_delays(platform: Platform) -> None:
    status = await platform.sandbox.check()
    if not status.available:
        pytest.skip(f"no sandbox for CODE nodes: {status.reason}")
    texts = {name: (DATA / f"{name}-2013-02-08.csv").read_text() for name in ("flights", "weather")}
    outputs = await _run(platform, "weather_delays.yaml", texts)
    assert outputs["cancelled"] == 472
    assert "| hazy (3-10 mi) | 318 | 15.8 | 248 |" in outputs["report"]
    assert "472 flights were cancelled; 0 had no weather reading" in outputs["report"]


def test_operations_digest(tmp_path: Path) -> None:
    command = Command(tmp_path, INTERLACE_DATABASE_ALLOW=str(DATA))
    try:
        key = command("user", "key", "create").out.strip()
        command.environment["INTERLACE_SECRETS_INTERLACE"] = key
        _, url = command.serve()
        good, bad = f"database=sqlite:///{DATA / 'flights.sqlite'}", "database=sqlite:////nowhere.sqlite"
        codes = [command("run", str(FOLDER / "storm_report.yaml"), "-i", pair).code for pair in (good, bad)]
        assert codes == [0, 1]
        done = command(
            "run", str(FOLDER / "operations_digest.yaml"), "-i", f"server={url}", "-i", "page=1", "--json"
        )
        assert done.code == 0, (done.out, done.err)
        assert done.json["outputs"]["runs"] == 2
        report = done.json["outputs"]["report"]
        assert report.startswith("# 2 runs\n")
        for line in ("- failed: 1", "- succeeded: 1", "## Failed", "- Storm report: "):
            assert line in report
        events = command("runs", "events", done.json["run_id"], "--json").out
        assert key not in events
        assert key not in command("runs", "export", done.json["run_id"]).out
    finally:
        command.end()
