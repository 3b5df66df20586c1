"""Processes that work on whatever a home has to do, and one that only accepts runs."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from tests.crash.child import Case
from tests.crash.forks import Forks
from tests.crash.homes import Home


class Workers:
    """Two fork servers, each with one worker at a time."""

    def __init__(self, home: Home, folder: Path, models: str = "") -> None:
        self._home, self._folder, self._models = home, folder, models
        self.stop = folder / "stop"
        self._numbers = itertools.count()
        self.forks: dict[int, Forks] = {}
        self.pids = [0, 0]

    def begin(self, which: int, **more: Any) -> int:
        case = Case(
            home=str(self._home.path), database_url=self._home.url, models=self._models, allow=[str(self._home.outside)],
            result=str(self._folder / f"worker{next(self._numbers)}"), until=str(self.stop), **more,
        )  # fmt: skip
        if which not in self.forks:
            self.forks[which] = Forks(self._folder / f"log{which}")
        self.pids[which] = self.forks[which].start(case)
        return self.pids[which]

    def kill(self, which: int) -> None:
        os.kill(self.pids[which], signal.SIGKILL)
        assert self.forks[which].end() == -9

    def end(self, which: int) -> int:
        """Let a worker end by itself; gives its exit code."""
        self.stop.touch()
        return self.forks[which].end()

    def close(self) -> None:
        self.stop.touch()
        for forks in self.forks.values():
            forks.__exit__(None, None, None)


@contextlib.asynccontextmanager
async def accepting(home: Home) -> AsyncIterator[Platform]:
    """A process that accepts runs and runs none."""
    platform = await Platform.open(
        Settings(home=home.path, database_url=home.url, prefect="off")  # type: ignore[arg-type]
    )
    try:
        yield platform
    finally:
        await platform.close()


def until(holds: Callable[[], bool], seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def unfinished(home: Home) -> int:
    ((count,),) = home.rows(
        "SELECT count(*) FROM runs WHERE status NOT IN ('succeeded', 'failed', 'cancelled')"
    )
    return int(count)
