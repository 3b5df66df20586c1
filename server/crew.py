"""The worker processes of `serve --workers`: started, watched, started again when one dies, ended with the server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator

import structlog

from interlace.flows.settings import Settings

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 30.0
_LONG_LIFE_SECONDS = 60.0
_KILL_SECONDS = 10.0
_COMMAND = (sys.executable, "-c", "from interlace.server.cli.main import main; main()", "worker", "--tied")

log = structlog.get_logger("interlace.workers")


@contextlib.asynccontextmanager
async def crew(settings: Settings) -> AsyncIterator[None]:
    """Keep `settings.workers` worker processes while the block runs."""
    tasks = [
        asyncio.create_task(_keep(settings, number), name=f"interlace-worker-{number}")
        for number in range(1, settings.workers + 1)
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def _keep(settings: Settings, number: int) -> None:
    pause = _FIRST_PAUSE_SECONDS
    while True:
        began = time.monotonic()
        code = await _one(settings, number)
        if time.monotonic() - began > _LONG_LIFE_SECONDS:
            pause = _FIRST_PAUSE_SECONDS
        log.warning("a worker has ended and is started again", worker=number, code=code, seconds=pause)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)


async def _one(settings: Settings, number: int) -> int:
    """One life of a worker; gives its exit code."""
    prefect = settings.prefect if settings.prefect == "external" else "off"
    environment = {
        **os.environ, "INTERLACE_HOME": str(settings.home.resolve()), "INTERLACE_PREFECT": prefect,
        "INTERLACE_NAME": f"{settings.name or os.uname().nodename}-{os.getpid()}-worker-{number}",
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *_COMMAND, env=environment, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            # The same as when this process is killed: the worker's standard input ends.
            assert process.stdin is not None
            process.stdin.close()
            try:
                async with asyncio.timeout(settings.drain + _KILL_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
