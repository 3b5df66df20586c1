"""`interlace worker` and `serve --workers`: processes that share the runs of one database."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from interlace.flows.request import Request
from tests.flows.documents import GREETING, chain, http, template
from tests.loopback import Loopback
from tests.machines.cluster import SCRIPT, Cluster, eventually


async def start(platform: Any, document: str, count: int = 1, **inputs: Any) -> list[str]:
    pinned = await platform.documents.from_text(document)
    return [(await platform.runner.create(pinned, Request(inputs=inputs)))[0] for _ in range(count)]


async def owners(platform: Any, run_ids: list[str]) -> set[str]:
    runs = [await platform.store.runs.get(run_id) for run_id in run_ids]
    return {run.lease_owner for run in runs if run.lease_owner}


async def test_workers_share_the_queue_and_a_killed_ones_runs_go_on(
    cluster: Cluster, loopback: Loopback
) -> None:
    first, second = (
        await cluster.worker("--limit", "3", "--name", "first"),
        await cluster.worker("--limit", "3"),
    )
    platform = await cluster.platform()
    assert {"first"} < {host.name for host in await platform.store.hosts.living()}
    ids = await start(platform, chain(http("call", f"{loopback.url}/hold/{{{{ run.id }}}}")), 6)

    async def all_taken() -> bool:
        return len(loopback.seen) == len(ids)

    await eventually(all_taken)
    assert len(await owners(platform, ids)) == 2, "each worker has its share"
    cluster.send(first, signal.SIGKILL)
    loopback.release.set()
    for run_id in ids:
        result = await platform.runner.wait(run_id, 30)
        assert result is not None
        assert result.status == "succeeded"
    cluster.send(second, signal.SIGTERM)
    assert await asyncio.to_thread(second.wait, 30) == 0
    assert await platform.store.hosts.living() == [] or {
        h.name for h in await platform.store.hosts.living()
    } == {"first"}
    await platform.close()


async def test_a_worker_ended_by_sigterm_leaves_its_runs_to_others(
    cluster: Cluster, loopback: Loopback
) -> None:
    first = await cluster.worker()
    platform = await cluster.platform()
    [run_id] = await start(platform, chain(http("call", f"{loopback.url}/hold"), template("t", "x")))
    await asyncio.to_thread(loopback.wait_for, "/hold")
    cluster.send(first, signal.SIGTERM)
    assert await asyncio.to_thread(first.wait, 30) == 0
    loopback.release.set()
    await cluster.worker()
    result = await platform.runner.wait(run_id, 30)
    assert result is not None
    assert result.status == "succeeded"
    await platform.close()


async def test_workers_hold_waits_and_pauses(cluster: Cluster) -> None:
    await cluster.worker()
    platform = await cluster.platform()
    [run_id] = await start(platform, chain({**template("t", "x"), "wait": {"for": "3s"}}))
    result = await platform.runner.wait(run_id, 30)
    assert result is not None
    assert result.status == "succeeded"
    await platform.close()


@pytest.mark.parametrize(
    ("environment", "code", "says"),
    [
        ({"INTERLACE_PREFECT": "external"}, 2, "INTERLACE_PREFECT_API_URL"),
        ({}, 2, "INTERLACE_DATABASE_URL"),
        ({"INTERLACE_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, 3, "cannot be opened"),
    ],
)
def test_a_worker_says_what_is_missing(
    tmp_path: Path, environment: dict[str, str], code: int, says: str
) -> None:
    settings = Cluster(tmp_path, None, environment).settings
    done = subprocess.run([str(SCRIPT), "worker"], env=settings, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr


async def test_serve_keeps_its_workers(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, None)  # SQLite: one machine's processes may share a home
    server = cluster.start("serve", "--workers", "2")
    platform = None
    try:
        await cluster.ready(server, "is serving at")
        platform = await cluster.platform()

        async def workers() -> dict[str, int]:
            living = await platform.store.hosts.living()
            found = {host.name: int(host.owner.split(":")[1]) for host in living if "worker" in host.name}
            return found if len(found) == 2 else {}

        before = await eventually(workers)
        name, victim = min(before.items())
        os.kill(victim, signal.SIGKILL)

        async def restarted() -> bool:
            living = await platform.store.hosts.living()
            return any(host.name == name and int(host.owner.split(":")[1]) != victim for host in living)

        await eventually(restarted)
        served = json.loads((tmp_path / "home" / "server.json").read_text())
        key = (tmp_path / "home" / "owner.key").read_text().strip()
        request = urllib.request.Request(
            f"{served['url']}/api/v1/runs", headers={"authorization": f"Bearer {key}", "content-type": "application/json"},
            data=json.dumps({"document": GREETING, "inputs": {"name": "Ada"}}).encode(),
        )  # fmt: skip
        answer = json.loads(await asyncio.to_thread(lambda: urllib.request.urlopen(request).read()))
        assert answer["via"] == "queue"
        result = await platform.runner.wait(answer["run_id"], 30)
        assert result is not None
        assert result.outputs == {"text": "Hello Ada"}
        pids = (await workers()).values()
        cluster.send(server, signal.SIGTERM)
        assert await asyncio.to_thread(server.wait, 60) == 0
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
    finally:
        if platform is not None:
            await platform.close()
        cluster.end()


async def test_a_command_says_at_once_what_its_run_waits_for(cluster: Cluster) -> None:
    whole = cluster.folder / "whole.json"
    whole.write_text(chain(template("t", "x"), settings={"pool": "nowhere"}), "utf-8")
    waiting = cluster.start("run", str(whole))
    await cluster.ready(waiting, "it waits for a host of pool 'nowhere'")
    assert "start one with: interlace worker --pool nowhere" in cluster.log(waiting)
    cluster.send(waiting, signal.SIGINT)
    assert await asyncio.to_thread(waiting.wait, 30) == 1
    node = cluster.folder / "node.json"
    node.write_text(chain({**template("t", "x"), "pool": "nowhere"}), "utf-8")
    waiting = cluster.start("run", str(node), "--wait")
    await cluster.ready(waiting, "none serves it now: interlace worker --pool nowhere")
    await cluster.worker("--pool", "nowhere")
    assert await asyncio.to_thread(waiting.wait, 60) == 0, cluster.log(waiting)
