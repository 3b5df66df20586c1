"""What runs in the processes that are killed: a plain process of the product, with people and systems that answer.

`serve` is a fork server: it has imported everything and forks once a line of its input, so that a process costs some
milliseconds instead of seconds. No threads and no event loop are there when it forks.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
import traceback
import urllib.request
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from interlace.engine.errors import InterlaceError
from interlace.engine.protocols import CodeRunner
from interlace.flows import leases, orphans, runner
from interlace.flows.answering import Given
from interlace.flows.orphans import take_over, taking_over
from interlace.flows.people import Person
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.resources.http.callback_setting import PATH
from interlace.resources.sandbox.installation import installation
from interlace.store import sqlite_writer
from interlace.store.run_row import FINAL
from tests.crash.faults import Writes, jump_clock, kill_at_payload

ADA = Person(name="ada")
_TURN_SECONDS = 0.004
_WORKER_SECONDS = 0.1
_LONG = 600.0
"""Longer than every pause, and shorter than the time-out of the run."""


@dataclass(kw_only=True)
class Case:
    """What one process does.

    Attributes:
        home: the folder of the home; `database_url` is None for SQLite in it.
        models: where language models are asked.
        inputs: of the run of `workflow` that is started; None starts nothing.
        result: the file that tells what became of it; what was accepted stands in `<result>.accepted`.
        die_at: the event whose commit is the last, and `point` where in it (see `faults`).
        payload: the same for the writing of a payload's file.
        accepted: be killed as soon as the start of the run was acknowledged.
        fork: False runs it in the fork server itself, before others: what is loaded and compiled then, is so for them too.
        until: work until this file is there, on whatever is to do, in real time.
        lease: seconds of a lease, where 15 are too long for a test.
        busy: milliseconds that a locked SQLite file is waited for, where 60,000 are too long for a test.
        jump: seconds that the system's clock jumps by at commit `jump_at`.
        longest: seconds that a pause may be long; more where a clock was put back.
        ahead: seconds that this process's clock is ahead; pauses that hold up everything are over at once anyway.
    """

    home: str
    result: str
    database_url: str | None = None
    models: str = ""
    allow: list[str] = field(default_factory=list)
    workflow: str = "crash-everything"
    inputs: dict[str, Any] | None = None
    key: str = "case"
    die_at: int = 0
    payload: int = 0
    point: str = "before"
    accepted: bool = False
    ahead: float = 0.0
    seconds: float = 30.0
    fork: bool = True
    until: str | None = None
    lease: float | None = None
    busy: int | None = None
    jump: float = 0.0
    jump_at: int = 0
    longest: float = _LONG


class AheadClock:
    """Real time plus what is added."""

    def __init__(self, ahead: float) -> None:
        self.ahead = ahead

    def now(self) -> float:
        return time.time() + self.ahead

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _NoCode:
    """In the fork server alone: the threads of the sandbox's runtime would not be there after a fork."""

    async def run(self, code: str, inputs: Any, **limits: Any) -> Any:
        return SimpleNamespace(value={"square": inputs["a"] ** 2}, stdout="", stderr="", cpu_seconds=0.0)


def _provider(url: str) -> dict[str, Any]:
    return {"name": "p", "base_url": url, "models": [{"name": "scripted"}], "roles": {"general": "scripted"}}


async def work(case: Case) -> dict[str, Any]:
    """Open the home, start or take over, answer what is asked, until every run has ended."""
    settings = Settings(
        home=Path(case.home), database_url=case.database_url, prefect="off", http_allow=["127.0.0.1/32"],
        database_allow=case.allow, environments={"dev": {"CRASH_PLACE": "here"}},
        models={"providers": [_provider(case.models)]} if case.models else {},
    )  # type: ignore[arg-type]  # fmt: skip
    writes = Writes(case.die_at, case.point)
    writes.install()
    if case.lease is not None:
        runner.LEASE_SECONDS = leases.LEASE_SECONDS = case.lease  # type: ignore[attr-defined]
        leases._BEATS_A_LEASE = 1
    if case.busy is not None:
        sqlite_writer.BUSY_MILLISECONDS = case.busy  # type: ignore[misc]
    if case.jump:
        writes.at[case.jump_at] = lambda: jump_clock(case.jump)
    if case.payload:
        kill_at_payload(case.payload, case.point)
    clock = AheadClock(case.ahead)
    platform = await Platform.open(settings, clock=clock)
    if not case.fork:
        platform.services.register(CodeRunner, _NoCode())  # type: ignore[type-abstract]
    taken = [] if case.until else await take_over(platform.store, platform.runner)
    if case.inputs is not None:
        await _start(platform, case)
    await (_go_on(platform, clock, case) if case.until is None else _keep_working(platform, Path(case.until)))
    runs = (await platform.store.runs.list(limit=20)).items
    resolved = [await platform.store.runs.resolve(run) for run in runs]
    await platform.close()
    return {
        "writes": writes.count, "commits": writes.commits, "taken": taken,
        "runs": [{"id": run.id, "name": run.name, "status": run.status, "outputs": run.outputs, "error": run.error} for run in resolved],
    }  # fmt: skip


