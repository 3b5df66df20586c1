from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from interlace.flows import orphans
from interlace.flows.orphans import take_over, taking_over
from interlace.flows.owner import machine, new_owner, pid_here
from interlace.flows.platform import Platform
from interlace.flows.request import POOL, Request
from interlace.store.run_row import NewRun
from tests.flows.documents import GREETING, chain, sub


async def _left_behind(platform: Platform, owner: str, text: str = GREETING, **fields: Any) -> str:
    """A run that its owner created and never started."""
    pinned = await platform.documents.from_text(text)
    new = NewRun(
        name="greeting", document=pinned.text, document_hash=pinned.hash, inputs={"name": "Ada"}, lease_owner=owner,
        lease_seconds=600, **fields,
    )  # fmt: skip
    return (await platform.store.runs.create(new)).run_id


def _owner(pid: int, here: str | None = None) -> str:
    """A process of this machine, or of another boot or pid namespace of its."""
    return f"{socket.gethostname()}:{pid}:{machine() if here is None else here}:abc"


@pytest.fixture(scope="module")
def dead() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


async def test_runs_of_a_dead_process_go_on_at_once(platform: Platform, dead: int) -> None:
    run_id = await _left_behind(platform, _owner(dead))
    assert await take_over(platform.store, platform.runner) == [run_id]
    result = await platform.runner.wait(run_id, 10)
    assert result is not None
    assert result.outputs == {"text": "Hello Ada"}


async def test_runs_of_the_living_and_of_other_hosts_are_left(platform: Platform, dead: int) -> None:
    await _left_behind(platform, _owner(os.getppid()))
    await _left_behind(platform, f"elsewhere:{dead}:{machine()}:abc")
    assert await take_over(platform.store, platform.runner) == []


@pytest.mark.parametrize("here", ["otherboot:{space}", "{boot}:1", ":", "{boot}"])
async def test_numbers_of_another_boot_or_pid_namespace_say_nothing(
    platform: Platform, dead: int, here: str
) -> None:
    boot, space = machine().split(":")
    for pid in (dead, os.getpid()):
        await _left_behind(platform, _owner(pid, here.format(boot=boot, space=space)))
    assert await take_over(platform.store, platform.runner) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say")
def test_an_owner_names_its_boot_and_pid_namespace() -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    space = str(Path("/proc/self/ns/pid").readlink())
    owner = new_owner()
    assert owner.startswith(f"{socket.gethostname()}:{os.getpid()}:{boot}:{space.strip('pid:[]')}:")
    assert pid_here(owner) == os.getpid()
    assert owner != new_owner()


async def test_an_earlier_process_of_our_own_number_is_dead(platform: Platform) -> None:
    run_id = await _left_behind(platform, _owner(os.getpid()))
    assert await take_over(platform.store, platform.runner) == [run_id]
    await platform.runner.idle()


async def test_a_command_takes_only_what_this_machine_left(platform: Platform, dead: int) -> None:
    here = await _left_behind(platform, _owner(dead))
    pinned = await platform.documents.from_text(GREETING)
    anybodys, _ = await platform.runner.create(pinned, Request(inputs={"name": "Ada"}))
    assert await take_over(platform.store, platform.runner, local=True) == [here]
    assert await take_over(platform.store, platform.runner) == [anybodys]
    await platform.runner.idle()


async def test_a_fresh_run_of_the_pool_waits_for_the_pool(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = await platform.documents.from_text(GREETING)
    request = Request(inputs={"name": "Ada"}, trigger={"kind": "api", **POOL})
    run_id, _ = await platform.runner.create(pinned, request)
    assert await take_over(platform.store, platform.runner) == []
    now = time.time()
    monkeypatch.setattr(orphans.time, "time", lambda: now + 61)
    assert await take_over(platform.store, platform.runner) == [run_id]
    await platform.runner.idle()


async def test_a_child_whose_parent_ended_is_cancelled(platform: Platform, dead: int, push: Any) -> None:
    await push(GREETING)
    pinned = await platform.documents.from_text(chain(sub("s", "greeting", inputs={"name": "x"})))
    parent = await platform.runner.start(pinned, Request())
    await platform.runner.wait(parent, 10)
    owner = _owner(dead)
    waited, free = [
        await _left_behind(
            platform, owner, parent_run_id=parent, parent_path="s", depth=1,
            trigger={"kind": "sub_workflow", "wait": wait},
        )
        for wait in (True, False)
    ]  # fmt: skip
    assert await take_over(platform.store, platform.runner) == [free]
    assert (await platform.store.runs.get(waited)).status == "cancelled"
    await platform.runner.idle()


async def test_one_that_cannot_go_on_does_not_keep_the_others(platform: Platform, dead: int) -> None:
    owner = _owner(dead)
    good = await _left_behind(platform, owner)
    broken = await platform.store.runs.create(
        NewRun(
            name="broken", inputs={}, lease_owner=owner,
            document='{"name": "b", "nodes": [{"id": "a", "type": "GONE"}]}',
        )
    )  # fmt: skip
    assert await take_over(platform.store, platform.runner) == [good]
    run = await platform.store.runs.get(broken.run_id)
    assert (run.status, run.lease_owner) == ("queued", None)
    await platform.runner.idle()


async def test_it_keeps_looking(platform: Platform, dead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orphans, "_LOOK_SECONDS", 0.01)
    async with taking_over(platform.store, platform.runner) as first:
        assert first == []
        run_id = await _left_behind(platform, _owner(dead))
        async with asyncio.timeout(10):
            result = await platform.runner.wait(run_id)
    assert result is not None
    assert result.status == "succeeded"


async def test_a_child_whose_parent_was_deleted_ends(platform: Platform, dead: int) -> None:
    run_id = await _left_behind(
        platform, _owner(dead), parent_run_id="gone", parent_path="sub", depth=1, trigger={"wait": True}
    )
    assert await take_over(platform.store, platform.runner) == []
    result = await platform.runner.wait(run_id, 10)
    assert result is not None
    assert result.status == "cancelled"
