"""Kills in turn: each case begins a run, kills its process at one point, lets others go on, and is checked."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections import Counter as Tally
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.crash.child import Case
from tests.crash.counter import Counter
from tests.crash.forks import Forks, result_of
from tests.crash.homes import Event, Home

KILLED = -9
_ENDED = ("node.succeeded", "node.failed", "node.skipped")
_INDEX = re.compile(r"[\[#](\d+)\]?\.(\w+)$")


@dataclass(frozen=True, kw_only=True)
class Kill:
    """Where one process dies: at a commit, at a payload's file, or when the start was acknowledged."""

    number: int = 0
    point: str = "before"
    payload: bool = False

    def apply(self, case: Case) -> Case:
        case.point = self.point
        case.accepted = self.point == "accepted"
        if self.payload:
            case.payload = self.number
        else:
            case.die_at = self.number
        return case


@dataclass
class Score:
    """What a matrix came to."""

    cases: int = 0
    kills: int = 0
    repeated: int = 0
    """Attempts that were interrupted and made again."""
    faults: list[str] = field(default_factory=list)

    def add(self, trial: Trial) -> None:
        """Count a case."""
        self.cases += 1
        self.kills += trial.kills
        self.repeated += trial.repeated
        self.faults += [f"case {trial.name}, {trial.killed_at}: {fault}" for fault in trial.faults]

    def __str__(self) -> str:
        return f"{self.kills} kills in {self.cases} cases, {self.repeated} interrupted calls repeated, {len(self.faults)} faults"


class Lane:
    """One fork server and its home; cases of a lane come one after another."""

    def __init__(self, number: int, template: Home, folder: Path, counter: Counter) -> None:
        self._template = template
        self._folder = folder / f"lane{number}"
        self._folder.mkdir(parents=True)
        self._counter = counter
        self._number = number
        self._ids = itertools.count()
        self._forks = Forks(self._folder / "log")

    def trial(self) -> Trial:
        """The next case: in a copy of the home, or in the one whose database the lane has for itself."""
        kind = "sqlite" if self._template.url is None else "postgres"
        name = f"{kind}-{self._number}-{next(self._ids)}"
        if self._template.url is None:
            home = self._template.copy(self._folder / name)
        else:
            home = self._template
            home.clear_outside()
        results = self._folder / f"{name}-results"
        results.mkdir()
        return Trial(name, home, results, self._counter, self._forks)

    def close(self) -> None:
        """End the fork server."""
        self._forks.__exit__(None, None, None)


class Trial:
    """One run, killed and continued."""

    def __init__(self, name: str, home: Home, folder: Path, counter: Counter, forks: Forks) -> None:
        self.name, self.home, self.counter, self.forks = name, home, counter, forks
        self._folder = folder
        self.kills = 0
        self.repeated = 0
        self.faults: list[str] = []
        self.killed_at: list[Kill] = []
        self.last: Case
        self._finished: dict[str, int] = {}
        """What finished nodes had called when a process was killed."""
        self._saved: int | None = None
        self._turn = 0

    def case(self, **more: Any) -> Case:
        """The next process: a clock ahead of the one before, so that pauses that had begun can be over."""
        self._turn += 1
        inputs = {"base": self.counter.base(self.name), "database": f"sqlite:///{self.home.outside}/out.db"}
        return Case(
            home=str(self.home.path), database_url=self.home.url, result=str(self._folder / f"{self._turn}"),
            models=self.counter.models, allow=[str(self.home.outside)], inputs=inputs, key=self.name, ahead=60.0 * self._turn, **more,
        )  # fmt: skip

    def run(self, kills: list[Kill], expected: Any, *, fork: bool = True) -> None:
        """A process for each kill, then one that nobody kills."""
        known, self.killed_at = False, kills
        for kill in kills:
            case = self._starting(kill.apply(self.case()), known)
            code = self.forks.run(case)
            known = known or Path(f"{case.result}.accepted").exists()
            if code != KILLED:
                self._check(code == 0, f"a process ended with {code}")
                break
            self.kills += 1
            self._check(not known or bool(self.home.runs(self.name)), "the run was acknowledged and is lost")
            self._note()
        case = self.last = self._starting(self.case(fork=fork), known)
        code = self.forks.run(case)
        self._check(code == 0, f"the last process ended with {code}: {_failure(case)}")
        if code == 0:
            self._check_end(result_of(case), expected)

    def _starting(self, case: Case, known: bool) -> Case:
        """A run that was acknowledged, or is there anyhow, has to go on by itself; else the caller asks again."""
        if known or self.home.runs(self.name):
            case.inputs = None
        return case

    def _check(self, holds: bool, fault: str) -> None:
        if not holds:
            self.faults.append(fault)

    def _note(self) -> None:
        """After a kill: what is finished, and how often it has called."""
        counts = self.counter.counts(self.name)
        for event in self.home.events(self.name):
            name = called_as(event.path)
            if event.type in _ENDED and name in counts:
                self._finished.setdefault(name, counts[name])
            if event.type in _ENDED and event.path == "save" and self._saved is None:
                self._saved = self.home.saved()

    def _check_end(self, result: dict[str, Any], expected: Any) -> None:
        runs = self.home.runs(self.name)
        statuses = sorted((run["name"], run["status"]) for run in runs.values())
        wanted = [("crash-child", "succeeded"), ("crash-everything", "succeeded")]
        self._check(statuses == wanted, f"the runs are {statuses}: {[run['error'] for run in runs.values()]}")
        self._check(all(run["lease_owner"] is None for run in runs.values()), "a lease is left")
        found = [
            run["outputs"]
            for run in result["runs"]
            if run["id"] in runs and run["name"] == "crash-everything"
        ]
        if expected is not None:
            self._check(found == [expected], f"the outputs are {json.dumps(found)}")
        waiting = self.home.rows("SELECT run_id FROM waits WHERE status = 'pending'")
        self._check(not {row[0] for row in waiting} & runs.keys(), "something is still waited for")
        self._check(
            len(set(self.counter.callbacks[self.name])) == 1, "a repeated request gave another callback URL"
        )
        counts = self.counter.counts(self.name)
        for name, before in self._finished.items():
            self._check(counts[name] == before, f"{name} had finished and was called again")
        for name, count in counts.items():
            most = (2 if name == "flaky" else 1) + self.kills
            self._check(count <= most, f"{name} was called {count} times")
            self.repeated += count - (2 if name == "flaky" and count > 1 else 1)
        if self._saved is not None:
            self._check(self.home.saved() == self._saved, "the DATABASE node had finished and wrote again")
        self.faults += faults_of(self.home.events(self.name))


