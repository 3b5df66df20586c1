"""What else breaks: the disk is full, the database is locked or away, the clock jumps. Each is got over without a human."""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from interlace.flows.request import Request
from tests.crash.child import Case
from tests.crash.counter import Counter
from tests.crash.forks import Forks, result_of
from tests.crash.homes import Home, make_home, postgres_database
from tests.crash.matrix import faults_of
from tests.crash.workers import Workers, accepting, unfinished, until
from tests.flows.documents import chain, http

pytestmark = pytest.mark.timeout(300)
_KEYS = itertools.count()


def _held(counter: Counter, case: str) -> str:
    """A run whose second node waits until the test lets it go; what comes then is above 8 KB."""
    base = counter.base(case)
    large = {
        "id": "large",
        "type": "TEMPLATE",
        "config": {"template": "{% for i in range(20000) %}{{ i }},{% endfor %}"},
    }
    return chain(
        http("first", f"{base}/first"), http("held", f"{base}/hold"), large, http("last", f"{base}/last"),
        name="held", outputs={"length": "{{ large.text | length }}"},
    )  # fmt: skip


class Trial:
    """A run held in its middle in a worker of its own, something that happens then, and how it ends."""

    def __init__(self, home: Home, folder: Path, counter: Counter, case: str) -> None:
        self.home, self.counter, self.case = home, counter, case
        self.workers = Workers(home, folder)
        counter.release.clear()

    async def begin(self, **more: object) -> None:
        async with accepting(self.home) as platform:
            pinned = await platform.documents.stored("held", "published", owner="local")
            await platform.runner.create(pinned, Request(idempotency_key=self.case))
        self.workers.begin(0, lease=1.5, **more)
        self.counter.wait_for(self.case, "hold")

    def go_on(self) -> None:
        self.counter.release.set()

    def check(self) -> None:
        """It ends by itself, and what had finished was not done again."""
        until(lambda: unfinished(self.home) == 0, 60, "the run is stuck")
        assert self.workers.end(0) == 0
        (run,) = self.home.runs(self.case).values()
        assert (run["status"], run["outputs"]) == ("succeeded", '{"length":108890}')
        assert faults_of(self.home.events(self.case)) == []
        counts = self.counter.counts(self.case)
        assert (counts["first"], counts["last"]) == (1, 1)
        assert counts["hold"] <= 2

    def status(self) -> str:
        (run,) = self.home.runs(self.case).values()
        return str(run["status"])

    def log(self) -> str:
        return (self.workers.stop.parent / "log0").read_text()


@contextlib.contextmanager
def _trial(home: Home, folder: Path, counter: Counter, case: str) -> Iterator[Trial]:
    trial = Trial(home, folder, counter, case)
    try:
        yield trial
    finally:
        counter.release.set()
        trial.workers.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux can mount a small file system")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


async def test_a_full_disk(small_disk: Path, tmp_path: Path, counter: Counter) -> None:
    case = f"disk{next(_KEYS)}"
    home = await make_home(small_disk / "shared", None, _held(counter, case))
    with _trial(home, tmp_path, counter, case) as trial:
        await trial.begin()
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"\0" * 4096)
        trial.go_on()
        until(lambda: "the run stopped in this process" in trial.log(), 30, "the run did not stop")
        assert trial.status() == "running"
        assert "full" in trial.log() or "No space left" in trial.log()
        assert not any(event.path == "last" for event in home.events(case))
        filler.unlink()
        trial.check()
    refs = [
        event.data["outputs"]
        for event in home.events(case)
        if event.path == "large" and event.type == "node.succeeded"
    ]
    assert "$payload" in str(refs)


async def test_a_database_that_another_process_keeps_locked(tmp_path: Path, counter: Counter) -> None:
    case = f"locked{next(_KEYS)}"
    home = await make_home(tmp_path / "shared", None, _held(counter, case))
    with _trial(home, tmp_path, counter, case) as trial:
        await trial.begin(busy=500)
        with contextlib.closing(sqlite3.connect(home.path / "interlace.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            trial.go_on()
            until(lambda: "the run stopped in this process" in trial.log(), 30, "the run did not stop")
            assert "was locked for" in trial.log()
            other.execute("ROLLBACK")
        trial.check()


_CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"


@pytest.mark.parametrize("seconds", [0.0, 3.0, 10.0])
async def test_postgres_away(postgres: str, seconds: float, tmp_path: Path, counter: Counter) -> None:
    case, name = f"away{next(_KEYS)}", f"interlace_away_{os.getpid()}_{int(seconds)}"
    with postgres_database(postgres, name) as url, psycopg.connect(postgres, autocommit=True) as admin:
        home = await make_home(tmp_path / "shared", url, _held(counter, case))
        with _trial(home, tmp_path, counter, case) as trial:
            await trial.begin()
            admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {seconds == 0}".encode())
            admin.execute(_CUT, (name,))
            trial.go_on()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                admin.execute(_CUT, (name,))
                time.sleep(0.2)
            admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())
            trial.check()


@pytest.mark.parametrize("hours", [-5, 5])
async def test_the_clock_jumps(hours: int, tmp_path: Path, counter: Counter) -> None:
    """In the middle of a run with waits, and again for the process after it."""
    case = f"jump{next(_KEYS)}"
    home = await make_home(tmp_path / "shared")
    inputs = {"base": counter.base(case), "database": f"sqlite:///{home.outside}/out.db"}
    common = {
        "home": str(home.path),
        "allow": [str(home.outside)],
        "key": case,
        "longest": 12 * 3600.0,
        "models": counter.models,
    }
    with Forks(tmp_path / "log") as forks:
        killed = Case(
            result=str(tmp_path / "1"), inputs=inputs, jump=hours * 3600.0, jump_at=8, die_at=40, **common
        )  # type: ignore[arg-type]
        assert forks.run(killed) == -9
        last = Case(result=str(tmp_path / "2"), jump=-hours * 3600.0, jump_at=10, **common)  # type: ignore[arg-type]
        assert forks.run(last) == 0, (tmp_path / "2.failed").read_text()
    assert {run["status"] for run in result_of(last)["runs"]} == {"succeeded"}
    assert faults_of(home.events(case)) == []
