"""Servers that fire one schedule together and are killed meanwhile: every nominal time has one run."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.flows.triggers.schedules import flow
from tests.machines.cluster import Cluster, eventually

SECONDLY = {"type": "cron", "cron": "* * * * * *", "missed": "all", "missed_limit": 5000, "grace": "1h"}


async def _published(cluster: Cluster, times: int) -> int:
    """Publish a schedule of which so many nominal times have passed; gives the last of them."""
    platform = await cluster.platform()
    try:
        pinned = await platform.documents.from_text(flow(SECONDLY))
        pushed = await platform.store.workflows.push(pinned.document.name, pinned.text)
        await platform.store.workflows.publish(pushed.workflow_id)
        await platform.triggers.published(pushed.workflow_id)
    finally:
        await platform.close()
    last = int(time.time())
    assert cluster.url is not None
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("UPDATE triggers SET cursor = %s, next_at = %s", (last - times, last - times + 1))
    return last


def _started(connection: psycopg.Connection[Any], last: int) -> dict[float, int]:
    """How many runs each nominal time up to the last one has."""
    rows = connection.execute(
        "SELECT scheduled_for, count(*) FROM runs WHERE scheduled_for <= %s GROUP BY 1", (last,)
    )
    return dict(rows.fetchall())


def _unfinished(connection: psycopg.Connection[Any], last: int) -> int:
    wanted = "SELECT count(*) FROM runs WHERE scheduled_for <= %s AND status <> 'succeeded'"
    [count] = connection.execute(wanted, (last,)).fetchone() or [0]
    return int(count)


async def until(fits: Callable[[], bool], seconds: float) -> None:
    """Wait until something is so."""

    async def look() -> bool:
        return fits()

    await eventually(look, seconds)


async def fire(cluster: Cluster, times: int, kills: int, seconds: float) -> None:
    chance = random.Random(7)
    payloads = str(cluster.folder / "home/payloads")
    homes = [
        {"INTERLACE_HOME": str(cluster.folder / f"server{n}"), "INTERLACE_PAYLOADS": payloads}
        for n in range(2)
    ]
    last = await _published(cluster, times)
    servers = [cluster.start("serve", **home) for home in homes]
    await asyncio.gather(*(cluster.ready(server) for server in servers))
    assert cluster.url is not None
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        for number in range(kills):
            goal = times * (number + 1) // (kills + 2)
            await until(lambda goal=goal: len(_started(connection, last)) >= goal, seconds)  # type: ignore[misc]
            victim = chance.randrange(2)
            cluster.send(servers[victim], signal.SIGKILL)
            servers[victim].wait()
            servers[victim] = cluster.start("serve", **homes[victim])
        await until(lambda: len(_started(connection, last)) >= times, seconds)
        await until(lambda: not _unfinished(connection, last), seconds)
        found = _started(connection, last)
    assert sorted(found) == [float(at) for at in range(last - times + 1, last + 1)]
    assert set(found.values()) == {1}
    assert cluster.kills["SIGKILL"] == kills


async def test_two_servers_and_a_hundred_times(cluster: Cluster) -> None:
    await fire(cluster, times=100, kills=2, seconds=60)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_two_servers_and_a_thousand_times(cluster: Cluster) -> None:
    await fire(cluster, times=1000, kills=12, seconds=200)
