"""Runs left behind by a process that died on this machine: taken over at once instead of after their lease."""

from __future__ import annotations

import os
import socket

from interlace.flows.runner import Runner
from interlace.store import Store


async def take_over(store: Store, runner: Runner) -> list[str]:
    """Resume every unfinished run that no living process owns; gives their ids.

    A lease owner is `host:pid:…`; one of this host whose process is gone cannot come back, so its leases end now.
    Owners on other hosts are left until their leases run out.
    """
    page = await store.runs.list(status={"queued", "running"}, limit=1000)
    owners = {run.lease_owner for run in page.items if run.lease_owner}
    for owner in owners:
        host, pid, *_ = owner.split(":")
        if host == socket.gethostname() and pid.isdigit() and not _alive(int(pid)):
            await store.runs.renew(owner, 0.0)
    before = set(runner.active)
    await runner.resume_unfinished()
    return sorted(set(runner.active) - before)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
