"""One worker process: runs of its pools, their waits, and Prefect's work pools; no HTTP of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.link import PrefectLink
from interlace.flows.orphans import taking_over
from interlace.flows.platform import Platform
from interlace.flows.presence import host_name, present
from interlace.flows.settings import Settings
from interlace.flows.telemetry import Telemetry
from interlace.server.cli import garbage
from interlace.server.cli.output import FAILED, OK, USAGE, exit_code, note
from interlace.server.logs import configure

log = structlog.get_logger("interlace.worker")


class Working:
    """Works until it is told to end (Ctrl-C, SIGTERM); runs that have not ended then go on elsewhere.

    Args:
        settings: which database, Prefect and pools.
        tied: end as well when standard input does, which a parent keeps open as long as it lives.
    """

    def __init__(self, settings: Settings, *, tied: bool = False) -> None:
        self._settings = settings
        self._tied = tied
        self._ending = asyncio.Event()

    def run(self) -> int:
        """Work; gives the exit code."""
        garbage.resume()
        configure(style=self._settings.log_format, level=self._settings.log_level)
        problem = missing(self._settings)
        if problem is not None:
            note(f"✗ {problem}")
            return USAGE
        try:
            asyncio.run(self._work())
        except InterlaceError as error:
            note(f"✗ {error}")
            return exit_code(error)
        except OSError as error:
            note(f"✗ the worker cannot work: {error}")
            return FAILED
        note("✓ ended")
        return OK

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._ending.set)
        if self._tied:
            threading.Thread(target=_follow_parent, args=(loop, self._ending), daemon=True).start()
        platform = await Platform.open(self._settings)
        telemetry = Telemetry.of(platform)
        telemetry.offer(self._settings.metrics_port)
        external = self._settings.prefect == "external"
        link = PrefectLink.of(platform, announced=True) if external else None
        starting = asyncio.create_task(link.start(), name="prefect-start") if link is not None else None
        try:
            async with (
                present(platform, queue=True),
                taking_over(platform.store, platform.runner),
                platform.waits.watching(),
                platform.triggers.watching(link),
            ):
                pools = ", ".join(sorted(platform.served.pools)) or "none"
                note(f"✓ worker {host_name(platform)} takes runs of the pools: {pools}")
                if not external:
                    note(
                        "  without Prefect: it takes runs from the database (INTERLACE_PREFECT is not `external`)"
                    )
                await platform.follow_ups.catch_up()
                platform.ingestion.start()
                await self._ending.wait()
                note("» ending; what must not be done twice is finished first")
        finally:
            try:
                if link is not None and starting is not None:
                    starting.cancel()
                    await asyncio.gather(starting, return_exceptions=True)
                    await link.stop()
            finally:
                await platform.close(self._settings.drain)
                await telemetry.close()


def missing(settings: Settings) -> str | None:
    """What a worker lacks in its settings, with the way to mend it; None where nothing is."""
    if settings.prefect == "external" and not settings.prefect_api_url:
        return (
            "INTERLACE_PREFECT=external needs the address of the Prefect server: set INTERLACE_PREFECT_API_URL to"
            " http://host:4200/api, and INTERLACE_PREFECT_AUTH to user:password where it asks for one"
        )
    home = settings.home.resolve()
    if settings.database_url is None and not (home / "interlace.db").is_file():
        return (
            f"there is no database to take runs from: set INTERLACE_DATABASE_URL to the PostgreSQL of the other processes,"
            f" or on one machine INTERLACE_HOME to their home ({home} is none yet)"
        )
    return None


def _follow_parent(loop: asyncio.AbstractEventLoop, ending: asyncio.Event) -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    loop.call_soon_threadsafe(ending.set)
