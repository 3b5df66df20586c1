"""Runs left behind by a process that died: taken over, those of this machine at once instead of after their lease."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import AsyncIterator

import structlog

from interlace.flows.going_on import apart
from interlace.flows.owner import host_of, pid_here
from interlace.flows.request import POOL
from interlace.flows.runner import Runner
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.run_row import FINAL, Run

_LOOK_SECONDS = 5.0
_QUEUE_SECONDS = 0.5
"""Between two looks for queued runs while several processes share them."""
_SHARE = 20
_SOON_SECONDS = 0.05
_PAGE = 200
_HAND_OVER_SECONDS = 15.0
"""How long a run may wait to be handed to Prefect before it is run without."""
_POOL_SECONDS = 60.0
"""How long a run that was handed to Prefect's work pool may wait there before it is run without Prefect."""

log = structlog.get_logger("interlace.runner")


async def take_over(store: Store, runner: Runner, *, local: bool = False) -> list[str]:
    """Resume every unfinished run that no living process owns; gives their ids.

    With `local` only runs that a process of this machine had: a command on somebody's machine does not become a worker
    of the servers that it shares a database with.
    """
    await expire_dead(store, runner)
    await runner.admission.overdue()
    return await take_waiting(store, runner, local=local)


async def take_waiting(store: Store, runner: Runner, *, local: bool = False) -> list[str]:
    """Resume the unfinished runs of this process's pools that nobody has, as many as it can execute; gives their ids.

    In turns of a few, so that other processes get their share.
    """
    taken: list[str] = []
    full: set[str] = set()
    after = ""
    while len(runner.active) < runner.max_runs and len(taken) < _SHARE:
        found = await runner.admission.waiting(_PAGE, after)
        for run in found:
            if len(runner.active) >= runner.max_runs or len(taken) >= _SHARE:
                break
            if run.slot_key in full or (local and host_of(run.lease_owner) != socket.gethostname()):
                continue
            if await _take(store, runner, run):
                taken.append(run.id)
            elif run.slot_key is not None:
                full.add(run.slot_key)
        if len(found) < _PAGE:
            break
        after = found[-1].id
    return taken


async def _take(store: Store, runner: Runner, run: Run) -> bool:
    """Go on with one run, or end one that nobody waits for any more; whether it goes on here."""
    if run.id in runner.active or _waits_in_pool(run, runner.clock.now()):
        return False
    with apart("an interrupted run cannot go on here", run=run.id):
        if not await _abandoned(store, run):
            return await runner.resume(run)
        await runner.cancel(run.id, "cancelled with its parent")
    return False


async def expire_dead(store: Store, runner: Runner) -> None:
    """End the leases of processes of this machine that are gone.

    One whose process is gone cannot come back, and one with our own number is an earlier process (in a container every
    one may be number 1). Owners of other hosts, boots and pid namespaces are left until their leases run out.
    """
    page = await store.runs.list(status={"queued", "running"}, limit=1000)
    for owner in {run.lease_owner for run in page.items if run.lease_owner} - {runner.owner}:
        pid = pid_here(owner)
        if pid is not None and not _alive(pid):
            await store.runs.renew(owner, 0.0)
    for owner in set(await store.firings.claimants()) - {runner.owner}:
        pid = pid_here(owner)
        if pid is not None and not _alive(pid):
            await store.firings.expire(owner)


@contextlib.asynccontextmanager
async def taking_over(store: Store, runner: Runner, *, local: bool = False) -> AsyncIterator[list[str]]:
    """Take over now and every few seconds while the block runs; gives those taken over at once."""
    first = await take_over(store, runner, local=local)
    task = asyncio.create_task(_keep_looking(store, runner, local=local), name="interlace-orphans")
    try:
        yield first
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _keep_looking(store: Store, runner: Runner, *, local: bool) -> None:
    last, share = time.monotonic(), 0
    while True:
        await asyncio.sleep(
            _SOON_SECONDS if share == _SHARE else _QUEUE_SECONDS if runner.shared else _LOOK_SECONDS
        )
        share = 0
        with apart("unfinished runs could not be looked up"):
            if time.monotonic() - last < _LOOK_SECONDS:
                share = len(await take_waiting(store, runner, local=local))
                continue
            last = time.monotonic()
            found = await take_over(store, runner, local=local)
            share = len(found)
            for run_id in found:
                log.info("going on with an interrupted run", run=run_id)


def _waits_in_pool(run: Run, now: float) -> bool:
    handed_over = run.trigger.get("via") == POOL["via"] and run.status == "queued"
    patience = _POOL_SECONDS if run.flow_run_id is not None else _HAND_OVER_SECONDS
    return handed_over and now - run.created_at < patience


async def _abandoned(store: Store, run: Run) -> bool:
    """Whether a run's parent waited for it and has ended without it, or is deleted."""
    if run.parent_run_id is None or not run.trigger.get("wait", False):
        return False
    try:
        return (await store.runs.get(run.parent_run_id)).status in FINAL
    except NotFoundError:
        return True


def _alive(pid: int) -> bool:
    """Whether another process of this machine lives."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
