"""This process among the hosts: it says that it lives, and looks whether others do."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.platform import Platform
from interlace.store.clock import DatabaseClock

_BEAT_SECONDS = 3.0
_LIFE_SECONDS = 15.0

log = structlog.get_logger("interlace.hosts")


def host_name(platform: Platform) -> str:
    """The name of this process for people."""
    return platform.settings.name or f"{socket.gethostname() or 'host'}-{os.getpid()}"


@contextlib.asynccontextmanager
async def present(platform: Platform, *, queue: bool = False) -> AsyncIterator[None]:
    """Stand among the hosts while the block runs; with `queue` all its runs come from others."""
    await check_payloads(platform)
    hosts, owner = platform.store.hosts, platform.runner.owner
    await _beat(platform, queue=queue)
    task = asyncio.create_task(_beats(platform, queue=queue), name="interlace-presence")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        with contextlib.suppress(InterlaceError):
            await hosts.leave(owner)


async def check_payloads(platform: Platform) -> None:
    """Make sure that the folder of large values is the one of all processes of the database.

    Raises:
        InterlaceError: it is another one, so that runs could not go on here.
    """
    if platform.store.database.location.kind == "sqlite":
        return
    folder = platform.settings.payloads or platform.settings.home.resolve() / "payloads"
    ours = await asyncio.to_thread(_mark, folder)
    if await platform.store.settings.setdefault("payloads_mark", ours) != ours:
        raise InterlaceError(
            f"the folder of large values {str(folder)!r} is not that of the other processes of this database: let the"
            " machines share one folder and set INTERLACE_PAYLOADS to it everywhere"
        )


def _mark(folder: Path) -> str:
    """What tells a folder from others, wherever it is mounted."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / "installation"
    with contextlib.suppress(FileExistsError), file.open("x", encoding="ascii") as new:
        new.write(secrets.token_hex(16))
    return file.read_text("ascii")


async def _beats(platform: Platform, *, queue: bool) -> None:
    while True:
        await asyncio.sleep(_BEAT_SECONDS)
        try:
            await _beat(platform, queue=queue)
        except InterlaceError as error:
            log.warning("this host cannot say that it lives", error=str(error))


async def _beat(platform: Platform, *, queue: bool) -> None:
    clock, runner = platform.runner.clock, platform.runner
    if isinstance(clock, DatabaseClock):
        await clock.sync()
    pools = platform.served.pools
    await platform.store.hosts.beat(runner.owner, host_name(platform), pools, _LIFE_SECONDS)
    others = [host for host in await platform.store.hosts.living() if host.owner != runner.owner]
    runner.shared = (
        queue or any(not pools.isdisjoint(host.pools) for host in others) or (not pools and bool(others))
    )