async def _go_on(platform: Platform, clock: AheadClock, case: Case) -> None:
    """Until every run has ended; pauses are not waited for."""
    end = time.monotonic() + case.seconds
    while not await _all_ended(platform):
        if time.monotonic() > end:
            return
        await take_over(platform.store, platform.runner)
        await platform.waits.look()
        if not await _answer(platform):
            await _let_time_pass(platform, clock, case.longest)
        await asyncio.sleep(_TURN_SECONDS)
    await platform.runner.idle()


async def _keep_working(platform: Platform, until: Path) -> None:
    """As a server does, only that it looks around more often."""
    orphans._LOOK_SECONDS = _WORKER_SECONDS
    async with taking_over(platform.store, platform.runner), platform.waits.watching():
        while not until.exists():
            with contextlib.suppress(InterlaceError):  # the database may be out of reach for a while
                await _answer(platform)
            await asyncio.sleep(_WORKER_SECONDS)


async def _start(platform: Platform, case: Case) -> None:
    """As a caller does who asks again until he has an answer: with an idempotency key."""
    pinned = await platform.documents.stored(case.workflow, "published", owner="local")
    assert case.inputs is not None
    run_id = await platform.runner.start(pinned, Request(inputs=case.inputs, idempotency_key=case.key))
    Path(f"{case.result}.accepted").write_text(run_id)
    if case.accepted:
        os.kill(os.getpid(), signal.SIGKILL)


async def _all_ended(platform: Platform) -> bool:
    runs = (await platform.store.runs.list(limit=20)).items
    return bool(runs) and all(run.status in FINAL for run in runs)


async def _answer(platform: Platform) -> bool:
    """Answer everything that waits for somebody; False when nothing did."""
    did = False
    runs = (await platform.store.runs.list(limit=50, status={"running", "suspended"})).items
    for run in runs:
        for wait in await platform.store.waits.of_run(run.id):
            with contextlib.suppress(InterlaceError):  # answered by another process meanwhile
                if wait.kind == "human":
                    await platform.waits.answer(
                        wait.id, Given(action="approve", form={"note": wait.path}), ADA
                    )
                    did = True
                elif wait.kind == "callback":
                    url = await asyncio.to_thread(_callback_url, str(run.inputs["base"]))
                    await platform.waits.call_back(url.rpartition(PATH)[2], {"state": "delivered"})
                    did = True
    return did


def _callback_url(base: str) -> str:
    with urllib.request.urlopen(f"{base}/callback_url", timeout=10) as answer:
        found: str = json.load(answer)["url"]
    return found


async def _let_time_pass(platform: Platform, clock: AheadClock, longest: float) -> None:
    """Put the clock forward where nothing but a pause is waited for."""
    runs = (await platform.store.runs.list(limit=20, status={"queued", "running"})).items
    due = await platform.store.waits.next_due()
    if platform.runner.active:
        return
    if not runs and due is not None and clock.now() < due < clock.now() + longest:
        clock.ahead += due - clock.now()


def main(case: Case) -> None:
    """Do a case and write down what became of it."""
    try:
        result = asyncio.run(work(case))
    except BaseException:
        Path(f"{case.result}.failed").write_text(traceback.format_exc())
        raise
    part = Path(f"{case.result}.part")
    part.write_text(json.dumps(result))
    part.replace(case.result)


def serve() -> None:
    """Fork once a line (a `Case` as JSON); answer with the process's number, then with how it ended."""
    import openai  # noqa: F401 - loaded once, and not in each process

    installation()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is logged is no answer
    for line in sys.stdin:
        case = Case(**json.loads(line))
        if not case.fork:
            main(case)
            print(f"{os.getpid()}\n0", file=answers, flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            code = 1
            with contextlib.suppress(BaseException):
                main(case)
                code = 0
            os._exit(code)
        print(pid, file=answers, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


def as_line(case: Case) -> str:
    """A case as a line of the fork server's input."""
    return json.dumps(asdict(case))
