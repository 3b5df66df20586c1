"""Runs left behind by a process that died: taken over, those of this machine at once instead of after their lease."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import AsyncIterator

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.owner import host_of, pid_here
from interlace.flows.request import POOL
from interlace.flows.runner import Runner
from interlace.store import Store
from interlace.store.run_row import FINAL, Run

_LOOK_SECONDS = 5.0
_POOL_SECONDS = 60.0
"""How long a run that was handed to Prefect's work pool may wait there before it is run without Prefect."""

log = structlog.get_logger("interlace.runner")


async def take_over(store: Store, runner: Runner, *, local: bool = False) -> list[str]:
    """Resume every unfinished run that no living process owns; gives their ids.

    With `local` only runs that a process of this machine had: a command on somebody's machine does not become a worker
    of the servers that it shares a database with.
    """
    await expire_dead(store, runner)
    found = await store.runs.unfinished()
    mine = [run for run in found if not local or host_of(run.lease_owner) == socket.gethostname()]
    return [run.id for run in mine if await _take(store, runner, run)]


async def _take(store: Store, runner: Runner, run: Run) -> bool:
    """Go on with one run, or end one that nobody waits for any more; whether it goes on here."""
    if run.id in runner.active or _waits_in_pool(run):
        return False
    try:
        if await _abandoned(store, run):
            await runner.cancel(run.id, "cancelled with its parent")
            return False
        return await runner.resume(run)
    except InterlaceError as error:
        log.warning("an interrupted run cannot go on here", run=run.id, error=str(error))
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
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        try:
            for run_id in await take_over(store, runner, local=local):
                log.info("going on with an interrupted run", run=run_id)
        except InterlaceError as error:
            log.warning("unfinished runs could not be looked up", error=str(error))


def _waits_in_pool(run: Run) -> bool:
    handed_over = run.trigger.get("via") == POOL["via"] and run.status == "queued"
    return handed_over and time.time() - run.created_at < _POOL_SECONDS


async def _abandoned(store: Store, run: Run) -> bool:
    """Whether a run's parent waited for it and has ended without it."""
    if run.parent_run_id is None or not run.trigger.get("wait", False):
        return False
    return (await store.runs.get(run.parent_run_id)).status in FINAL


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
