"""Workers are killed at random under many runs: each run ends once, and no finished node is called again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from interlace.flows.prefect import EmbeddedPrefect
from tests.flows.prefect.conftest import give_migrated, keep_migrated
from tests.machines.cluster import database, free_port
from tests.machines.kills import Outcome, cluster, measure


def check(found: Outcome) -> None:
    sys.stdout.write(f"{found}\n")  # the figures: -s shows them
    assert dict(found.statuses) == {"succeeded": found.runs}
    assert found.missing == 0
    assert found.again == 0, "a finished node was called again"
    assert found.calls >= 3 * found.runs


async def test_sixty_runs_over_two_workers_that_are_killed(tmp_path: Path) -> None:
    with database("kills") as url:
        if url is None:
            pytest.skip("no PostgreSQL answers; set INTERLACE_TEST_POSTGRES")
        found = await measure(url, tmp_path, runs=60, workers=2, kill_every=1.0, seconds=100)
        check(found)


@pytest.mark.timeout(240)
async def test_runs_through_prefect_over_two_workers_that_are_killed(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert request.config.cache is not None
    server = EmbeddedPrefect(tmp_path / "prefect-home", free_port(), auth="interlace:of-a-measurement")
    give_migrated(request.config.cache, server.home)
    with database("pooled") as url:
        if url is None:
            pytest.skip("no PostgreSQL answers; set INTERLACE_TEST_POSTGRES")
        async with server:
            keep_migrated(request.config.cache, server.home)
            found = await measure(
                url, tmp_path, runs=20, workers=2, kill_every=4.0, prefect=server.api_url, seconds=200
            )
        check(found)


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_five_hundred_runs_through_prefect(tmp_path: Path) -> None:
    async with cluster(prefect=True) as made:
        if made is None:
            pytest.skip("no PostgreSQL answers; set INTERLACE_TEST_POSTGRES")
        folder, url, address = made
        found = await measure(url, folder, runs=500, workers=2, kill_every=5.0, prefect=address, seconds=1500)
        check(found)