def called_as(path: str) -> str:
    """The name under which the node at a path calls: its id, in a body with the number of the pass."""
    inside = _INDEX.search(path)
    return path if inside is None else f"{inside[2]}/{inside[1]}"


def faults_of(events: list[Event]) -> list[str]:
    """What no journal may hold, whatever happened to the processes that wrote it."""
    faults: list[str] = []
    ended: Tally[tuple[str, str]] = Tally()
    last: dict[str, int] = {}
    open_: set[tuple[str, str]] = set()
    for event in events:
        if event.seq != last.get(event.run, 0) + 1:
            faults.append(f"event {event.seq} of {event.run} follows {last.get(event.run, 0)}")
        last[event.run] = event.seq
        node = event.run, event.path
        if event.type == "node.started":
            if ended[node]:
                faults.append(f"{event.path} had ended and was started again")
            open_.add(node)
        elif event.type in _ENDED:
            ended[node] += 1
            open_.discard(node)
    faults += [f"{path} ended {count} times" for (_, path), count in ended.items() if count > 1]
    return faults + [f"{path} is left open" for _, path in open_]


def _failure(case: Case) -> str:
    file = Path(f"{case.result}.failed")
    return file.read_text()[-2000:] if file.exists() else ""


class Matrix:
    """Lanes over homes of one kind of database, and what an undisturbed run gives.

    Attributes:
        writes: how many events an undisturbed run commits.
        expected: its outputs.
    """

    def __init__(self, homes: list[Home], folder: Path, counter: Counter) -> None:
        self._lanes = [Lane(number, home, folder, counter) for number, home in enumerate(homes)]
        score = Score()
        for lane, fork in [*((lane, False) for lane in self._lanes), (self._lanes[0], True)]:
            trial = lane.trial()
            trial.run([], None, fork=fork)
            score.add(trial)
        assert score.faults == [], score.faults
        told = result_of(trial.last)
        self.writes: int = told["writes"]
        # A lane of PostgreSQL keeps its database, and the runs of earlier cases in it; the newest run comes first.
        self.expected = next(run["outputs"] for run in told["runs"] if run["name"] == "crash-everything")

    def run(self, series: Iterable[list[Kill]]) -> Score:
        """Give each series of kills to a lane that is free."""
        score, waiting, lock = Score(), iter(list(series)), threading.Lock()

        def work(lane: Lane) -> None:
            while True:
                with lock:
                    kills = next(waiting, None)
                if kills is None:
                    return
                trial = lane.trial()
                trial.run(kills, self.expected)
                with lock:
                    score.add(trial)

        with ThreadPoolExecutor(len(self._lanes)) as pool:
            for done in [pool.submit(work, lane) for lane in self._lanes]:
                done.result()
        return score

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for lane in self._lanes:
            lane.close()
